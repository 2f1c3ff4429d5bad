"""All classes in one problem: scikit-learn's linear models and NumPy as oracles."""

import checker
import numpy as np
import pytest
from sklearn.base import clone
from sklearn.datasets import load_wine, make_blobs
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import log_loss
from sklearn.model_selection import cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC

import kernelweave
from kernelweave import MKLClassifier, MKLClassifierCV, compare, norms, verify
from kernelweave.estimators.cross_fit import folds
from kernelweave.estimators.joint_classes import leads, warn_of_large
from kernelweave.kernels import RBF, Linear

WIDTHS = [0.01, 0.1, 1.0]
LOSSES = ("logistic", "hinge")
every_loss = pytest.mark.parametrize("loss", LOSSES)


def joint(kernels=None, **given):
    return MKLClassifier(RBF(WIDTHS) if kernels is None else kernels, multi_class="joint", **given)


@pytest.fixture(scope="module")
def wine():
    X, y = load_wine(return_X_y=True)
    return StandardScaler().fit_transform(X), np.array(["low", "mid", "top"])[y]


@pytest.fixture(scope="module")
def overlapping():
    X, y = make_blobs(200, centers=4, cluster_std=3.0, random_state=0)
    return StandardScaler().fit_transform(X), y


BALLS = {
    1: checker.Norm("lp", 1.0),
    1.5: checker.Norm("lp", 1.5),
    2: checker.Norm("lp", 2.0),
    np.inf: checker.Norm("lp", np.inf),
}


def values_of(model, X, y, weights, norm):
    """Return what the checker finds for a model with normalize=None on RBF kernels."""
    squared = ((X[:, None] - X[None]) ** 2).sum(axis=2)
    K = np.array([np.exp(-gamma * squared) for gamma in WIDTHS])
    alpha = np.zeros((len(model.classes_), len(y)))
    alpha[:, model.support_] = model.dual_coef_
    codes = np.searchsorted(model.classes_, y)
    tau = 0.0 if model.fit_intercept else None
    return checker.classes_certificate(
        K, codes, weights, alpha, model.weights_, model.intercept_, model.loss, norm, tau
    )


@every_loss
@pytest.mark.parametrize("norm", BALLS)
@pytest.mark.parametrize("intercept", [True, False])
def test_the_checker_finds_the_reported_gap(overlapping, loss, norm, intercept, rng):
    X, y = overlapping
    weights = rng.uniform(0.5, 2.0, size=len(y))
    weights[:5] = 0.0
    model = joint(norm=norm, loss=loss, C=2.0, normalize=None, fit_intercept=intercept)
    model.fit(X, y, weights)
    found = values_of(model, X, y, 2.0 * weights, BALLS[norm])
    assert found.primal == pytest.approx(model.primal_objective_, rel=1e-8)
    assert found.dual == pytest.approx(model.dual_objective_, rel=1e-8)
    assert found.constant == pytest.approx(model.constant_objective_, rel=1e-8)
    assert found.gap <= model.tol
    assert verify(model, X, y, weights).agree


@every_loss
@pytest.mark.parametrize("norm", [norms.Elastic(0.5), norms.Block(1.5), norms.Elliptic(np.eye(3))])
def test_every_norm_is_certified(wine, loss, norm):
    X, y = wine
    model = joint(norm=norm, loss=loss).fit(X, y)
    assert verify(model, X, y).agree
    assert model.duality_gap_ <= model.tol
    assert model.score(X, y) > 0.95


@every_loss
def test_small_gaps_are_reached(overlapping, loss):
    X, y = overlapping
    model = joint(loss=loss, tol=1e-6).fit(X, y)
    assert model.duality_gap_ <= 1e-6
    assert verify(model, X, y).agree


@pytest.mark.parametrize("intercept", [True, False])
def test_the_multinomial_loss_is_that_of_logistic_regression(wine, intercept):
    X, y = wine
    given = {"C": 0.3, "fit_intercept": intercept}
    ours = joint([Linear()], loss="logistic", normalize=None, tol=1e-9, **given).fit(X, y)
    theirs = LogisticRegression(tol=1e-10, max_iter=10_000, **given).fit(X, y)
    np.testing.assert_allclose(ours.predict_proba(X), theirs.predict_proba(X), atol=1e-4)
    centred = theirs.decision_function(X)
    centred = centred - centred.mean(axis=1, keepdims=True)
    np.testing.assert_allclose(ours.decision_function(X), centred, atol=1e-3)


