"""Helpers for matplotlib axes: spines and tick labels."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.axis import Axis

LONGEST_NAME = 48  # letters of a tick label
LINE = 13 / 72  # line height of tick labels, in inches
LETTER = 6 / 72  # mean width of a letter of a tick label, in inches


def open_sides(ax: Axes) -> None:
    """Hide the top and right spines."""
    ax.spines[["top", "right"]].set_visible(False)


def name_ticks(axis: Axis, names: Sequence[str]) -> None:
    """Label an axis with evenly spaced names, as many as fit."""
    extent = axis.axes.get_window_extent().transformed(axis.figure.dpi_scale_trans.inverted())
    slanted = axis is axis.axes.xaxis
    room = extent.width / (1.2 * LINE) if slanted else extent.height / LINE
    positions = range(0, len(names), math.ceil(len(names) / max(1, int(room))))
    axis.set_ticks(positions, [short_name(names[position]) for position in positions])
    if slanted:
        for label in axis.get_ticklabels():
            label.set(rotation=45, ha="right", rotation_mode="anchor")


def names_width(names: Sequence[str]) -> float:
    """Return the width of the longest tick label, in inches."""
    return LETTER * max(len(short_name(name)) for name in names)


def short_name(name: str) -> str:
    """Return a name with its middle replaced by an ellipsis if it is too long."""
    half = LONGEST_NAME // 2
    return name if len(name) <= LONGEST_NAME else f"{name[: half - 1]}…{name[-half:]}"
