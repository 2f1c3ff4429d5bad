"""Displays of Shapley values: a beeswarm of many examples, a waterfall of one."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ..common.types import Data
from ..inspection.shapley import ShapleyValues, shapley
from .axes import LINE, names_width, open_sides, short_name
from .base import Display

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.colors import Colormap

    from ..estimators.fitted import FittedEstimator

POSITIVE, NEGATIVE, NEUTRAL = "#D55E00", "#0072B2", "#999999"
BINS = 60  # number of bins of the horizontal axis; points in a bin are stacked
HALF_ROW = 0.38  # half the height of a row of points, in units of the distance of rows


class BeeswarmDisplay(Display):
    """Shapley values of many examples: a row of points for each player.

    Each point is an example. Its colour is the value of the column, from low (blue) to high
    (orange), by rank; columns that are not numbers are grey. The players with the largest mean
    absolute values come first.

    Parameters
    ----------
    values : ShapleyValues
        Of one decision function; see `ShapleyValues.of_output`.
    most : int
        Number of players drawn; the others are summed up in a last row.

    Attributes
    ----------
    ax_, figure_ : matplotlib Axes and Figure
    points_ : list of PathCollection, one for each row

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from kernelweave import BeeswarmDisplay, MKLRegressor
    >>> from kernelweave.inspection import shapley
    >>> X, y = load_diabetes(return_X_y=True, as_frame=True)
    >>> model = MKLRegressor().fit(X, y)
    >>> display = BeeswarmDisplay(shapley(model, X[:50], X), most=4).plot()
    >>> [label.get_text() for label in display.ax_.get_yticklabels()][-1]
    'sum of 6 others'
    """

    def __init__(self, values: ShapleyValues, most: int = 15):
        self.values = _of_one_output(values)
        self.most = _checked_most(most)

    @classmethod
    def from_estimator(
        cls,
        estimator: FittedEstimator,
        X: Data,
        background: Data = None,
        *,
        output: object = None,
        most: int = 15,
        ax: Axes | None = None,
        **parameters: Any,
    ) -> BeeswarmDisplay:
        """Compute Shapley values and draw them.

        Parameters
        ----------
        estimator : fitted estimator
        X : n examples to explain
        background : rows like those of X, optional
            Columns outside a coalition take their values from these rows.
        output : label or int, optional
            The decision function to draw, if there are several.
        most : int
            Number of players drawn; the others are summed up.
        ax : matplotlib Axes, optional
            Axes to draw on; None for a new figure.
        **parameters : passed to `inspection.shapley`.
        """
        found = shapley(estimator, X, background, **parameters)
        return cls(found.of_output(output), most).plot(ax)

    def _size(self) -> tuple[float, float]:
        names = [name for name, _, _ in self._rows()]
        return 5.2 + names_width(names), 1.1 + 2 * LINE * len(names)

    def _draw(self, ax: Axes) -> None:
        rows = self._rows()
        size = max(float(np.abs(one).max()) for _, one, _ in rows) or 1.0
        self.points_ = []
        for y, (_, values, data) in enumerate(rows):
            heights = y + _stacked(values, 2 * size / BINS)
            colours = np.full(len(values), np.nan) if data is None else _ranks(data)
            self.points_.append(
                ax.scatter(
                    *(values, heights, 11, colours),
                    cmap=_colours(),
                    vmin=0.0,
                    vmax=1.0,
                    linewidths=0,
                    plotnonfinite=True,
                )
            )
        ax.axvline(0.0, color="0.6", linewidth=0.8, zorder=0)
        _name_rows(ax, [name for name, _, _ in rows])
        ax.set_xlabel("Shapley value (change of the decision value)")
        open_sides(ax)
        if any(data is not None for _, _, data in rows):
            self._add_colour_bar(ax)

    def _rows(self) -> list[tuple[str, np.ndarray, np.ndarray | None]]:
        """Return name, Shapley values and column values of each row.

        Column values are None if they are not numbers.
        """
        found = self.values
        order = np.argsort(-np.abs(found.values).mean(axis=0), kind="stable")
        shown, rest = order[: self.most], order[self.most :]
        rows = [
            (found.feature_names[k], found.values[:, k], _numbers(found.data, k)) for k in shown
        ]
        if len(rest):
            rows.append((f"sum of {len(rest)} others", found.values[:, rest].sum(axis=1), None))
        return rows

    def _add_colour_bar(self, ax: Axes) -> None:
        from matplotlib.cm import ScalarMappable

        aspect = 8 * ax.get_window_extent().height / self.figure_.dpi  # an eighth of an inch
        bar = self.figure_.colorbar(
            ScalarMappable(cmap=_colours()), ax=ax, aspect=aspect, fraction=0.05, pad=0.02
        )
        bar.set_ticks([0, 1], labels=["low", "high"])
        bar.set_label("value of the column", labelpad=-12)
        bar.outline.set_visible(False)


class WaterfallDisplay(Display):
    """Shapley values of one example: from the base value to its decision value.

    Parameters
    ----------
    values : ShapleyValues
        Of one decision function; see `ShapleyValues.of_output`.
    example : int
        Position of the example.
    most : int
        Number of players drawn; the others are summed up in one bar.

    Attributes
    ----------
    ax_, figure_ : matplotlib Axes and Figure
    bars_ : BarContainer, the largest value on top

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from kernelweave import MKLRegressor, WaterfallDisplay
    >>> from kernelweave.inspection import shapley
    >>> X, y = load_diabetes(return_X_y=True, as_frame=True)
    >>> model = MKLRegressor().fit(X, y)
    >>> display = WaterfallDisplay(shapley(model, X[:5], X), example=2, most=5).plot()
    >>> len(display.bars_)
    6
    """

    def __init__(self, values: ShapleyValues, example: int = 0, most: int = 10):
        self.values = _of_one_output(values)
        if not -len(values) <= example < len(values):
            raise ValueError(
                f"example must be a position among {len(values)} examples, got {example!r}"
            )
        self.example = example
        self.most = _checked_most(most)

    @classmethod
    def from_estimator(
        cls,
        estimator: FittedEstimator,
        X: Data,
        background: Data = None,
        *,
        example: int = 0,
        output: object = None,
        most: int = 10,
        ax: Axes | None = None,
        **parameters: Any,
    ) -> WaterfallDisplay:
        """Compute Shapley values and draw those of one example.

        Parameters
        ----------
        estimator : fitted estimator
        X : n examples to explain
        background : rows like those of X, optional
            Columns outside a coalition take their values from these rows.
        example : int
            Position of the example that is drawn.
        most : int
            Number of players drawn; the others are summed up.
        output : label or int, optional
            The decision function to draw, if there are several.
        ax : matplotlib Axes, optional
            Axes to draw on; None for a new figure.
        **parameters : passed to `inspection.shapley`.
        """
        found = shapley(estimator, X, background, **parameters)
        return cls(found.of_output(output), example, most).plot(ax)

    def _size(self) -> tuple[float, float]:
        names, _ = self._rows()
        return 5.0 + names_width(names), 1.2 + 1.7 * LINE * len(names)

    def _draw(self, ax: Axes) -> None:
        names, sizes = self._rows()
        base = float(self.values.base_values[self.example])
        ends = base + np.cumsum(sizes[::-1])[::-1]  # the lowest bar starts at the base value
        starts = np.append(ends[1:], base)
        colours = [POSITIVE if size > 0 else NEGATIVE for size in sizes]
        rows = np.arange(len(names))
        self.bars_ = ax.barh(rows, sizes, left=starts, color=colours, height=0.7)
        for row in rows[:-1]:  # where one bar ends the one above starts
            ax.plot([starts[row]] * 2, [row, row + 1], color="0.6", linewidth=0.8, zorder=0)
        _write_sizes(ax, starts, ends, sizes)
        ax.axvline(base, color="0.6", linewidth=0.8, linestyle=":", zorder=0)
        _name_rows(ax, names)
        ax.set_xlabel(f"decision value: from {base:.3g} (base) to {ends[0]:.3g}")
        open_sides(ax)

    def _rows(self) -> tuple[list[str], np.ndarray]:
        """Return the names and values of the bars, the largest one first."""
        found = self.values
        values = found.values[self.example]
        order = np.argsort(-np.abs(values), kind="stable")
        shown, rest = order[: self.most], order[self.most :]
        names = [_with_value(found, self.example, int(k)) for k in shown]
        sizes = values[shown]
        if len(rest):
            names.append(f"sum of {len(rest)} others")
            sizes = np.append(sizes, values[rest].sum())
        return names, sizes


def _name_rows(ax: Axes, names: list[str]) -> None:
    """Label the rows of a display, the first one on top."""
    ax.set_yticks(range(len(names)), [short_name(name) for name in names])
    ax.set_ylim(len(names) - 0.4, -0.6)
    ax.tick_params(axis="y", length=0)


def _write_sizes(ax: Axes, starts: np.ndarray, ends: np.ndarray, sizes: np.ndarray) -> None:
    """Write each value to the right of its bar."""
    low, high = min(starts.min(), ends.min()), max(starts.max(), ends.max())
    room = (high - low) or 1.0
    for row, size in enumerate(sizes):
        ax.annotate(
            f"{size:+.3g}",
            (max(starts[row], ends[row]), row),
            xytext=(4, 0),
            textcoords="offset points",
            va="center",
            fontsize="small",
            color=POSITIVE if size > 0 else NEGATIVE,
        )
    ax.set_xlim(low - 0.05 * room, high + 0.17 * room)


def _of_one_output(values: ShapleyValues) -> ShapleyValues:
    if values.output_names is not None:
        raise ValueError(
            "values belong to several decision functions: choose one with "
            f"values.of_output(name), name being one of {list(values.output_names)}"
        )
    return values


def _checked_most(most: int) -> int:
    if most < 1:
        raise ValueError(f"most must be at least 1, got {most!r}")
    return most


def _with_value(found: ShapleyValues, example: int, player: int) -> str:
    """Return the name of a player with the value of its column."""
    name = found.feature_names[player]
    if found.data is None:
        return name
    value = found.data[example, player]
    number = _number(value)
    if number is None:
        return f"{name} = {value}"
    return name if np.isnan(number) else f"{name} = {number:.4g}"


def _number(value: Any) -> float | None:
    """Return a value of a column as a float; None if it is not a number."""
    try:
        return None if isinstance(value, str) else float(value)
    except (TypeError, ValueError):
        return None


def _numbers(data: np.ndarray | None, player: int) -> np.ndarray | None:
    """Return a column as numbers, shape (n,); None if it is not numeric or is constant."""
    if data is None:
        return None
    found = [_number(value) for value in data[:, player]]
    if any(one is None for one in found):
        return None
    numbers = np.array(found, dtype=float)
    return numbers if len(np.unique(numbers[~np.isnan(numbers)])) > 1 else None


def _ranks(numbers: np.ndarray) -> np.ndarray:
    """Return the rank of each number among those that are not NaN, from 0 to 1, shape (n,)."""
    known = np.sort(numbers[~np.isnan(numbers)])
    low = np.searchsorted(known, numbers, side="left")
    high = np.searchsorted(known, numbers, side="right") - 1
    return np.where(np.isnan(numbers), np.nan, 0.5 * (low + high) / max(len(known) - 1, 1))


def _stacked(values: np.ndarray, width: float) -> np.ndarray:
    """Return vertical offsets that separate points in the same bin of values, shape (n,).

    `width` is the width of the bins.
    """
    bins = np.round(values / width).astype(int)
    offsets = np.zeros(len(values))
    counts = np.unique(bins, return_counts=True)[1]
    step = min(0.1, 2 * HALF_ROW / counts.max())
    for one in np.unique(bins):
        members = np.flatnonzero(bins == one)
        sides = np.arange(1, len(members) + 1) // 2 * np.where(np.arange(len(members)) % 2, 1, -1)
        offsets[members] = step * sides
    return offsets


def _colours() -> Colormap:
    """Return a colour map from blue to orange that also colour-blind readers can tell apart."""
    from matplotlib.colors import LinearSegmentedColormap

    colours = LinearSegmentedColormap.from_list("low_high", [NEGATIVE, "#C9BFC0", POSITIVE])
    return colours.with_extremes(bad=NEUTRAL)
