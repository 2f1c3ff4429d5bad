"""EasyMKL: its quadratic program against SciPy, its gap, and the SVM on its weights."""

import numpy as np
import pytest
from kernel_cases import dense
from scipy.optimize import minimize
from sklearn.exceptions import ConvergenceWarning

from kernelweave import MKLClassifier, MKLRegressor, kernels, load, verify
from kernelweave.optimization.methods.easymkl import EasyMKL
from kernelweave.optimization.run import Run

FAMILY = [kernels.RBF(gamma=[0.1, 0.5]), kernels.Linear(columns=[0])]


def data(rng, n=40):
    X = rng.normal(size=(n, 3))
    return X, np.where(X[:, 0] + 0.5 * rng.normal(size=n) > 0, 1.0, -1.0)


def matrices(X):
    return np.concatenate([kernel(X).reshape(-1, len(X), len(X)) for kernel in FAMILY])


def program(K, y, lam):
    """Return gamma of the paper's problem, by sequential quadratic programming."""
    Q = (1 - lam) * np.outer(y, y) * K.sum(axis=0) + lam * np.eye(len(y))
    classes = [(y > 0).astype(float), (y < 0).astype(float)]
    start = np.where(y > 0, 1 / classes[0].sum(), 1 / classes[1].sum())
    found = minimize(
        lambda gamma: gamma @ Q @ gamma,
        start,
        jac=lambda gamma: 2 * Q @ gamma,
        bounds=[(0, None)] * len(y),
        constraints=[
            {"type": "eq", "fun": lambda gamma, c=c: c @ gamma - 1, "jac": lambda gamma, c=c: c}
            for c in classes
        ],
        options={"ftol": 1e-14, "maxiter": 1000},
    )
    assert found.success
    return found.x


@pytest.mark.parametrize("lam", [0.05, 0.3, 0.9])
def test_weights_are_those_of_the_quadratic_program(lam, rng):
    X, y = data(rng)
    K = matrices(X)
    gamma = program(K, y, lam)
    squares = np.einsum("i,mij,j->m", y * gamma, K, y * gamma)
    settings = {"norm": 2, "normalize": None, "tol": 1e-8}
    model = MKLClassifier(FAMILY, solver=EasyMKL(lam), **settings).fit(X, y)
    np.testing.assert_allclose(model.weights_, squares / np.linalg.norm(squares), atol=2e-4)


@pytest.mark.parametrize("lam", [0.05, 0.5])
def test_first_stage_has_a_duality_gap_of_its_own(lam, rng):
    """The values of its SVM are bounds of the value of the program."""
    X, y = data(rng)
    K, stage = matrices(X), EasyMKL(lam).first_stage
    result = stage.solved(y, dense(FAMILY, X), Run.start(1e-6))
    assert result.converged
    gamma = program(K, y, lam)
    Q = (1 - lam) * np.outer(y, y) * K.sum(axis=0) + lam * np.eye(len(y))
    # With alpha = t Y gamma, t = 2 / value, the optimum is 2 / value (value with ridge 1 / (2 C)).
    optimum = 2 / (gamma @ Q @ gamma / (1 - lam))
    assert result.dual * (1 - 1e-9) <= optimum <= result.primal * (1 + 1e-6)


def test_second_stage_is_the_svm_on_the_weights(rng, tmp_path):
    X, y = data(rng)
    solver = EasyMKL(0.4)
    settings = {"norm": 2, "normalize": None, "loss": "squared_hinge", "C": solver.C, "tol": 1e-7}
    model = MKLClassifier(FAMILY, solver=solver, **settings).fit(X, y)
    K = np.tensordot(model.weights_, matrices(X), axes=1)
    again = MKLClassifier(kernels.Precomputed(K), **{**settings, "norm": np.inf})
    again.fit(np.arange(len(y)), y)
    expected = again.decision_function(np.arange(len(y)))
    np.testing.assert_allclose(model.decision_function(X), expected, atol=1e-3)
    assert model.certifies_ == "model with fixed weights"
    assert verify(model, X, y).agree
    model.save(tmp_path / "m.kw")
    assert load(tmp_path / "m.kw").solver == solver


def test_an_early_stop_of_the_first_stage_warns(rng):
    X, y = data(rng, 200)
    model = MKLClassifier(FAMILY, solver=EasyMKL(1e-6), tol=1e-9, max_iter=1)
    with pytest.warns(ConvergenceWarning, match="first stage of EasyMKL"):
        model.fit(X, y)


@pytest.mark.parametrize("lam", [0, 1, -1, np.nan, "much"])
def test_lam_outside_its_range_is_refused(lam):
    with pytest.raises(ValueError, match="lam must be a number above 0 and below 1"):
        EasyMKL(lam)


def test_regression_is_refused(rng):
    X, y = data(rng)
    with pytest.raises(ValueError, match="does not support"):
        MKLRegressor(FAMILY, solver="easymkl").fit(X, y)
