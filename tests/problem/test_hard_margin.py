"""C = inf: certified margins, and an error if the classes cannot be separated."""

import checker
import numpy as np
import pytest
from naive_mkl import plain_norm, spread
from sklearn.svm import SVC

from kernelweave import MKLClassifier, MKLClassifierCV, MKLRegressor, load, losses, norms, verify
from kernelweave.kernels import RBF, Linear, Polynomial
from kernelweave.problem.hard_margin import HardMarginProblem

KERNELS = [RBF([0.1, 1.0]), Linear()]
E = np.eye(3) + 0.5
NORMS = [1, 1.3, 2, np.inf, norms.Elliptic(E), norms.Block(3)]
WAYS = [
    ("hessian", 1),
    ("cutting-plane", 1),
    ("level", 1),
    ("gradient", 1),
    ("skm", 1),
    ("qcqp", 1),
]
WAYS += [("analytic", 2), ("newton", 2), ("qcqp", 2), ("alignment", 2), ("uniform", np.inf)]


@pytest.fixture
def apart(rng):
    """Two classes with a gap between them."""
    X = rng.normal(size=(50, 3))
    y = np.where(X[:, 0] + 0.5 * X[:, 1] > 0, 1, -1)
    X[:, 0] += 0.3 * y
    return X, y


def exact(model, X, y, norm):
    """Return the values of a model by the checker, as those of a soft margin without errors."""
    K = np.concatenate([kernel(X).reshape(-1, len(y), len(y)) for kernel in KERNELS])
    alpha = spread(model.dual_coef_, model.support_, len(y))
    C = np.full(len(y), 1e9)  # above all alphas
    theta, bias = model.weights_, model.intercept_
    return checker.certificate(K, 1.0 * y, C, alpha, theta, bias, "hinge", norm)


@pytest.mark.parametrize("norm", NORMS, ids=str)
def test_no_example_is_inside_the_margin_and_the_gap_is_certified(norm, apart):
    X, y = apart
    model = MKLClassifier(KERNELS, norm=norm, C=np.inf, normalize=None).fit(X, y)
    assert np.min(y * model.decision_function(X)) >= 1 - 1e-9
    found = exact(model, X, y, plain_norm(norm))
    assert found.primal == pytest.approx(model.primal_objective_, rel=1e-6)
    assert found.dual == pytest.approx(model.dual_objective_, rel=1e-6)
    gap = (model.primal_objective_ - model.dual_objective_) / model.primal_objective_
    assert model.duality_gap_ == pytest.approx(gap)
    assert model.duality_gap_ <= 1e-3
    assert model.constant_objective_ == np.inf
    assert verify(model, X, y).agree


def test_margin_of_1_up_to_rounding_is_certified(rng):
    y = np.where(np.arange(20) % 2, 1.0, -1.0)
    problem = HardMarginProblem.separating(losses.Hinge(), norms.Lp(1), y, np.ones(20, dtype=bool))
    for _ in range(200):
        F = y * (1 + rng.exponential(size=20)) + rng.normal()
        F /= problem.margin(F, problem.best_bias(F))
        found = problem.certificate(0.01 * y, F, np.array([1e-3]), np.ones(1))
        assert found.primal == pytest.approx(5e-4)


@pytest.mark.parametrize(("solver", "norm"), WAYS)
def test_every_solver_finds_the_hard_margin(solver, norm, apart):
    if solver == "qcqp":
        pytest.importorskip("clarabel")
    X, y = apart
    model = MKLClassifier(KERNELS, norm=norm, C=np.inf, solver=solver).fit(X, y)
    assert model.duality_gap_ <= 1e-3
    if solver != "alignment":
        auto = MKLClassifier(KERNELS, norm=norm, C=np.inf, tol=1e-5).fit(X, y)
        assert model.primal_objective_ == pytest.approx(auto.primal_objective_, rel=2e-3)
    assert verify(model, X, y).agree


@pytest.mark.parametrize("kernel", [Linear(), RBF(1.0)])
def test_hard_margin_is_the_limit_of_soft_margins(kernel, apart):
    X, y = apart
    model = MKLClassifier(kernel, C=np.inf, normalize=None, tol=1e-7).fit(X, y)
    theirs = SVC(C=1e10, kernel="precomputed", tol=1e-9).fit(kernel(X), y)
    np.testing.assert_allclose(
        model.decision_function(X), theirs.decision_function(kernel(X)), atol=2e-3
    )
    assert len(model.support_) < len(y)


