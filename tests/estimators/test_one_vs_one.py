"""One against one: SVC as the oracle of single kernels, NumPy as that of certificates."""

import warnings

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.datasets import load_digits, load_wine, make_blobs, make_classification
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import euclidean_distances
from sklearn.model_selection import KFold, StratifiedKFold
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

import kernelweave
from kernelweave import MKLClassifier, MKLClassifierCV, verify
from kernelweave.engines.class_pairs import class_pairs
from kernelweave.estimators.multi_class import warn_of_large_rest
from kernelweave.estimators.one_vs_one import class_scores, warn_of_many
from kernelweave.kernels import RBF, Linear, Precomputed
from kernelweave.norms import Lp

WIDTHS = [0.01, 0.1, 1.0]


@pytest.fixture(scope="module")
def wine():
    X, y = load_wine(return_X_y=True)
    return StandardScaler().fit_transform(X), np.array(["low", "mid", "top"])[y]


@pytest.fixture(scope="module")
def overlapping():
    X, y = make_blobs(400, centers=5, cluster_std=3.0, random_state=0)
    return StandardScaler().fit_transform(X), y


@pytest.mark.parametrize("C", [0.1, 1.0, 100.0])
@pytest.mark.parametrize("shape", ["ovr", "ovo"])
def test_decision_values_are_those_of_svc(overlapping, C, shape):
    X, y = overlapping
    given = {"C": C, "decision_function_shape": shape}
    ours = MKLClassifier(RBF(0.5), normalize=None, tol=1e-8, multi_class="ovo", **given).fit(X, y)
    svc = SVC(gamma=0.5, tol=1e-10, break_ties=shape == "ovr", **given).fit(X, y)
    expected = svc.decision_function(X)
    np.testing.assert_allclose(ours.decision_function(X), expected, atol=2e-3)
    votes = class_scores(svc.set_params(decision_function_shape="ovo").decision_function(X), 5)
    assert np.mean(ours.predict(X) == svc.classes_[votes.argmax(axis=1)]) > 0.99


@pytest.mark.parametrize("loss", ["hinge", "squared_hinge", "logistic", "smooth_hinge"])
@pytest.mark.parametrize("share", [True, False])
@pytest.mark.parametrize("norm", [1, 2, np.inf])
def test_every_form_is_certified(wine, loss, share, norm):
    X, y = wine
    model = MKLClassifier(
        RBF(WIDTHS), norm=norm, loss=loss, multi_class="ovo", share_weights=share
    ).fit(X, y)
    found = verify(model, X, y)
    assert found.agree, found
    assert np.all(found.gap <= model.tol)
    plain_sum = norm == np.inf  # one kernel: there is nothing to share
    assert model.weights_.shape == ((3,) if share and not plain_sum else (3, 3))
    assert model.dual_coef_.shape == (3, len(model.support_))
    assert model.score(X, y) > 0.95


def test_shared_weights_are_those_of_pairs_on_all_examples(wine):
    """The engine of pairs and the general one reach the same optimum."""
    X, y = wine
    quick = MKLClassifier(RBF(WIDTHS), multi_class="ovo", tol=1e-6).fit(X, y)
    general = MKLClassifier(RBF(WIDTHS), multi_class="ovo", tol=1e-6, max_iter=10_000).fit(X, y)
    assert quick.plan_.engine == "class pairs" != general.plan_.engine
    np.testing.assert_allclose(quick.weights_, general.weights_, rtol=1e-3)
    assert quick.primal_objective_ == pytest.approx(general.primal_objective_, rel=1e-5)


def test_single_pairs_are_those_of_two_classes(overlapping):
    X, y = overlapping
    model = MKLClassifier(
        RBF(WIDTHS), normalize=None, multi_class="ovo", share_weights=False, tol=1e-5
    ).fit(X, y)
    for k, (a, b) in enumerate(class_pairs(5)):
        rows = np.isin(y, (a, b))
        alone = MKLClassifier(RBF(WIDTHS), normalize=None, tol=1e-5).fit(X[rows], y[rows] == a)
        assert model.primal_objective_[k] == pytest.approx(alone.primal_objective_, rel=1e-4)
        np.testing.assert_allclose(model.weights_[k], alone.weights_, atol=0.01)


