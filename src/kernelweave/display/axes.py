"""Axes of pictures: their size, their sides, and the names along them."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.axis import Axis

LONGEST_NAME = 48  # letters
LINE = 13 / 72  # height of a tick label with the space around it, in inches
LETTER = 6 / 72  # width of a letter of a tick label, in inches


def axes_of(ax: Axes | None, width: float, height: float) -> Axes:
    """Return `ax`, or the axes of a new figure of this size in inches."""
    if ax is not None:
        return ax
    import matplotlib.pyplot as plt

    return plt.subplots(figsize=(width, height), layout="constrained")[1]


def open_sides(ax: Axes) -> None:
    """Take away the lines above and to the right of a curve."""
    ax.spines[["top", "right"]].set_visible(False)


def name_ticks(axis: Axis, names: Sequence[str]) -> None:
    """Write as many of the names along an axis as it has room for, evenly spaced."""
    extent = axis.axes.get_window_extent().transformed(axis.figure.dpi_scale_trans.inverted())
    slanted = axis is axis.axes.xaxis
    room = extent.width / (1.2 * LINE) if slanted else extent.height / LINE
    positions = range(0, len(names), math.ceil(len(names) / max(1, int(room))))
    axis.set_ticks(positions, [short_name(names[position]) for position in positions])
    if slanted:
        for label in axis.get_ticklabels():
            label.set(rotation=45, ha="right", rotation_mode="anchor")


def names_width(names: Sequence[str]) -> float:
    """Return how much room the longest of the names needs, in inches."""
    return LETTER * max(len(short_name(name)) for name in names)


def short_name(name: str) -> str:
    """Leave out the middle of a long name."""
    half = LONGEST_NAME // 2
    return name if len(name) <= LONGEST_NAME else f"{name[: half - 1]}…{name[-half:]}"
