"""Letters as tall as they count: a model, or one sequence, as a logo."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ..inspection import letter_scores, poim
from .axes import axes_of, open_sides

if TYPE_CHECKING:
    from matplotlib.axes import Axes

# Colours of Okabe and Ito (2008), which colour-blind people can tell apart.
COLOURS = {"A": "#009E73", "C": "#0072B2", "G": "#E69F00", "T": "#D55E00", "U": "#D55E00"}
OTHER = "#555555"


class LogoDisplay:
    """Letters as high as their weights: those that speak for a class above the line, others below.

    Parameters
    ----------
    heights : array of shape (letters, positions)
    letters : the letters.
    positions : (positions,) where they are.

    Attributes
    ----------
    ax_, figure_ : matplotlib Axes and Figure
    letters_ : list of PathPatch, one for each letter that is drawn

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

    def __init__(self, heights: np.ndarray, letters: str, positions: np.ndarray):
        self.heights = np.asarray(heights, dtype=float)
        self.letters = letters
        self.positions = np.asarray(positions)

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        *,
        positions: tuple[int, int] | None = None,
        ax: Axes | None = None,
        **parameters: Any,
    ) -> LogoDisplay:
        """Draw what each letter counts at each position, corrected for what all letters count.

        Parameters
        ----------
        positions : (start, stop), the part to draw.
        **parameters : go to `inspection.poim`.
        """
        found = poim(estimator, 1, positions=positions, **parameters)
        return cls(found.W, "".join(found.kmers), found.positions).plot(ax)

    @classmethod
    def from_sequence(
        cls, estimator: Any, sequence: str, *, target: Any = None, ax: Axes | None = None
    ) -> LogoDisplay:
        """Draw what each letter of one sequence adds to its decision value."""
        scores = letter_scores(estimator, [sequence], target=target)
        heights = scores.contributions[0]
        return cls(heights, scores.letters, np.arange(len(sequence))).plot(ax)

    def plot(self, ax: Axes | None = None) -> LogoDisplay:
        """Draw on `ax`, or on a new figure."""
        self.ax_ = axes_of(ax, max(4.0, min(16.0, 0.22 * len(self.positions) + 1.2)), 2.6)
        self.figure_ = self.ax_.figure
        self.letters_ = [
            self._draw(letter, position, bottom, height)
            for position, column in zip(self.positions, self.heights.T, strict=True)
            for letter, bottom, height in self._stacked(column)
        ]
        stacks = np.where(self.heights > 0, self.heights, 0).sum(axis=0)
        below = np.where(self.heights < 0, self.heights, 0).sum(axis=0)
        self.ax_.set_xlim(self.positions[0] - 0.5, self.positions[-1] + 0.5)
        self.ax_.set_ylim(1.05 * below.min(), 1.05 * stacks.max() or 1.0)
        self.ax_.axhline(0.0, color="black", linewidth=0.8)
        self.ax_.set(xlabel="position", ylabel="weight")
        open_sides(self.ax_)
        return self

    def _stacked(self, column: np.ndarray) -> list[tuple[str, float, float]]:
        """Return letter, bottom and height; the largest letters are farthest from the line."""
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

    def _draw(self, letter: str, position: float, bottom: float, height: float) -> Any:
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
        patch = PathPatch(path.transformed(place), facecolor=colour, edgecolor="none")
        self.ax_.add_patch(patch)
        return patch
