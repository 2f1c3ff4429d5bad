"""Estimators: scikit-learn's conventions, fitted attributes, pipelines and searches."""

import pickle

import numpy as np
import pytest
from naive_normalize import normalised_across
from sklearn.base import clone
from sklearn.datasets import load_iris
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics.pairwise import linear_kernel, rbf_kernel
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC
from sklearn.utils.estimator_checks import parametrize_with_checks
from sklearn.utils.validation import _get_feature_names

from kernelweave import MKLClassifier, MKLOneClass, MKLRegressor, losses, norms
from kernelweave.kernels import RBF, Linear, Polynomial, Precomputed, per_feature

ESTIMATORS = [MKLClassifier, MKLRegressor, MKLOneClass]
NORMALIZATIONS = ["variance", "unit", "trace", "center", None]
every_estimator = pytest.mark.parametrize("Estimator", ESTIMATORS)


@parametrize_with_checks([MKLClassifier(), MKLRegressor(), MKLOneClass()])
def test_scikit_learn_conventions(estimator, check):
    check(estimator)


@pytest.fixture
def moons(rng):
    """Two classes that a straight line does not part, shapes (120, 4) and (120,)."""
    X = rng.normal(size=(120, 4))
    return X, np.where(X[:, 0] ** 2 + X[:, 1] > 0.7, 1, -1)


def decisions(model, X):
    decide = model.predict if isinstance(model, MKLRegressor) else model.decision_function
    return decide(X)


