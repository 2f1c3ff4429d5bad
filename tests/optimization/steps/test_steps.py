"""Weight steps reach the optimum of a conic solver, and of an SVM on the sum."""

import naive_mkl
import numpy as np
import pytest
from mkl_cases import CLASSIFICATION, hinge_case, make_case
from sklearn.svm import SVC

from kernelweave import MKLClassifier, MKLRegressor, losses, norms
from kernelweave.datasets import make_sines
from kernelweave.kernels import RBF, Linear, per_feature
from kernelweave.optimization.iterate import Iterate
from kernelweave.optimization.named_methods import METHODS, find_method
from kernelweave.optimization.steps.analytic import Analytic, AnalyticSteps, AnalyticTuning
from kernelweave.optimization.steps.gradient import reduced_direction
from kernelweave.optimization.steps.newton import NewtonSteps

M = 5
E = np.eye(M) + 0.3 * (np.eye(M, k=1) + np.eye(M, k=-1))
COSTS = (1.0, 2.0, 0.5, 1.5, 1.0)
LIMITS = {"tol": 1e-3, "constant": np.inf}
NORMS = {
    "l1": norms.Lp(1),
    "weighted l1": norms.Lp(1, COSTS),
    "l1.2": norms.Lp(1.2),
    "weighted l2": norms.Lp(2, COSTS),
    "l4": norms.Lp(4),
    "sum": norms.Lp(np.inf),
    "elliptic": norms.Elliptic(E),
    "block 1.5": norms.Block(1.5),
    "block 3": norms.Block(3),
}
STEPS = (
    "analytic", "newton", "hessian", "cutting-plane", "level", "gradient", "simplemkl", "uniform"
)  # fmt: skip
every_loss = pytest.mark.parametrize("loss", sorted(naive_mkl.LOSS))


@pytest.mark.parametrize("count", [1, 2, 20, 100])
@pytest.mark.parametrize("table", CLASSIFICATION)
@pytest.mark.parametrize("p", [1.0, 1.01, 2.0])
def test_any_number_of_kernels(p, table, count, load_real):
    case = make_case(load_real(table), "hinge", norms.Lp(p), n=120, M=count, C=10.0)
    result = case.solve("auto", tol=1e-5)
    assert result.gap <= 1e-5
    assert case.naive_gap(result) == pytest.approx(result.gap, abs=1e-9)


@pytest.mark.parametrize("norm", ["l1", "weighted l1", "l1.2", "weighted l2", "elliptic"])
def test_all_solvers_find_the_same_optimum(norm, load_real):
    case = make_case(load_real("pima"), "hinge", NORMS[norm], n=100, M=M)
    able = [solver for solver in STEPS if METHODS[solver].serves(case.problem.norm)]
    assert len(able) >= 3
    results = [case.solve(solver, tol=5e-5) for solver in able]
    np.testing.assert_allclose([r.primal for r in results], results[0].primal, rtol=1e-4)
    for result in results:
        assert result.converged
        assert result.gap == pytest.approx(result.history[-1].gap, abs=5e-5)
        assert len(result.history) == result.n_iter + 1


WIDTHS = RBF(gamma=list(2.0 ** np.arange(-10, 10)))


def test_l1_agrees_with_a_conic_solver(load_real):
    pytest.importorskip("clarabel")
    case = hinge_case(load_real("wdbc"), norms.Lp(1), WIDTHS, n=90)
    conic = case.solve("qcqp", tol=1e-6)
    for solver in ("hessian", "cutting-plane"):
        result = case.solve(solver, tol=1e-6)
        assert result.primal == pytest.approx(conic.primal, rel=1e-5)
        assert result.dual == pytest.approx(conic.dual, rel=1e-5)


def test_l1_converges_tightly_in_few_iterations(load_real):
    case = hinge_case(load_real("wdbc"), norms.Lp(1), WIDTHS, n=398)
    result = case.solve("hessian", tol=1e-7, working_set=200)
    assert result.gap <= 1e-7
    assert result.n_iter <= 40


def test_p_near_1_approaches_p_1(load_real):
    table = load_real("sonar")
    sparse = make_case(table, "hinge", norms.Lp(1), n=100).solve("auto", tol=1e-6)
    near = make_case(table, "hinge", norms.Lp(1 + 1e-6), n=100).solve("auto", tol=1e-6)
    assert near.primal == pytest.approx(sparse.primal, rel=1e-4)
    np.testing.assert_allclose(near.weights, sparse.weights, atol=1e-2)


