"""Displays of fitted models: weights, convergence, alignments and comparisons."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from ..common.types import Data
from ..model.weights import heaviest, weights_of
from .axes import LINE, name_ticks, names_width, open_sides
from .base import Display

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.text import Text

    from ..estimators.comparison import Comparison
    from ..estimators.fitted import FittedEstimator
    from ..kernels import Kernel

MOST_NAMES = 40  # number of kernels above which figures do not grow and names are left out
MOST_NUMBERS = 12  # kernels whose alignments are also written as numbers


class WeightsDisplay(Display):
    """Weights or shares of the kernels: bars, or a row of colours per class.

    Parameters
    ----------
    weights : array of shape (M,) or (classes, M)
        Weights or shares of M kernels, for all classes or for each.
    kernel_names : sequence of M strings
    classes : sequence, optional
        Names of the classes.
    label : str
        Name of the values, such as "weight".

    Attributes
    ----------
    ax_ : matplotlib Axes
    figure_ : matplotlib Figure
    bars_ : BarContainer of M bars, for one set of weights
    image_ : AxesImage of shape (classes, M), for one set per class

    Examples
    --------
    >>> from kernelweave import WeightsDisplay
    >>> display = WeightsDisplay([0.7, 0.3, 0.0], ["age", "city", "colour"]).plot()
    >>> [round(float(bar.get_width()), 1) for bar in display.bars_]
    [0.7, 0.3, 0.0]
    """

    def __init__(
        self,
        weights: np.ndarray,
        kernel_names: Sequence[str],
        classes: Sequence[object] | None = None,
        label: str = "weight",
    ):
        self.label = label
        self.weights = np.asarray(weights, dtype=float)
        self.kernel_names = tuple(kernel_names)
        self.classes = classes

    @classmethod
    def from_estimator(
        cls,
        estimator: FittedEstimator,
        *,
        by: str | None = None,
        values: str | None = None,
        most: int = 20,
        ax: Axes | None = None,
    ) -> WeightsDisplay:
        """Draw the importance of the kernels of a fitted estimator.

        Parameters
        ----------
        estimator : fitted estimator
        by : {"view"} or None
            None for the kernels, "view" for the sums over the kernels of each view.
        values : str or None
            A column of `weights_frame`: "weight", "share" or "held_out_share". None: the held-out
            share if the estimator has computed it (with default kernels), otherwise the weight.
        most : int
            Number of largest values that are drawn; the others are summed up.
        ax : matplotlib Axes, optional
            Axes to draw on; None for a new figure.
        """
        check_is_fitted(estimator)
        named = np.ndim(estimator.weights_) == 2 and hasattr(estimator, "classes_")
        classes = estimator._output_names() if named else None
        if values is None:
            known = hasattr(estimator, "held_out_covariances_")
            values = "held_out_share" if known else "weight"
        drawn = heaviest(*weights_of(estimator, by, values), most)
        label = values.replace("_", " ").replace("held out", "held-out")
        return cls(*drawn, classes, label).plot(ax)

    def _size(self) -> tuple[float, float]:
        room = LINE * 1.3 * min(len(self.kernel_names), MOST_NAMES)
        names = names_width(self.kernel_names)
        if self.weights.ndim == 1:
            return 4.5 + names, 0.9 + room
        return 2.0 + 0.4 * names + room, 0.6 + 0.7 * names + LINE * 1.6 * len(self.weights)

    def _draw(self, ax: Axes) -> None:
        if self.weights.ndim == 1:
            self._draw_bars(ax)
        else:
            self._draw_rows(ax)

    def _draw_bars(self, ax: Axes) -> None:
        """Draw horizontal bars, so that long names can be read; the first kernel is on top."""
        M = len(self.weights)
        height = 0.8 if M <= MOST_NAMES else 1.0  # gaps between very thin bars would flicker
        self.bars_ = ax.barh(np.arange(M), self.weights, height=height)
        ax.set_ylim(M - 0.5, -0.5)
        ax.set_xlim(0.0, 1.05 * self.weights.max() if self.weights.any() else 1.0)
        ax.set_xlabel(self.label)
        open_sides(ax)
        name_ticks(ax.yaxis, self.kernel_names)

    def _draw_rows(self, ax: Axes) -> None:
        self.image_ = ax.imshow(self.weights, cmap="Blues", vmin=0.0, aspect="auto")
        ax.set_ylabel("class")
        name_ticks(ax.xaxis, self.kernel_names)
        name_ticks(ax.yaxis, _line_names(self.classes, len(self.weights)))
        self.figure_.colorbar(self.image_, ax=ax, label=self.label)


class ConvergenceDisplay(Display):
    """The relative duality gap over time: one line, or one line per class.

    Parameters
    ----------
    seconds, gaps : list of arrays of shape (iterations,)
        Times and gaps of each line.
    tol : float, optional
        Relative duality gap at which the solver stops, drawn as a horizontal line.
    classes : sequence, optional
        Names of the lines.
    xlabel : str
        Label of the horizontal axis. A model from a file has no times; `from_estimator` then draws
        the gap over the position in `history_`.

    Attributes
    ----------
    ax_ : matplotlib Axes
    figure_ : matplotlib Figure
    lines_ : list of Line2D
    tol_line_ : Line2D, only if `tol` is given

    Examples
    --------
    >>> import numpy as np
    >>> from kernelweave import ConvergenceDisplay, MKLClassifier
    >>> from kernelweave.kernels import RBF
    >>> X = np.random.default_rng(0).normal(size=(100, 2))
    >>> model = MKLClassifier(RBF([0.1, 1.0]), norm=1).fit(X, X[:, 0] * X[:, 1] > 0)
    >>> display = ConvergenceDisplay.from_estimator(model)
    >>> display.ax_.get_ylabel()
    'relative duality gap'
    """

    def __init__(
        self,
        seconds: Sequence[np.ndarray],
        gaps: Sequence[np.ndarray],
        tol: float | None = None,
        classes: Sequence[object] | None = None,
        xlabel: str = "seconds",
    ):
        self.seconds = seconds
        self.gaps = gaps
        self.tol = tol
        self.classes = classes
        self.xlabel = xlabel

    @classmethod
    def from_estimator(
        cls, estimator: FittedEstimator, *, ax: Axes | None = None
    ) -> ConvergenceDisplay:
        """Draw the `history_` of a fitted estimator.

        Parameters
        ----------
        estimator : fitted estimator
        ax : matplotlib Axes, optional
            Axes to draw on; None for a new figure.

        Returns
        -------
        ConvergenceDisplay
        """
        check_is_fitted(estimator)
        if not getattr(estimator, "history_", None):
            raise ValueError(
                "estimator must have been trained by Kernelweave, got one without history_, "
                "such as a model of LS-GKM; fit it again"
            )
        single = isinstance(estimator.history_[0], dict)
        histories = [estimator.history_] if single else estimator.history_
        times, xlabel = clock_of(histories)
        seconds = [np.array(one) for one in times]
        gaps = [np.array([entry["gap"] for entry in history]) for history in histories]
        named = not single and hasattr(estimator, "classes_")
        classes = estimator._output_names() if named else None
        return cls(seconds, gaps, estimator.tol, classes, xlabel).plot(ax)

    def _size(self) -> tuple[float, float]:
        return 6.4, 4.0

    def _draw(self, ax: Axes) -> None:
        names = ["gap"] if len(self.gaps) == 1 else _line_names(self.classes, len(self.gaps))
        self.lines_ = [
            ax.plot(seconds, gaps, marker=".", label=name)[0]
            for seconds, gaps, name in zip(self.seconds, self.gaps, names, strict=True)
        ]
        if self.tol is not None:
            self.tol_line_ = ax.axhline(
                self.tol, color="grey", linestyle="--", linewidth=1, label=f"tol = {self.tol:g}"
            )
        ax.set(yscale="log", xlabel=self.xlabel, ylabel="relative duality gap")
        open_sides(ax)
        ax.legend(frameon=False, ncols=math.ceil(len(self.lines_) / 8))


def clock_of(histories: Sequence[Sequence[dict[str, Any]]]) -> tuple[list[list[float]], str]:
    """Return the time in seconds of each entry of the histories, and the axis label.

    If some entry has no time, the numbers of the iterations are returned instead of times.
    """
    if all("seconds" in entry for history in histories for entry in history):
        return [[entry["seconds"] for entry in history] for history in histories], "seconds"
    return [list(map(float, range(len(history)))) for history in histories], "iteration"


class AlignmentDisplay(Display):
    """Similarity of kernels: the matrix of their alignments as colours.

    Parameters
    ----------
    alignments : array of shape (M, M)
    kernel_names : sequence of M strings

    Attributes
    ----------
    ax_ : matplotlib Axes
    figure_ : matplotlib Figure
    image_ : AxesImage of shape (M, M)
    texts_ : list of Text, M * M numbers; empty for many kernels

    Examples
    --------
    >>> import numpy as np
    >>> from kernelweave import AlignmentDisplay
    >>> from kernelweave.kernels import RBF, Linear
    >>> X = np.random.default_rng(0).normal(size=(50, 3))
    >>> display = AlignmentDisplay.from_kernels([Linear(), RBF([0.1, 1.0])], X)
    >>> display.alignments.shape
    (3, 3)
    """

    def __init__(self, alignments: np.ndarray, kernel_names: Sequence[str]):
        self.alignments = np.asarray(alignments, dtype=float)
        self.kernel_names = tuple(kernel_names)

    @classmethod
    def from_kernels(
        cls, kernels: Kernel | Sequence[Kernel], X: Data, *, ax: Axes | None = None
    ) -> AlignmentDisplay:
        """Draw the alignments of a kernel, or a list of kernels, on the examples X.

        Parameters
        ----------
        kernels : kernel or list of kernels
        X : n examples
            Examples on which the kernel matrices are computed.
        ax : matplotlib Axes, optional
            Axes to draw on; None for a new figure.

        Returns
        -------
        AlignmentDisplay
        """
        from ..inspection.alignment import kernel_alignment
        from ..kernels import CompiledKernels, resolve

        names = CompiledKernels(tuple(resolve(kernels, X))).names
        return cls(kernel_alignment(kernels, X), names).plot(ax)

    def _size(self) -> tuple[float, float]:
        M = len(self.kernel_names)
        side = LINE * (2.6 if M <= MOST_NUMBERS else 1.3) * min(max(M, 3), MOST_NAMES)
        names = names_width(self.kernel_names)
        return side + names + 1.4, side + 0.7 * names + 0.4

    def _draw(self, ax: Axes) -> None:
        lowest = min(0.0, float(self.alignments.min()))
        self.image_ = ax.imshow(self.alignments, cmap="Blues", vmin=lowest, vmax=1.0)
        self.texts_ = self._numbers(ax) if len(self.kernel_names) <= MOST_NUMBERS else []
        name_ticks(ax.xaxis, self.kernel_names)
        name_ticks(ax.yaxis, self.kernel_names)
        self.figure_.colorbar(self.image_, ax=ax, label="alignment")

    def _numbers(self, ax: Axes) -> list[Text]:
        return [
            ax.text(
                j, i, f"{value:.2f}", ha="center", va="center", fontsize="small",
                color="white" if value > 0.6 else "black",
            )
            for (i, j), value in np.ndenumerate(self.alignments)
        ]  # fmt: skip


class ComparisonDisplay(Display):
    """Scores of several models on the same folds: a grey line per fold, and the means.

    Parameters
    ----------
    scores : dict from the name of a model to an array of shape (folds,)
    scoring : str
        Name of the scores.

    Attributes
    ----------
    ax_ : matplotlib Axes
    figure_ : matplotlib Figure
    fold_lines_ : list of Line2D, one per fold
    means_ : Line2D, the mean score of each model

    Examples
    --------
    >>> from kernelweave import ComparisonDisplay
    >>> scores = {"learned combination": [0.91, 0.89, 0.93], "plain sum": [0.90, 0.88, 0.90]}
    >>> display = ComparisonDisplay(scores, "accuracy").plot()
    >>> len(display.fold_lines_)
    3
    """

    def __init__(self, scores: Mapping[str, np.ndarray], scoring: str = "score"):
        self.scores = scores
        self.scoring = scoring

    @classmethod
    def from_comparison(
        cls, comparison: Comparison, *, ax: Axes | None = None
    ) -> ComparisonDisplay:
        """Draw the scores of a `Comparison`, the result of `compare`.

        Parameters
        ----------
        comparison : Comparison
        ax : matplotlib Axes, optional
            Axes to draw on; None for a new figure.
        """
        return cls(comparison.scores, comparison.scoring).plot(ax)

    @classmethod
    def from_estimator(
        cls,
        estimator: FittedEstimator,
        X: Data,
        y: object,
        *,
        ax: Axes | None = None,
        **options: Any,
    ) -> ComparisonDisplay:
        """Compare learned weights with the plain sum and the best kernel, and draw the scores.

        Parameters
        ----------
        estimator : estimator to clone and fit
            `MKLClassifier`, `MKLRegressor`, `MKLSurvival` or a pipeline that ends with one of them.
        X : n examples
        y : array-like of shape (n,)
            Targets.
        ax : matplotlib Axes, optional
            Axes to draw on; None for a new figure.
        **options : passed on to `compare`.
        """
        from ..estimators.comparison import compare

        return cls.from_comparison(compare(estimator, X, y, **options), ax=ax)

    def _size(self) -> tuple[float, float]:
        return 1.6 + 1.5 * len(self.scores), 4.0

    def _draw(self, ax: Axes) -> None:
        values = np.array(list(self.scores.values()))
        means = values.mean(axis=1)
        self.fold_lines_ = ax.plot(values, color="lightgrey", marker=".", linewidth=1)
        self.means_ = ax.plot(means, linestyle="", marker="_", markersize=40, mew=3)[0]
        box = {"facecolor": "white", "edgecolor": "none", "pad": 1}
        for position, mean in enumerate(means):  # written to the right of the mark, over the lines
            ax.annotate(
                f"{mean:.3f}", (position, mean), (25, 0), textcoords="offset points",
                va="center", bbox=box, zorder=3,
            )  # fmt: skip
        names = [name.replace(" ", "\n", 1) for name in self.scores]
        ax.set_xticks(np.arange(len(values)), names)
        ax.set(xlim=(-0.5, len(values) - 0.4), ylabel=f"{self.scoring}, by fold and mean")
        open_sides(ax)


def _line_names(classes: Sequence[object] | None, count: int) -> list[str]:
    return [str(name) for name in (range(count) if classes is None else classes)]
