"""Working sets of several classes: the core's solution against its duality gap, and scipy."""

import numpy as np
import pytest
from scipy.optimize import minimize

from kernelweave import MKLClassifier, _core
from kernelweave.kernels import Polynomial
from kernelweave.losses import Hinge
from kernelweave.losses.crammer_singer import CrammerSingerRisk
from kernelweave.optimization.inner.class_interior_points import class_interior_points
from kernelweave.optimization.inner.class_sets import example_gaps

N, K = 30, 3


@pytest.fixture
def block(rng):
    X = rng.normal(size=(N, 3))
    kernel = np.exp(-0.3 * ((X[:, None] - X[None]) ** 2).sum(axis=2))
    codes = (np.abs(X[:, 0]) + 0.5 * rng.normal(size=N) > [[0.5], [1.2]]).sum(axis=0)
    return kernel, codes.astype(np.int64), rng.uniform(0.5, 3.0, size=N)


def solved(block, intercept, gap):
    kernel, codes, costs = block
    alpha, outputs, bias = np.zeros((K, N)), np.zeros((K, N)), np.zeros(K)
    _core.solve_classes(kernel, codes, costs, intercept, gap, 10_000, alpha, outputs, bias)
    return alpha, outputs, bias


@pytest.mark.parametrize("intercept", [True, False])
def test_the_gap_is_reached_and_alphas_are_feasible(block, intercept):
    kernel, codes, costs = block
    alpha, *_ = solved(block, intercept, 1e-7)
    risk = CrammerSingerRisk.of(Hinge(), codes, costs, K, 0.0 if intercept else None)
    assert risk.is_feasible(alpha.ravel())
    assert np.all(alpha <= costs * risk.own + 1e-12)
    F = alpha @ kernel
    best = risk.best_bias(F.ravel(), alpha.ravel())
    assert example_gaps(risk, F + best[:, None], alpha).sum() <= 1e-5
    dual = alpha[codes, np.arange(N)].sum() - 0.5 * np.sum(alpha * F)
    primal = risk.value(F.ravel(), best) + 0.5 * np.sum(alpha * F)
    assert primal - dual == pytest.approx(0.0, abs=1e-5)


def test_no_direction_of_a_general_solver_is_better(block):
    kernel, codes, costs = block
    alpha, _, _ = solved(block, True, 1e-8)
    own = codes == np.arange(K)[:, None]

    def minus_dual(p):
        a = costs * (own - p.reshape(K, N))
        return 0.5 * np.sum(a * (a @ kernel)) - a[codes, np.arange(N)].sum()

    sums = [
        {"type": "eq", "fun": lambda p: p.reshape(K, N).sum(axis=0) - 1.0},
        {"type": "eq", "fun": lambda p: (p.reshape(K, N) - own)[:-1] @ costs},
    ]
    start = own.astype(float).ravel()
    found = minimize(
        minus_dual, start, bounds=[(0, 1)] * (K * N), constraints=sums, options={"maxiter": 500}
    )
    ours = minus_dual((own - alpha / costs).ravel())
    assert ours <= found.fun + 1e-4 * abs(found.fun)


@pytest.mark.parametrize("intercept", [True, False])
def test_interior_points_agree_with_the_core(block, intercept, rng):
    """From a start that is neither 0 nor optimal, whose sums over each class they keep."""
    kernel, codes, costs = block
    own, start = codes == np.arange(K)[:, None], solved(block, intercept, 10.0)[0]
    best = solved(block, intercept, 1e-9)[0]
    found = class_interior_points(kernel, own, costs, intercept, 1e-9, start, start @ kernel)

    def dual(alpha):
        return alpha[own].sum() - 0.5 * np.sum(alpha * (alpha @ kernel))

    assert dual(found) == pytest.approx(dual(best), abs=1e-7)
    assert np.all(found <= costs * own)
    assert np.abs(found.sum(axis=0)).max() <= 1e-12
    if intercept:
        np.testing.assert_allclose(found.sum(axis=1), start.sum(axis=1), atol=1e-10)


@pytest.mark.parametrize(("gamma", "norm"), [(5.0, np.inf), ([5.0, 0.02], 4)])
def test_repeated_rows_of_several_classes_take_few_iterations(gamma, norm, rng):
    """Block descent gained a hundred-thousandth of the optimum in an iteration."""
    X, y = rng.normal(size=(20, 4))[rng.integers(0, 12, 20)], np.arange(20) % 4
    kernel = Polynomial(4, gamma=gamma, coef0=0.1)  # values up to a million
    model = MKLClassifier(kernel, C=400, multi_class="joint", norm=norm, normalize="center")
    model.set_params(max_iter=20).fit(X, y)
    assert model.duality_gap_ <= model.tol
