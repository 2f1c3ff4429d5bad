"""Cross-validated searches: the scores of fits of their own, for fewer kernel rows."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.datasets import load_breast_cancer, load_diabetes, load_iris
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import get_scorer
from sklearn.model_selection import GroupKFold, KFold, ShuffleSplit, StratifiedKFold
from sklearn.preprocessing import scale
from sklearn.utils.estimator_checks import parametrize_with_checks

from kernelweave import MKLClassifier, MKLClassifierCV, MKLRegressor, MKLRegressorCV, norms
from kernelweave.engines import DenseEngine
from kernelweave.estimators.fit import Fit
from kernelweave.estimators.search import Grid
from kernelweave.estimators.selection import CS as CS_OF_SCALE
from kernelweave.kernels import RBF, Precomputed

NORMS, CS = (1.0, 2.0, np.inf), (10.0, 0.1, 1.0)  # costs in no order
SETTINGS = {"kernels": RBF(gamma=[0.01, 0.1, 1.0]), "normalize": None, "tol": 1e-6}


@pytest.fixture(scope="module")
def cancer():
    X, y = load_breast_cancer(return_X_y=True)
    return ((X - X.mean(axis=0)) / X.std(axis=0))[:200], np.array(["bad", "good"])[y[:200]]


@pytest.fixture(scope="module")
def iris():
    X, y = load_iris(return_X_y=True)
    return (X - X.mean(axis=0)) / X.std(axis=0), y


@pytest.fixture(scope="module")
def diabetes():
    X, y = load_diabetes(return_X_y=True)
    return 20 * X[:150], (y[:150] - y.mean()) / y.std()


def scores_one_by_one(make, X, y, folds, scoring):
    """The scores of a fit of its own for every norm, C and fold."""
    scorer = get_scorer(scoring)
    fits = [[[make(p, C).fit(X[train], y[train]) for train, _ in folds] for C in CS] for p in NORMS]
    return np.array(
        [
            [
                [scorer(fit, X[test], y[test]) for fit, (_, test) in zip(row, folds, strict=True)]
                for row in rows
            ]
            for rows in fits
        ]
    )


def make_classifier(**settings):
    return lambda p, C: MKLClassifier(norm=p, C=C, **SETTINGS, **settings)


@pytest.mark.parametrize(
    "settings",
    [{}, {"loss": "logistic"}, {"loss": "squared_hinge"}, {"class_weight": "balanced"}],
    ids=str,
)
def test_scores_are_those_of_fits_of_their_own(cancer, settings):
    X, y = cancer
    folds = list(StratifiedKFold(3).split(X, y))
    search = MKLClassifierCV(
        norms=NORMS, Cs=CS, cv=3, scoring="roc_auc", **SETTINGS, **settings
    ).fit(X, y)
    expected = scores_one_by_one(make_classifier(**settings), X, y, folds, "roc_auc")
    assert search.scores_.shape == (3, 3, 3)
    assert_allclose(search.scores_, expected, atol=2e-3)
    assert np.count_nonzero(np.abs(search.scores_ - expected) > 1e-9) <= 4  # near ties


@pytest.mark.parametrize("share", [False, True])
def test_several_classes(iris, share):
    X, y = iris
    folds = list(StratifiedKFold(3).split(X, y))
    search = MKLClassifierCV(norms=NORMS, Cs=CS, cv=3, share_weights=share, **SETTINGS).fit(X, y)
    make = make_classifier(share_weights=share)
    assert_allclose(search.scores_, scores_one_by_one(make, X, y, folds, "accuracy"), atol=1e-12)
    alone = make(search.norm_, search.C_).fit(X, y)
    assert_allclose(search.weights_, alone.weights_, atol=1e-3)
    assert search.weights_.shape == ((3,) if share else (3, 3))


@pytest.mark.parametrize("loss", ["epsilon_insensitive", "squared"])
def test_regression(diabetes, loss):
    X, y = diabetes
    options = {"loss": loss, "epsilon": 0.1, **SETTINGS}
    search = MKLRegressorCV(norms=NORMS, Cs=CS, cv=3, **options).fit(X, y)

    def make(p, C):
        return MKLRegressor(norm=p, C=C, **options)

    expected = scores_one_by_one(make, X, y, list(KFold(3).split(X)), "r2")
    assert_allclose(search.scores_, expected, atol=2e-3)


@pytest.mark.parametrize("loss", ["epsilon_insensitive", "squared"])
@pytest.mark.parametrize("weighted", [False, True])
def test_scales_of_targets_are_those_of_the_examples_that_train(diabetes, loss, weighted):
    """The spread of held-out targets changes neither epsilon nor C of a fold."""
    X, y = diabetes
    y = y * np.where(np.arange(len(y)) % 3 == 0, 5.0, 1.0)
    folds = [(np.flatnonzero(np.arange(len(y)) % 3 != k), np.arange(k, len(y), 3)) for k in (0, 1)]
    weights = 1.0 + np.arange(len(y)) % 4 if weighted else np.ones(len(y))
    given = weights if weighted else None
    search = MKLRegressorCV(norms=[2.0], cv=folds, loss=loss, **SETTINGS).fit(X, y, given)

    def estimator_on(at, part):
        scale = MKLRegressor(loss=loss, **SETTINGS).fit(X[part], y[part], weights[part])
        model = MKLRegressor(
            norm=2.0, C=CS_OF_SCALE[at] * scale.C_, epsilon=scale.epsilon_, loss=loss, **SETTINGS
        )
        return model.fit(X[part], y[part], weights[part])

    for at in range(len(CS_OF_SCALE)):
        for fold, (train, test) in enumerate(folds):
            expected = estimator_on(at, train).score(X[test], y[test], weights[test])
            assert search.scores_[0, at, fold] == pytest.approx(expected, abs=2e-3)
    every = np.arange(len(y))
    best = estimator_on(int(search.scores_.mean(axis=2)[0].argmax()), every)
    assert pytest.approx(best.C_, rel=1e-12) == search.C_
    assert search.epsilon_ == pytest.approx(best.epsilon_, rel=1e-12)
    assert search.primal_objective_ == pytest.approx(best.primal_objective_, rel=1e-4)


def test_held_out_targets_do_not_count(diabetes):
    """Held-out targets may be anything: weights and other predictions do not change."""
    X, y = diabetes
    train, apart = np.arange(100), y.copy()
    apart[140:] *= 100.0
    options = {"norms": [1.0, 2.0], "cv": [(train, np.arange(100, 140))], **SETTINGS}
    first, other = (MKLRegressorCV(**options).fit(X, targets) for targets in (y, apart))
    assert_allclose(first.scores_, other.scores_, atol=1e-12)


def test_a_fold_without_weight(diabetes):
    X, y = diabetes
    search = MKLRegressorCV(norms=[2.0], cv=3, **SETTINGS)
    with pytest.raises(ValueError, match="sample_weight must be positive for some of the examples"):
        search.fit(X, y, sample_weight=np.arange(len(y)) < len(y) // 3)


def test_the_best_point_is_fitted_on_all_examples(cancer):
    X, y = cancer
    search = MKLClassifierCV(norms=NORMS, Cs=CS, cv=3, **SETTINGS).fit(X, y)
    mean = search.scores_.mean(axis=2)
    assert search.best_score_ == mean.max()
    assert mean[NORMS.index(search.norm_), CS.index(search.C_)] == mean.max()
    alone = MKLClassifier(norm=search.norm_, C=search.C_, **SETTINGS).fit(X, y)
    assert search.duality_gap_ <= SETTINGS["tol"]
    assert search.primal_objective_ == pytest.approx(alone.primal_objective_, rel=1e-5)
    assert_allclose(search.decision_function(X), alone.decision_function(X), atol=0.02)


def test_neighbours_save_kernel_rows(cancer, monkeypatch):
    X, y = cancer
    rows, add = [], DenseEngine._add

    def count(engine, idx, delta):
        rows.append(len(idx))
        add(engine, idx, delta)

    monkeypatch.setattr(DenseEngine, "_add", count)
    settings, Cs = SETTINGS | {"tol": 1e-3}, (0.1, 1.0, 10.0, 100.0)
    MKLClassifierCV(norms=NORMS, Cs=Cs, cv=3, **settings).fit(X, y)
    together, rows[:] = sum(rows), []
    for train, _ in StratifiedKFold(3).split(X, y):
        for p in NORMS:
            for C in Cs:
                MKLClassifier(norm=p, C=C, **settings).fit(X[train], y[train])
    assert together < 0.8 * sum(rows)


@pytest.mark.parametrize(
    ("cv", "folds"),
    [(None, 5), (4, 4), (ShuffleSplit(2, random_state=0), 2), ([(range(150), range(150, 200))], 1)],
    ids=str,
)
def test_any_splitter_of_scikit_learn(cancer, cv, folds):
    search = MKLClassifierCV(RBF(0.1), norms=(2.0,), Cs=(1.0,), cv=cv).fit(*cancer)
    assert search.scores_.shape == (1, 1, folds)
    assert np.all(search.scores_ > 0.8)


def test_groups_stay_together(cancer):
    X, y = cancer
    groups = np.arange(len(y)) % 10
    search = MKLClassifierCV(norms=(2.0,), Cs=(1.0,), cv=GroupKFold(2), **SETTINGS).fit(
        X, y, groups=groups
    )
    folds = list(GroupKFold(2).split(X, y, groups))
    fits = [MKLClassifier(norm=2.0, **SETTINGS).fit(X[train], y[train]) for train, _ in folds]
    expected = [fit.score(X[test], y[test]) for fit, (_, test) in zip(fits, folds, strict=True)]
    assert_allclose(search.scores_[0, 0], expected)


def test_a_weight_of_two_is_an_example_twice(cancer, diabetes):
    settings = SETTINGS | {"norms": (1.0, 2.0), "Cs": (0.1, 1.0)}
    for Search, (X, y) in ((MKLClassifierCV, cancer), (MKLRegressorCV, diabetes)):
        weights = 1 + np.arange(len(y)) % 2
        twice = np.repeat(np.arange(len(y)), weights)
        weighted = Search(cv=thirds(np.arange(len(y))), **settings)
        weighted.fit(X, y, sample_weight=weights)
        repeated = Search(cv=thirds(twice), **settings).fit(X[twice], y[twice])
        assert_allclose(weighted.scores_, repeated.scores_, atol=2e-3)
        assert (weighted.norm_, weighted.C_) == (repeated.norm_, repeated.C_)
        assert weighted.primal_objective_ == pytest.approx(repeated.primal_objective_, rel=1e-5)


def thirds(numbers):
    """Folds by what is left of a number when it is divided by 3."""
    left = numbers % 3
    return [(np.flatnonzero(left != k), np.flatnonzero(left == k)) for k in range(3)]


def test_examples_without_weight_do_not_count(cancer):
    X, y = cancer
    kept = np.arange(len(y)) % 5 > 0
    settings = SETTINGS | {"norms": (2.0,), "Cs": (1.0,)}
    weighted = MKLClassifierCV(cv=thirds(np.arange(len(y))), **settings)
    weighted.fit(X, y, sample_weight=kept.astype(float))
    fewer = MKLClassifierCV(cv=thirds(np.flatnonzero(kept)), **settings).fit(X[kept], y[kept])
    assert_allclose(weighted.scores_, fewer.scores_, atol=1e-9)


def test_families_are_taken_as_a_whole(cancer, monkeypatch):
    """With many examples the search runs on combined outputs, and scores the same."""
    X, y = cancer
    settings = {"norms": NORMS, "Cs": (0.1, 1.0), "cv": 3, "scoring": "roc_auc", "tol": 1e-5}
    family = RBF(gamma=np.geomspace(0.001, 1.0, 6))
    apart = MKLClassifierCV(family, **settings).fit(X, y)
    monkeypatch.setattr("kernelweave.engines.family.MANY_EXAMPLES", 0)
    monkeypatch.setattr(DenseEngine, "__init__", None)
    together = MKLClassifierCV(family, **settings).fit(X, y)
    assert_allclose(together.scores_, apart.scores_, atol=2e-3)
    assert (together.norm_, together.C_) == (apart.norm_, apart.C_)


def test_a_callable_scores_held_out_examples(cancer):
    X, y = cancer
    seen = []

    def share_of_good(estimator, positions, labels):
        values = estimator.decision_function(positions)
        assert_allclose(values[3:5], estimator.decision_function(positions[3:5]))
        seen.append((len(labels), set(estimator.classes_)))
        return np.mean(estimator.predict(positions) == "good")

    search = MKLClassifierCV(RBF(0.1), norms=(2.0,), Cs=(1.0,), cv=4, scoring=share_of_good).fit(
        X, y
    )
    assert seen == [(50, {"bad", "good"})] * 4
    assert 0 < search.best_score_ < 1


def test_precomputed_kernels_need_no_slicing(cancer):
    X, y = cancer
    settings = SETTINGS | {"norms": (2.0,), "Cs": CS, "cv": 3}
    plain = MKLClassifierCV(**settings | {"kernels": RBF(0.1)}).fit(X, y)
    given = MKLClassifierCV(**settings | {"kernels": Precomputed()}).fit(RBF(0.1)(X), y)
    assert_allclose(given.scores_, plain.scores_)


def test_simple_models_win_ties():
    grid = Grid.of([1.0, np.inf, norms.Elliptic(np.eye(2)), 2.0], [10.0, 0.1, 1.0])
    assert grid.best(np.ones((4, 3))) == (1, 1)
    scores = np.zeros((4, 3))
    scores[[0, 2, 3], [2, 2, 2]] = scores[3, 0] = 1.0
    assert grid.best(scores) == (3, 2)
    scores[0, 0] = np.nan
    assert grid.best(scores) == (3, 2)


def test_alignment_does_not_see_held_out_labels(cancer):
    X, y = cancer
    settings = SETTINGS | {"solver": "centered-alignment"}
    folds = list(StratifiedKFold(3).split(X, y))
    search = MKLClassifierCV(norms=(2.0,), Cs=(1.0,), cv=3, scoring="roc_auc", **settings)
    search.fit(X, y)
    fits = [MKLClassifier(norm=2.0, **settings).fit(X[train], y[train]) for train, _ in folds]
    scorer = get_scorer("roc_auc")
    expected = [scorer(fit, X[test], y[test]) for fit, (_, test) in zip(fits, folds, strict=True)]
    assert_allclose(search.scores_[0, 0], expected, atol=1e-3)


@pytest.mark.parametrize("class_weight", ["balanced", {2: 3.0}, {0: 1.0, 2: 3.0}])
def test_a_class_may_be_missing_from_a_training_part(class_weight, iris):
    X, y = iris
    keep = np.flatnonzero((y < 2) | (np.arange(150) == 149))
    X, y = X[keep], y[keep]
    search = MKLClassifierCV(norms=(2.0,), Cs=(1.0,), cv=3, class_weight=class_weight)
    with pytest.warns(UserWarning, match="least populated class"):
        search.fit(X, y)
    assert search.scores_.min() >= 0.9
    assert list(search.classes_) == [0, 1, 2]


def test_progress_shows_the_time_left(cancer, capsys):
    MKLClassifierCV(RBF(0.1), norms=(2.0,), Cs=(0.1, 1.0), cv=3, verbose=1).fit(*cancer)
    shown = capsys.readouterr().err
    assert "6/6" in shown
    assert "left:" in shown


def test_fits_that_stop_early_are_counted(cancer):
    # Norms that leave a choice: a turn is enough for the plain sum.
    search = MKLClassifierCV(norms=NORMS[:2], Cs=CS, cv=3, max_iter=1, **SETTINGS)
    with pytest.warns(ConvergenceWarning) as warned:
        search.fit(*cancer)
    assert "of 18 fits of the search stopped above tol=1e-06" in str(warned[0].message)
    assert "MKLClassifierCV stopped after 1 iterations" in str(warned[1].message)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"norms": ()}, "norms must be a sequence"),
        ({"norms": 2.0}, "norms must be a sequence"),
        ({"norms": (0.5,)}, "norm must be a number p >= 1"),
        ({"Cs": ()}, "Cs must be a sequence of finite numbers above 0"),
        ({"Cs": (1.0, -1.0)}, "Cs must be a sequence of finite numbers above 0"),
        ({"scoring": ["accuracy", "f1"]}, "scoring must be None, the name"),
        ({"scoring": "acuracy"}, "acuracy"),
        ({"solver": "uniform", "norms": (np.inf, 2.0)}, "does not support norm"),
        ({"cv": [(range(10), [])]}, "cv must yield non-empty training and test folds"),
        ({"cv": []}, "cv must yield non-empty training"),
        ({"cv": 1000}, "n_splits=1000"),
    ],
    ids=str,
)
def test_bad_parameters(cancer, settings, message):
    with pytest.raises(ValueError, match=message):
        MKLClassifierCV(**{"Cs": (1.0,), "norms": (2.0,)} | settings).fit(*cancer)


@pytest.mark.parametrize("data", ["cancer", "iris"])
def test_probabilities_are_scored(data, request):
    X, y = request.getfixturevalue(data)
    folds = list(StratifiedKFold(3).split(X, y))
    settings = {"loss": "logistic", **SETTINGS}
    search = MKLClassifierCV(norms=NORMS, Cs=CS, cv=3, scoring="neg_log_loss", **settings).fit(X, y)
    expected = scores_one_by_one(make_classifier(loss="logistic"), X, y, folds, "neg_log_loss")
    assert_allclose(search.scores_, expected, atol=2e-3)


def test_probabilities_need_the_logistic_loss(cancer, monkeypatch):
    X, y = cancer
    monkeypatch.setattr(Fit, "solve", None)  # the error comes before any fit
    asked = r"scoring='neg_log_loss' requires predict_proba, which MKLClassifierCV\(loss='hinge'\)"
    with pytest.raises(ValueError, match=f"{asked} does not have; pass loss='logistic'"):
        MKLClassifierCV(scoring="neg_log_loss").fit(X, y)
    with pytest.raises(ValueError, match=r"which MKLRegressorCV.* does not have; pass another"):
        MKLRegressorCV(scoring="neg_log_loss").fit(X, X[:, 0])


def test_one_class_to_train_on_is_refused(cancer):
    X, y = cancer
    order = np.argsort(y, kind="stable")
    cv = [(order[:20], order[20:])]
    with pytest.raises(ValueError, match="at least 2 classes to train on in every fold"):
        MKLClassifierCV(cv=cv).fit(X, y)


def expected_failures(estimator):
    """A search does not merge equal examples: it comes to the same optimum, but only up to tol."""
    names = (f"check_sample_weight_equivalence_on_{kind}_data" for kind in ("dense", "sparse"))
    return dict.fromkeys(names, "equal up to tol only")


@parametrize_with_checks(
    [MKLClassifierCV(norms=(2.0,), Cs=(1.0,), cv=3), MKLRegressorCV(norms=(2.0,), Cs=(1.0,), cv=3)],
    expected_failed_checks=expected_failures,
)
def test_scikit_learn_conventions(estimator, check):
    check(estimator)


@pytest.mark.parametrize(
    ("solver", "loss"),
    [
        ("auto", "hinge"),
        ("cutting-plane", "hinge"),
        ("level", "hinge"),
        ("gradient", "hinge"),
        ("skm", "hinge"),
        ("mwu", "squared_hinge"),
        ("alignment", "hinge"),
        ("centered-alignment", "hinge"),
    ],
)
def test_held_out_targets_do_not_affect_any_solver(solver, loss):
    """Reversing held-out targets of a fold does not change decision values."""
    X, y = load_breast_cancer(return_X_y=True)
    X, y = scale(X)[:150], y[:150]
    test = np.arange(0, 150, 3)
    train = np.setdiff1d(np.arange(150), test)
    turned = y.copy()
    turned[test] = 1 - y[test]
    scores = [
        MKLClassifierCV(
            RBF(gamma=[0.01, 0.1, 1.0]),
            norms=[1.0],
            Cs=[0.1, 1.0],
            cv=[(train, test)],
            solver=solver,
            loss=loss,
            tol=0.1 if solver == "mwu" else 1e-4,
        )
        .fit(X, targets)
        .scores_
        for targets in (y, turned)
    ]
    np.testing.assert_allclose(scores[0], 1 - scores[1], atol=1e-12)
    assert np.all(scores[0] > 0.85)
