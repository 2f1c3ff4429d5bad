"""The comparison: honest scores on the same folds."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import StratifiedKFold, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from kernelweave import MKLClassifier, MKLRegressor, kernels
from kernelweave.comparison import LEARNED, SINGLE, SUM, compare

GAMMAS = [0.001, 0.03, 1.0]


@pytest.fixture(scope="module")
def cancer():
    X, y = load_breast_cancer(return_X_y=True)
    return StandardScaler().fit_transform(X[:150]), y[:150]


@pytest.fixture(scope="module")
def comparison(cancer):
    return compare(MKLClassifier(kernels.RBF(gamma=GAMMAS), norm=1.5), *cancer, cv=3)


def test_scores_are_those_of_cross_validation(comparison, cancer):
    learned = MKLClassifier(kernels.RBF(gamma=GAMMAS), norm=1.5)
    plain = clone(learned).set_params(norm=np.inf, solver="uniform")
    folds = StratifiedKFold(3)
    assert_allclose(comparison.scores[LEARNED], cross_val_score(learned, *cancer, cv=folds))
    assert_allclose(comparison.scores[SUM], cross_val_score(plain, *cancer, cv=folds))


def test_the_single_kernel_is_chosen_in_the_training_fold(comparison, cancer):
    X, y = cancer
    for fold, (train, test) in enumerate(StratifiedKFold(3).split(X, y)):
        inner = [
            cross_val_score(MKLClassifier(kernels.RBF(gamma=g)), X[train], y[train], cv=3).mean()
            for g in GAMMAS
        ]
        gamma = GAMMAS[int(np.argmax(inner))]
        alone = MKLClassifier(kernels.RBF(gamma=gamma)).fit(X[train], y[train])
        assert comparison.chosen[fold] == f"RBF gamma={gamma:g}"
        assert_allclose(comparison.scores[SINGLE][fold], alone.score(X[test], y[test]))


def test_it_can_be_read(comparison):
    lines = repr(comparison).splitlines()
    assert lines[0] == "accuracy on 3 folds"
    assert [line[:12] for line in lines[2:5]] == ["learned comb", "plain sum   ", "best single "]
    assert f"{comparison.scores[SUM].mean():.3f}" in lines[3]
    assert comparison.chosen[0] in lines[5]


def test_frame(comparison):
    pytest.importorskip("pandas")
    frame = comparison.to_frame()
    assert list(frame.index) == [LEARNED, SUM, SINGLE]
    assert list(frame.columns) == ["mean", "std", "fold 1", "fold 2", "fold 3"]
    assert_allclose(frame.loc[SUM, "mean"], comparison.scores[SUM].mean())


def test_picture(comparison):
    pytest.importorskip("matplotlib").use("Agg")
    display = comparison.plot()
    assert_allclose(display.means_.get_ydata()[1], comparison.scores[SUM].mean())


def test_pipelines_default_kernels_and_scorers(rng):
    X = rng.normal(size=(60, 2)) * [1.0, 1000.0]
    pipeline = make_pipeline(StandardScaler(), MKLRegressor())
    found = compare(pipeline, X, X[:, 0], cv=2, scoring="neg_mean_absolute_error")
    assert found.scoring == "neg_mean_absolute_error"
    assert set(found.chosen) == {"Linear"}
    assert found.scores[SINGLE].min() > -0.2


def test_one_kernel_is_the_same_machine_three_times(rng):
    X = rng.normal(size=(40, 2))
    found = compare(MKLRegressor(kernels.RBF()), X, X[:, 0], cv=2)
    assert_allclose(found.scores[LEARNED], found.scores[SINGLE])
    assert_allclose(found.scores[LEARNED], found.scores[SUM])


def test_a_given_matrix_is_split_like_its_rows(rng):
    X = rng.normal(size=(40, 2))
    found = compare(MKLRegressor(kernels.Precomputed()), X @ X.T, X[:, 0], cv=2)
    assert found.chosen == ("Precomputed", "Precomputed")


def test_the_estimator_stays_as_it_was(cancer):
    estimator = MKLClassifier(kernels.RBF(gamma=GAMMAS), norm=1.5)
    compare(estimator, *cancer, cv=2)
    assert estimator.norm == 1.5
    assert not hasattr(estimator, "weights_")


def test_other_estimators_are_refused(cancer):
    with pytest.raises(ValueError, match=r"must be MKLClassifier.*got LogisticRegression"):
        compare(LogisticRegression(), *cancer)