@pytest.mark.parametrize("solver", ["auto", "analytic", "uniform"])
def test_infinite_p_is_one_svm_on_the_sum(solver, load_real):
    case = make_case(load_real("wdbc"), "hinge", norms.Lp(np.inf), n=150, C=2.0)
    result = case.solve(solver, tol=1e-7)
    reference = SVC(C=2.0, kernel="precomputed", tol=1e-8).fit(case.K.sum(axis=0), case.problem.y)
    expected = reference.decision_function(case.K.sum(axis=0))
    np.testing.assert_array_equal(result.weights, 1.0)
    got = result.alpha @ case.K.sum(axis=0) + result.bias
    np.testing.assert_allclose(got, expected, atol=5e-3)


def test_sparse_weights_are_exact_zeros(load_real):
    case = make_case(load_real("wdbc"), "hinge", norms.Lp(1), n=100, M=20)
    weights = case.solve("auto", tol=1e-4).weights
    assert np.count_nonzero(weights) < 20
    assert weights.sum() == pytest.approx(1.0)


def test_low_rank_kernels_do_not_trap_newton_steps(load_real):
    """A kernel per column has rank 1: J has kinks at weights of zero."""
    kernels = per_feature(Linear())
    case = hinge_case(load_real("sonar"), norms.Lp(1), kernels, normalize="variance")
    assert case.solve("hessian", tol=1e-4, working_set=200).gap <= 1e-4


@pytest.mark.parametrize("solver", ["hessian", "cutting-plane", "level", "gradient", "simplemkl"])
def test_equal_kernels_do_no_harm(solver, load_real):
    case = hinge_case(load_real("wdbc"), norms.Lp(1), RBF(gamma=[0.1, 0.1, 0.01]), n=100)
    assert case.solve(solver, tol=1e-4).gap <= 1e-4


@pytest.mark.parametrize(
    ("name", "norm", "loss", "message"),
    [
        ("simplex", norms.Lp(2), losses.Hinge(), "solver must be one of .*'auto', 'analytic'"),
        (
            "analytic",
            norms.Lp(1),
            losses.Hinge(),
            "does not support norm=Lp.*these do: .*'hessian'",
        ),
        (
            "uniform",
            norms.Lp(2),
            losses.Hinge(),
            "does not support norm=Lp.*these do: .*'analytic'",
        ),
        ("newton", norms.Block(3), losses.Hinge(), "these do: .*'analytic'"),
        ("alignment", norms.Lp(2), losses.OneClass(), "loss='one_class'; these do"),
    ],
)
def test_unserved_norms_and_losses_are_refused(name, norm, loss, message):
    with pytest.raises(ValueError, match=message):
        find_method(name, norm, loss)


@pytest.mark.parametrize("norm", NORMS.values(), ids=NORMS)
@every_loss
def test_auto_always_finds_a_solver(norm, loss):
    kinds = {cls.name: cls() for cls in (losses.Hinge, losses.Squared, losses.OneClass)}
    solver = find_method("auto", norm, kinds.get(loss, losses.Logistic()))
    assert solver.serves(norm)


def test_weights_of_nearly_zero_can_grow():
    """The gain of a tiny weight is smaller than the error of inexact inner solutions."""
    X, y = make_sines(1000, frequencies=(2, 1), slope=0.5, random_state=0)
    widths = RBF(gamma=list(10.0 ** np.arange(-5, 5)))
    model = MKLRegressor(widths, norm=1, C=5, epsilon=0.1, normalize=None, tol=1e-4).fit(X, y)
    assert model.duality_gap_ <= 1e-4


def test_newton_steps_learn_the_change_of_the_gradient():
    """J is quadratic, and its Hessian is given as four times as large.

    It is small next to s: there the model of kernels of rank one is quadratic, too.
    """
    norm, H, peak = norms.Lp(1), np.array([[2.0, 0.5], [0.5, 1.0]]), np.array([10004.0, 10003.6])

    def iterate(theta):
        s = peak - 2 * H @ theta  # the gradient of J is -s / 2
        J = -0.5 * peak @ theta + 0.5 * theta @ H @ theta
        linear = J + 0.5 * theta @ s
        return Iterate(theta, s, linear, lambda: J, iterate, **LIMITS)

    steps = NewtonSteps(norm, lambda theta: 4 * H)
    theta = np.array([0.6, 0.4])
    first = steps(iterate(theta))
    second = steps(iterate(first))
    direction = np.array([1.0, -1.0])
    slope = (H @ theta - 0.5 * peak) @ direction
    best = theta - slope / (direction @ H @ direction) * direction
    np.testing.assert_allclose(first, theta + (best - theta) / 4, rtol=1e-5)
    np.testing.assert_allclose(second, best, rtol=1e-5)