def test_the_hinge_is_that_of_crammer_and_singer(overlapping):
    X, y = overlapping
    given = {"C": 0.7, "fit_intercept": False}
    ours = joint([Linear()], loss="hinge", normalize=None, tol=1e-7, **given).fit(X, y)
    theirs = LinearSVC(multi_class="crammer_singer", tol=1e-8, max_iter=100_000, **given).fit(X, y)
    np.testing.assert_allclose(ours.decision_function(X), theirs.decision_function(X), atol=2e-2)

    def objective(W):
        f = X @ W.T
        own = f[np.arange(len(y)), y]
        margins = f + (np.arange(4) != y[:, None])
        return 0.5 * np.sum(W**2) + 0.7 * np.sum(margins.max(axis=1) - own)

    assert ours.primal_objective_ == pytest.approx(objective(theirs.coef_), rel=1e-4)


@every_loss
def test_two_classes_are_the_two_class_problem(wine, loss):
    X, y = wine
    X, y = X[y != "mid"], y[y != "mid"]
    one = joint(loss=loss).fit(X, y)
    other = MKLClassifier(RBF(WIDTHS), loss=loss).fit(X, y)
    assert one.multi_class_ == "ovr"
    np.testing.assert_array_equal(one.decision_function(X), other.decision_function(X))


@every_loss
def test_names_and_order_of_classes_make_no_difference(overlapping, loss):
    X, y = overlapping
    order = np.array([2, 0, 3, 1])
    one, other = (clone(joint(loss=loss, tol=1e-6)).fit(X, labels) for labels in (y, order[y]))
    values = other.decision_function(X)[:, order]
    np.testing.assert_allclose(one.decision_function(X), values, atol=0.02)


@every_loss
def test_weights_are_repetitions(wine, loss):
    X, y = wine
    weights = np.where(np.arange(len(y)) < 30, 2.0, 1.0)
    twice = joint(loss=loss, tol=1e-6, normalize=None).fit(
        np.concatenate([X, X[:30]]), np.concatenate([y, y[:30]])
    )
    weighted = joint(loss=loss, tol=1e-6, normalize=None).fit(X, y, weights)
    np.testing.assert_allclose(weighted.weights_, twice.weights_, rtol=1e-2)
    assert weighted.primal_objective_ == pytest.approx(twice.primal_objective_, rel=1e-5)


def test_probabilities_are_a_softmax(wine):
    X, y = wine
    model = joint(loss="logistic").fit(X, y)
    values = model.decision_function(X)
    expected = np.exp(values) / np.exp(values).sum(axis=1, keepdims=True)
    np.testing.assert_allclose(model.predict_proba(X), expected)
    with pytest.raises(AttributeError, match="loss='logistic'"):
        _ = joint(loss="hinge").fit(X, y).predict_proba


@every_loss
def test_conformity_scores_equal_those_of_fits_on_each_fold(overlapping, loss):
    X, y = overlapping
    model = joint(loss=loss, normalize=None, calibrate="sigmoid", tol=1e-7).fit(X, y)
    for test in folds(len(y), y):
        train = np.setdiff1d(np.arange(len(y)), test)
        alone = clone(model).set_params(calibrate=None).fit(X[train], y[train])
        values = alone.decision_function(X[test])
        others = np.where(np.eye(4, dtype=bool)[:, None], -np.inf, values).max(axis=2).T
        pairs = zip(model.calibrators_, (values - others).T, strict=True)
        p = np.column_stack([one(column) for one, column in pairs])
        p /= p.sum(axis=1, keepdims=True)
        wanted = 1 - p[np.arange(len(test)), y[test]]
        np.testing.assert_allclose(model.conformity_[test], wanted, atol=2e-3)


@every_loss
@pytest.mark.parametrize("how", ["sigmoid", "isotonic"])
@pytest.mark.parametrize("Estimator", [MKLClassifier, MKLClassifierCV])
def test_calibrated_models_have_probabilities_and_sets(wine, loss, how, Estimator, tmp_path):
    X, y = wine
    given = {"multi_class": "joint", "loss": loss, "calibrate": how}
    if Estimator is MKLClassifierCV:
        given.update(norms=[2], Cs=[1.0], cv=2)
    model = Estimator(RBF(WIDTHS), **given).fit(X[::2], y[::2])
    p, sets = model.predict_proba(X[1::2]), model.predict_set(X[1::2], 0.1)
    np.testing.assert_allclose(p.sum(axis=1), 1.0)
    assert log_loss(y[1::2], p) < 0.3
    assert (sets & (model.classes_ == y[1::2, None])).any(axis=1).mean() > 0.8
    model.save(tmp_path / "model.kw")
    again = kernelweave.load(tmp_path / "model.kw")
    np.testing.assert_array_equal(again.predict_set(X), model.predict_set(X))
    assert verify(again, X[::2], y[::2]).agree


def test_leads_over_the_best_other_class():
    found = leads(np.array([[1.0, 4.0, 2.0], [3.0, 0.0, 3.0]]))
    np.testing.assert_array_equal(found, [[-3.0, 2.0, -2.0], [0.0, -3.0, 0.0]])