@pytest.mark.parametrize("gamma", [0.5, [0.1, 0.5]], ids=["one kernel", "shared weights"])
@pytest.mark.parametrize("cache_mb", [1, 1024], ids=["small cache", "large cache"])
def test_threads_do_not_change_the_model(gamma, cache_mb):
    """Workers share cached kernel rows, so that different rows are computed together."""
    X, y = make_classification(
        900, 60, n_informative=30, n_classes=6, n_clusters_per_class=1, random_state=0
    )
    models = [
        MKLClassifier(
            RBF(np.divide(gamma, 30)), C=10.0, multi_class="ovo", cache_mb=cache_mb, n_jobs=n_jobs
        ).fit(X, y)
        for n_jobs in (1, 1, 2, 3)
    ]
    for model in models[1:]:
        np.testing.assert_array_equal(models[0].dual_coef_, model.dual_coef_)
        np.testing.assert_array_equal(models[0].intercept_, model.intercept_)
        np.testing.assert_array_equal(models[0].weights_, model.weights_)


def test_support_vectors_are_kept_once(overlapping):
    X, y = overlapping
    model = MKLClassifier(RBF(0.5), multi_class="ovo").fit(X, y)
    assert len(model._model.examples.tables[0].values) == len(model.support_) <= len(X)
    assert np.all(np.any(model.dual_coef_ != 0, axis=0))


def test_equal_examples_and_weights_agree(overlapping):
    X, y = overlapping
    weights = np.random.default_rng(0).integers(1, 4, len(y))
    weighted = MKLClassifier(RBF(0.5), normalize=None, tol=1e-7, multi_class="ovo")
    weighted.fit(X, y, sample_weight=weights)
    repeated = MKLClassifier(RBF(0.5), normalize=None, tol=1e-7, multi_class="ovo")
    repeated.fit(np.repeat(X, weights, axis=0), np.repeat(y, weights))
    values = [model.decision_function(X) for model in (weighted, repeated)]
    np.testing.assert_allclose(*values, atol=1e-6)
    assert verify(weighted, X, y, sample_weight=weights).agree


def test_precomputed_matrices_are_served(wine):
    X, y = wine
    K = RBF(0.1)(X)
    given = MKLClassifier(Precomputed(), normalize=None, tol=1e-7, multi_class="ovo").fit(K, y)
    vectors = MKLClassifier(RBF(0.1), normalize=None, tol=1e-7, multi_class="ovo").fit(X, y)
    np.testing.assert_allclose(given.decision_function(K), vectors.decision_function(X), atol=1e-4)


def test_linear_kernels_and_columns_are_served(wine):
    X, y = wine
    model = MKLClassifier([Linear(), RBF(0.1, columns=[0, 1])], multi_class="ovo").fit(X, y)
    assert verify(model, X, y).agree


@pytest.mark.parametrize("share", [True, False])
def test_files_and_contributions_follow_pairs(wine, share, tmp_path):
    X, y = wine
    model = MKLClassifier(RBF(WIDTHS), multi_class="ovo", share_weights=share).fit(X, y)
    added = model.contributions(X)
    assert added.shape == (len(X), 3, 3)
    model.decision_function_shape = "ovo"
    values = model.decision_function(X)
    np.testing.assert_allclose(added.sum(axis=2) + model.intercept_, values, atol=1e-9)
    model.save(tmp_path / "model.kw")
    again = kernelweave.load(tmp_path / "model.kw")
    np.testing.assert_array_equal(again.decision_function(X), values)
    np.testing.assert_array_equal(again.predict(X), model.predict(X))
    assert again.multi_class_ == "ovo"
    frame = model.weights_frame()
    assert list(frame["output"].unique()) == ["low / mid", "low / top", "mid / top"]


def test_hard_margins_are_served(wine):
    X, y = wine
    model = MKLClassifier(RBF(0.1), C=np.inf, multi_class="ovo").fit(X, y)
    assert model.score(X, y) == 1.0
    assert np.all(model.duality_gap_ <= model.tol)


