"""Learned widths: gradients against finite differences, descent, and what is refused."""

import numpy as np
import pytest
from scipy.optimize import check_grad
from sklearn.base import clone

from kernelweave import MKLClassifier, MKLOneClass, MKLRegressor, MKLWidths
from kernelweave.estimators.learned_widths import width_problem
from kernelweave.kernels import RBF, Linear


@pytest.fixture
def data(rng):
    X = rng.normal(size=(60, 3)) * [1.0, 2.0, 0.5]
    return X, np.where(np.sin(2 * X[:, 0]) + 0.3 * rng.normal(size=60) > 0, 1, -1)


KERNELS = {
    "one": RBF(gamma="learn"),
    "two": [RBF(gamma="learn"), RBF(gamma="learn", columns=[0, 2])],
    "beside others": [Linear(), RBF(gamma=[0.1, 1.0]), RBF(gamma="learn")],
}


@pytest.mark.parametrize("kernels", KERNELS.values(), ids=KERNELS)
@pytest.mark.parametrize("how", [None, "unit", "variance"])
@pytest.mark.parametrize("ard", [False, True])
def test_gradient_is_that_of_finite_differences(kernels, how, ard, data):
    X, y = data
    model = MKLClassifier(kernels, norm=2, normalize=how, loss="squared_hinge", C=1.0, tol=1e-10)
    problem = width_problem(model, X, y, ard=ard)
    at = np.log(problem.start()) + 0.3
    value, gradient = problem.value_and_gradient(at)
    expected = [
        (problem.value_and_gradient(at + h)[0] - problem.value_and_gradient(at - h)[0]) / 2e-3
        for h in 1e-3 * np.eye(len(at))
    ]
    np.testing.assert_allclose(gradient, expected, rtol=2e-3, atol=2e-4 * abs(value))


def test_gradient_of_a_regression(data):
    X, _ = data
    model = MKLRegressor(KERNELS["two"], norm=1, C=1.0, tol=1e-10)
    problem = width_problem(model, X, np.sin(X[:, 0]), ard=False)
    at = np.log(problem.start())
    error = check_grad(
        lambda z: problem.value_and_gradient(z)[0],
        lambda z: problem.value_and_gradient(z)[1],
        at,
        epsilon=1e-4,
    )
    assert error < 1e-2 * np.linalg.norm(problem.value_and_gradient(at)[1]) + 1e-4


def test_descent_ends_below_every_start_and_a_grid(data):
    """J at the learned width is at most that on a fine grid, within the accuracy of the fits."""
    X, y = data
    inner = MKLClassifier(RBF(gamma="learn"), C=1.0)
    model = MKLWidths(inner).fit(X, y)
    problem = width_problem(inner, X, y, ard=False)
    start = problem.start()
    grid = [problem.value_and_gradient(np.log(start) + z)[0] for z in np.linspace(-4, 4, 33)]
    assert model.objective_ <= min(grid) * (1 + 1e-3)
    assert model.objective_ == model.objectives_.min()
    assert model.objectives_.shape == (3,)
    assert model.best_estimator_.duality_gap_ <= inner.tol
    np.testing.assert_array_equal(model.predict(X), model.best_estimator_.predict(X))
    assert model.score(X, y) == model.best_estimator_.score(X, y)


def test_uninformative_columns_get_wide_kernels(rng):
    X = rng.uniform(-2, 2, size=(120, 4))
    y = np.sin(3 * X[:, 2])
    model = MKLWidths(MKLRegressor(RBF(gamma="learn"), C=1.0), ard=True, starts=2).fit(X, y)
    (gammas,) = model.gammas_
    assert gammas.argmax() == 2
    assert gammas[2] > 10 * np.delete(gammas, 2).max()


def test_wrapper_follows_the_rules_of_scikit_learn(data):
    model = MKLWidths(MKLClassifier(RBF(gamma="learn"), C=1.0), starts=1, max_iter=3)
    again = clone(model).set_params(estimator__C=0.1)
    assert again.estimator.C == 0.1
    fitted = again.fit(*data)
    assert fitted.decision_function(data[0]).shape == (60,)
    assert fitted.classes_.tolist() == [-1, 1]
    assert fitted.weights_.shape == (1,)
    assert not hasattr(MKLWidths(MKLRegressor()), "decision_function")


@pytest.mark.parametrize(
    ("model", "message"),
    [
        (MKLWidths(MKLClassifier(RBF(1.0))), "no kernel has learned widths"),
        (MKLWidths(MKLClassifier()), "no kernel has learned widths"),
        (MKLWidths(MKLClassifier(RBF("learn")), starts=0), "starts must be"),
        (MKLWidths(MKLClassifier(RBF("learn")), max_iter=1.5), "max_iter must be"),
        (MKLWidths(MKLClassifier(RBF("learn")), factor=1), "factor must be"),
        (
            MKLWidths(MKLClassifier(RBF("learn"), normalize="center")),
            "does not support normalize=.center",
        ),
        (
            MKLWidths(MKLClassifier(RBF("learn"), normalize="variance", class_weight="balanced")),
            "take normalize='unit'",
        ),
        (MKLClassifier(RBF("learn")), "is learned by MKLWidths"),
        (MKLOneClass(RBF("learn")), "is learned by MKLWidths"),
    ],
)
def test_bad_input_is_named(model, message, data):
    with pytest.raises(ValueError, match=message):
        model.fit(*data)


def test_three_classes_are_refused(data):
    with pytest.raises(ValueError, match="OneVsRestClassifier"):
        MKLWidths(MKLClassifier(RBF("learn"))).fit(data[0], np.arange(60) % 3)


def test_other_kernels_do_not_learn_widths():
    from kernelweave.kernels import Laplacian

    with pytest.raises(ValueError, match="gamma must be a positive number"):
        Laplacian("learn")
