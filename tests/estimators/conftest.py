"""Fixtures that tests of several estimators share."""

import pytest
from censored_cases import make_study


@pytest.fixture
def study(rng):
    """Censored times that depend on two of four columns, with ties, shapes (90, 4) and (90,)."""
    return make_study(rng)


def pytest_collection_modifyitems(items):
    """Mark checks of sparse arrays as slow: they repeat those of sparse matrices."""
    for item in items:
        if "-check_estimator_sparse_array]" in item.name:
            item.add_marker(pytest.mark.slow)
