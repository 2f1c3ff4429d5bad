"""Survival analysis: certificates, ridge Cox, scikit-learn's tools, baselines, files."""

import pickle
import warnings

import numpy as np
import pytest
from censored_cases import survival
from naive_normalize import normalised
from scipy.optimize import minimize
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics.pairwise import linear_kernel, rbf_kernel
from sklearn.model_selection import GridSearchCV, KFold, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from kernelweave import MKLSurvival, MKLSurvivalCV, Views, WeightsDisplay, compare, load, verify
from kernelweave.estimators.survival_targets import as_survival
from kernelweave.kernels import RBF, Linear

NORMS = [1.0, 4 / 3, 2.0, np.inf]
every_norm = pytest.mark.parametrize("norm", NORMS)
every_ties = pytest.mark.parametrize("ties", ["breslow", "efron"])
KERNELS = [Linear(), RBF(gamma=[0.1, 1.0])]


def matrices(X, how="variance"):
    kernels = [linear_kernel(X), rbf_kernel(X, gamma=0.1), rbf_kernel(X, gamma=1.0)]
    return np.stack([normalised(K, how) for K in kernels])


def partial_likelihood(F, event, time, ties):
    """The negative partial log-likelihood from its definition."""
    total = 0.0
    for moment in np.unique(time[event]):
        happened, at_risk = event & (time == moment), time >= moment
        d = happened.sum()
        for order in range(d):
            removed = order / d if ties == "efron" else 0.0
            rest = np.exp(F[at_risk]).sum() - removed * np.exp(F[happened]).sum()
            total += np.log(rest)
        total -= F[happened].sum()
    return total


def dual_point(F, event, time, ties):
    """Minus the gradient of the partial likelihood, from its definition."""
    alpha = event.astype(float)
    for moment in np.unique(time[event]):
        happened, at_risk = event & (time == moment), time >= moment
        d = happened.sum()
        for order in range(d):
            removed = order / d if ties == "efron" else 0.0
            part = at_risk - removed * happened
            hazards = part * np.exp(F)
            alpha -= hazards / hazards.sum()
    return alpha


def dual_norm(s, p):
    """max of theta . s over theta >= 0 with ||theta||_p <= 1."""
    if p == 1:
        return s.max()
    return s.sum() if p == np.inf else np.linalg.norm(s, p / (p - 1))


@every_norm
@every_ties
def test_certificate_recomputed_from_public_attributes(norm, ties, study):
    """Both objective values in plain NumPy.

    The conjugate needs no formula of the library: for the alpha of outputs F it is
    -alpha . F - R(F), and any alpha is that of the F that maximises -alpha . F - R(F).
    """
    X, y = study
    model = MKLSurvival(KERNELS, norm=norm, C=0.5, ties=ties).fit(X, y)
    K, (event, time) = matrices(X), as_survival(y)
    alpha = np.zeros(len(time))
    alpha[model.support_] = model.dual_coef_[0]
    g = K @ alpha
    s, F = g @ alpha, model.weights_ @ g
    np.testing.assert_allclose(model.predict(X), F, rtol=1e-9, atol=1e-9)
    primal = 0.5 * partial_likelihood(F, event, time, ties) + 0.5 * model.weights_ @ s
    assert model.primal_objective_ == pytest.approx(primal, rel=1e-9)
    found = minimize(
        lambda F: 0.5 * partial_likelihood(F, event, time, ties) + alpha @ F,
        F,
        jac=lambda F: alpha - 0.5 * dual_point(F, event, time, ties),
        method="BFGS",
        options={"gtol": 1e-8, "maxiter": 3000},
    )
    dual = found.fun - 0.5 * dual_norm(s, norm)
    assert model.dual_objective_ == pytest.approx(dual, abs=1e-7)
    constant = 0.5 * partial_likelihood(np.zeros(len(time)), event, time, ties)
    assert model.constant_objective_ == pytest.approx(constant, rel=1e-12)
    gap = (primal - dual) / min(primal, constant - dual)
    assert model.duality_gap_ == pytest.approx(gap, abs=1e-7)
    assert model.duality_gap_ <= model.tol


