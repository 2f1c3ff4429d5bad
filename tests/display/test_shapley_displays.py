"""Displays of Shapley values draw the numbers that they were given."""

import itertools

import numpy as np
import pytest

from kernelweave import MKLClassifier
from kernelweave.display.shapley import BeeswarmDisplay, WaterfallDisplay
from kernelweave.inspection import ShapleyValues, shapley
from kernelweave.kernels import RBF


@pytest.fixture
def values(rng):
    data = np.array([[1.0, "a", np.nan], [2.0, "b", 3.0], [3.0, "b", 4.0]], dtype=object)
    phi = np.array([[0.1, -2.0, 0.3], [0.2, 1.0, -0.3], [-0.1, 2.0, 0.3]])
    return ShapleyValues(phi, np.full(3, 0.5), data, ("x", "y", "z"), "feature", "rows")


def test_beeswarm_rows_are_ordered_by_mean_absolute_value(values):
    display = BeeswarmDisplay(values).plot()
    labels = [label.get_text() for label in display.ax_.get_yticklabels()]
    assert labels == ["y", "z", "x"]
    for row, player in enumerate([1, 2, 0]):
        drawn = display.points_[row].get_offsets()[:, 0]
        np.testing.assert_array_equal(drawn, values.values[:, player])


def test_beeswarm_colours_are_ranks_and_missing_for_categories(values):
    display = BeeswarmDisplay(values).plot()
    assert np.isnan(np.ma.filled(display.points_[0].get_array(), np.nan)).all()
    np.testing.assert_array_equal(display.points_[2].get_array(), [0.0, 0.5, 1.0])


def test_beeswarm_sums_up_players_that_are_left_out(values):
    display = BeeswarmDisplay(values, most=1).plot()
    drawn = display.points_[1].get_offsets()[:, 0]
    np.testing.assert_allclose(drawn, values.values[:, [0, 2]].sum(axis=1))


@pytest.mark.parametrize("most", [1, 2, 3])
@pytest.mark.parametrize("example", [0, 1, -1])
def test_waterfall_leads_from_the_base_value_to_the_decision_value(values, example, most):
    display = WaterfallDisplay(values, example, most).plot()
    bars = display.bars_
    last, first = bars[-1], bars[0]
    assert last.get_x() == pytest.approx(0.5)
    end = first.get_x() + first.get_width()
    assert end == pytest.approx(0.5 + values.values[example].sum())
    for above, below in itertools.pairwise(bars):
        assert above.get_x() == pytest.approx(below.get_x() + below.get_width())


def test_waterfall_labels_carry_the_value_of_the_column(values):
    display = WaterfallDisplay(values, 0).plot()
    labels = [label.get_text() for label in display.ax_.get_yticklabels()]
    assert labels == ["y = a", "z", "x = 1"]


def test_displays_from_an_estimator_choose_a_decision_function(rng):
    X = rng.normal(size=(60, 3))
    model = MKLClassifier(RBF(0.5), multi_class="ovr").fit(X, np.arange(60) % 3)
    found = shapley(model, X[:5], X)
    display = BeeswarmDisplay.from_estimator(model, X[:5], X, output=2)
    np.testing.assert_array_equal(display.values.values, found.of_output(2).values)
    with pytest.raises(ValueError, match="choose one with"):
        WaterfallDisplay(found)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda v: WaterfallDisplay(v, 3), "example must be a position"),
        (lambda v: WaterfallDisplay(v, most=0), "most must be at least 1"),
    ],
)
def test_mistaken_parameters_are_named(values, make, message):
    with pytest.raises(ValueError, match=message):
        make(values)
