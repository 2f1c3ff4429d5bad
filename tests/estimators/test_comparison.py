"""The comparison: honest scores on the same folds."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, StratifiedKFold, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier

from kernelweave import MKLClassifier, MKLClassifierCV, MKLRegressor, kernels, norms
from kernelweave.estimators.comparison import LEARNED, SINGLE, SUM, compare

GAMMAS = [0.001, 0.03, 1.0]


@pytest.fixture(scope="module")
def cancer():
    X, y = load_breast_cancer(return_X_y=True)
    return StandardScaler().fit_transform(X[:150]), y[:150]


GRID = {"Cs": [0.1, 10.0], "norms": [1.0, 2.0, np.inf]}
PARTS = StratifiedKFold(3, shuffle=True, random_state=0)  # of a training fold


@pytest.fixture(scope="module")
def comparison(cancer):
    others = {"boosting": DecisionTreeClassifier(random_state=0)}
    return compare(MKLClassifier(kernels.RBF(gamma=GAMMAS)), *cancer, cv=3, others=others, **GRID)


def test_everyone_chooses_inside_the_training_fold(comparison, cancer):
    X, y = cancer
    for fold, (train, test) in enumerate(StratifiedKFold(3).split(X, y)):
        learned = MKLClassifierCV(kernels.RBF(gamma=GAMMAS), cv=PARTS, **GRID)
        learned.fit(X[train], y[train])
        assert comparison.settings[LEARNED][fold] == (learned.norm_, learned.C_)
        assert comparison.scores[LEARNED][fold] == learned.score(X[test], y[test])
        plain = GridSearchCV(
            MKLClassifier(kernels.RBF(gamma=GAMMAS), norm=np.inf), {"C": GRID["Cs"]}, cv=PARTS
        ).fit(X[train], y[train])
        assert comparison.settings[SUM][fold] == (np.inf, plain.best_params_["C"])
        assert_allclose(comparison.scores[SUM][fold], plain.score(X[test], y[test]))


def test_the_single_kernel_is_chosen_in_the_training_fold(comparison, cancer):
    X, y = cancer
    for fold, (train, test) in enumerate(StratifiedKFold(3).split(X, y)):
        one = MKLClassifierCV(norms=[np.inf], Cs=GRID["Cs"], cv=PARTS)
        alone = [
            clone(one).set_params(kernels=kernels.RBF(gamma=g)).fit(X[train], y[train])
            for g in GAMMAS
        ]
        best = max(alone, key=lambda model: model.best_score_)
        assert comparison.chosen[fold] == best.kernel_names_[0]
        assert_allclose(comparison.scores[SINGLE][fold], best.score(X[test], y[test]))


def test_rivals_are_scored_on_the_same_folds(comparison, cancer):
    tree = DecisionTreeClassifier(random_state=0)
    expected = cross_val_score(tree, *cancer, cv=StratifiedKFold(3))
    assert_allclose(comparison.scores["boosting"], expected)
    difference = comparison.scores[LEARNED] - expected
    mean, error = comparison.differences["boosting"]
    assert mean == pytest.approx(difference.mean())
    assert error == pytest.approx(difference.std(ddof=1) / np.sqrt(3))
    with pytest.raises(ValueError, match="others must not have the reserved names"):
        compare(MKLClassifier(), *cancer, others={SUM: tree})


def test_repr_of_a_comparison_is_a_table(comparison):
    lines = repr(comparison).splitlines()
    assert lines[0] == "accuracy on 3 folds"
    assert [line[:12] for line in lines[2:5]] == ["learned comb", "plain sum   ", "best single "]
    assert f"{comparison.scores[SUM].mean():.3f}" in lines[3]
    assert f"{comparison.differences[SUM][0]:+.3f} +- " in lines[3]
    assert comparison.chosen[0] in lines[6]
    assert "p=" in lines[7]


def test_frame(comparison):
    pytest.importorskip("pandas")
    frame = comparison.to_frame()
    assert list(frame.index) == [LEARNED, SUM, SINGLE, "boosting"]
    folds = ["fold 1", "fold 2", "fold 3"]
    assert list(frame.columns) == ["mean", "std", "difference", "error", *folds]
    assert_allclose(frame.loc[SUM, "mean"], comparison.scores[SUM].mean())


def test_picture(comparison):
    pytest.importorskip("matplotlib").use("Agg")
    display = comparison.plot()
    assert_allclose(display.means_.get_ydata()[1], comparison.scores[SUM].mean())


def test_pipelines_default_kernels_and_scorers(rng):
    X = rng.normal(size=(60, 2)) * [1.0, 1000.0]
    pipeline = make_pipeline(StandardScaler(), MKLRegressor())
    found = compare(pipeline, X, X[:, 0], cv=2, scoring="neg_mean_absolute_error", **GRID)
    assert found.scoring == "neg_mean_absolute_error"
    assert set(found.chosen) == {"Linear on all columns"}
    assert found.scores[SINGLE].min() > -0.2


def test_single_default_kernels_have_names_of_their_fold(rng, capfd):
    X = rng.normal(size=(60, 2))
    found = compare(MKLClassifier(verbose=1), X, X[:, 0] > 0, cv=2, Cs=[1.0], norms=[2])
    assert all("gamma" in name or "Linear" in name for name in found.chosen)
    assert capfd.readouterr().err.split("\n")[:2] == [f"compare: fold {k} of 2" for k in (1, 2)]


def test_comparison_of_one_kernel_has_three_equal_scores(rng):
    X = rng.normal(size=(40, 2))
    found = compare(MKLRegressor(kernels.RBF()), X, X[:, 0], cv=2, **GRID)
    assert_allclose(found.scores[LEARNED], found.scores[SINGLE])
    assert_allclose(found.scores[LEARNED], found.scores[SUM])


def test_a_given_matrix_is_split_like_its_rows(rng):
    X = rng.normal(size=(40, 2))
    found = compare(MKLRegressor(kernels.Precomputed()), X @ X.T, X[:, 0], cv=2, **GRID)
    assert found.chosen == ("Precomputed", "Precomputed")


def test_kernels_that_are_constant_in_a_fold_take_no_part(rng):
    X = np.column_stack([rng.normal(size=60), np.arange(60) == 7])
    y = np.where(X[:, 0] > 0, 1, -1)
    machine = MKLClassifier([kernels.RBF(1.0, columns=[0]), kernels.Linear(columns=1)])
    with pytest.warns(UserWarning, match="1 of 2 kernels get weight 0"):
        found = compare(machine, X, y, cv=2, **GRID)
    assert np.isfinite(found.scores[SINGLE]).all()


def test_compare_does_not_change_the_estimator(cancer):
    estimator = MKLClassifier(kernels.RBF(gamma=GAMMAS), norm=1.5)
    compare(estimator, *cancer, cv=2, **GRID)
    assert estimator.norm == 1.5
    assert not hasattr(estimator, "weights_")


@pytest.mark.parametrize("other", [LogisticRegression(), [kernels.RBF(1.0)]])
def test_other_estimators_are_refused(other, cancer):
    with pytest.raises(ValueError, match=rf"must be MKLClassifier.*got {type(other).__name__}"):
        compare(other, *cancer)


def test_each_kernel_alone_may_be_the_learned_combination(rng):
    """Given weights are norms like others, so that a search can fall back to one kernel."""
    X = rng.normal(size=(90, 3))
    y = X[:, 1] > 0
    alone = [norms.Fixed(row) for row in np.eye(3)]
    found = compare(
        MKLClassifier(kernels.per_feature(kernels.Linear())), X, y, cv=2, Cs=[1.0], norms=alone
    )
    assert found.settings["learned combination"][0][0].theta.tolist() == [0.0, 1.0, 0.0]
    assert "chosen for learned combination: kernel 1 alone C=1 (2)" in repr(found)
    np.testing.assert_array_equal(
        found.scores["learned combination"], found.scores["best single kernel"]
    )
