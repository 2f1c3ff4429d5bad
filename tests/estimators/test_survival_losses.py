"""The losses of survival models: certificates, scikit-survival's SVMs, laws, bad input."""

import checker
import numpy as np
import pytest
from censored_cases import survival
from naive_normalize import normalised
from sklearn.metrics.pairwise import linear_kernel, rbf_kernel

from kernelweave import MKLSurvival, MKLSurvivalCV, load, verify
from kernelweave.estimators.survival_targets import as_survival
from kernelweave.kernels import RBF, Linear

KERNELS = [Linear(), RBF(gamma=[0.1, 1.0])]
LOSSES = [("cox", "breslow"), ("cox", "efron"), ("ranking", "efron"), ("regression", "efron")]
every_loss = pytest.mark.parametrize(("loss", "ties"), LOSSES)
every_other = pytest.mark.parametrize("loss", ["ranking", "regression"])
every_norm = pytest.mark.parametrize("norm", [1.0, 4 / 3, 2.0, np.inf])


@pytest.fixture
def untied(rng):
    X = rng.normal(size=(90, 4))
    return X, survival(rng.random(90) < 0.7, rng.exponential(np.exp(-X[:, 0])))


def checked(model, X, y, C):
    """Return the values of a model by `checker`, from its public attributes."""
    event, time = as_survival(y)
    kernels = [linear_kernel(X), rbf_kernel(X, gamma=0.1), rbf_kernel(X, gamma=1.0)]
    K = np.stack([normalised(one, "variance") for one in kernels])
    alpha = np.zeros(len(time))
    alpha[model.support_] = model.dual_coef_[0]
    norm = checker.Norm("lp", model.norm)
    bias = float(np.ravel(model.intercept_)[0])
    if model.loss != "regression":
        assert bias == 0
    return checker.survival_certificate(
        K, time, event, C, alpha, model.weights_, bias, model.loss, norm, model.ties
    )


@every_loss
@every_norm
@pytest.mark.parametrize("weighed", [False, True])
def test_certificate_is_that_of_the_checker(loss, ties, norm, weighed, study, rng):
    X, y = study
    weights = rng.uniform(0.2, 2.0, size=len(y)) if weighed else None
    model = MKLSurvival(KERNELS, norm=norm, C=0.5, loss=loss, ties=ties).fit(X, y, weights)
    if weighed:  # weights change the variance of the kernels
        assert verify(model, X, y, sample_weight=weights).agree
        return
    values = checked(model, X, y, np.full(len(y), 0.5))
    assert model.primal_objective_ == pytest.approx(values.primal, rel=1e-8)
    assert model.dual_objective_ == pytest.approx(values.dual, rel=1e-6)
    assert model.constant_objective_ == pytest.approx(values.constant, rel=1e-8)
    assert values.gap <= model.tol


@every_loss
@every_norm
def test_gap_upper_bounds_suboptimality(loss, ties, norm, study):
    X, y = study
    best = MKLSurvival(KERNELS, norm=norm, loss=loss, ties=ties, tol=1e-7).fit(X, y)
    assert best.duality_gap_ <= 1e-7
    for tol in (0.3, 1e-2, 1e-4):
        model = MKLSurvival(KERNELS, norm=norm, loss=loss, ties=ties, tol=tol).fit(X, y)
        scale = min(model.primal_objective_, model.constant_objective_ - model.dual_objective_)
        assert model.duality_gap_ <= tol
        assert (model.primal_objective_ - best.primal_objective_) / scale <= model.duality_gap_
        assert model.primal_objective_ >= best.dual_objective_
        assert model.dual_objective_ <= best.primal_objective_


@pytest.mark.parametrize("C", [0.1, 1.0])
def test_ranking_equals_the_survival_svm_of_scikit_survival(C, untied):
    """Its objective is 1/2 |w|^2 + alpha / 2 sum over pairs: C / n is alpha / 2."""
    svm = pytest.importorskip("sksurv.svm")
    X, y = untied
    model = MKLSurvival(RBF(0.2), loss="ranking", C=C, normalize=None, tol=1e-8).fit(X, y)
    peer = svm.FastKernelSurvivalSVM(
        alpha=2 * C / len(y), kernel="rbf", gamma=0.2, max_iter=1000, tol=1e-12
    ).fit(X, y)
    ours, theirs = model.predict(X), peer.predict(X)
    np.testing.assert_allclose(ours - ours.mean(), theirs - theirs.mean(), atol=5e-4)


