"""Displays: what they draw are the numbers of the model, with readable names."""

from itertools import pairwise

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.datasets import load_iris

from kernelweave import MKLClassifier, MKLRegressor, kernels, load
from kernelweave.display.axes import LONGEST_NAME
from kernelweave.display.displays import (
    AlignmentDisplay,
    ComparisonDisplay,
    ConvergenceDisplay,
    WeightsDisplay,
)


@pytest.fixture(scope="module")
def regressor():
    X = np.random.default_rng(0).normal(size=(60, 3))
    return MKLRegressor(kernels.RBF(gamma=[0.1, 1.0, 10.0]), norm=1.5).fit(X, np.sin(X[:, 0]))


@pytest.fixture(scope="module")
def classifier():
    X, y = load_iris(return_X_y=True)
    return MKLClassifier([kernels.Linear(), kernels.RBF(gamma=[0.1, 1.0])]).fit(X, y)


def names_on(axis):
    return [label.get_text() for label in axis.get_ticklabels()]


def draw(display):
    display.figure_.canvas.draw()
    return display


def overlaps(axis):
    """Whether tick labels of a drawn vertical axis touch their neighbours."""
    boxes = [label.get_window_extent() for label in axis.get_ticklabels()]
    return any(one.overlaps(two) for one, two in pairwise(boxes))


def test_weights_are_bars_in_the_order_of_the_kernels(regressor):
    display = WeightsDisplay.from_estimator(regressor)
    assert_allclose([bar.get_width() for bar in display.bars_], regressor.weights_)
    assert names_on(display.ax_.yaxis) == list(regressor.kernel_names_)
    low, high = display.ax_.get_ylim()
    assert low > high, "the first kernel is on top"


def test_weights_per_class_are_rows(classifier):
    display = WeightsDisplay.from_estimator(classifier)
    assert_allclose(display.image_.get_array(), classifier.weights_)
    assert names_on(display.ax_.yaxis) == ["0", "1", "2"]
    assert names_on(display.ax_.xaxis) == list(classifier.kernel_names_)


@pytest.mark.parametrize("M", [1, 20, 40, 100, 1000])
def test_names_do_not_overlap(M):
    names = [f"RBF(gamma={gamma:.6g})" for gamma in np.geomspace(1e-4, 10, M)]
    display = draw(WeightsDisplay(np.linspace(0, 1, M), names).plot())
    shown = names_on(display.ax_.yaxis)
    assert not overlaps(display.ax_.yaxis)
    assert shown[0] == names[0]
    assert set(shown) <= set(names)
    assert len(shown) >= min(M, 20)


def test_long_names_lose_their_middle():
    name = f"RBF(gamma=0.5, columns=[{'x' * 100}]) #2"
    display = WeightsDisplay([1.0], [name]).plot()
    (shown,) = names_on(display.ax_.yaxis)
    assert len(shown) == LONGEST_NAME
    assert shown.startswith("RBF(gamma=0.5")
    assert shown.endswith("]) #2")


def test_weights_that_are_all_zero_can_be_drawn():
    display = draw(WeightsDisplay([0.0, 0.0], ["a", "b"]).plot())
    assert display.ax_.get_xlim() == (0.0, 1.0)


def test_convergence_display_has_every_iteration_and_the_tolerance(regressor):
    display = ConvergenceDisplay.from_estimator(regressor)
    seconds, gaps = display.lines_[0].get_data()
    assert len(display.lines_) == 1
    assert_allclose(gaps, [turn["gap"] for turn in regressor.history_])
    assert_allclose(seconds, [turn["seconds"] for turn in regressor.history_])
    assert_allclose(display.tol_line_.get_ydata(), regressor.tol)
    assert display.ax_.get_yscale() == "log"


def test_convergence_of_loaded_models_has_no_times(regressor, tmp_path):
    regressor.save(tmp_path / "m.kw")
    display = ConvergenceDisplay.from_estimator(load(tmp_path / "m.kw"))
    entries, gaps = display.lines_[0].get_data()
    assert_allclose(gaps, [turn["gap"] for turn in regressor.history_])
    assert_allclose(entries, np.arange(len(gaps)))
    assert display.ax_.get_xlabel() == "iteration"


def test_convergence_has_a_line_per_target(rng):
    X = rng.normal(size=(20, 2))
    display = ConvergenceDisplay.from_estimator(MKLRegressor(kernels.RBF(1.0)).fit(X, X))
    assert len(display.lines_) == 2


def test_convergence_requires_a_history(regressor, tmp_path):
    regressor.save(tmp_path / "m.kw")
    model = load(tmp_path / "m.kw")
    model.history_ = []
    with pytest.raises(ValueError, match="without history_"):
        ConvergenceDisplay.from_estimator(model)


def test_convergence_has_a_line_per_class(classifier):
    display = ConvergenceDisplay.from_estimator(classifier)
    assert [line.get_label() for line in display.lines_] == ["0", "1", "2"]
    assert len(display.ax_.get_legend().get_texts()) == 4


def test_alignments_are_colours_and_numbers():
    alignments = np.array([[1.0, 0.25], [0.25, 1.0]])
    display = draw(AlignmentDisplay(alignments, ["a", "b"]).plot())
    assert_allclose(display.image_.get_array(), alignments)
    assert [text.get_text() for text in display.texts_] == ["1.00", "0.25", "0.25", "1.00"]
    assert names_on(display.ax_.xaxis) == names_on(display.ax_.yaxis) == ["a", "b"]


def test_many_alignments_have_no_numbers():
    display = draw(AlignmentDisplay(np.eye(30), [f"kernel {m}" for m in range(30)]).plot())
    assert display.texts_ == []
    assert not overlaps(display.ax_.yaxis)


def test_alignment_from_kernels(rng):
    alignment = pytest.importorskip("kernelweave.inspection.alignment")
    X = rng.normal(size=(30, 4))
    chosen = [kernels.Linear(), kernels.RBF(gamma=[0.1, 1.0])]
    display = AlignmentDisplay.from_kernels(chosen, X)
    assert display.kernel_names == ("Linear", "RBF gamma=0.1", "RBF gamma=1")
    assert_allclose(display.image_.get_array(), alignment.kernel_alignment(chosen, X))


def test_comparison_shows_folds_and_means():
    scores = {"one machine": np.array([0.5, 0.7]), "another": np.array([0.6, 1.0])}
    display = draw(ComparisonDisplay(scores, "accuracy").plot())
    assert_allclose([line.get_ydata() for line in display.fold_lines_], [[0.5, 0.6], [0.7, 1.0]])
    assert_allclose(display.means_.get_ydata(), [0.6, 0.8])
    assert names_on(display.ax_.xaxis) == ["one\nmachine", "another"]


@pytest.mark.parametrize("display", [WeightsDisplay, ConvergenceDisplay])
def test_axes_can_be_given(display, regressor):
    from matplotlib.figure import Figure

    ax = Figure().subplots()
    drawn = display.from_estimator(regressor, ax=ax)
    assert drawn.ax_ is ax
    assert drawn.figure_ is ax.figure


@pytest.mark.parametrize("display", [WeightsDisplay, ConvergenceDisplay])
def test_an_unfitted_estimator_is_refused(display):
    with pytest.raises(ValueError, match="not fitted"):
        display.from_estimator(MKLClassifier())
