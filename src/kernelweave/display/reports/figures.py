"""Figures of a report: one function for each kind draws JSON values on matplotlib axes."""

from __future__ import annotations

import io
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ..axes import open_sides, short_name
from ..displays import AlignmentDisplay, ConvergenceDisplay
from .section import Figure

if TYPE_CHECKING:
    from matplotlib.axes import Axes

INK = "#000000"  # colour of axes and texts; the page replaces it with its text colour
COLOURS = ("#1f77b4", "#d1730a", "#2a9d5c", "#a65fb0")  # legible in light and dark mode


def svg(figure: Figure) -> str:
    """Return a figure as SVG.

    Texts are not converted to paths. Black becomes the text colour of the page and the background
    is transparent, so that the figure suits light and dark mode.
    """
    from matplotlib import rc_context
    from matplotlib.figure import Figure as Canvas

    style: dict[Any, Any] = {
        "svg.fonttype": "none",
        "svg.hashsalt": f"kernelweave {figure.caption}",  # element ids must be unique within a page
        "font.family": "sans-serif",
        "text.color": INK,
        "axes.edgecolor": INK,
        "axes.labelcolor": INK,
        "xtick.color": INK,
        "ytick.color": INK,
    }
    with rc_context(style):
        canvas = Canvas(figsize=figure.size, layout="constrained")
        canvas.patch.set_alpha(0.0)
        axes = canvas.subplots()
        axes.patch.set_alpha(0.0)
        axes.set_prop_cycle(color=COLOURS)
        KINDS[figure.kind](axes, **figure.data)
        file = io.StringIO()
        canvas.savefig(file, format="svg", metadata={"Date": None})
    text = file.getvalue()
    return text[text.index("<svg") :].replace(INK, "currentColor")


def bars(
    ax: Axes,
    names: list[str],
    values: list[float],
    label: str,
    low: list[float] | None = None,
    high: list[float] | None = None,
) -> None:
    """Draw a horizontal bar for each name.

    `label` names the horizontal axis. `low` and `high`, if given, are interval ends.
    """
    places = np.arange(len(names))
    ax.barh(places, values, color=COLOURS[0])
    if low is not None and high is not None:
        ax.hlines(places, low, high, color=INK, linewidth=1.5)
    ax.set_yticks(places, [short_name(name) for name in names])
    ax.invert_yaxis()
    ax.set_xlabel(label)
    open_sides(ax)


def curve(
    ax: Axes,
    x: list[float],
    y: list[float],
    across: str,
    up: str,
    chance: list[float],
    marked: bool = False,
) -> None:
    """Draw a curve in the unit square, with a dashed line for a random classifier.

    Parameters
    ----------
    ax : matplotlib Axes
    x, y : points of the curve, of equal length.
    across, up : labels of the horizontal and the vertical axis.
    chance : values of the dashed line at 0 and at 1.
    marked : whether to mark the points.
    """
    ax.plot([0, 1], chance, color="grey", linestyle="--", linewidth=1)
    ax.plot(x, y, marker="o" if marked else None, markersize=4)
    ax.set(xlabel=across, ylabel=up, xlim=(-0.01, 1.01), ylim=(-0.01, 1.02))
    open_sides(ax)


def histograms(ax: Axes, edges: list[float], heights: list[list[float]], names: list[str]) -> None:
    """Draw the histograms of two classes: their `heights` between common bin `edges`."""
    for values, name, colour in zip(heights, names, (COLOURS[1], COLOURS[0]), strict=True):
        ax.stairs(values, edges, fill=True, alpha=0.6, color=colour, label=name)
    ax.set(xlabel="held-out decision value", ylabel="density")
    ax.legend(frameon=False)
    open_sides(ax)


def scatter(ax: Axes, true: list[float], predicted: list[float]) -> None:
    """Draw predicted against true values, with a dashed diagonal."""
    both = [*true, *predicted]
    ends = [min(both), max(both)]
    ax.plot(ends, ends, color="grey", linestyle="--", linewidth=1)
    ax.scatter(true, predicted, s=8, alpha=0.5, color=COLOURS[0], linewidths=0)
    ax.set(xlabel="true value", ylabel="held-out prediction")
    open_sides(ax)


def convergence(
    ax: Axes,
    seconds: list[list[float]],
    gaps: list[list[float]],
    tol: float,
    classes: Sequence[str] | None,
    xlabel: str = "seconds",
) -> None:
    """Draw relative duality gaps over time, one line for each class.

    `classes` are the names of the lines, None for a single line; `tol` is drawn as a dashed line.
    """
    times, values = list(map(_array, seconds)), list(map(_array, gaps))
    ConvergenceDisplay(times, values, tol, classes, xlabel).plot(ax)


def alignments(ax: Axes, matrix: list[list[float]], names: list[str]) -> None:
    """Draw the alignments of M kernels, a matrix of shape (M, M), as colours."""
    AlignmentDisplay(_array(matrix), names).plot(ax)


def importance(ax: Axes, S: list[list[float | None]]) -> None:
    """Draw the largest weight of any k-mer, shape (lengths, positions), as colours."""
    from ..sequence_displays import ImportanceDisplay

    ImportanceDisplay(_array(S)).plot(ax)


def kmers(ax: Axes, W: list[list[float]], words: list[str], positions: list[float]) -> None:
    """Draw weights of k-mers, shape (k-mers, positions), as colours."""
    from ..sequence_displays import KmerDisplay

    KmerDisplay(_array(W), words, _array(positions)).plot(ax)


def logo(
    ax: Axes,
    heights: list[list[float]],
    letters: str,
    positions: list[float],
    label: str = "weight",
) -> None:
    """Draw a sequence logo; `heights` has shape (letters, positions)."""
    from ..logo import LogoDisplay

    LogoDisplay(_array(heights), letters, _array(positions), label).plot(ax)


def places(ax: Axes, weights: list[list[float | None]], labels: list[str]) -> None:
    """Draw kernel weights, shape (match lengths, positions), as colours."""
    from ..sequence_displays import PositionWeightsDisplay

    PositionWeightsDisplay(_array(weights), labels).plot(ax)


def _array(values: object) -> np.ndarray:
    """Return nested lists of numbers as an array; None becomes NaN."""
    return np.array(values, dtype=float)


KINDS: dict[str, Callable[..., None]] = {
    draw.__name__: draw
    for draw in (
        bars, curve, histograms, scatter, convergence, alignments, importance, kmers, logo, places,
    )
}  # fmt: skip
