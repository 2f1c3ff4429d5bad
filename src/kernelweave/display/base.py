"""The base class of displays."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure, SubFigure

Same = TypeVar("Same", bound="Display")


class Display(ABC):
    """Numbers that `plot` draws, with the conventions of scikit-learn's displays.

    matplotlib, the extra ``kernelweave[plot]``, is only imported for drawing.

    Attributes
    ----------
    ax_ : matplotlib Axes
    figure_ : matplotlib Figure
    """

    ax_: Axes
    figure_: Figure | SubFigure

    def plot(self: Same, ax: Axes | None = None) -> Same:
        """Draw on `ax`, or on a new figure that has room for the names.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Axes to draw on; None for a new figure.

        Returns
        -------
        self
        """
        if ax is None:
            import matplotlib.pyplot as plt

            ax = plt.subplots(figsize=self._size(), layout="constrained")[1]
        self.ax_, self.figure_ = ax, ax.figure
        self._draw(ax)
        return self

    @abstractmethod
    def _size(self) -> tuple[float, float]:
        """Return width and height of a new figure, in inches."""

    @abstractmethod
    def _draw(self, ax: Axes) -> None:
        """Draw on `ax`; `ax_` and `figure_` are set already."""
