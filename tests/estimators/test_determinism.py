"""The same model for any number of threads, bit for bit."""

import numpy as np
import pytest
from kernel_cases import training_set

from kernelweave import MKLClassifier, MKLRegressor
from kernelweave.engines import FamilyEngine, family
from kernelweave.kernels import RBF, Laplacian, Polynomial, Spectrum, WeightedDegree, per_feature

N = 900  # more examples than a tile has columns, and working sets of several parts


@pytest.fixture(autouse=True)
def hundreds_are_many(monkeypatch):
    """Families of kernels are evaluated as one function, as on thousands of examples."""
    monkeypatch.setattr(family, "MANY_EXAMPLES", 100)


def numbers(rng):
    X = rng.normal(size=(N, 6))
    return X, X[:, 0] * X[:, 1] + 0.5 * rng.normal(size=N) > 0


def texts(rng):
    labels = rng.integers(0, 2, N)
    X = rng.choice(list("ACGT"), size=(N, 40))
    X[labels == 1, 10:14] = np.where(rng.random((labels.sum(), 4)) < 0.8, list("GATT"), "C")
    return ["".join(row) for row in X], labels == 1


FAMILY = RBF(np.geomspace(0.01, 10, 12))
CASES = {
    "family, p = 1": (FAMILY, numbers, {"norm": 1}),
    "family, p = 1, fine": (FAMILY, numbers, {"norm": 1, "tol": 1e-6}),
    "family, p = 2": (FAMILY, numbers, {}),
    "family, p = inf": (FAMILY, numbers, {"norm": np.inf}),
    "family, squared hinge": (FAMILY, numbers, {"loss": "squared_hinge"}),
    "family, logistic": (FAMILY, numbers, {"loss": "logistic"}),
    "family, little cache": (FAMILY, numbers, {"cache_mb": 1}),
    "family, large C": (FAMILY, numbers, {"C": 100.0}),
    "single": (RBF(0.2), numbers, {}),
    "columns": (per_feature(RBF([0.1, 1.0])), numbers, {"norm": 1}),
    "columns, skm": (per_feature(RBF([0.1, 1.0])), numbers, {"norm": 1, "solver": "skm"}),
    "mixed": ([FAMILY, Polynomial(2), Laplacian(0.1)], numbers, {}),
    "mixed, p = 1": ([FAMILY, Polynomial([1, 2]), Laplacian(0.1)], numbers, {"norm": 1}),
    "wd": (WeightedDegree(8), texts, {}),
    "wd by degree": (WeightedDegree(8, split="degree"), texts, {}),
    "spectrum": (Spectrum(3), texts, {}),
    "strings": ([WeightedDegree(8), Spectrum([3, 4])], texts, {"norm": 1}),
}


def everything(estimator, X, y):
    """Return all numbers of a fitted model and what it decides."""
    model = estimator.fit(X, y)
    return {
        "dual_coef_": model.dual_coef_,
        "support_": model.support_,
        "weights_": model.weights_,
        "intercept_": model.intercept_,
        "decisions": (getattr(model, "decision_function", None) or model.predict)(X),
        "n_iter_": model.n_iter_,
        "duality_gap_": model.duality_gap_,
    }


def assert_the_same(make, X, y):
    expected = everything(make(1), X, y)
    for n_jobs in (1, 2, 3):
        found = everything(make(n_jobs), X, y)
        for name, values in expected.items():
            np.testing.assert_array_equal(found[name], values, err_msg=f"{name}, n_jobs={n_jobs}")


@pytest.mark.parametrize("name", CASES)
def test_classifiers(name, rng):
    kernels, draw, settings = CASES[name]
    X, y = draw(rng)
    assert_the_same(lambda n_jobs: MKLClassifier(kernels, n_jobs=n_jobs, **settings), X, y)


@pytest.mark.parametrize("loss", ["epsilon_insensitive", "squared"])
def test_regressors(loss, rng):
    X, _ = numbers(rng)
    y = np.sin(X[:, 0]) + 0.1 * rng.normal(size=N)
    assert_the_same(lambda n_jobs: MKLRegressor(FAMILY, loss=loss, n_jobs=n_jobs), X, y)


@pytest.mark.parametrize("cache_mb", [0, 1, 100])
def test_sums_over_pairs(cache_mb, rng):
    """Threads share the sums over pairs of a family engine, in no fixed order."""
    X, alpha = rng.normal(size=(2500, 5)), rng.normal(size=2500)
    idx = np.arange(0, 2500, 7)
    found = []
    for n_jobs in (1, 2, 2, 3, 5):
        engine = FamilyEngine.of(training_set(FAMILY, X, None, cache_mb=cache_mb, n_jobs=n_jobs))
        engine.move_to(alpha)
        twice = [(engine.quadratic(), engine.outputs_at(idx)) for _ in range(2)]
        found.append([np.concatenate([q, rough.ravel()]) for q, rough in twice])
    for values in found:
        np.testing.assert_array_equal(values, found[0])