@pytest.mark.parametrize("C", [0.1, 1.0])
def test_regression_equals_the_survival_svm_of_scikit_survival(C, untied):
    svm = pytest.importorskip("sksurv.svm")
    X, y = untied
    model = MKLSurvival(RBF(0.2), loss="regression", C=C, normalize=None, tol=1e-8).fit(X, y)
    peer = svm.FastKernelSurvivalSVM(
        alpha=2 * C,
        rank_ratio=0,
        fit_intercept=True,
        kernel="rbf",
        gamma=0.2,
        max_iter=1000,
        tol=1e-12,
    ).fit(X, y)
    np.testing.assert_allclose(model.predict(X), -np.log(peer.predict(X)), atol=5e-4)


@every_other
def test_risks_order_the_patients(loss, untied):
    X, y = untied
    model = MKLSurvival(KERNELS, loss=loss).fit(X[:60], y[:60])
    assert model.score(X[60:], y[60:]) > 0.6


@every_loss
def test_doubled_weights_equal_a_doubled_C(loss, ties, study):
    X, y = study
    once = MKLSurvival(KERNELS, loss=loss, ties=ties, C=2.0, tol=1e-7).fit(X, y)
    twice = MKLSurvival(KERNELS, loss=loss, ties=ties, C=1.0, tol=1e-7).fit(
        X, y, np.full(len(y), 2.0)
    )
    np.testing.assert_allclose(once.predict(X), twice.predict(X), atol=1e-3)


@every_other
def test_no_weight_equals_leaving_the_row_out(loss, study):
    X, y = study
    weights = np.ones(len(y))
    weights[::5] = 0.0
    how = {"loss": loss, "normalize": None, "tol": 1e-7}
    kept = MKLSurvival(KERNELS, **how).fit(X[weights > 0], y[weights > 0])
    model = MKLSurvival(KERNELS, **how).fit(X, y, weights)
    np.testing.assert_allclose(model.predict(X), kept.predict(X), atol=1e-3)


@every_other
def test_saved_models_predict_the_same_and_verify(loss, study, tmp_path):
    X, y = study
    model = MKLSurvival(KERNELS, norm=1, loss=loss).fit(X, y)
    model.save(tmp_path / "model.kw")
    again = load(tmp_path / "model.kw")
    np.testing.assert_array_equal(again.predict(X), model.predict(X))
    found = verify(again, X, y)
    assert found.agree
    assert found.gap == pytest.approx(model.duality_gap_, abs=1e-6)


@every_other
def test_survival_functions_require_the_cox_loss(loss, study):
    X, y = study
    model = MKLSurvival(KERNELS, loss=loss).fit(X, y)
    with pytest.raises(ValueError, match=f"require loss='cox', got '{loss}'"):
        model.predict_survival_function(X)


@every_other
def test_search_chooses_norm_and_C(loss, study):
    X, y = study
    search = MKLSurvivalCV(KERNELS, loss=loss, norms=[1, 2], Cs=[0.1, 1.0], cv=3).fit(X, y)
    assert search.scores_.shape == (2, 2, 3)
    assert search.best_score_ > 0.55
    assert search.duality_gap_ <= search.tol


def test_time_zero_is_refused_by_the_regression_only(study):
    X, y = study
    y = y.copy()
    y["time"][3] = 0.0
    assert MKLSurvival(KERNELS, loss="ranking").fit(X, y).duality_gap_ <= 1e-3
    with pytest.raises(ValueError, match=r"'regression' fits log\(time\), got time 0 at row 3"):
        MKLSurvival(KERNELS, loss="regression").fit(X, y)


@pytest.mark.parametrize("loss", ["hinge", None, 3])
def test_unknown_losses_are_named(loss, study):
    with pytest.raises(ValueError, match=r"loss must be one of .*, got"):
        MKLSurvival(KERNELS, loss=loss).fit(*study)


@every_loss
@every_norm
@pytest.mark.parametrize("case", ["one event", "one time", "all events", "small times"])
def test_degenerate_times_are_solved(loss, ties, case, norm, study):
    X, y = study
    y = y.copy()
    if case == "one event":
        y["event"] = np.arange(len(y)) == np.argmin(y["time"])
    elif case == "one time":
        y["time"] = 7.0
    elif case == "all events":
        y["event"] = True
    else:
        y["time"][:5] = 1e-300 if loss == "regression" else 0.0
    model = MKLSurvival(KERNELS, norm=norm, loss=loss, ties=ties).fit(X, y)
    assert model.duality_gap_ <= model.tol
    if loss == "cox":
        assert np.isfinite(model.cumulative_baseline_hazard_).all()
    assert np.isfinite(model.predict(X)).all()