@every_ties
@pytest.mark.parametrize("alpha", [0.1, 1.0, 30.0])
def test_one_linear_kernel_equals_ridge_cox_of_scikit_survival(ties, alpha, study):
    """scikit-survival minimises R(X w) + alpha / 2 w . w: C = 1 / alpha without normalisation."""
    linear_model = pytest.importorskip("sksurv.linear_model")
    X, y = study
    ridge = linear_model.CoxPHSurvivalAnalysis(alpha=alpha, ties=ties, tol=1e-12).fit(X, y)
    model = MKLSurvival(Linear(), normalize=None, C=1 / alpha, ties=ties, tol=1e-10).fit(X, y)
    np.testing.assert_allclose(model.predict(X), ridge.predict(X), atol=1e-5)
    assert model.score(X, y) == pytest.approx(ridge.score(X, y), rel=1e-12)


@every_norm
def test_survival_functions_equal_breslows_of_scikit_survival(norm, study):
    coxph = pytest.importorskip("sksurv.linear_model.coxph")
    X, y = study
    model = MKLSurvival(KERNELS, norm=norm).fit(X, y)
    event, time = as_survival(y)
    risk = model.predict(X)
    breslow = coxph.BreslowEstimator().fit(risk, event, time)
    times = np.linspace(time.min(), time.max(), 50)
    for ours, theirs in zip(
        model.predict_cumulative_hazard_function(X),
        breslow.get_cumulative_hazard_function(risk),
        strict=True,
    ):
        np.testing.assert_allclose(ours(times), theirs(times), rtol=1e-10)
    for ours, theirs in zip(
        model.predict_survival_function(X), breslow.get_survival_function(risk), strict=True
    ):  # logarithms: exp(-400) has a larger relative rounding error than 400
        np.testing.assert_allclose(np.log(ours(times)), np.log(theirs(times)), rtol=1e-10)
    assert model.predict_survival_function(X[:1])[0](-1.0) == 1.0


def test_survival_functions_fit_scikit_survivals_metrics(study):
    metrics = pytest.importorskip("sksurv.metrics")
    X, y = study
    model = MKLSurvival(KERNELS).fit(X[:60], y[:60])
    latest = min(y["time"][:60].max(), y["time"][60:].max())
    times = np.quantile(y["time"][60:][y["time"][60:] < latest], [0.2, 0.4, 0.6])
    curves = np.array([curve(times) for curve in model.predict_survival_function(X[60:])])
    known = y[60:]["time"] < latest
    score = metrics.integrated_brier_score(y[:60], y[60:][known], curves[known], times)
    assert 0 < score < 0.3


def test_hazards_increase_and_follow_the_risk(study):
    X, y = study
    model = MKLSurvival(KERNELS).fit(X, y)
    risk = model.predict(X)
    curves = np.array([one.y for one in model.predict_survival_function(X)])
    assert np.all(np.diff(curves, axis=1) <= 0)
    assert np.all((curves > 0) & (curves < 1))
    assert np.all(np.diff(curves[np.argsort(risk)], axis=0) <= 1e-15)


@every_ties
def test_no_weight_equals_leaving_the_row_out(ties, study, rng):
    X, y = study
    kept = rng.random(len(y)) < 0.7
    kept[np.argmax(np.where(y["event"], y["time"], -1.0))] = False  # the last event
    weighted = MKLSurvival(KERNELS, ties=ties, tol=1e-9).fit(X, y, sample_weight=kept)
    part = MKLSurvival(KERNELS, ties=ties, tol=1e-9).fit(X[kept], y[kept])
    np.testing.assert_allclose(weighted.predict(X), part.predict(X), atol=1e-6)
    np.testing.assert_array_equal(weighted.event_times_, part.event_times_)
    np.testing.assert_allclose(
        weighted.cumulative_baseline_hazard_, part.cumulative_baseline_hazard_, rtol=1e-6
    )
    assert kept[weighted.support_].all()


@every_norm
def test_absent_views_are_learned_from(norm, study, rng):
    X, y = study
    first, second = X[:, :2].copy(), X[:, 2:].copy()
    second[rng.random(len(y)) < 0.3] = np.nan
    tables = Views({"first": first, "second": second})
    model = MKLSurvival({"first": RBF([0.1, 1.0]), "second": Linear()}, norm=norm).fit(tables, y)
    assert model.duality_gap_ <= model.tol
    assert model.score(tables, y) > 0.65
    shares = model.weights_frame(by="view").set_index("view")["share"]
    assert shares["first"] > shares["second"]
    parts = model.contributions(tables)
    np.testing.assert_allclose(parts.sum(axis=1) + model.intercept_[0], model.predict(tables))


