"""Probabilities, prediction sets and intervals from cross-fitted decision values."""

import numpy as np
import pytest
from scipy.special import expit
from sklearn.base import clone
from sklearn.datasets import load_diabetes, make_classification
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import log_loss

from kernelweave import MKLClassifier, MKLClassifierCV, MKLRegressor, MKLRegressorCV, load
from kernelweave.estimators.calibration import IsotonicCalibrator, SigmoidCalibrator
from kernelweave.estimators.conformal import threshold
from kernelweave.estimators.cross_fit import folds
from kernelweave.kernels import RBF, Linear


@pytest.fixture
def data():
    return make_classification(400, 6, n_informative=4, flip_y=0.15, random_state=0)


def held_out(model, X, y, decide):
    """Return cross-fitted decision values by fits of their own, the same folds."""
    found = []
    for test in folds(len(y), np.unique(y, return_inverse=True)[1]):
        train = np.setdiff1d(np.arange(len(y)), test)
        values = decide(clone(model).set_params(calibrate=None).fit(X[train], y[train]), X[test])
        found.append((test, values))
    return found


def test_sigmoid_maximises_the_smoothed_likelihood(rng):
    values, weights = rng.normal(size=200), rng.random(200) + 0.5
    positive = rng.random(200) < expit(2 * values - 1)
    found = SigmoidCalibrator.fit(values, positive, weights)
    counts = np.bincount(positive, weights)
    target = np.where(positive, (counts[1] + 1) / (counts[1] + 2), 1 / (counts[0] + 2))
    twice = np.concatenate([weights * target, weights * (1 - target)])
    model = LogisticRegression(C=np.inf, tol=1e-10, max_iter=10_000).fit(
        np.tile(values, 2)[:, None], np.repeat([1, 0], 200), sample_weight=twice
    )
    assert found.slope == pytest.approx(model.coef_[0, 0], rel=1e-4)
    assert found.offset == pytest.approx(model.intercept_[0], rel=1e-4)


def test_sigmoid_of_separable_classes_is_finite():
    values = np.linspace(-1, 1, 20)
    found = SigmoidCalibrator.fit(values, values > 0, np.ones(20))
    assert np.isfinite([found.slope, found.offset]).all()
    assert (found(values) > 0.5).tolist() == (values > 0).tolist()


def test_isotonic_is_monotone_and_never_certain(rng):
    values = rng.normal(size=300)
    found = IsotonicCalibrator.fit(values, values > 0, np.ones(300))
    p = found(np.linspace(-5, 5, 1001))
    assert (np.diff(p) >= 0).all()
    assert p.min() == pytest.approx(1 / 302)
    assert p.max() == pytest.approx(301 / 302)


@pytest.mark.parametrize("loss", ["hinge", "squared_hinge", "logistic"])
def test_conformity_scores_equal_those_of_fits_on_each_fold(data, loss):
    X, y = data
    kernels = [RBF(0.1), Linear()]
    model = MKLClassifier(kernels, loss=loss, normalize=None, calibrate="sigmoid", tol=1e-7).fit(
        X, y
    )
    (calibrator,) = model.calibrators_
    for test, values in held_out(model, X, y, lambda m, Z: m.decision_function(Z)):
        p = calibrator(values)
        wanted = np.where(y[test] == 1, 1 - p, p)
        np.testing.assert_allclose(model.conformity_[test], wanted, atol=2e-3)


def test_residuals_equal_those_of_fits_on_each_fold(rng):
    X = rng.normal(size=(150, 3))
    y = X[:, 0] ** 2 + 0.2 * rng.normal(size=150) + 1000
    model = MKLRegressor(RBF(0.3), normalize=None, C=10, epsilon=0.1, calibrate="residuals")
    model.set_params(tol=1e-8).fit(X, y)
    for test in folds(150, None):
        train = np.setdiff1d(np.arange(150), test)
        alone = clone(model).set_params(calibrate=None).fit(X[train], y[train])
        wanted = np.abs(y[test] - alone.predict(X[test]))
        np.testing.assert_allclose(model.conformity_[0, test], wanted, atol=1e-3)


def test_groups_are_held_out_together(data):
    X, y = data
    groups = np.arange(len(y)) % 7
    model = MKLClassifier(RBF(0.1), normalize=None, calibrate="sigmoid", tol=1e-7)
    model.fit(X, y, groups=groups)
    folds = model.calibration_folds_
    assert all(len(np.unique(folds[groups == group])) == 1 for group in range(7))
    for fold in np.unique(folds):
        train, test = folds != fold, folds == fold
        alone = clone(model).set_params(calibrate=None).fit(X[train], y[train])
        p = model.calibrators_[0](alone.decision_function(X[test]))
        wanted = np.where(y[test] == 1, 1 - p, p)
        np.testing.assert_allclose(model.conformity_[test], wanted, atol=2e-3)


