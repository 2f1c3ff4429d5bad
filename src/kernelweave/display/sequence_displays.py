"""Displays of models on sequences: weights of k-mers by position.

Non-negative numbers are drawn in shades of blue, signed numbers from blue (negative) over white
(zero) to red (positive). Both colour maps suit colour-blind readers.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ..inspection import importance, kmer_weights, poim
from ..inspection.kmers import heaviest_rows
from ..inspection.words import fitted_model, output_of
from ..kernels.string.wd_quantity import WdQuantity
from .axes import LINE, name_ticks
from .base import Display

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from ..estimators.fitted import FittedEstimator

MOST_WORDS = 64  # maximum number of rows of a heat map: the k-mers with the largest weights


class PositionWeightsDisplay(Display):
    """Kernel weights by position and match length, as a heat map.

    Parameters
    ----------
    weights : array of shape (lengths, positions)
        Weight of the kernel of each match length and position; NaN if there is none.
    labels : sequence of strings
        Labels of the rows, which are match lengths.

    Attributes
    ----------
    ax_, figure_ : matplotlib Axes and Figure
    image_ : AxesImage of shape (lengths, positions)

    Examples
    --------
    >>> from kernelweave import MKLClassifier, PositionWeightsDisplay
    >>> from kernelweave.datasets import make_motifs
    >>> from kernelweave.kernels import WeightedDegree
    >>> X, y = make_motifs(300, positive_rate=0.3)
    >>> model = MKLClassifier(WeightedDegree(3, split="position"), norm=2).fit(X, y)
    >>> display = PositionWeightsDisplay.from_estimator(model)
    >>> int(display.weights.argmax())
    14
    """

    def __init__(self, weights: np.ndarray, labels: Sequence[str]):
        self.weights = np.asarray(weights, dtype=float)
        self.labels = tuple(labels)

    @classmethod
    def from_estimator(
        cls, estimator: FittedEstimator, *, target: object = None, ax: Axes | None = None
    ) -> PositionWeightsDisplay:
        """Draw the weights of a fitted family of weighted degree kernels.

        Parameters
        ----------
        estimator : fitted estimator
        target : label, optional
            The class whose weights are drawn, if there are several.
        ax : matplotlib Axes, optional
            Axes to draw on; None for a new figure.
        """
        weights, labels = weights_by_position(estimator, target)
        return cls(weights, labels).plot(ax)

    def _size(self) -> tuple[float, float]:
        rows, positions = self.weights.shape
        return _map_width(positions), 1.4 + LINE * 1.2 * rows

    def _draw(self, ax: Axes) -> None:
        self.image_ = ax.imshow(self.weights, cmap="Blues", vmin=0.0, aspect="auto", origin="lower")
        ax.set(xlabel="position", ylabel="match length" if len(self.weights) > 1 else "")
        name_ticks(ax.yaxis, self.labels)
        self.figure_.colorbar(self.image_, ax=ax, label="weight")


class ImportanceDisplay(Display):
    """The largest weight of any k-mer, by length and position, as a heat map.

    Parameters
    ----------
    S : array of shape (max_k, length)
        Row k - 1 has the largest weight of any k-mer that starts at each position.
    label : str
        Label of the colour bar.

    Attributes
    ----------
    ax_, figure_ : matplotlib Axes and Figure
    image_ : AxesImage of shape (max_k, length)

    Examples
    --------
    >>> from kernelweave import ImportanceDisplay, MKLClassifier
    >>> from kernelweave.datasets import make_motifs
    >>> from kernelweave.kernels import WeightedDegree
    >>> model = MKLClassifier(WeightedDegree(5)).fit(*make_motifs(300, positive_rate=0.3))
    >>> display = ImportanceDisplay.from_estimator(model, 5)
    >>> display.S.shape
    (5, 50)
    """

    def __init__(self, S: np.ndarray, label: str = "largest weight"):
        self.S = np.asarray(S, dtype=float)
        self.label = label

    @classmethod
    def from_estimator(
        cls,
        estimator: FittedEstimator,
        max_k: int = 8,
        *,
        gain: bool = False,
        ax: Axes | None = None,
        **parameters: Any,
    ) -> ImportanceDisplay:
        """Draw `inspection.importance` of a fitted estimator.

        Parameters
        ----------
        estimator : fitted estimator
        max_k : int
            Length of the longest k-mers.
        gain : bool
            Whether to draw the gain over shorter k-mers, `Importance.gain`.
        ax : matplotlib Axes, optional
            Axes to draw on; None for a new figure.
        **parameters : passed to `inspection.importance`.
        """
        found = importance(estimator, max_k, **parameters)
        if gain:
            return cls(found.gain, "gain over shorter words").plot(ax)
        return cls(found.S).plot(ax)

    def _size(self) -> tuple[float, float]:
        rows, positions = self.S.shape
        return _map_width(positions), 1.4 + LINE * 1.4 * rows

    def _draw(self, ax: Axes) -> None:
        self.image_ = ax.imshow(self.S, cmap="Blues", vmin=0.0, aspect="auto", origin="lower")
        ax.set(xlabel="position", ylabel="k-mer length")
        name_ticks(ax.yaxis, [str(k) for k in range(1, len(self.S) + 1)])
        self.figure_.colorbar(self.image_, ax=ax, label=self.label)


class KmerDisplay(Display):
    """Weights of k-mers at positions: letters for k = 1, trimers for k = 3.

    Parameters
    ----------
    W : array of shape (k-mers, positions)
        Weight of each k-mer at each position.
    kmers : sequence of strings
        The k-mers of the rows.
    positions : array of shape (positions,)
        Positions in the sequence where the k-mers of each column start.

    Attributes
    ----------
    ax_, figure_ : matplotlib Axes and Figure
    image_ : AxesImage of shape (k-mers, positions); colours are symmetric around zero

    Examples
    --------
    >>> from kernelweave import KmerDisplay, MKLClassifier
    >>> from kernelweave.datasets import make_motifs
    >>> from kernelweave.kernels import WeightedDegree
    >>> model = MKLClassifier(WeightedDegree(5)).fit(*make_motifs(300, positive_rate=0.3))
    >>> display = KmerDisplay.from_estimator(model, 1)
    >>> display.W.shape
    (4, 50)
    """

    def __init__(self, W: np.ndarray, kmers: Sequence[str], positions: np.ndarray):
        self.W = np.asarray(W, dtype=float)
        self.kmers = tuple(kmers)
        self.positions = np.asarray(positions)

    @classmethod
    def from_estimator(
        cls,
        estimator: FittedEstimator,
        k: int = 1,
        *,
        corrected: bool = False,
        most: int = MOST_WORDS,
        ax: Axes | None = None,
        **parameters: Any,
    ) -> KmerDisplay:
        """Draw the weights of k-mers of a fitted estimator.

        Parameters
        ----------
        estimator : fitted estimator
        k : int
            Length of the k-mers.
        corrected : bool
            Whether to draw positional oligomer importance (`inspection.poim`) in place of weights.
        most : int
            Maximum number of k-mers drawn: those with the largest absolute weights.
        ax : matplotlib Axes, optional
            Axes to draw on; None for a new figure.
        **parameters : passed to `inspection.kmer_weights`.
        """
        found = (poim if corrected else kmer_weights)(estimator, k, **parameters)
        rows = heaviest_rows(found.W, most)
        kmers = [found.kmers[row] for row in rows]
        return cls(found.W[rows], kmers, found.positions).plot(ax)

    def _size(self) -> tuple[float, float]:
        rows, positions = self.W.shape
        return _map_width(positions), 1.4 + LINE * max(rows, 4)

    def _draw(self, ax: Axes) -> None:
        most = float(np.abs(self.W).max()) or 1.0
        first, last = float(self.positions[0]) - 0.5, float(self.positions[-1]) + 0.5
        self.image_ = ax.imshow(
            self.W, cmap="RdBu_r", vmin=-most, vmax=most, aspect="auto", interpolation="nearest",
            extent=(first, last, len(self.W) - 0.5, -0.5),
        )  # fmt: skip
        ax.set(xlabel="position")
        name_ticks(ax.yaxis, self.kmers)
        self.figure_.colorbar(self.image_, ax=ax, label="weight")


def _map_width(positions: int) -> float:
    """Return the width of a heat map with `positions` columns, in inches."""
    return min(14.0, max(5.0, 2.0 + 0.09 * positions))


def weights_by_position(estimator: FittedEstimator, target: object) -> tuple[np.ndarray, list[str]]:
    """Return the weights of a family of weighted degree kernels, and labels of match lengths.

    The weights have shape (lengths, positions), with NaN where the family has no kernel. `target`
    is the class or output whose kernel weights are returned.
    """
    model, output = fitted_model(estimator), output_of(estimator, target)
    sources = model.compiled.listing.layout.sources.items()
    found = [(q, first) for (q, _), first in sources if isinstance(q, WdQuantity) and q.split]
    if len(found) != 1:
        raise ValueError(
            "model must have one family of weighted degree kernels, with split='degree', "
            f"'position', 'both' or ranges of positions; it has {len(found)}"
        )
    quantity, first = found[0]
    planes = np.full(quantity.planes, np.nan)
    for m, expression in enumerate(model.compiled.listing.expressions):
        read = [step[1] for step in expression if step[0] == "copy"]
        if len(read) == 1 and first <= read[0] < first + len(planes):
            planes[read[0] - first] = model.weights[output, m]
    return _laid_out(quantity, planes)


def _laid_out(quantity: WdQuantity, planes: np.ndarray) -> tuple[np.ndarray, list[str]]:
    degree, length = len(quantity.weights), quantity.length
    by_length = quantity.split in ("degree", "both")
    lengths = range(degree) if by_length else range(1)
    weights = np.full((len(lengths), length), np.nan)
    for row in lengths:
        for position in range(length - row):
            plane = quantity.plane(position, row)
            if plane is not None:
                weights[row, position] = planes[plane]
    return weights, [str(k + 1) for k in lengths] if by_length else [""]