@every_estimator
@pytest.mark.parametrize("how", NORMALIZATIONS)
def test_decisions_follow_the_formula(Estimator, how, moons, rng):
    """decision(x) = sum_m weights_[m] sum_i dual_coef_[i] k_m(x_i, x) + intercept_."""
    if Estimator is MKLOneClass and how == "center":
        pytest.skip("refused: one class has nothing to learn when its mean is the origin")
    X, y = moons
    new = rng.normal(size=(30, 4))
    model = Estimator([RBF([0.1, 0.5]), Linear()], normalize=how, norm=2).fit(X, y)
    train = [rbf_kernel(X, gamma=0.1), rbf_kernel(X, gamma=0.5), linear_kernel(X)]
    across = [rbf_kernel(X, new, gamma=0.1), rbf_kernel(X, new, gamma=0.5), linear_kernel(X, new)]
    own = [np.ones(30), np.ones(30), (new**2).sum(axis=1)]
    K = np.stack([normalised_across(*parts, how) for parts in zip(train, across, own, strict=True)])
    parts = np.einsum("m,i,mij->jm", model.weights_, model.dual_coef_[0], K[:, model.support_])
    np.testing.assert_allclose(model.contributions(new), parts, rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(
        decisions(model, new), parts.sum(axis=1) + model.intercept_[0], rtol=1e-9, atol=1e-9
    )


def test_contributions_of_several_classes_add_up():
    X, y = load_iris(return_X_y=True)
    model = MKLClassifier(per_feature(RBF(0.5)), tol=1e-4).fit(X, y)
    parts = model.contributions(X)
    assert parts.shape == (150, 3, 4)
    np.testing.assert_allclose(
        parts.sum(axis=2) + model.intercept_, model.decision_function(X), rtol=1e-9, atol=1e-9
    )


@every_estimator
def test_a_fit_leaves_its_certificate(Estimator, moons):
    X, y = moons
    model = Estimator([RBF([0.1, 0.5]), Linear()], tol=1e-4).fit(X, y)
    assert model.kernel_names_ == ("RBF gamma=0.1", "RBF gamma=0.5", "Linear")
    assert model.weights_.shape == (3,)
    assert np.linalg.norm(model.weights_) == pytest.approx(1.0)
    assert model.dual_coef_.shape == (1, len(model.support_))
    assert np.all(model.dual_coef_ != 0)
    primal, dual = model.primal_objective_, model.dual_objective_
    gap = (primal - dual) / min(abs(primal), model.constant_objective_ - dual)
    assert model.duality_gap_ == pytest.approx(gap)
    assert primal <= model.constant_objective_ * (1 + 1e-12)
    assert model.duality_gap_ <= 1e-4
    assert len(model.history_) == model.n_iter_ + 1
    assert model.history_[-1]["gap"] == model.duality_gap_
    assert model.n_features_in_ == 4


def test_too_few_iterations_warn_with_the_gap(moons):
    model = MKLClassifier(RBF(0.5), C=100.0, max_iter=1, tol=1e-9, working_set=4)
    with pytest.warns(
        ConvergenceWarning, match=r"after 1 iterations .* gap of \d.*above tol=1e-09"
    ):
        model.fit(*moons)
    assert f"{model.duality_gap_:.2e}" in str_of_warning(model, moons)
    assert model.n_iter_ == 1
    assert model.predict(moons[0]).shape == (120,)


def str_of_warning(model, data):
    with pytest.warns(ConvergenceWarning) as caught:
        model.fit(*data)
    return str(caught[0].message)


@every_estimator
def test_threads_change_nothing(Estimator, moons):
    X, y = moons
    one, two, all_of_them = (
        Estimator([RBF([0.1, 0.5]), Linear()], n_jobs=n_jobs).fit(X, y) for n_jobs in (1, 2, -1)
    )
    np.testing.assert_array_equal(decisions(one, X), decisions(two, X))
    np.testing.assert_array_equal(decisions(one, X), decisions(all_of_them, X))
    np.testing.assert_array_equal(one.weights_, two.weights_)


@pytest.mark.parametrize("solver", ["auto", "uniform"])
def test_uniform_is_one_svm_on_the_sum(solver, moons):
    X, y = moons
    kernels = [RBF([0.1, 0.5]), Polynomial(degree=2, gamma=0.2)]
    model = MKLClassifier(kernels, norm=np.inf, solver=solver, normalize=None, tol=1e-8).fit(X, y)
    np.testing.assert_array_equal(model.weights_, 1.0)
    K = kernels[0](X).sum(axis=0) + kernels[1](X)
    machine = SVC(kernel="precomputed", tol=1e-8).fit(K, y)
    np.testing.assert_allclose(
        model.decision_function(X), machine.decision_function(K), rtol=0, atol=1e-4
    )


@every_estimator
def test_copies_decide_alike(Estimator, moons):
    X, y = moons
    how = "trace" if Estimator is MKLOneClass else "center"
    model = Estimator([RBF([0.1, 0.5]), Linear()], normalize=how).fit(X, y)
    again = clone(model).fit(X, y)
    stored = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(decisions(model, X), decisions(again, X))
    np.testing.assert_array_equal(decisions(model, X), decisions(stored, X))
    np.testing.assert_array_equal(model.contributions(X), stored.contributions(X))
    assert repr(clone(model)) == repr(model)


def test_a_second_fit_forgets_the_first(moons):
    X, y = moons
    model = MKLClassifier(RBF(0.5)).fit(X, y)
    model.fit(X[:, :2], np.where(y > 0, "a", "b"))
    assert model.n_features_in_ == 2
    assert set(model.predict(X[:, :2])) == {"a", "b"}
    fresh = MKLClassifier(RBF(0.5)).fit(X[:, :2], np.where(y > 0, "a", "b"))
    np.testing.assert_array_equal(
        model.decision_function(X[:, :2]), fresh.decision_function(X[:, :2])
    )


def test_grid_search_over_kernels_and_norms(moons):
    grid = {"kernels": [RBF(0.5), [RBF([0.1, 1.0]), Linear()]], "norm": [1.5, norms.Lp(2)]}
    search = GridSearchCV(MKLClassifier(), {**grid, "C": [0.1, 10.0]}, cv=2).fit(*moons)
    assert search.best_score_ > 0.8
    assert not np.isnan(search.cv_results_["mean_test_score"]).any()


@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_frames_through_a_pipeline(library, moons):
    frames = pytest.importorskip(library)
    X, y = moons
    frame = frames.DataFrame({name: X[:, i] for i, name in enumerate("abcd")})
    if _get_feature_names(frame) is None:
        pytest.skip(f"StandardScaler of this scikit-learn loses the names of this {library}")
    kernels = [RBF(0.5, columns=["a", "b"]), Linear(columns=["c"])]
    chain = make_pipeline(StandardScaler(), MKLClassifier(kernels, tol=1e-6))
    chain.set_output(transform=library)
    chain.fit(frame, y)
    model = chain[-1]
    assert list(model.feature_names_in_) == list("abcd")
    assert model.kernel_names_ == ("RBF gamma=0.5 on a, b", "Linear on c")
    numbers = MKLClassifier([RBF(0.5, columns=[0, 1]), Linear(columns=[2])], tol=1e-6)
    plain = make_pipeline(StandardScaler(), numbers).fit(X, y)
    np.testing.assert_allclose(
        chain.decision_function(frame), plain.decision_function(X), rtol=0, atol=5e-3
    )


def test_given_matrices_are_split_by_rows_and_columns(moons):
    X, y = moons
    K = rbf_kernel(X, gamma=0.5)
    given = cross_val_score(MKLClassifier(Precomputed(), normalize=None), K, y, cv=3)
    vectors = cross_val_score(MKLClassifier(RBF(0.5), normalize=None), X, y, cv=3)
    np.testing.assert_array_equal(given, vectors)


def test_several_given_matrices_stand_side_by_side(moons):
    X, y = moons
    train, new = np.arange(80), np.arange(80, 120)
    both = [rbf_kernel(X, X[train], gamma=0.5), linear_kernel(X, X[train])]
    K = np.hstack(both)
    kernels = [Precomputed(columns=slice(0, 80)), Precomputed(columns=slice(80, 160))]
    given = MKLClassifier(kernels, tol=1e-6).fit(K[train], y[train])
    vectors = MKLClassifier([RBF(0.5), Linear()], tol=1e-6).fit(X[train], y[train])
    np.testing.assert_allclose(
        given.decision_function(K[new]), vectors.decision_function(X[new]), rtol=0, atol=0.01
    )


def test_losses_may_be_objects(moons):
    X, y = moons
    near = MKLClassifier(RBF(0.5), loss=losses.SmoothHinge(sigma=300.0), tol=1e-5).fit(X, y)
    hinge = MKLClassifier(RBF(0.5), tol=1e-5).fit(X, y)
    assert near.primal_objective_ == pytest.approx(hinge.primal_objective_, rel=0.02)


@pytest.mark.parametrize("epsilon", [0.05, 0.5])
def test_regression_stays_in_its_tube(epsilon, rng):
    X = rng.normal(size=(80, 2))
    y = np.sin(X[:, 0])
    model = MKLRegressor(RBF(1.0), C=1e3, epsilon=epsilon, tol=1e-5).fit(X, y)
    assert np.abs(model.predict(X) - y).max() <= epsilon + 0.02


def test_constant_targets_need_no_support(rng):
    X = rng.normal(size=(30, 3))
    with pytest.warns(UserWarning, match="constant model is optimal"):
        model = MKLRegressor(RBF(1.0)).fit(X, np.full(30, 7.5))
    assert len(model.support_) == 0
    np.testing.assert_allclose(model.predict(X), 7.5)
    np.testing.assert_array_equal(model.contributions(X), np.zeros((30, 1)))


def test_one_class_scores_are_decisions_with_their_offset(moons):
    X, _ = moons
    model = MKLOneClass(RBF(0.5), nu=0.2).fit(X)
    np.testing.assert_allclose(model.score_samples(X) - model.offset_, model.decision_function(X))
    assert np.mean(model.predict(X) == -1) <= 0.2 + 0.05
    assert model.predict(X + 100.0).max() == -1


def test_a_class_without_weight_is_never_predicted():
    X, y = load_iris(return_X_y=True)
    for loss in ("hinge", "squared_hinge", "logistic", "smooth_hinge"):
        model = MKLClassifier(RBF(0.5), loss=loss)
        with pytest.warns(UserWarning, match=r"constant model is optimal \([12] of 3 outputs\)"):
            model.fit(X, y, sample_weight=(y != 2).astype(float))
        assert set(model.predict(X)) == {0, 1}


def test_progress_is_shown_on_request(moons, capsys):
    MKLClassifier(RBF(0.5), verbose=1).fit(*moons)
    shown = capsys.readouterr()
    MKLClassifier(RBF(0.5)).fit(*moons)
    assert capsys.readouterr() == ("", "")
    assert shown.out == ""


def test_the_plan_is_printed_on_request(moons, capsys):
    model = MKLClassifier(RBF(0.5), verbose=2).fit(*moons)
    shown = capsys.readouterr()
    assert f"MKLClassifier: {model.plan_!r}" in " ".join(shown.err.split())
    assert shown.out == ""
    MKLClassifier(RBF(0.5), verbose=1).fit(*moons)
    assert repr(model.plan_) not in " ".join(capsys.readouterr().err.split())


@pytest.mark.parametrize("p", [1, 2, np.inf])
def test_weights_and_history_have_an_entry_for_each_kernel(p, rng):
    X = rng.normal(size=(60, 3))
    kernels = [RBF(gamma=[0.1, 1.0]), Polynomial(degree=2)]
    model = MKLClassifier(kernels, norm=p).fit(X, X[:, 0] * X[:, 1] > 0)
    assert model.weights_.shape == (3,)
    assert all(past["weights"].shape == (3,) for past in model.history_)
    assert model.contributions(X).shape == (60, 3)
    if p == np.inf:
        np.testing.assert_array_equal(model.weights_, np.ones(3))
