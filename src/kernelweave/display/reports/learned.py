"""Report sections on a fitted model: certificate, weights, contributions, kernel alignment."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, TypeVar

import numpy as np

from ...common.types import Data
from ...kernels.compile.program import CompiledKernels
from ...model.statistics import sum_of_views
from ..displays import clock_of
from .section import Figure, Json, Section, plain

if TYPE_CHECKING:
    from ...estimators.fitted import FittedEstimator
    from ...inspection import BootstrapWeights

T = TypeVar("T")

MOST_BARS = 20  # bars of a figure; the remaining values are summed up in one more
MOST_ALIGNED = 30  # largest number of kernels for which alignments are drawn
MOST_ITERATIONS = 500  # iterations whose duality gaps are drawn
INTERVAL = (0.05, 0.95)  # quantiles of bootstrapped weights


def certificate(model: FittedEstimator) -> Section:
    """Return the duality gap, the objective values and their convergence."""
    gap, tol = float(np.max(model.duality_gap_)), float(model.tol)
    verdict = "is within" if gap <= tol else "has NOT reached"
    text = (
        f"The relative duality gap {gap:.2e} {verdict} the tolerance {tol:g}. It bounds how far "
        f"the objective can be from its optimum; here it certifies the {model.certifies_}."
    )
    rows = [["quantity", "value"]]
    for name in ("primal_objective_", "dual_objective_", "constant_objective_", "n_iter_"):
        if hasattr(model, name):
            rows.append([name.rstrip("_").replace("_", " "), _numbers(getattr(model, name))])
    rows += [["support examples", f"{len(model.support_):,}"], ["plan", repr(model.plan_)]]
    figures = []
    if len(getattr(model, "history_", [])):
        caption = "Relative duality gap during training"
        figures.append(Figure(caption, "convergence", _convergence(model)))
    return Section("Certificate", text, rows, figures, {"duality_gap": gap, "tol": tol})


def _convergence(model: FittedEstimator) -> Json:
    single = isinstance(model.history_[0], dict)
    histories = [model.history_] if single else model.history_
    drawn: Json = {"tol": float(model.tol)}
    drawn["classes"] = None if single else [str(name) for name in model._output_names()]
    times, drawn["xlabel"] = clock_of(histories)
    drawn["seconds"] = [plain(_thinned(one)) for one in times]
    drawn["gaps"] = [plain([one["gap"] for one in _thinned(past)]) for past in histories]
    return drawn


def _thinned(history: Sequence[T]) -> list[T]:
    """Return evenly spaced iterations of a long history, the first and the last included."""
    chosen = np.linspace(0, len(history) - 1, min(len(history), MOST_ITERATIONS)).astype(int)
    return [history[iteration] for iteration in chosen]


def weights(model: FittedEstimator, bootstrap: BootstrapWeights | None = None) -> Section:
    """Return the kernel weights, largest first, with bootstrap intervals if there are any."""
    values = np.atleast_2d(model.weights_).mean(axis=0)
    order, names, shown = heaviest(list(model.kernel_names_), values)
    text = f"{np.count_nonzero(model.weights_)} of {np.size(model.weights_)} weights are not zero."
    if np.ndim(model.weights_) == 2:
        text = "Means over the classes; each class has its own weights."
    rows = [["kernel", "weight"], *([n, f"{v:.4f}"] for n, v in zip(names, shown, strict=True))]
    drawn: Json = {"names": names, "values": plain(shown), "label": "weight"}
    data: Json = {
        "kernels": list(model.kernel_names_),
        "weights": np.asarray(model.weights_).tolist(),
    }
    if bootstrap is not None:
        samples = bootstrap.samples.reshape(len(bootstrap.samples), -1, len(values)).mean(axis=1)
        low, high = _intervals(samples, order)
        text += (
            f" Lines, and the last columns, are the {INTERVAL[0]:.0%} and {INTERVAL[1]:.0%} "
            f"quantiles of {len(samples)} fits on bootstrap samples."
        )
        drawn |= {"low": plain(low), "high": plain(high)}
        rows[0] += [f"{INTERVAL[0]:.0%}", f"{INTERVAL[1]:.0%}"]
        for row, *ends in zip(rows[1:], low, high, strict=True):
            row += [f"{end:.4f}" for end in ends]
        data["bootstrap"] = bootstrap.samples.tolist()
    figure = Figure("The weight of each kernel", "bars", drawn, bars_size(names))
    return Section("Weights", text, rows, [figure], data)


def _intervals(samples: np.ndarray, order: np.ndarray) -> np.ndarray:
    """Return bootstrap quantiles of the weights that have bars, shape (2, bars).

    Parameters
    ----------
    samples : array of shape (fits, M)
    order : array of shape (M,)
        Positions of the kernels, largest weight first. The last bar is the sum of the others.
    """
    first, rest = order[:MOST_BARS], order[MOST_BARS:]
    kept = samples[:, first]
    if len(rest):
        kept = np.column_stack([kept, samples[:, rest].sum(axis=1)])
    return np.quantile(kept, INTERVAL, axis=0)


def contributions(model: FittedEstimator, X: object) -> Section | None:
    """Return the share of each kernel, and of each view, in the variation of decision values.

    None for one kernel, whose share is 1.
    """
    if len(model.kernel_names_) == 1:
        return None
    values = model.contributions(X)
    text = (
        "The standard deviation of each kernel's contribution to the decision value, divided by "
        "the sum over kernels. A kernel with a small weight may have a large share, and vice versa."
    )
    names, figure = _shares(list(model.kernel_names_), values, "The share of each kernel")
    figures, data = [figure], {"shares": dict(zip(names, figure.data["values"], strict=True))}
    views = list(model._model.compiled.views)
    different = list(dict.fromkeys(views))
    if 1 < len(different) < len(views):
        summed = sum_of_views(values, views)
        names, figure = _shares(different, summed, "The share of each view, its kernels together")
        figures.append(figure)
        data["views"] = dict(zip(names, figure.data["values"], strict=True))
    return Section("Contributions", text, [], figures, data)


def _shares(names: list[str], values: np.ndarray, caption: str) -> tuple[list[str], Figure]:
    """Return bar names, and a bar chart of the share of each column in the variation.

    The share of a column is its standard deviation divided by the sum of those of all columns.
    `values` has shape (n, ..., M).
    """
    spread = values.reshape(-1, values.shape[-1]).std(axis=0)
    share = spread / max(float(spread.sum()), np.finfo(float).tiny)
    _, shown, share = heaviest(names, share)
    drawn = {"names": shown, "values": plain(share), "label": "share"}
    return shown, Figure(caption, "bars", drawn, bars_size(shown))


def alignment(model: FittedEstimator, X: Data) -> Section | None:
    """Return the alignment of each pair of kernels; None for one kernel or too many."""
    from ...inspection.alignment import kernel_alignment

    compiled: CompiledKernels = model._model.compiled
    if not 1 < compiled.n_kernels <= MOST_ALIGNED:
        return None
    matrix = kernel_alignment(list(compiled.kernels), X)
    cells, names = 0.45 * compiled.n_kernels, 0.08 * max(map(len, compiled.names))
    drawn = {"matrix": plain(matrix), "names": list(compiled.names)}
    size = cells + names + 1.5, cells + 0.75 * names + 0.4
    text = "Kernels with an alignment near 1 carry the same information and share their weight."
    figure = Figure("Alignments of pairs of kernels", "alignments", drawn, size)
    return Section("Kernel alignment", text, [], [figure])


def heaviest(names: list[str], values: np.ndarray) -> tuple[np.ndarray, list[str], np.ndarray]:
    """Return the indices in descending order of values, then the names and values of the bars.

    The last bar is the sum of the values that have no bar of their own.
    """
    order = np.argsort(-values, kind="stable")
    first, rest = order[:MOST_BARS], order[MOST_BARS:]
    kept, shown = [names[m] for m in first], values[first]
    if len(rest):
        kept, shown = [*kept, f"{len(rest)} others together"], np.append(shown, values[rest].sum())
    return order, kept, shown


def bars_size(names: list[str]) -> tuple[float, float]:
    """Return width and height of a figure of bars, in inches."""
    return 7.0, 0.8 + 0.26 * len(names)


def _numbers(value: np.ndarray | float) -> str:
    return ", ".join(f"{one:.6g}" for one in np.ravel(value))