def test_groups_of_intervals_are_held_out_together(rng):
    X = rng.normal(size=(60, 3))
    groups = np.arange(60) // 20
    model = MKLRegressor(RBF(0.3), calibrate="residuals").fit(X, X[:, 0], groups=groups)
    assert len(np.unique(np.column_stack([model.calibration_folds_, groups]), axis=0)) == 3


@pytest.mark.parametrize(
    ("groups", "message"),
    [
        (np.zeros(400), "at least 2 different values"),
        (np.arange(3), "one value for each of 400"),
        ("classes", "leave every class to the other folds"),
    ],
)
def test_bad_groups_are_refused(data, groups, message):
    X, y = data
    groups = y if isinstance(groups, str) else groups
    with pytest.raises(ValueError, match=message):
        MKLClassifier(RBF(0.1), calibrate="sigmoid").fit(X, y, groups=groups)


def test_jackknife_refuses_groups(rng):
    X = rng.normal(size=(30, 2))
    model = MKLRegressor(RBF(0.3), loss="squared", calibrate="jackknife+")
    with pytest.raises(ValueError, match="groups must be None"):
        model.fit(X, X[:, 0], groups=np.arange(30) % 3)


def test_calibration_does_not_change_the_model(data):
    X, y = data
    plain = MKLClassifier(RBF([0.1, 1.0])).fit(X, y)
    model = MKLClassifier(RBF([0.1, 1.0]), calibrate="sigmoid").fit(X, y)
    np.testing.assert_array_equal(plain.decision_function(X), model.decision_function(X))
    np.testing.assert_array_equal(plain.weights_, model.weights_)


@pytest.mark.parametrize("how", ["sigmoid", "isotonic"])
@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("shared", [False, True])
def test_probabilities_are_better_than_class_frequencies(how, classes, shared):
    X, y = make_classification(
        800, 6, n_informative=4, n_classes=classes, flip_y=0.1, random_state=1
    )
    model = MKLClassifier(RBF(0.2), calibrate=how, share_weights=shared).fit(X[:400], y[:400])
    p = model.predict_proba(X[400:])
    np.testing.assert_allclose(p.sum(axis=1), 1.0)
    frequencies = np.tile(np.bincount(y[:400]) / 400, (400, 1))
    assert log_loss(y[400:], p) < 0.75 * log_loss(y[400:], frequencies)
    np.testing.assert_allclose(model.predict_log_proba(X[:5]), np.log(model.predict_proba(X[:5])))


def test_several_labels_have_a_probability_each(rng):
    X = rng.normal(size=(200, 4))
    y = (X[:, :2] > 0).astype(int)
    model = MKLClassifier(RBF(0.2), calibrate="sigmoid").fit(X, y)
    assert model.predict_proba(X).shape == (200, 2)
    with pytest.raises(ValueError, match="one label per example"):
        model.predict_set(X)


N_TRAIN, N_TEST, SEEDS = 1500, 3000, range(5)


def three_deviations(alpha):
    """Three standard deviations of the mean coverage, over all seeds.

    With n exchangeable scores the coverage of a threshold has a beta distribution, whose variance
    is alpha (1 - alpha) / (n + 2), and the rate on test examples is binomial given the coverage.
    """
    variance = alpha * (1 - alpha) * (1 / (N_TRAIN + 2) + 1 / N_TEST)
    return 3 * np.sqrt(variance / len(SEEDS))


@pytest.mark.parametrize("alpha", [0.05, 0.1, 0.2])
def test_sets_contain_the_class_at_the_given_rate(alpha):
    rates = []
    for seed in SEEDS:
        X, y = make_classification(
            N_TRAIN + N_TEST, 6, n_informative=4, flip_y=0.2, random_state=seed
        )
        model = MKLClassifier(RBF(0.2), calibrate="sigmoid").fit(X[:N_TRAIN], y[:N_TRAIN])
        sets = model.predict_set(X[N_TRAIN:], alpha)
        rates.append(sets[np.arange(N_TEST), y[N_TRAIN:]].mean())
    assert np.mean(rates) == pytest.approx(1 - alpha, abs=three_deviations(alpha))


@pytest.mark.parametrize("loss", ["epsilon_insensitive", "squared"])
def test_intervals_contain_the_target_at_the_given_rate(loss):
    rates = []
    for seed in SEEDS:
        rng = np.random.default_rng(seed)
        X = rng.normal(size=(N_TRAIN + N_TEST, 2))
        y = np.sin(2 * X[:, 0]) + 0.3 * rng.normal(size=len(X))
        model = MKLRegressor(RBF(0.5), loss=loss, calibrate="residuals")
        low, high = model.fit(X[:N_TRAIN], y[:N_TRAIN]).predict_interval(X[N_TRAIN:], 0.1).T
        rates.append(((low <= y[N_TRAIN:]) & (y[N_TRAIN:] <= high)).mean())
    assert np.mean(rates) == pytest.approx(0.9, abs=three_deviations(0.1))


