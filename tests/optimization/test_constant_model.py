"""If the constant model is optimal it is returned with a warning, and the fit ends."""

import warnings

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

from kernelweave import MKLClassifier, MKLClassifierCV, MKLRegressor, load, norms, verify
from kernelweave.kernels import RBF, Linear, per_feature

SPARSE = ("auto", "cutting-plane", "level", "gradient", "skm", "qcqp")
ROUND = ("analytic", "newton", "cutting-plane", "level", "qcqp")
WAYS = [
    *((solver, 1.0) for solver in SPARSE),
    *((solver, 2.0) for solver in ROUND),
    ("uniform", np.inf),
    ("alignment", 2.0),
    ("auto", norms.Block(3)),
    ("auto", norms.Elliptic(np.eye(4) + 0.5)),
]


@pytest.fixture
def noise(rng):
    """Few of one class amid many of the other: no linear model is better than a constant."""
    return rng.normal(size=(300, 4)), np.where(np.arange(300) < 30, "rare", "common")


@pytest.mark.parametrize(("solver", "norm"), WAYS, ids=str)
def test_every_solver_finds_the_constant_model(solver, norm, noise):
    if solver == "qcqp":
        pytest.importorskip("clarabel")
    X, y = noise
    model = MKLClassifier(per_feature(Linear()), norm=norm, C=0.1, solver=solver)
    with pytest.warns(UserWarning, match="the constant model is optimal: it costs 6, and no"):
        model.fit(X, y)
    assert model.duality_gap_ == 0
    assert model.primal_objective_ == model.constant_objective_ == pytest.approx(6.0)
    assert model.dual_objective_ == pytest.approx(6.0, rel=1e-9)
    assert not model.weights_.any()
    assert set(model.predict(X)) == {"common"}
    assert np.unique(model.decision_function(X)).size == 1
    assert verify(model, X, y).agree


def test_constant_model_is_no_failure_to_converge(noise):
    with warnings.catch_warnings():
        warnings.simplefilter("error", ConvergenceWarning)
        with pytest.warns(UserWarning, match="weights are 0; raise C or use other kernels"):
            MKLClassifier(per_feature(Linear()), C=0.1).fit(*noise)


def test_tiny_costs_give_the_constant_model(rng):
    X, y = rng.normal(size=(40, 2)), np.arange(40) % 2
    for C in (1e-15, 1e-100, 1e-300):
        with pytest.warns(UserWarning, match=r"constant model is optimal: .* which is rounding"):
            model = MKLClassifier(RBF([0.1, 1.0]), C=C).fit(X, y)
        assert model.constant_objective_ == pytest.approx(40 * C)
    model = MKLClassifier(RBF([0.1, 1.0]), C=1e-7).fit(X, y)
    assert model.weights_.any()
    assert model.duality_gap_ <= 1e-3


@pytest.mark.parametrize("solver", ["auto", "skm", "qcqp", "alignment"])
def test_targets_that_a_constant_fits(solver, rng):
    if solver == "qcqp":
        pytest.importorskip("clarabel")
    X = rng.normal(size=(30, 2))
    for y, loss in ((0.01 * X[:, 0], "epsilon_insensitive"), (np.full(30, 0.1), "squared")):
        model = MKLRegressor(
            [RBF(1.0), Linear()], norm=1, C=1.0, loss=loss, epsilon=0.1, solver=solver
        )
        with pytest.warns(
            UserWarning, match="constant model is optimal: it costs 0, and no model costs less."
        ):
            model.fit(X, y)
        assert (model.primal_objective_, model.duality_gap_) == (0.0, 0.0)
        assert np.ptp(model.predict(X)) == 0


def test_some_outputs_are_constant(noise, rng):
    X, y = noise
    y = np.where(X[:, 0] > 1.0, "far", y)  # which a line tells from the others
    with pytest.warns(UserWarning, match=r"constant model is optimal \(1 of 3 outputs\)"):
        model = MKLClassifier(per_feature(Linear()), C=0.1).fit(X, y)
    np.testing.assert_array_equal(model.weights_.any(axis=1), model.classes_ != "rare")
    assert verify(model, X, y).agree


def test_search_passes_costs_with_constant_models(rng):
    X = rng.normal(size=(60, 2))
    y = (X[:, 0] > 0).astype(int)
    model = MKLClassifierCV(RBF([0.1, 1.0]), Cs=(1e-14, 1.0), norms=(1.0, 2.0), cv=2)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model.fit(X, y)
    assert model.C_ == 1.0
    assert np.all(model.scores_[:, 0] <= 0.6)
    assert np.all(model.scores_[:, 1] > 0.8)


def test_a_constant_model_is_saved(noise, tmp_path):
    with pytest.warns(UserWarning, match="constant model is optimal"):
        model = MKLClassifier(per_feature(Linear()), C=0.1).fit(*noise)
    model.save(tmp_path / "constant.kw")
    again = load(tmp_path / "constant.kw")
    assert again.constant_objective_ == model.constant_objective_
    np.testing.assert_array_equal(again.predict(noise[0]), model.predict(noise[0]))
    np.testing.assert_array_equal(again.contributions(noise[0]), np.zeros((300, 4)))


@pytest.mark.parametrize("norm", [1, 4 / 3, 2])
@pytest.mark.parametrize("seed", range(4))
def test_constant_models_are_found_early_for_a_rare_class(seed, norm):
    """The constant model is soon optimal for fixed weights, and must be certified for all."""
    X = np.random.default_rng(seed).integers(0, 4, size=(1500, 20)).astype(float)
    y = np.where(np.arange(1500) < 60, 1, -1)
    with pytest.warns(
        UserWarning, match=r"constant model is optimal: .* or class_weight='balanced'"
    ):
        model = MKLClassifier(per_feature(Linear()), norm=norm).fit(X, y)
    assert model.n_iter_ <= 60
    assert model.constant_objective_ - model.dual_objective_ <= 1e-10 * model.constant_objective_
    assert np.all(model.predict(X) == -1)


@pytest.mark.parametrize(("norm", "interleaved"), [(1, True), (1, False), (2, False)])
@pytest.mark.parametrize("seed", range(4))
def test_one_kernel_among_thousands_is_tested_as_well(seed, norm, interleaved):
    """In the unweighted sum its squared block norm is below rounding."""
    rng = np.random.default_rng(seed)
    X, y = rng.normal(size=(300, 4)), np.where(np.arange(300) < 30, 1, -1)
    X[:, 0] *= 3.0
    kernels = [Linear(columns=[0]), *([Linear(columns=[1, 2, 3])] * 2999)]
    model = MKLClassifier(kernels, norm=norm, C=0.1, normalize=None, interleaved=interleaved)
    with pytest.warns(UserWarning, match="the constant model is optimal: it costs 6, and no"):
        model.fit(X, y)
    assert model.n_iter_ <= 10
    assert model.duality_gap_ == 0
    assert model.constant_objective_ - model.dual_objective_ <= 1e-10 * model.constant_objective_


@pytest.mark.filterwarnings("ignore:.*constant model is optimal:UserWarning")
def test_rounding_may_hide_that_a_constant_is_best():
    """The message does not name a kernel, since none has large rounding errors."""
    X = np.random.default_rng(0).normal(size=(300, 2))
    y = np.where(np.arange(300) < 12, 1, -1)
    with pytest.warns(ConvergenceWarning, match="rounding hides whether some model costs less"):
        model = MKLClassifier(per_feature(Linear()), norm=np.inf, C=1e9).fit(X, y)
    assert model.duality_gap_ == 0
    assert not model.weights_.any()