def test_default_kernels_read_frames_with_missing_values(study, rng):
    pandas = pytest.importorskip("pandas")
    X, y = study
    frame = pandas.DataFrame(X, columns=list("abcd"))
    frame["e"] = rng.choice(["low", "high"], len(y))
    frame.loc[3, "a"] = np.nan
    targets = pandas.DataFrame({"died": y["event"], "days": y["time"]})
    model = MKLSurvival(norm=1).fit(frame, targets)
    assert model.score(frame, targets) > 0.65


def test_scikit_learn_tools_work(study):
    pandas = pytest.importorskip("pandas")
    X, y = study
    model = MKLSurvival([Linear(), RBF(gamma=0.1)], norm=4 / 3, C=0.3, ties="breslow")
    assert clone(model).get_params() == model.get_params()
    assert model.get_params()["ties"] == "breslow"
    folds = KFold(3, shuffle=True, random_state=0)
    scores = cross_val_score(model, X, y, cv=folds)
    assert scores.mean() > 0.6
    frame = pandas.DataFrame({"event": y["event"], "time": y["time"]})
    np.testing.assert_array_equal(cross_val_score(model, X, frame, cv=folds), scores)
    search = GridSearchCV(
        make_pipeline(StandardScaler(), model),
        {"mklsurvival__C": [0.1, 1.0], "mklsurvival__norm": [1, 2]},
        cv=folds,
    ).fit(X, y)
    assert search.best_score_ > 0.6
    assert search.predict(X).shape == (len(y),)


def test_fold_without_events_is_a_clear_failure(study):
    X, y = study
    y = y[np.argsort(~y["event"])]  # the events first: the last fold tests on censored times only
    y["event"][30:] = False
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        scores = cross_val_score(MKLSurvival(Linear()), X, y, cv=3)
    assert np.isnan(scores).any()
    messages = " ".join(str(one.message) for one in caught)
    assert "at least one event" in messages
    assert "no comparable pair" in messages


@pytest.mark.parametrize("loss", ["cox", "ranking", "regression"])
def test_one_event_is_enough_for_default_kernels(loss, study):
    """Their held-out folds may have no event at all."""
    X, y = study
    y = y.copy()
    y["event"] = np.arange(len(y)) == np.argmin(y["time"])
    model = MKLSurvival(loss=loss).fit(X, y)
    assert model.duality_gap_ <= model.tol
    assert verify(model, X, y).agree


def test_last_event_alone_has_no_information(study):
    """Its risk set has only itself: the constant model is optimal."""
    X, y = study
    y = y.copy()
    y["time"] = np.arange(len(y)) + 1.0
    y["event"] = np.arange(len(y)) == len(y) - 1
    with pytest.warns(UserWarning, match="no model costs less"):
        model = MKLSurvival(KERNELS).fit(X, y)
    assert model.duality_gap_ == 0
    assert np.ptp(model.predict(X)) == 0


@pytest.mark.parametrize("C", [1e-4, 1e4])
def test_extreme_costs_are_certified(C, study):
    X, y = study
    model = MKLSurvival(KERNELS, C=C).fit(X, y)
    assert model.duality_gap_ <= model.tol


def test_fits_are_deterministic(study):
    X, y = study
    for norm in NORMS:
        first, second = (MKLSurvival(KERNELS, norm=norm).fit(X, y) for _ in range(2))
        np.testing.assert_array_equal(first.dual_coef_, second.dual_coef_)
        np.testing.assert_array_equal(first.weights_, second.weights_)
        np.testing.assert_array_equal(first.predict(X), second.predict(X))


@pytest.mark.parametrize("solver", ["mwu", "skm", "qcqp", "alignment"])
def test_solvers_for_other_losses_are_refused(solver, study):
    X, y = study
    with pytest.raises(ValueError, match=f"solver='{solver}' does not support .*loss='cox'"):
        MKLSurvival(KERNELS, solver=solver, norm=1).fit(X, y)


@pytest.mark.parametrize("solver", ["analytic", "newton", "cutting-plane", "level", "gradient"])
def test_solvers_agree(solver, study):
    X, y = study
    norm = 2 if solver == "analytic" else 1
    model = MKLSurvival(KERNELS, solver=solver, norm=norm, tol=1e-4).fit(X, y)
    auto = MKLSurvival(KERNELS, norm=norm, tol=1e-4).fit(X, y)
    assert model.duality_gap_ <= 1e-4
    assert model.primal_objective_ == pytest.approx(auto.primal_objective_, rel=2e-4)


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"C": 0}, "C must be a finite number above 0.*, got 0"),
        ({"C": np.inf}, "C must be a finite number above 0.*, got inf"),
        ({"ties": "exact"}, "ties must be one of .*, got 'exact'"),
        ({"norm": 0.5}, "norm must be a number p >= 1"),
    ],
)
def test_bad_parameters_are_named(parameters, message, study):
    with pytest.raises(ValueError, match=message):
        MKLSurvival(**parameters).fit(*study)


