"""matplotlib without a screen."""

import pytest


@pytest.fixture(autouse=True)
def _no_screen():
    """Skip the test without matplotlib; close its figures afterwards."""
    plt = pytest.importorskip("matplotlib.pyplot")
    plt.switch_backend("Agg")
    yield
    plt.close("all")
