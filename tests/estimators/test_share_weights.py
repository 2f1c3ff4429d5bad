"""One set of kernel weights for all classes: certified as one problem, in plain NumPy."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.datasets import load_iris, load_wine

from kernelweave import MKLClassifier, losses, norms
from kernelweave.kernels import RBF, Linear
from kernelweave.problem.problem import Problem

GAMMAS = (0.01, 0.1, 1.0)
KERNELS = [RBF(gamma=GAMMAS), Linear()]
LOSSES = {
    "hinge": lambda margin: np.maximum(0, 1 - margin),
    "squared_hinge": lambda margin: np.maximum(0, 1 - margin) ** 2,
    "logistic": lambda margin: np.logaddexp(0, -margin),
}


def scaled(load):
    X, y = load(return_X_y=True)
    return (X - X.mean(axis=0)) / X.std(axis=0), y


@pytest.fixture(scope="module", params=[load_iris, load_wine], ids=["iris", "wine"])
def data(request):
    return scaled(request.param)


def fitted(data, **settings):
    return MKLClassifier(KERNELS, normalize=None, share_weights=True, **settings).fit(*data)


def matrices(X):
    return np.concatenate([RBF(gamma=GAMMAS)(X), Linear()(X)[None]])


def recomputed(model, X, y, p):
    """The primal and the dual value of a hinge, squared hinge or logistic model."""
    K, C, Y = matrices(X), model.C_, np.where(y == model.classes_[:, None], 1.0, -1.0)
    alpha = np.zeros(Y.shape)
    alpha[:, model.support_] = model.dual_coef_
    s = np.einsum("ci,mij,cj->m", alpha, K, alpha)
    f = np.einsum("m,mij,cj->ci", model.weights_, K, alpha) + model.intercept_[:, None]
    primal = C * LOSSES[model.loss](Y * f).sum() + 0.5 * model.weights_ @ s
    a = Y * alpha
    assert np.all(a >= 0)
    assert_allclose(alpha.sum(axis=1), 0.0, atol=1e-9)
    if model.loss == "squared_hinge":
        gain = a - a**2 / (4 * C)
    elif model.loss == "hinge":
        assert a.max() <= C
        gain = a
    else:
        share = np.clip(a / C, 1e-300, 1 - 1e-16)
        gain = -C * (share * np.log(share) + (1 - share) * np.log1p(-share))
    q = np.inf if p == 1 else 1.0 if p == np.inf else p / (p - 1)
    assert np.linalg.norm(model.weights_, p) <= 1 + 1e-9
    return primal, gain.sum() - 0.5 * np.linalg.norm(s, q)


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("p", [1.0, 1.3, 2.0, np.inf])
def test_the_certificate_is_that_of_the_sum_of_all_classes(data, loss, p):
    model = fitted(data, norm=p, loss=loss, tol=1e-4)
    primal, dual = recomputed(model, *data, p)
    assert model.primal_objective_ == pytest.approx(primal, rel=1e-9)
    assert model.dual_objective_ == pytest.approx(dual, rel=1e-9)
    assert model.duality_gap_ == pytest.approx((primal - dual) / primal, abs=1e-9)
    assert model.duality_gap_ <= 1e-4
    assert model.weights_.shape == (4,)
    assert model.dual_coef_.shape == (3, len(model.support_))
    assert isinstance(model.history_[-1]["gap"], float)


@pytest.mark.parametrize(
    ("solver", "p", "interleaved"),
    [
        ("cutting-plane", 1.0, True),
        ("level", 1.0, True),
        ("gradient", 1.0, True),
        ("hessian", 1.0, False),
        ("newton", 2.0, True),
        ("analytic", 2.0, False),
    ],
)
def test_all_steps_find_the_same_optimum(solver, p, interleaved):
    data = scaled(load_iris)
    settings = {"norm": p, "tol": 1e-5}
    best = fitted(data, **settings)
    found = fitted(data, solver=solver, interleaved=interleaved, **settings)
    assert found.primal_objective_ == pytest.approx(best.primal_objective_, rel=2e-5)


def test_the_plain_sum_has_nothing_to_share(data):
    settings = {"norm": np.inf, "tol": 1e-8}
    together = fitted(data, **settings)
    alone = MKLClassifier(KERNELS, normalize=None, **settings).fit(*data)
    assert together.primal_objective_ == pytest.approx(alone.primal_objective_.sum(), rel=1e-7)
    X = data[0]
    assert_allclose(together.decision_function(X), alone.decision_function(X), atol=1e-2)


def test_shared_weights_raise_the_objective_and_fit_all_classes(data):
    shared = fitted(data, norm=1.0, tol=1e-5)
    alone = MKLClassifier(KERNELS, normalize=None, norm=1.0, tol=1e-5).fit(*data)
    assert shared.primal_objective_ > alone.primal_objective_.sum()
    X = data[0]
    values = shared.contributions(X).sum(axis=2) + shared.intercept_
    assert_allclose(values, shared.decision_function(X), atol=1e-9)
    assert np.mean(shared.predict(X) == data[1]) > 0.9


def test_equal_examples_are_merged_in_every_class():
    X, y = scaled(load_iris)
    twice = fitted((np.vstack([X, X]), np.concatenate([y, y])), tol=1e-6)
    weighted = MKLClassifier(KERNELS, normalize=None, share_weights=True, tol=1e-6)
    weighted.fit(X, y, sample_weight=np.full(len(y), 2.0))
    assert_allclose(twice.weights_, weighted.weights_)
    assert twice.dual_coef_.shape[1] == len(twice.support_)


def test_shared_weights_do_not_change_two_classes():
    X, y = scaled(load_iris)
    X, y = X[y > 0], y[y > 0]
    shared = fitted((X, y), norm=1.0, solver="qcqp")
    alone = MKLClassifier(KERNELS, normalize=None, norm=1.0, solver="qcqp").fit(X, y)
    assert_allclose(shared.weights_, alone.weights_)


def test_solvers_without_shared_weights_name_those_with():
    with pytest.raises(ValueError, match=r"share_weights=True; these do: .*'analytic'"):
        fitted(scaled(load_iris), solver="qcqp")


def test_outputs_must_divide_the_examples():
    y = np.array([1.0, -1.0, 1.0])
    with pytest.raises(ValueError, match="n_outputs must divide the number of examples, 3, got 2"):
        Problem.of(losses.Hinge(), norms.Lp(2), y, np.ones(3), n_outputs=2)


def test_every_output_has_its_own_sum():
    y = np.array([1.0, -1.0, 1.0, -1.0])
    problem = Problem.of(losses.Hinge(), norms.Lp(2), y, np.ones(4), n_outputs=2)
    s = np.ones(2)
    assert np.isfinite(problem.dual(np.array([0.5, -0.5, 1.0, -1.0]), s))
    assert problem.dual(np.array([0.5, -1.0, 1.0, -0.5]), s) == -np.inf