def test_several_targets_have_intervals_of_their_own(rng):
    X = rng.normal(size=(100, 2))
    y = np.column_stack([X[:, 0], 100 * X[:, 1] ** 2])
    model = MKLRegressor(RBF(0.5), calibrate="residuals").fit(X, y)
    ends = model.predict_interval(X, 0.1)
    assert ends.shape == (100, 2, 2)
    assert np.ptp(ends[0, 0]) < np.ptp(ends[0, 1])


def test_threshold_is_the_conformal_rank_of_the_scores():
    scores = np.arange(1.0, 20.0)  # 19 scores: (19 + 1) * 0.9 = 18
    assert threshold(scores, 0.1) == 18.0
    assert threshold(scores, 0.05) == 19.0
    assert threshold(scores, 0.01) == np.inf


@pytest.mark.parametrize("Search", [MKLClassifierCV, MKLRegressorCV])
def test_searches_calibrate_the_chosen_model(data, Search):
    X, y = data
    how = "sigmoid" if Search is MKLClassifierCV else "residuals"
    search = Search(RBF(0.2), norms=[2], Cs=[0.1, 1.0], cv=3, calibrate=how).fit(X, y)
    if how == "sigmoid":
        assert search.predict_proba(X).shape == (400, 2)
        assert search.predict_set(X).shape == (400, 2)
    else:
        assert search.predict_interval(X).shape == (400, 2)


@pytest.mark.parametrize("how", ["sigmoid", "isotonic"])
def test_files_keep_calibrators_and_scores(data, how, tmp_path):
    X, y = data
    model = MKLClassifier(RBF(0.2), calibrate=how).fit(X, y)
    model.save(tmp_path / "model.kw")
    again = load(tmp_path / "model.kw")
    np.testing.assert_array_equal(again.predict_proba(X), model.predict_proba(X))
    np.testing.assert_array_equal(again.predict_set(X), model.predict_set(X))


def test_equal_examples_are_held_out_together(data):
    X, y = data
    twice = MKLClassifier(RBF(0.2), calibrate="sigmoid", tol=1e-7)
    twice.fit(np.repeat(X, 2, axis=0), np.repeat(y, 2))
    assert len(twice.conformity_) == len(y)
    p = twice.predict_proba(X)[:, 1]
    assert log_loss(y, p) > 0.1  # not overconfident, as it would be with copies on both sides


@pytest.mark.parametrize(
    ("estimator", "message"),
    [
        (MKLClassifier(calibrate="platt"), "calibrate must be one of"),
        (MKLRegressor(calibrate="sigmoid"), "calibrate must be one of"),
        (
            MKLClassifier(RBF(9.0), C=np.inf, calibrate="sigmoid"),
            "calibrate must be None for a hard",
        ),
    ],
)
def test_mistaken_parameters_are_named(data, estimator, message):
    X, y = data
    with pytest.raises(ValueError, match=message):
        estimator.fit(X, y)


def test_methods_need_calibration():
    X, y = load_diabetes(return_X_y=True)
    regressor, classifier = MKLRegressor(RBF(0.1)), MKLClassifier(RBF(0.1))
    with pytest.raises(AttributeError) as error:
        regressor.fit(X, y).predict_interval(X)
    assert "calibrate='residuals'" in str(error.value)
    classifier.fit(X, y > 150)
    for name in ("predict_proba", "predict_set"):
        assert not hasattr(classifier, name)
    with pytest.raises(AttributeError) as error:
        classifier.predict_proba(X)
    assert "calibrate='sigmoid'" in str(error.value)
    regressor.set_params(calibrate="residuals").fit(X, y)
    with pytest.raises(ValueError, match="alpha must be a number between 0 and 1"):
        regressor.predict_interval(X, 1.5)


@pytest.mark.parametrize("n", [2, 4, 5, 23])
def test_folds_hold_out_every_example_once_and_equal_parts_of_labels(n, rng):
    for strata in (None, rng.integers(0, 3, n), np.zeros(n)):
        found = folds(n, strata)
        np.testing.assert_array_equal(np.sort(np.concatenate(found)), np.arange(n))
        assert np.ptp([len(test) for test in found]) <= 1
        labels = np.zeros(n) if strata is None else strata
        for label in np.unique(labels):
            assert np.ptp([np.sum(labels[test] == label) for test in found]) <= 1
