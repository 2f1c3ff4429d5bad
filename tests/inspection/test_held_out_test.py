"""The held-out permutation test: its statistic by hand, its calibration, and its power."""

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.model_selection import KFold, StratifiedKFold

from kernelweave import MKLClassifier, MKLRegressor
from kernelweave.datasets import make_motifs
from kernelweave.inspection import bootstrap_weights, held_out_test
from kernelweave.inspection.held_out_test import HeldOutTest, studentized
from kernelweave.kernels import RBF, WeightedDegree

KERNELS = {f"column {c}": RBF(1.0, columns=[c]) for c in range(4)}


def by_hand(model, X, y, splitter, targets):
    """Return the statistic from its formula, one output."""
    numerator = squares = 0.0
    for train, test in splitter.split(X, y):
        added = clone(model).fit(X[train], y[train]).contributions(X[test])
        z = (targets[test] - targets[test].mean())[:, None] * (added - added.mean(axis=0))
        numerator, squares = numerator + z.sum(axis=0), squares + (z**2).sum(axis=0)
    return numerator / np.sqrt(squares)


def test_statistic_of_a_classifier(rng):
    X = rng.normal(size=(60, 4))
    y = np.where(X[:, 0] + 0.5 * rng.normal(size=60) > 0, "yes", "no")
    model = MKLClassifier(KERNELS, norm=2)
    found = held_out_test(model, X, y, n_permutations=3, folds=4, random_state=5)
    splitter = StratifiedKFold(4, shuffle=True, random_state=5)
    expected = by_hand(model, X, y, splitter, (y == "yes").astype(float))
    np.testing.assert_allclose(found.statistics, expected)
    assert found.permuted.shape == (3, 4)
    assert found.kernel_names == tuple(f"{name} gamma=1" for name in KERNELS)


def test_statistic_of_a_regressor(rng):
    X = rng.normal(size=(60, 4))
    y = X[:, 0] ** 2
    model = MKLRegressor(KERNELS, norm=2)
    found = held_out_test(model, X, y, n_permutations=1)
    splitter = KFold(3, shuffle=True, random_state=0)
    np.testing.assert_allclose(found.statistics, by_hand(model, X, y, splitter, y))


def test_every_class_has_its_statistics(rng):
    X = rng.normal(size=(90, 4))
    y = X[:, :3].argmax(axis=1)
    found = held_out_test(MKLClassifier(KERNELS, norm=2), X, y, n_permutations=19)
    assert found.statistics.shape == (3, 4)
    assert found.permuted.shape == (19, 3, 4)
    assert np.diag(found.statistics[:, :3]).min() > 2
    assert "column 3 gamma=1" not in found.significant()


def test_scale_of_contributions_does_not_matter(rng):
    z = rng.normal(size=(50, 3))
    np.testing.assert_allclose(studentized(z * [1.0, 1e-6, 1e6]), studentized(z))
    assert studentized(np.zeros((5, 2))).tolist() == [0.0, 0.0]


def test_p_values_count_permutations():
    permuted = np.arange(19.0)[:, None] * [1.0, -1.0]
    found = HeldOutTest(("a", "b"), np.array([18.5, 0.5]), permuted)
    np.testing.assert_allclose(found.p_values(None), [1 / 20, 1 / 20])
    np.testing.assert_allclose(found.p_values("max"), [1 / 20, 19 / 20])
    assert found.significant() == ["a"]
    assert found.significant(correction="bonferroni") == []


def test_level_holds_without_signal():
    """At a level of 20 %, 60 tests without signal reject 12 times, and more than 22 times rarely.

    P(Binomial(60, 0.2) > 22) = 0.0008.
    """
    rejected = 0
    for seed in range(60):
        rng = np.random.default_rng(seed)
        X, y = rng.normal(size=(30, 4)), rng.permutation(np.repeat([-1, 1], 15))
        model = MKLClassifier(KERNELS, norm=1, C=1.0, tol=1e-2)
        found = held_out_test(model, X, y, n_permutations=4, folds=2, random_state=seed)
        rejected += bool(found.significant(0.2))
    assert rejected <= 22


def test_noisy_motifs_are_found_where_weights_fail():
    """The case of make_motifs(1000, replaced=4): weights add up to 1 and find hardly anything."""
    X, y = make_motifs(1000, replaced=4, random_state=2)
    model = MKLClassifier(WeightedDegree(7, split="position"), norm=1)
    found = held_out_test(model, X, y, n_permutations=19).significant()
    positions = {int(name.rpartition("=")[2]) for name in found}
    assert len(positions & {*range(10, 17), *range(30, 37)}) >= 10
    assert positions <= {*range(4, 17), *range(24, 37)}
    weights = bootstrap_weights(model, X, y, n=1, n_permutations=19)
    assert len(weights.significant(0.05, "max")) < len(positions) / 2


def test_interrupted_run_continues(rng, tmp_path):
    X, y = rng.normal(size=(40, 4)), rng.permutation(np.repeat([-1, 1], 20))
    model = MKLClassifier(KERNELS, norm=2)
    whole = held_out_test(model, X, y, n_permutations=3)
    held_out_test(model, X, y, n_permutations=1, checkpoint=tmp_path)
    again = held_out_test(model, X, y, n_permutations=3, checkpoint=tmp_path)
    np.testing.assert_array_equal(again.permuted, whole.permuted)
    with pytest.raises(ValueError, match="belongs to other data"):
        held_out_test(model, X, y, n_permutations=3, folds=2, checkpoint=tmp_path)


@pytest.mark.parametrize(
    ("parameters", "message"),
    [({"n_permutations": 0}, "n_permutations must be"), ({"folds": 1}, "folds must be")],
)
def test_bad_input_is_named(parameters, message):
    with pytest.raises(ValueError, match=message):
        held_out_test(MKLClassifier(), np.zeros((4, 1)), [0, 1, 0, 1], **parameters)


def test_models_of_pairs_of_classes_are_refused(rng):
    X = rng.normal(size=(60, 2))
    model = MKLClassifier(RBF([0.1, 1.0]), multi_class="ovo")
    with pytest.raises(ValueError, match="pass multi_class='ovr' to it"):
        held_out_test(model, X, np.arange(60) % 3, n_permutations=1)