@every_norm
def test_saved_models_predict_the_same(norm, study, tmp_path):
    X, y = study
    model = MKLSurvival(KERNELS, norm=norm, ties="breslow").fit(X, y)
    model.save(tmp_path / "model.kw")
    for again in (load(tmp_path / "model.kw"), pickle.loads(pickle.dumps(model))):
        assert again.get_params()["ties"] == "breslow"
        np.testing.assert_array_equal(again.predict(X), model.predict(X))
        curves = zip(
            again.predict_survival_function(X), model.predict_survival_function(X), strict=True
        )
        for one, other in curves:
            np.testing.assert_array_equal(one.x, other.x)
            np.testing.assert_array_equal(one.y, other.y)


@pytest.mark.parametrize(
    ("name", "change", "message"),
    [
        ("event_times_", lambda times: times[1:], "must have one length"),
        (
            "event_times_",
            lambda times: times[::-1].copy(),
            "must increase, not go from",
        ),
        ("event_times_", lambda times: times.astype(int), "float64 vectors"),
        (
            "cumulative_baseline_hazard_",
            lambda hazard: -hazard,
            "not go from 0.0 to -",
        ),
        ("cumulative_baseline_hazard_", lambda hazard: hazard * np.nan, "never decrease"),
    ],
)
def test_files_with_a_wrong_baseline_are_refused(name, change, message, study, tmp_path):
    model = MKLSurvival(KERNELS).fit(*study)
    setattr(model, name, change(getattr(model, name)))
    model.save(tmp_path / "model.kw")
    with pytest.raises(ValueError, match=message):
        load(tmp_path / "model.kw")


@every_norm
@every_ties
def test_verify_agrees_with_the_fit_and_with_no_other_data(norm, ties, study, rng):
    X, y = study
    weights = rng.integers(0, 3, len(y))
    model = MKLSurvival(KERNELS, norm=norm, ties=ties).fit(X, y, sample_weight=weights)
    found = verify(model, X, y, sample_weight=weights)
    assert found.agree, found
    assert not verify(model, X, y).agree
    other = y.copy()
    other["event"] = ~other["event"]
    assert not verify(model, X, other, sample_weight=weights).agree


def test_interrupted_fits_continue_from_their_checkpoint(study, tmp_path):
    X, y = study
    path = tmp_path / "fit"
    settings = {"norm": 1, "tol": 1e-5, "checkpoint": path}
    with pytest.warns(ConvergenceWarning):
        MKLSurvival(KERNELS, max_iter=6, **settings).fit(X, y)
    assert list(tmp_path.iterdir())
    other = y.copy()
    other["event"][np.argmin(y["event"])] = True
    with pytest.raises(ValueError, match="belongs to another problem"):
        MKLSurvival(KERNELS, **settings).fit(X, other)
    fresh = MKLSurvival(KERNELS, norm=1, tol=1e-5).fit(X, y)
    model = MKLSurvival(KERNELS, **settings).fit(X, y)
    assert model.duality_gap_ <= 1e-5
    assert model.primal_objective_ == pytest.approx(fresh.primal_objective_, rel=2e-5)
    assert not list(tmp_path.iterdir())


def test_weights_are_displayed_by_view(study):
    pyplot = pytest.importorskip("matplotlib.pyplot")
    X, y = study
    model = MKLSurvival(KERNELS).fit(X, y)
    frame = model.weights_frame()
    assert frame["weight"].tolist() == model.weights_.tolist()
    display = WeightsDisplay.from_estimator(model)
    assert display.ax_ is not None
    pyplot.close("all")


def test_search_scores_are_those_of_single_fits(study):
    """Of kernels that are normalised on all examples, as in every search."""
    X, y = study
    folds = list(KFold(3, shuffle=True, random_state=0).split(X))
    kernels, settings = [Linear(), RBF(gamma=0.1)], {"normalize": None, "tol": 1e-6}
    norms, Cs = [1, 2, np.inf], [0.03, 0.3]
    search = MKLSurvivalCV(kernels, norms=norms, Cs=Cs, cv=folds, **settings).fit(X, y)
    for i, norm in enumerate(norms):
        for j, C in enumerate(Cs):
            model = MKLSurvival(kernels, norm=norm, C=C, **settings)
            expected = cross_val_score(model, X, y, cv=folds)
            np.testing.assert_allclose(search.scores_[i, j], expected, atol=5e-3)
    best = MKLSurvival(kernels, norm=search.norm_, C=search.C_, **settings).fit(X, y)
    np.testing.assert_allclose(search.predict(X), best.predict(X), atol=1e-3)
    np.testing.assert_allclose(
        search.cumulative_baseline_hazard_, best.cumulative_baseline_hazard_, rtol=1e-3
    )
    assert verify(search, X, y).agree