@pytest.mark.parametrize("seed", [3, 5])
@pytest.mark.parametrize("solver", ["hessian", "level", "cutting-plane", "gradient"])
def test_a_block_norm_is_judged_by_the_weights_that_a_step_chose(solver, seed):
    """Its primal value is that of the best weights, maybe far below J of the present ones."""
    rng = np.random.default_rng(seed)
    X = np.exp(3 * rng.normal(size=(60, 1)))
    signal = X[:, 0] / X.std() + rng.normal(size=60)
    y = np.where(signal > np.median(signal), 1.0, -1.0)
    settings = {"loss": "smooth_hinge", "C": 100.0, "solver": solver, "max_iter": 400}
    block, lp = (
        MKLClassifier([Linear(), RBF(0.5)], norm=norm, **settings).fit(X, y)
        for norm in (norms.Block(1), norms.Lp(1))
    )
    assert block.duality_gap_ <= 1e-3
    assert block.primal_objective_ == pytest.approx(lp.primal_objective_, rel=2e-3)


def test_rounding_is_no_reason_for_newton_to_go_back():
    steps = NewtonSteps(norms.Lp(1), lambda theta: np.eye(2))
    theta, s = np.array([0.5, 0.5]), np.array([3.0, 1.0])

    def iterate(value):
        linear = value + 0.5 * float(theta @ s)
        return Iterate(theta, s, linear, lambda: 1.0, iterate, **LIMITS)

    there = steps(iterate(1.0))
    assert there[0] > theta[0]
    assert steps(iterate(1.0 + 1e-15))[0] > theta[0]
    np.testing.assert_array_equal(steps(iterate(1.01)), theta)


def seen(theta, s):
    """An iterate for steps that only read s."""
    return Iterate(theta, s, 0.0, lambda: 1.0, seen, **LIMITS)


@pytest.mark.parametrize("p", [1.1, 4 / 3, 2.0, 8.0])
def test_longer_analytic_steps_reach_the_best_response_to_a_constant_s(p, rng):
    norm, s = norms.Lp(p), rng.exponential(size=7)
    step, theta = AnalyticSteps(norm), norm.start(7)
    for _ in range(80):
        theta = step(seen(theta, s))
        assert norm.value(theta) == pytest.approx(1.0)
        assert theta.min() > 0
    np.testing.assert_allclose(theta, norm.best(s), rtol=1e-6)
    np.testing.assert_allclose(step(seen(norm.best(s), s)), norm.best(s), rtol=1e-6)


def test_reversed_analytic_steps_are_not_over_relaxed(rng):
    norm, theta = norms.Lp(2), norms.Lp(2).start(2)
    step, ways = AnalyticSteps(norm), [np.array([1.0, 4.0]), np.array([4.0, 1.0])]
    for k in range(8):
        last = step(seen(theta, ways[k % 2]))
    np.testing.assert_allclose(last, norm.analytic(theta, ways[1]), rtol=1e-12)


def test_longer_analytic_steps_take_fewer_iterations(load_real, monkeypatch):
    case = make_case(load_real("sonar"), "hinge", norms.Lp(4 / 3), n=150, M=12)
    longer = case.solve("analytic", working_set=150)
    plain = Analytic(AnalyticTuning(first_factor=1.0, increase=1.0))
    monkeypatch.setattr("kernelweave.optimization.plan.Analytic", lambda: plain)
    formula = case.solve("analytic", working_set=150)
    assert longer.converged
    assert longer.n_iter <= 0.7 * formula.n_iter
    assert longer.primal == pytest.approx(formula.primal, rel=1e-3)


def test_reduced_direction_is_that_of_the_paper():
    share, gradient = np.array([0.5, 0.3, 0.2, 0.0, 0.0]), np.array([-3.0, -1.0, -4.0, -5.0, -2.0])
    direction = reduced_direction(share, gradient, 0)
    np.testing.assert_array_equal(direction, [-1.0, -2.0, 1.0, 2.0, 0.0])
    assert direction @ gradient < 0
