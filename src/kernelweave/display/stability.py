"""Display of kernel weights with bootstrap intervals."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ..common.types import Data
from ..inspection import BootstrapWeights, bootstrap_weights
from .axes import LINE, name_ticks, names_width, open_sides
from .base import Display
from .displays import MOST_NAMES

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from ..estimators.fitted import FittedEstimator

COLOUR = "#0072B2"


class StabilityDisplay(Display):
    """Kernel weights with their intervals over bootstrap samples.

    Parameters
    ----------
    result : BootstrapWeights
        Result of `inspection.bootstrap_weights` for one decision function.
    interval : (low, high)
        Quantiles at the ends of each line.
    level : float
        Weights with a p-value of at most `level` are drawn as filled points.
    correction : str or None
        Correction for multiple tests, as in `BootstrapWeights.p_values`.

    Attributes
    ----------
    ax_, figure_ : matplotlib Axes and Figure
    intervals_ : LineCollection, one line for each kernel
    means_ : PathCollection of the mean weights; significant ones are filled

    Examples
    --------
    >>> from kernelweave import MKLClassifier, StabilityDisplay
    >>> from kernelweave.datasets import make_motifs
    >>> from kernelweave.inspection import bootstrap_weights
    >>> from kernelweave.kernels import WeightedDegree
    >>> X, y = make_motifs(200, positive_rate=0.3)
    >>> model = MKLClassifier(WeightedDegree(3, split=[(0, 10), (10, 17), (17, 50)]), norm=2)
    >>> display = StabilityDisplay(bootstrap_weights(model, X, y, n=5)).plot()
    >>> len(display.intervals_.get_segments())
    3
    """

    def __init__(
        self,
        result: BootstrapWeights,
        interval: tuple[float, float] = (0.05, 0.95),
        level: float = 0.05,
        correction: str | None = "max",
    ):
        if result.weights.ndim != 1:
            raise ValueError(
                f"result must have one row of weights, got one for each of {len(result.weights)} "
                "classes; fit an estimator with share_weights=True, or one class against the rest"
            )
        self.result = result
        self.interval = interval
        self.level = level
        self.correction = correction

    @classmethod
    def from_estimator(
        cls,
        estimator: FittedEstimator,
        X: Data,
        y: object = None,
        n: int = 100,
        *,
        ax: Axes | None = None,
        **parameters: Any,
    ) -> StabilityDisplay:
        """Fit an estimator on bootstrap samples and draw its weights.

        Parameters
        ----------
        estimator : estimator with `weights_`
            It is cloned for each fit.
        X : training examples
        y : array-like, one target for each example, optional
        n : int
            Number of bootstrap samples.
        ax : matplotlib Axes, optional
            Axes to draw on; None for a new figure.
        **parameters : passed to `inspection.bootstrap_weights`.
        """
        return cls(bootstrap_weights(estimator, X, y, n, **parameters)).plot(ax)

    def _size(self) -> tuple[float, float]:
        names = self.result.kernel_names
        return 4.5 + names_width(names), 0.9 + LINE * 1.3 * min(len(names), MOST_NAMES)

    def _draw(self, ax: Axes) -> None:
        low, high = self.result.quantiles(self.interval)
        rows = np.arange(len(low))
        self.intervals_ = ax.hlines(rows, low, high, color=COLOUR, linewidth=1.5)
        colours = [COLOUR if one else "white" for one in self._significant()]
        self.means_ = ax.scatter(
            self.result.mean, rows, s=22, facecolor=colours, edgecolor=COLOUR, zorder=3
        )
        ax.set_ylim(len(low) - 0.5, -0.5)
        ax.set_xlim(0.0, 1.05 * max(float(high.max()), 1e-12))
        share = round(100 * (self.interval[1] - self.interval[0]))
        marked = f"; filled: p ≤ {self.level:g}" if len(self.result.permuted) else ""
        ax.set_xlabel(f"weight, mean and {share} % interval{marked}")
        open_sides(ax)
        name_ticks(ax.yaxis, self.result.kernel_names)

    def _significant(self) -> np.ndarray:
        if not len(self.result.permuted):
            return np.zeros(len(self.result.weights), dtype=bool)
        return np.asarray(self.result.p_values(self.correction) <= self.level)
