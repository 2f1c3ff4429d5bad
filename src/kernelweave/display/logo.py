"""Sequence logos of a model, of one sequence, or of a motif."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ..inspection import letter_scores, poim
from .axes import open_sides
from .base import Display

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.patches import PathPatch

    from ..estimators.fitted import FittedEstimator
    from ..inspection import Motif

# Okabe and Ito (2008): distinguishable with colour vision deficiency.
COLOURS = {"A": "#009E73", "C": "#0072B2", "G": "#E69F00", "T": "#D55E00", "U": "#D55E00"}
OTHER = "#555555"


class LogoDisplay(Display):
    """Sequence logo: letters as high as their weights, negative weights below the axis.

    Parameters
    ----------
    heights : array of shape (letters, positions)
        Weight of each letter at each position.
    letters : str
        The alphabet, in the order of the rows.
    positions : array of shape (positions,)
        Positions on the horizontal axis.
    label : str
        Label of the vertical axis.

    Attributes
    ----------
    ax_, figure_ : matplotlib Axes and Figure
    letters_ : list of PathPatch
        One for each letter drawn.

    Examples
    --------
    >>> from kernelweave import LogoDisplay, MKLClassifier
    >>> from kernelweave.datasets import make_motifs
    >>> from kernelweave.kernels import WeightedDegree
    >>> model = MKLClassifier(WeightedDegree(5)).fit(*make_motifs(300, positive_rate=0.3))
    >>> display = LogoDisplay.from_estimator(model)
    >>> display.heights.shape
    (4, 50)
    """

    def __init__(
        self, heights: np.ndarray, letters: str, positions: np.ndarray, label: str = "weight"
    ):
        self.heights = np.asarray(heights, dtype=float)
        self.letters = letters
        self.positions = np.asarray(positions)
        self.label = label

    @classmethod
    def from_estimator(
        cls,
        estimator: FittedEstimator,
        *,
        positions: tuple[int, int] | None = None,
        ax: Axes | None = None,
        **parameters: Any,
    ) -> LogoDisplay:
        """Draw the positional importance of single letters, `inspection.poim` with k = 1.

        Parameters
        ----------
        estimator : fitted estimator
            With weighted degree kernels.
        positions : (start, stop), optional
            Positions to draw; all by default.
        ax : Axes, optional
            Axes to draw on; None for a new figure.
        **parameters
            Passed to `inspection.poim`.

        Returns
        -------
        LogoDisplay
        """
        found = poim(estimator, 1, positions=positions, **parameters)
        return cls(found.W, "".join(found.kmers), found.positions).plot(ax)

    @classmethod
    def from_sequence(
        cls,
        estimator: FittedEstimator,
        sequence: str,
        *,
        target: object = None,
        ax: Axes | None = None,
    ) -> LogoDisplay:
        """Draw the contribution of each letter of a sequence to its decision value.

        Parameters
        ----------
        estimator : fitted estimator
            With string kernels that `inspection.letter_scores` supports.
        sequence : str
            The sequence whose letters are drawn.
        target : label, optional
            Class whose decision function is read, for models of three or more classes.
        ax : Axes, optional
            Axes to draw on; None for a new figure.

        Returns
        -------
        LogoDisplay
        """
        scores = letter_scores(estimator, [sequence], target=target)
        heights = scores.contributions[0]
        return cls(heights, scores.letters, np.arange(len(sequence))).plot(ax)

    @classmethod
    def from_motif(cls, motif: Motif, *, ax: Axes | None = None) -> LogoDisplay:
        """Draw a motif of `inspection.motifs`; columns are as high as their information in bits.

        Parameters
        ----------
        motif : Motif
        ax : Axes, optional
            Axes to draw on; None for a new figure.

        Returns
        -------
        LogoDisplay
        """
        positions = np.arange(1, motif.width + 1)
        return cls(motif.heights, motif.letters, positions, "bits").plot(ax)

    def _size(self) -> tuple[float, float]:
        return max(4.0, min(16.0, 0.22 * len(self.positions) + 1.2)), 2.6

    def _draw(self, ax: Axes) -> None:
        self.letters_ = [
            ax.add_patch(_patch(letter, position, bottom, height))
            for position, column in zip(self.positions, self.heights.T, strict=True)
            for letter, bottom, height in self._stacked(column)
        ]
        stacks = np.where(self.heights > 0, self.heights, 0).sum(axis=0)
        below = np.where(self.heights < 0, self.heights, 0).sum(axis=0)
        ax.set_xlim(self.positions[0] - 0.5, self.positions[-1] + 0.5)
        ax.set_ylim(1.05 * below.min(), 1.05 * stacks.max() or 1.0)
        ax.axhline(0.0, color="black", linewidth=0.8)
        ax.set(xlabel="position", ylabel=self.label)
        open_sides(ax)

    def _stacked(self, column: np.ndarray) -> list[tuple[str, float, float]]:
        """Return letter, bottom and height of each letter at one position, smallest first.

        The largest letters are farthest from the axis.
        """
        drawn, above, below = [], 0.0, 0.0
        for row in np.argsort(np.abs(column), kind="stable"):
            height = float(column[row])
            if height > 0:
                drawn.append((self.letters[row], above, height))
                above += height
            elif height < 0:
                below += height
                drawn.append((self.letters[row], below, -height))
        return drawn


def _patch(letter: str, position: float, bottom: float, height: float) -> PathPatch:
    """Return a letter with centre `position`, width 0.9 and the given bottom and height."""
    from matplotlib.font_manager import FontProperties
    from matplotlib.patches import PathPatch
    from matplotlib.textpath import TextPath
    from matplotlib.transforms import Affine2D

    font = FontProperties(family="DejaVu Sans", weight="bold")
    path = TextPath((0, 0), letter, size=1, prop=font)
    box = path.get_extents()
    fit = Affine2D().translate(-box.x0, -box.y0).scale(0.9 / box.width, height / box.height)
    place = fit.translate(position - 0.45, bottom)
    colour = COLOURS.get(letter, OTHER)
    return PathPatch(path.transformed(place), facecolor=colour, edgecolor="none")