def test_hard_pairs_reach_the_tolerance():
    """A large C and a wide kernel take the pairs that working sets leave open elsewhere."""
    X, y = load_digits(n_class=4, return_X_y=True)
    model = MKLClassifier(RBF(1e-6), normalize=None, C=1e6, multi_class="ovo", tol=1e-4).fit(X, y)
    assert np.all(model.duality_gap_ <= 1e-4)
    assert verify(model, X, y).agree


def test_auto_depends_on_kernels_and_probabilities(wine):
    X, y = wine
    forms = {
        "ovo": [MKLClassifier(RBF(0.1)), MKLClassifier(RBF(0.1), loss="squared_hinge")],
        "ovr": [
            MKLClassifier(RBF(WIDTHS)),
            MKLClassifier(Linear()),
            MKLClassifier(RBF(0.1), loss="logistic"),
            MKLClassifier(RBF(0.1), calibrate="sigmoid"),
            MKLClassifier(RBF(0.1), share_weights=True),
        ],
    }
    for expected, models in forms.items():
        for model in models:
            assert model.fit(X, y).multi_class_ == expected


@pytest.mark.parametrize("kernel", [RBF(0.1), RBF(WIDTHS)])
def test_search_follows_pairs(wine, kernel):
    X, y = wine
    search = MKLClassifierCV(kernel, norms=[1, 2], Cs=[0.1, 1.0], cv=3, multi_class="ovo")
    search.fit(X, y)
    assert search.multi_class_ == "ovo"
    assert search.best_score_ > 0.9
    assert verify(search, X, y).agree
    alone = MKLClassifier(kernel, norm=search.norm_, C=search.C_, multi_class="ovo").fit(X, y)
    np.testing.assert_allclose(search.decision_function(X), alone.decision_function(X), atol=0.01)


def test_held_out_values_of_a_search_are_those_of_fits(wine):
    X, y = wine
    folds = list(StratifiedKFold(3, shuffle=True, random_state=0).split(X, y))
    search = MKLClassifierCV(
        RBF(0.1), norms=[2], Cs=[1.0], cv=folds, multi_class="ovo", normalize=None, tol=1e-5
    ).fit(X, y)
    for fold, (train, test) in enumerate(folds):
        model = MKLClassifier(RBF(0.1), normalize=None, multi_class="ovo", tol=1e-5)
        score = model.fit(X[train], y[train]).score(X[test], y[test])
        assert search.scores_[0, 0, fold] == pytest.approx(score)


def test_displays_name_pairs(wine):
    pytest.importorskip("matplotlib")
    from kernelweave.plots import ConvergenceDisplay, WeightsDisplay

    X, y = wine
    model = MKLClassifier(RBF(WIDTHS), multi_class="ovo", share_weights=False).fit(X, y)
    shown = ConvergenceDisplay.from_estimator(model)
    assert [line.get_label() for line in shown.lines_] == ["low / mid", "low / top", "mid / top"]
    WeightsDisplay.from_estimator(model)


SHARING = {"shared weights": True, "weights of each pair": False}


@pytest.mark.parametrize("share", SHARING.values(), ids=SHARING)
def test_stopped_fits_of_pairs_resume(wine, share, tmp_path):
    X, y = wine
    given = {"norm": 1, "multi_class": "ovo", "share_weights": share, "tol": 1e-5}
    plain = MKLClassifier(RBF(WIDTHS), **given).fit(X, y)
    saved = MKLClassifier(RBF(WIDTHS), checkpoint=tmp_path / "run", **given)
    with pytest.warns(ConvergenceWarning):
        clone(saved).set_params(max_iter=1).fit(X, y)
    assert len(list(tmp_path.iterdir())) == (1 if share else 3)
    resumed = clone(saved).fit(X, y)
    assert not list(tmp_path.iterdir())
    assert np.all(resumed.duality_gap_ <= 1e-5)
    np.testing.assert_allclose(resumed.weights_, plain.weights_, atol=0.01)