@every_loss
def test_models_survive_files(wine, loss, tmp_path):
    X, y = wine
    model = joint(loss=loss).fit(X, y)
    model.save(tmp_path / "model.kw")
    loaded = kernelweave.load(tmp_path / "model.kw")
    np.testing.assert_array_equal(loaded.decision_function(X), model.decision_function(X))
    assert verify(loaded, X, y).agree
    assert model.weights_frame().equals(loaded.weights_frame())
    added = model.contributions(X).sum(axis=2) + model.intercept_
    np.testing.assert_allclose(added, model.decision_function(X))


@every_loss
def test_searches_and_pipelines_train_joint_models(wine, loss):
    X, y = wine
    search = MKLClassifierCV(
        RBF(WIDTHS), multi_class="joint", loss=loss, norms=[1, 2], Cs=[0.1, 1.0], cv=3
    ).fit(X, y)
    assert search.multi_class_ == "joint"
    assert search.weights_.shape == (3,)
    assert search.best_score_ > 0.9
    assert verify(search, X, y).agree
    pipeline = make_pipeline(StandardScaler(), joint(loss=loss))
    assert cross_val_score(pipeline, X, y, cv=3).mean() > 0.9


def test_comparisons_train_joint_models(wine):
    X, y = wine
    found = compare(joint(loss="logistic"), X, y, cv=2, Cs=[1.0], norms=[1])
    assert min(np.mean(scores) for scores in found.scores.values()) > 0.9


@every_loss
def test_classes_that_a_fold_lacks_are_not_predicted(wine, loss):
    X, y = wine
    folds = [(np.flatnonzero(y != name), np.flatnonzero(y == name)) for name in ("low", "mid")]
    search = MKLClassifierCV(
        RBF(0.1), multi_class="joint", loss=loss, norms=[2], Cs=[1.0], cv=folds
    ).fit(X, y)
    assert not search.scores_.any()
    assert search.duality_gap_ <= search.tol


@every_loss
def test_a_class_of_one_example_or_without_weight(wine, loss):
    X, y = wine
    y = y.astype("U9")
    y[0] = "alone"
    model = joint(loss=loss).fit(X, y)
    assert verify(model, X, y).agree
    without = joint(loss=loss, class_weight={"low": 0.0}).fit(X, y)
    assert verify(without, X, y).agree
    assert "low" not in without.predict(X)


@every_loss
def test_default_kernels_are_chosen_for_joint_models(wine, loss):
    X, y = wine
    model = MKLClassifier(multi_class="joint", loss=loss).fit(X, y)
    assert model.multi_class_ == "joint"
    assert model.score(X, y) > 0.95
    assert verify(model, X, y).agree


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"loss": "squared_hinge"}, "loss must be 'hinge'"),
        ({"C": np.inf}, "C must be finite"),
        ({"share_weights": False}, "share_weights must be True"),
        ({"solver": "newton"}, "smooth loss"),
        ({"solver": "skm", "norm": 1}, "does not support"),
    ],
)
def test_unsupported_parameters_of_joint_models_are_refused(wine, given, message):
    with pytest.raises(ValueError, match=message):
        joint(**given).fit(*wine)


@pytest.mark.parametrize("solver", ["analytic", "level", "cutting-plane", "gradient", "uniform"])
@every_loss
def test_other_solvers_reach_the_same_optimum(wine, solver, loss):
    X, y = wine
    norm = {"gradient": 1, "uniform": np.inf, "analytic": 2}.get(solver, 1.5)
    ours = joint(norm=norm, loss=loss, solver=solver).fit(X, y)
    assert ours.duality_gap_ <= ours.tol
    assert ours.primal_objective_ == pytest.approx(
        joint(norm=norm, loss=loss).fit(X, y).primal_objective_, rel=3e-3
    )


def test_many_classes_and_examples_are_worth_a_warning():
    with pytest.warns(UserWarning, match="10,000 classes on 20,000 examples"):
        warn_of_large(np.arange(10_000), 20_000)


@every_loss
def test_a_stopped_fit_goes_on_from_its_checkpoint(overlapping, loss, tmp_path):
    X, y = overlapping
    given = {"loss": loss, "tol": 1e-6, "checkpoint": tmp_path / "state"}
    with pytest.warns(ConvergenceWarning):
        joint(max_iter=1, **given).fit(X, y)
    assert list(tmp_path.iterdir())
    model = joint(**given).fit(X, y)
    assert model.duality_gap_ <= 1e-6
    assert not list(tmp_path.iterdir())


def test_joint_models_refuse_held_out_shares(wine):
    model = MKLClassifier(RBF([0.1, 1.0]), multi_class="joint").fit(*wine)
    with pytest.raises(ValueError, match="'ovr' or 'ovo' to compute held-out shares"):
        model.weights_frame(*wine)
