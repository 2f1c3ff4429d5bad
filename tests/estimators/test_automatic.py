"""The choice of default kernels and C on held-out folds, and held-out shares."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from sklearn.datasets import make_friedman1

from kernelweave import ComparisonDisplay, MKLClassifier, MKLRegressor, MKLRegressorCV, load
from kernelweave.estimators.automatic import FACTORS, Trial, best_of, errors, squares
from kernelweave.estimators.held_out_sample import held_out_folds
from kernelweave.kernels import RBF
from kernelweave.losses import Hinge
from kernelweave.norms import Lp
from kernelweave.problem.problem import Problem


def problem_of(y):
    return Problem.of(Hinge(), Lp(2.0), y, np.ones(len(y)))


def test_folds_are_stratified_and_partition_the_examples():
    y = np.where(np.arange(90) % 3 == 0, 1.0, -1.0)
    rows, folds = held_out_folds([problem_of(y)])
    assert np.array_equal(rows, np.arange(90))
    counts = np.array([[np.sum(y[folds == k] == v) for v in (-1, 1)] for k in range(5)])
    assert np.all(np.ptp(counts, axis=0) <= 1)


def test_the_only_example_of_a_class_always_trains():
    y = np.where(np.arange(30) == 7, 1.0, -1.0)
    _, folds = held_out_folds([problem_of(y)])
    assert folds[7] == -1
    assert np.all(np.delete(folds, 7) >= 0)


def test_large_samples_are_bounded_and_small_ones_refused():
    y = np.where(np.arange(9000) % 2 == 0, 1.0, -1.0)
    rows, _ = held_out_folds([problem_of(y)])
    assert len(rows) <= 2000
    assert held_out_folds([problem_of(y[:8])])[0] is None


def test_errors_of_classes_are_those_of_the_largest_output(rng):
    classes = rng.integers(0, 3, 40)
    targets = np.where(classes == np.arange(3)[:, None], 1.0, -1.0)
    values = rng.normal(size=(2, 3, 40))
    found = errors(values, targets)
    assert np.array_equal(np.round(found), values.argmax(axis=1) != classes)


def test_squares_do_not_depend_on_units(rng):
    values, targets = rng.normal(size=(2, 1, 30)), rng.normal(size=(1, 30))
    np.testing.assert_allclose(squares(7.0 * values, 7.0 * targets), squares(values, targets))


def test_complex_candidates_must_be_better_than_chance(rng):
    simple = rng.random(200)
    slightly, clearly = simple - 1e-9 + 0.3 * rng.normal(size=200), simple - 0.2
    shares = np.full(200, 1 / 200)
    for other, name in ((simple + 0.01, "a"), (clearly, "b")):
        tried = {"a": Trial(1.0, simple), "b": Trial(3.0, other)}
        assert best_of(tried, shares).name == name
    assert len(best_of({"a": Trial(1.0, simple), "b": Trial(1.0, slightly)}, shares).tried) == 2


def test_the_best_cost_has_the_lowest_weighted_loss():
    losses = np.array([[0.0, 1.0], [1.0, 0.0], [1.0, 0.0]])
    for shares, factor, chosen in (([0.9, 0.1], 1.0, 0), ([0.1, 0.9], 2.0, 1)):
        trial = Trial.best(losses, (1.0, 2.0, 3.0), np.array(shares))
        assert trial.factor == factor
        assert np.array_equal(trial.losses, losses[chosen])


def test_the_smallest_of_equally_good_costs_is_chosen():
    losses = np.array([[0.5, 0.5], [0.25, 0.25], [0.25, 0.25 - 1e-9]])  # differ by rounding
    assert Trial.best(losses, (1.0, 2.0, 3.0), np.array([0.5, 0.5])).factor == 2.0


def test_sets_that_add_kernels_are_tried_at_one_cost(rng):
    X = rng.normal(size=(60, 4))
    tried = MKLRegressor().fit(X, X[:, 0] + X[:, 1] ** 2).candidates_
    assert len(tried) == 2
    assert tried[0]["C"] == tried[1]["C"]


def test_given_kernels_are_not_searched(rng):
    X = rng.normal(size=(40, 2))
    model = MKLClassifier(RBF()).fit(X, X[:, 0] > 0)
    assert model.C_ == 1.0
    assert not hasattr(model, "candidates_")


def test_friedman_needs_kernels_of_columns_and_pairs(tmp_path):
    X, y = make_friedman1(300, noise=1.0, random_state=0)
    model = MKLRegressor().fit(X, y)
    assert {one["kernels"] for one in model.candidates_} == {
        "all columns",
        "all columns, each column and each pair",
    }
    weights = dict(zip(model.kernel_names_, model.weights_, strict=True))
    pairs = {name: weight for name, weight in weights.items() if " on columns " in name}
    assert len(pairs) == 45
    assert max(pairs, key=pairs.__getitem__) == "RBF gamma=0.5 on columns 0, 1"  # sin(pi x0 x1)
    assert model.C_ / y.std() == pytest.approx(
        min(FACTORS, key=lambda f: abs(f - model.C_ / y.std()))
    )
    frame = model.weights_frame()
    assert frame["held_out_share"].sum() == pytest.approx(1.0)
    model.save(tmp_path / "m.kw")
    assert load(tmp_path / "m.kw").weights_frame().equals(frame)


def test_memorising_kernels_have_no_held_out_share(rng):
    X = rng.normal(size=(200, 10))
    y = X[:, 0] + rng.normal(size=200) > 0
    kernels = {"wide": RBF(0.02), "narrow": RBF(5.0)}
    model = MKLClassifier(kernels, norm=np.inf, C=10.0).fit(X, y)
    frame = model.weights_frame(X, y, by="view").set_index("view")
    assert frame.loc["narrow", "share"] > 0.2
    assert frame.loc["narrow", "held_out_share"] < 0.02


def test_views_of_noise_have_no_held_out_share():
    small = 0
    for seed in range(10):
        rng = np.random.default_rng(seed)
        a, b, c = (rng.normal(size=(200, 10)) for _ in range(3))
        y = (a[:, 0] + b[:, 0] + 0.3 * rng.normal(size=200) > 0) ^ (rng.random(200) < 0.1)
        for view in (a, c):
            view[rng.random(200) < 0.3] = np.nan
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            model = MKLClassifier(norm=1).fit({"a": a, "b": b, "c": c}, y)
        frame = model.weights_frame(by="view").set_index("view")
        small += frame.loc["c", "held_out_share"] < 0.05
    assert small >= 9


def test_several_targets_are_searched_together(rng):
    X = rng.normal(size=(60, 3))
    y = np.stack([X[:, 0], 100.0 * X[:, 1]], axis=1)
    model = MKLRegressorCV(RBF([0.1, 1.0]), norms=[1, 2], cv=3).fit(X, y)
    assert model.predict(X).shape == y.shape
    assert model.C_.shape == (2,)
    assert model.C_[1] / model.C_[0] == pytest.approx(y[:, 1].std() / y[:, 0].std())


def test_comparisons_are_drawn_from_estimators(rng):
    pytest.importorskip("matplotlib")
    X = rng.normal(size=(40, 2))
    y = X[:, 0] > 0
    display = ComparisonDisplay.from_estimator(
        MKLClassifier(RBF([0.1, 1.0])), X, y, cv=2, norms=[1], Cs=[1.0]
    )
    assert len(display.fold_lines_) == 2


def test_held_out_losses_are_printed_on_request(capsys):
    X, y = make_friedman1(60, noise=1.0, random_state=0)
    model = MKLRegressor(verbose=1).fit(X, y)
    lines = capsys.readouterr().err.splitlines()
    for one in model.candidates_:
        loss = f"held-out loss {one['loss']:.3f} at C={one['C']:g}: {one['kernels']}"
        assert f"MKLRegressor: {loss}" in lines
    [chosen] = [one["kernels"] for one in model.candidates_ if one["chosen"]]
    assert f"MKLRegressor: chosen: {chosen}" in lines