def test_sample_weights_only_select_examples(apart, rng):
    X, y = apart
    plain = MKLClassifier(KERNELS, C=np.inf, class_weight={1: 5.0}).fit(X, y)
    weighed = MKLClassifier(KERNELS, C=np.inf).fit(X, y, rng.uniform(0.1, 9.0, len(y)))
    np.testing.assert_allclose(weighed.decision_function(X), plain.decision_function(X))
    X, y = np.vstack([X, X[:2]]), np.append(y, -y[:2])  # contradictions that do not count
    counted = np.append(np.ones(50), np.zeros(2))
    model = MKLClassifier(KERNELS, C=np.inf).fit(X, y, counted)
    values = [one.decision_function(X[:50]) for one in (model, plain)]
    np.testing.assert_allclose(*values, atol=1e-3)
    assert verify(model, X, y, counted).agree


@pytest.mark.parametrize("share_weights", [False, True])
def test_hard_margin_of_several_classes(share_weights, rng):
    y = np.arange(60) % 3
    X = rng.normal(size=(60, 2)) + 8.0 * np.array([[0, 0], [1, 0], [0, 1]])[y]
    model = MKLClassifier(RBF([0.01, 0.1]), C=np.inf, share_weights=share_weights).fit(X, y)
    signs = np.where(y[:, None] == np.arange(3), 1.0, -1.0)
    assert np.min(signs * model.decision_function(X)) >= 1 - 1e-9
    assert np.all(model.duality_gap_ <= 1e-3)
    assert verify(model, X, y).agree


NEVER = "C=inf requires a margin without errors, but these kernels cannot separate the classes"


@pytest.mark.parametrize("norm", [1, 2, np.inf])
def test_classes_that_cannot_be_separated_are_an_error(norm, rng):
    X = rng.normal(size=(80, 2))
    y = np.arange(80) % 2
    for kernel in (Linear(), Polynomial([1, 2])):
        with pytest.raises(ValueError, match=NEVER):
            MKLClassifier(kernel, C=np.inf, norm=norm).fit(X, y)
    X[1] = X[0]
    with pytest.raises(ValueError, match=f"{NEVER}: no margin exceeds .*; choose a finite C"):
        MKLClassifier(RBF([0.1, 1.0]), C=np.inf, norm=norm).fit(X, y)


def test_a_narrow_margin_is_found(rng):
    X = np.sort(rng.normal(size=40))[:, None]
    X[20:] += 1e-3
    y = np.arange(40) >= 20
    model = MKLClassifier(Linear(), C=np.inf, normalize=None).fit(X, y)
    width = 2 / np.sqrt(2 * model.primal_objective_)
    assert width == pytest.approx(float(X[20, 0] - X[19, 0]), rel=1e-3)


def test_losses_and_estimators_without_hard_margin_are_refused(apart):
    X, y = apart
    same = MKLClassifier(KERNELS, C=np.inf, loss="squared_hinge").fit(X, y)
    hinge = MKLClassifier(KERNELS, C=np.inf).fit(X, y)
    np.testing.assert_array_equal(same.dual_coef_, hinge.dual_coef_)
    with pytest.raises(ValueError, match="is for loss='hinge' or 'squared_hinge', got 'logistic'"):
        MKLClassifier(KERNELS, C=np.inf, loss="logistic").fit(X, y)
    with pytest.raises(
        ValueError, match='C must be a finite number above 0, or "auto", or "scale", got inf'
    ):
        MKLRegressor(KERNELS, C=np.inf).fit(X, y)
    with pytest.raises(ValueError, match="Cs must be a sequence of finite numbers"):
        MKLClassifierCV(KERNELS, Cs=(1.0, np.inf)).fit(X, y)


def test_hard_margin_model_is_saved(apart, tmp_path):
    X, y = apart
    model = MKLClassifier(KERNELS, C=np.inf).fit(X, y)
    model.save(tmp_path / "m.kw")
    again = load(tmp_path / "m.kw")
    assert np.isinf(again.C)
    assert verify(again, X, y).agree


def test_constant_model_is_optimal_for_one_class():
    y = np.array([-1.0, -1.0, 1.0])
    problem = HardMarginProblem.separating(
        losses.Hinge(), norms.Lp(1), y, np.array([True, True, False])
    )
    assert problem.constant == 0
    assert problem.constant_is_optimal(0.0)
    certificate = problem.certificate(np.zeros(3), np.zeros(3), np.zeros(2), np.ones(2) / 2)
    assert (certificate.gap, certificate.bias) == (0.0, -1.0)


def test_running_out_of_time_warns(apart):
    X, y = apart
    with pytest.warns(UserWarning, match="raise max_time"):
        model = MKLClassifier(KERNELS, C=np.inf, max_time=1e-9).fit(X, y)
    assert np.isfinite(model.predict(X)).all()