def test_search_folds_are_stratified_by_event(study, tmp_path):
    X, y = study
    order = np.argsort(~y["event"], kind="stable")  # events first
    X, y = X[order], y[order]
    search = MKLSurvivalCV(Linear(), norms=[2], Cs=[0.1, 1.0]).fit(X, y)
    assert search.scores_.shape == (1, 2, 5)
    search.save(tmp_path / "search.kw")
    np.testing.assert_array_equal(load(tmp_path / "search.kw").predict(X), search.predict(X))
    with pytest.raises(
        ValueError, match=r"cv must be from 2 to the number of events.*got 100 fold"
    ):
        MKLSurvivalCV(Linear(), cv=100).fit(X, y)
    with pytest.raises(ValueError, match=r"number of events, 3,.*got 5 folds"):
        MKLSurvivalCV(Linear()).fit(X, survival(np.arange(len(y)) < 3, y["time"]))
    with pytest.raises(ValueError, match="at least one event"):
        MKLSurvivalCV(Linear()).fit(X, survival(np.zeros(len(y), bool), y["time"]))
    with pytest.raises(ValueError, match="training part of fold 0 has censored times only"):
        MKLSurvivalCV(Linear(), cv=KFold(2)).fit(X[-40:], y[np.r_[:20, -20:0]])


def test_search_accepts_frames_weights_and_scorers(study):
    pandas = pytest.importorskip("pandas")
    X, y = study
    frame = pandas.DataFrame({"time": y["time"], "event": y["event"]})

    def spread(estimator, X, y):
        assert y.dtype.names == ("event", "time")
        return float(np.ptp(estimator.predict(X)))

    search = MKLSurvivalCV(Linear(), norms=[2], Cs=[0.1, 1.0], cv=3, scoring=spread)
    search.fit(X, frame, sample_weight=np.arange(len(y)) % 3)
    assert search.C_ == 1.0
    assert clone(search).get_params()["Cs"] == [0.1, 1.0]


def test_comparison_scores_concordance(study):
    X, y = study
    ridge = MKLSurvival(Linear())
    result = compare(
        make_pipeline(StandardScaler(), MKLSurvival(KERNELS)),
        X,
        y,
        cv=KFold(2, shuffle=True, random_state=0),
        Cs=[0.1, 1.0],
        norms=[1, 2],
        others={"ridge Cox": ridge},
    )
    assert result.scoring == "concordance"
    assert all(0.5 < scores.mean() < 1 for scores in result.scores.values())


@pytest.mark.parametrize("loss", ["cox", "ranking", "regression"])
def test_held_out_contributions_of_risk_factors_are_positive(loss, rng):
    X = rng.normal(size=(200, 3))
    y = survival(rng.random(200) < 0.7, rng.exponential(np.exp(-2 * X[:, 0])))
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # no kernel only memorises
        model = MKLSurvival(loss=loss, C=0.1).fit(X, y)
    assert [name.split()[0] for name in model.kernel_names_] == ["Linear", "Laplacian"]
    assert (model.held_out_covariances_ > 0).all()


def test_baseline_hazard_is_that_of_the_predicted_risks(rng):
    """The engine's outputs are the decision values of the training examples, weighted or absent."""
    values = rng.normal(size=(60, 3))
    values[:10] = np.nan
    X = Views({"some": values, "all": rng.normal(size=(60, 2))})
    y = survival(rng.random(60) < 0.6, rng.integers(1, 20, size=60))
    weights = rng.integers(0, 3, size=60).astype(float)
    model = MKLSurvival(C=1.0).fit(X, y, sample_weight=weights)
    hazards, happened = weights * np.exp(model.predict(X)), y["event"] & (weights > 0)
    times = np.unique(y["time"][happened])
    steps = [
        weights[happened & (y["time"] == t)].sum() / hazards[y["time"] >= t].sum() for t in times
    ]
    np.testing.assert_array_equal(model.event_times_, times)
    np.testing.assert_allclose(model.cumulative_baseline_hazard_, np.cumsum(steps), rtol=1e-9)
