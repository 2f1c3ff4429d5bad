"""Outputs that memory cannot hold are refused with their size, or not kept at all."""

import numpy as np
import pytest

from kernelweave import MKLClassifier, kernels
from kernelweave.engines.memory import check_memory

FAMILY = kernels.per_feature(kernels.RBF(gamma=np.geomspace(0.01, 10, 1000)))  # 3,000 kernels


@pytest.fixture
def data(rng):
    X = rng.normal(size=(200, 3))
    return X, X[:, 0] > 0


@pytest.fixture
def little(monkeypatch):
    """Two megabytes are free: the outputs of 3,000 kernels on 200 examples take 4.6."""
    monkeypatch.setattr("kernelweave.engines.memory.free_memory", lambda: 2.0**21)


def test_how_much_would_be_needed(monkeypatch):
    monkeypatch.setattr("kernelweave.engines.memory.free_memory", lambda: 2.0**30)
    with pytest.raises(
        ValueError, match=r"2,000,000 kernels on 100 examples need 1\.5 GB.*1\.0 GB"
    ):
        check_memory(2_000_000, 100)
    check_memory(1_000_000, 100)


@pytest.mark.parametrize("solver", ["mwu", "cutting-plane"])
def test_solvers_that_keep_all_outputs_refuse(solver, data, little):
    model = MKLClassifier(FAMILY, norm=1, loss="squared_hinge", solver=solver)
    with pytest.raises(ValueError, match="3,000 kernels on 200 examples need"):
        model.fit(*data)


def test_a_sample_of_the_kernels_needs_less(data, little, monkeypatch):
    monkeypatch.setattr("kernelweave.solvers.first_guess.MOST_KERNELS", 500)
    model = MKLClassifier(FAMILY, norm=1, solver="skm").fit(*data)
    assert model.duality_gap_ <= 1e-3
    monkeypatch.setattr("kernelweave.solvers.mwu.LARGE", 1000)
    monkeypatch.setattr("kernelweave.solvers.mwu.FIRST", 500)
    settings = {"loss": "squared_hinge", "normalize": "unit", "tol": 0.1}
    assert MKLClassifier(FAMILY, norm=1, solver="mwu", **settings).fit(*data).duality_gap_ <= 0.1


def test_a_sample_that_is_too_large_is_refused(data, little, monkeypatch):
    monkeypatch.setattr("kernelweave.solvers.mwu.LARGE", 1000)
    model = MKLClassifier(FAMILY, norm=1, loss="squared_hinge", solver="mwu")
    with pytest.raises(ValueError, match="2,000 kernels on 200 examples need"):
        model.fit(*data)