@pytest.mark.parametrize("share", SHARING.values(), ids=SHARING)
def test_checkpoints_of_other_classes_are_refused(wine, share, tmp_path):
    """The problems of pairs do not say which examples they consist of."""
    X, y = wine
    model = MKLClassifier(
        RBF(WIDTHS), multi_class="ovo", share_weights=share, checkpoint=tmp_path / "run", max_iter=1
    )
    with pytest.warns(ConvergenceWarning):
        model.set_params(tol=1e-9).fit(X, y)
    with pytest.raises(ValueError, match="belongs to another problem"):
        model.fit(X, y[::-1])


def test_checkpoint_of_one_kernel_gives_the_same_model(wine, tmp_path):
    X, y = wine
    plain = MKLClassifier(RBF(0.1), multi_class="ovo", tol=1e-6).fit(X, y)
    model = clone(plain).set_params(checkpoint=tmp_path / "run").fit(X, y)
    np.testing.assert_allclose(model.decision_function(X), plain.decision_function(X), atol=1e-3)
    assert not list(tmp_path.iterdir())


class TestBadInput:
    def test_classes_absent_from_a_fold(self, wine):
        X, y = wine
        labels = np.where(
            np.arange(len(y)) < 4, np.array(["a", "b", "c", "d"])[np.arange(len(y)) % 4], y
        )
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            search = MKLClassifierCV(
                RBF(0.1), norms=[2], Cs=[1.0], cv=KFold(3, shuffle=True), multi_class="ovo"
            ).fit(X, labels)
        assert np.isfinite(search.scores_).all()
        assert set(search.classes_) == set(labels)

    def test_class_with_one_example(self, wine):
        X, y = wine
        labels = np.where(np.arange(len(y)) == 7, "single", y)
        model = MKLClassifier(RBF(0.1), C=100.0, multi_class="ovo").fit(X, labels)
        assert np.all(model.duality_gap_ <= model.tol)
        assert model.predict(X[7:8]) == ["single"]

    def test_class_without_weight(self, wine):
        X, y = wine
        model = MKLClassifier(RBF(0.1), multi_class="ovo")
        with pytest.warns(UserWarning, match="2 of 3 outputs"):
            model.fit(X, y, sample_weight=(y != "mid").astype(float))
        assert set(model.predict(X)) == {"low", "top"}

    def test_class_without_weight_against_the_rest(self, wine):
        X, y = wine
        model = MKLClassifier(RBF(0.1), multi_class="ovr")
        with pytest.warns(UserWarning, match="1 of 3 outputs") as caught:
            model.fit(X, y, sample_weight=(y != "mid").astype(float))
        assert len(caught) == 1
        assert set(model.predict(X)) == {"low", "top"}

    def test_two_classes_without_weight(self, wine):
        X, y = wine
        labels = np.where(np.arange(len(y)) < 20, "new", y)
        weights = np.isin(labels, ("low", "top")).astype(float)
        with pytest.raises(ValueError, match=r"\['mid', 'new'\] have none"):
            MKLClassifier(RBF(0.1), multi_class="ovo").fit(X, labels, sample_weight=weights)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            model = MKLClassifier(RBF(0.1)).fit(X, labels, sample_weight=weights)
        assert model.multi_class_ == "ovr"

    def test_unknown_label_in_class_weight(self, wine):
        X, y = wine
        with pytest.raises(ValueError, match="class_weight"):
            MKLClassifier(RBF(0.1), multi_class="ovo", class_weight={"other": 2.0}).fit(X, y)

    @pytest.mark.parametrize(
        "given",
        [{"multi_class": "both"}, {"decision_function_shape": "pairs"}, {"share_weights": "no"}],
    )
    def test_values_of_parameters(self, wine, given):
        (name,) = given
        with pytest.raises(ValueError, match=f"{name} must be"):
            MKLClassifier(RBF(0.1), **given).fit(*wine)

    def test_many_classes_are_announced(self):
        X = np.random.default_rng(0).normal(size=(1002, 2))
        with pytest.warns(UserWarning, match="trains 125,250 problems for 501 classes"):
            warn_of_many(np.arange(501))
        model = MKLClassifier(RBF(0.1), norm=Lp(2)).fit(X[:400], np.arange(400) // 2 % 101)
        assert model.multi_class_ == "ovr"


@pytest.mark.parametrize("norm", [1, 4 / 3, 2])
def test_gap_of_shared_weights_is_that_of_kernel_matrices(wine, norm):
    """The relative gap from fitted attributes and kernel matrices alone."""
    X, y = wine
    C, widths = 10.0, np.geomspace(0.001, 1.0, 6)
    model = MKLClassifier(RBF(list(widths)), norm=norm, C=C, normalize=None, multi_class="ovo")
    model.fit(X, y)
    squared, theta = euclidean_distances(X, squared=True), model.weights_
    alphas = np.zeros((3, len(y)))
    alphas[:, model.support_] = model.dual_coef_
    losses, constant, gains, s = 0.0, 0.0, 0.0, np.zeros(len(widths))
    for alpha, bias, (a, b) in zip(alphas, model.intercept_, class_pairs(3), strict=True):
        signs = (y == model.classes_[a]).astype(float) - (y == model.classes_[b])
        assert np.all(signs * alpha >= 0)
        assert np.all(signs * alpha <= C * np.abs(signs))
        assert alpha.sum() == pytest.approx(0, abs=1e-9)
        outputs = np.array([np.exp(-gamma * squared) @ alpha for gamma in widths])
        errors = np.maximum(1 - signs * (theta @ outputs + bias), 0)
        losses += C * errors[signs != 0].sum()
        gains += signs @ alpha
        constant += 2 * C * min(np.sum(signs > 0), np.sum(signs < 0))
        s += outputs @ alpha
    largest = s.max() if norm == 1 else np.linalg.norm(s, norm / (norm - 1))
    primal, dual = losses + 0.5 * theta @ s, gains - 0.5 * largest
    assert np.linalg.norm(theta, norm) <= 1 + 1e-12
    gap = (primal - dual) / min(abs(primal), constant - dual)
    assert gap == pytest.approx(model.duality_gap_, rel=1e-4, abs=1e-10)
    assert gap <= model.tol


def test_memory_of_many_classes_against_the_rest_is_stated():
    with pytest.warns(UserWarning, match="10,000 classes on 20,000 examples.*about 7 GB"):
        warn_of_large_rest(np.arange(10_000), 20_000)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warn_of_large_rest(np.arange(1000), 10_000)
        warn_of_large_rest(np.arange(2), 10**9)


def test_scores_are_votes_and_squashed_sums():
    values = np.random.default_rng(0).normal(size=(50, 6))
    scores = class_scores(values, 4)
    votes, sums = np.zeros((50, 4)), np.zeros((50, 4))
    for k, (a, b) in enumerate(class_pairs(4)):
        votes[:, a] += values[:, k] >= 0
        votes[:, b] += values[:, k] < 0
        sums[:, a] += values[:, k]
        sums[:, b] -= values[:, k]
    np.testing.assert_allclose(scores, votes + sums / (3 * (np.abs(sums) + 1)))


@pytest.mark.parametrize("share", [True, False])
def test_pairs_have_no_intercept_if_none_is_asked_for(wine, share):
    X, y = wine
    given = {"multi_class": "ovo", "share_weights": share, "fit_intercept": False}
    model = MKLClassifier(RBF(WIDTHS), **given).fit(X, y)
    assert not model.intercept_.any()
    assert verify(model, X, y).agree
    assert np.abs(model.dual_coef_.sum(axis=1)).max() > 1e-3


def test_hard_margins_of_pairs_do_not_depend_on_repeated_examples(wine):
    X, y = wine
    model = MKLClassifier(RBF(0.1), C=np.inf, normalize=None, multi_class="ovo")
    once, twice = (
        clone(model).fit(X, y),
        clone(model).fit(*(np.concatenate([a, a]) for a in (X, y))),
    )
    np.testing.assert_allclose(once.primal_objective_, twice.primal_objective_, rtol=1e-2)
