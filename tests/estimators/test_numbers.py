"""Numeric parameters refuse values that are not numbers; the error names the parameter."""

import numpy as np
import pytest

from kernelweave import MKLClassifier, MKLOneClass, MKLRegressor, losses, norms
from kernelweave.baselines.linearized import LinearizedMKL
from kernelweave.common.numbers import (
    MOST_THREADS,
    as_number,
    as_numbers,
    is_whole,
    thread_count,
)
from kernelweave.estimators.selection import MKLClassifierCV
from kernelweave.inspection.alignment import kernel_alignment
from kernelweave.kernels import RBF, ChiSquared, Laplacian, Polynomial
from kernelweave.optimization.methods.mwu import MWU
from kernelweave.optimization.methods.skm import SKM

HUGE = 10**400
NO_NUMBERS = [np.nan, "1", b"1", True, np.True_, 1j, [[1.0]], {}, -HUGE, -1]


@pytest.fixture
def data(rng):
    X = rng.normal(size=(12, 3))
    return X, np.where(np.arange(12) % 2, 1, -1)


def fit(Estimator, data, **parameters):
    return Estimator(RBF(1.0), **parameters).fit(*data)


@pytest.mark.parametrize("value", NO_NUMBERS)
@pytest.mark.parametrize(
    ("Estimator", "name"),
    [(MKLClassifier, name) for name in ["norm", "C", "tol", "max_time", "cache_mb"]]
    + [(MKLClassifier, "working_set"), (MKLRegressor, "epsilon"), (MKLOneClass, "nu")]
    + [(LinearizedMKL, name) for name in ["C", "tol", "max_iter", "n_components"]]
    + [(MKLClassifier, "max_iter")],
)
def test_parameters_of_estimators(Estimator, name, value, data):
    with pytest.raises((ValueError, TypeError), match=f"^{name} must be"):
        fit(Estimator, data, **{name: value})


@pytest.mark.parametrize("name", ["C", "tol", "max_time", "cache_mb"])
def test_integers_beyond_all_floats_are_not_finite(name, data):
    with pytest.raises(ValueError, match=f"^{name} must be"):
        fit(MKLClassifier, data, **{name: HUGE})


@pytest.mark.parametrize("value", [*NO_NUMBERS, HUGE])
@pytest.mark.parametrize(
    ("Kernel", "name"),
    [(RBF, "gamma"), (Laplacian, "gamma"), (ChiSquared, "gamma")]
    + [(Polynomial, name) for name in ("degree", "gamma", "coef0")],
)
def test_parameters_of_kernels(Kernel, name, value):
    with pytest.raises(ValueError, match=f"^{Kernel.__name__}: {name} must be"):
        Kernel(**{name: value})
    with pytest.raises(ValueError, match=f"^{Kernel.__name__}: {name} must be"):
        Kernel(**{name: [1, value]})


@pytest.mark.parametrize("value", NO_NUMBERS)
@pytest.mark.parametrize(
    ("make", "name"),
    [
        (norms.Lp, "p"),
        (norms.Block, "q"),
        (losses.SmoothHinge, "sigma"),
        (losses.EpsilonInsensitive, "epsilon"),
        (SKM, "eps1"),
        (SKM, "eps2"),
        (SKM, "block_mb"),
        (MWU, "eps"),
        (MWU, "rho"),
    ],
)
def test_parameters_of_norms_losses_and_solvers(make, name, value):
    with pytest.raises(ValueError, match=f"^{name} must be"):
        make(**{name: value})


@pytest.mark.parametrize("value", ["1", True, HUGE, 1j, {}, [1.0], np.nan])
def test_arrays_of_norms(value):
    with pytest.raises(ValueError, match=r"^weights must"):
        norms.Lp(2.0, weights=[value])
    with pytest.raises(ValueError, match=r"^E must"):
        norms.Elliptic([[value]])


@pytest.mark.parametrize("value", ["1", True, HUGE, 1j, {}, [1.0], np.nan, np.inf, -1])
def test_weights_of_classes_and_examples(value, data):
    X, y = data
    with pytest.raises(ValueError, match=r"^class_weight must contain finite numbers"):
        MKLClassifier(RBF(1.0), class_weight={1: value}).fit(X, y)
    for model in (MKLClassifier(RBF(1.0)), MKLRegressor(RBF(1.0)), MKLOneClass(RBF(1.0))):
        with pytest.raises(ValueError, match=r"^sample_weight must"):
            model.fit(X, y, sample_weight=[value] * 12)
    with pytest.raises(ValueError, match=r"^sample_weight must be one number or have shape \(12"):
        MKLClassifier(RBF(1.0)).fit(X, y, sample_weight=np.ones(11))
    with pytest.raises(ValueError, match=r"^sample_weight must be positive for at least one"):
        MKLRegressor(RBF(1.0)).fit(X, y, sample_weight=np.zeros(12))


def test_a_mask_is_weights(data):
    X, y = data
    mask = np.arange(12) < 8
    masked = MKLClassifier(RBF(1.0), tol=1e-10).fit(X, y, sample_weight=mask)
    some = MKLClassifier(RBF(1.0), tol=1e-10).fit(X[:8], y[:8])
    np.testing.assert_allclose(masked.decision_function(X), some.decision_function(X), rtol=1e-4)


@pytest.mark.parametrize(
    "n_jobs", [0, 2**40, -(2**40), HUGE, 1.5, "2", True, np.nan, [1]], ids=repr
)
def test_numbers_of_threads(n_jobs, data):
    X, y = data
    message = r"^n_jobs must be None or a non-zero integer from -1024 to 1024, got"
    for act in (
        lambda: MKLClassifier(RBF(1.0), n_jobs=n_jobs).fit(X, y),
        lambda: MKLClassifier(RBF(1.0)).fit(X, y).set_params(n_jobs=n_jobs).predict(X),
        lambda: LinearizedMKL(RBF(1.0), n_jobs=n_jobs).fit(X, y),
        lambda: RBF(1.0)(X, n_jobs=n_jobs),
        lambda: kernel_alignment(RBF(1.0), X, n_jobs=n_jobs),
    ):
        with pytest.raises(ValueError, match=message):
            act()


@pytest.mark.parametrize("cv", [1, 0, True, HUGE, [1.0], "three"])
def test_folds(cv, data):
    with pytest.raises(ValueError, match=r"^cv="):
        MKLClassifierCV(RBF(1.0), norms=[2.0], Cs=[1.0], cv=cv).fit(*data)


def test_as_number_accepts_only_real_numbers():
    assert [as_number(value) for value in (3, 2.5, np.float32(0.5), np.int8(4))] == [3, 2.5, 0.5, 4]
    assert (as_number(HUGE), as_number(-HUGE)) == (np.inf, -np.inf)
    assert np.isnan([as_number(value) for value in ("1", True, None, 1j, np.array(1.0))]).all()
    assert is_whole(np.int64(3))
    assert not is_whole(True)
    assert not is_whole(3.0)
    np.testing.assert_array_equal(as_numbers("x", [1, 2**70]), [1.0, 2.0**70])
    assert thread_count(MOST_THREADS) == MOST_THREADS
    assert thread_count(None) == 1
    assert thread_count(-1) >= 1
