"""What a model is and what it learned: certificate, weights, contributions, likeness of kernels."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ...kernels.compile.program import CompiledKernels
from ...model.model import sum_of_views
from ..displays import clock_of
from .section import Figure, Section, plain

if TYPE_CHECKING:
    from ...inspection import BootstrapWeights

MOST_BARS = 20  # kernels of which weights are drawn; the rest is summed up
MOST_ALIGNED = 30  # kernels of which alignments are drawn
MOST_TURNS = 500  # of which gaps are drawn
INTERVAL = (0.05, 0.95)  # of bootstrapped weights


def certificate(model: Any) -> Section:
    """Return what is proven of a model, and how long it took."""
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
        caption = "The duality gap over time, falling to the tolerance"
        figures.append(Figure(caption, "convergence", _convergence(model)))
    return Section("Certificate", text, rows, figures, {"duality_gap": gap, "tol": tol})


def _convergence(model: Any) -> dict[str, Any]:
    single = isinstance(model.history_[0], dict)
    histories = [model.history_] if single else model.history_
    drawn: dict[str, Any] = {"tol": float(model.tol)}
    classes = getattr(model, "classes_", range(len(histories)))
    drawn["classes"] = None if single else [str(name) for name in classes]
    times, drawn["xlabel"] = clock_of(histories)
    drawn["seconds"] = [plain(_some(one)) for one in times]
    drawn["gaps"] = [plain([turn["gap"] for turn in _some(history)]) for history in histories]
    return drawn


def _some(history: list[Any]) -> list[Any]:
    """Return the turns of a long history at even distances, the first and the last among them."""
    chosen = np.linspace(0, len(history) - 1, min(len(history), MOST_TURNS)).astype(int)
    return [history[turn] for turn in chosen]


def weights(model: Any, bootstrap: BootstrapWeights | None = None) -> Section:
    """Return the weights of the kernels, the heaviest first, with intervals where there are any."""
    values = np.atleast_2d(model.weights_).mean(axis=0)
    order, names, shown = _heaviest(list(model.kernel_names_), values)
    text = f"{np.count_nonzero(model.weights_)} weights are not zero."
    if np.ndim(model.weights_) == 2:
        text = "Means over the classes, each of which has weights of its own."
    rows = [["kernel", "weight"], *([n, f"{v:.4f}"] for n, v in zip(names, shown, strict=True))]
    drawn: dict[str, Any] = {"names": names, "values": plain(shown), "label": "weight"}
    data: dict[str, Any] = {
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
    figure = Figure("The weight of each kernel", "bars", drawn, _bars_size(names))
    return Section("Weights", text, rows, [figure], data)


def _intervals(samples: np.ndarray, order: np.ndarray) -> np.ndarray:
    """Return quantiles of the heaviest kernels, and of the sum of all others, shape (2, bars)."""
    first, rest = order[:MOST_BARS], order[MOST_BARS:]
    kept = samples[:, first]
    if len(rest):
        kept = np.column_stack([kept, samples[:, rest].sum(axis=1)])
    quantiles: np.ndarray = np.quantile(kept, INTERVAL, axis=0)
    return quantiles


def contributions(model: Any, X: Any) -> Section:
    """Return how much each kernel, and each view, moves the decisions on some examples."""
    values = model.contributions(X)
    text = (
        "The standard deviation of what each kernel adds to the decision value, as a share of "
        "their sum. A kernel with a small weight may matter much, and the other way round."
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
    """Return a figure of the spread of values, shape (n, ..., M), as parts of their sum."""
    spread = values.reshape(-1, values.shape[-1]).std(axis=0)
    share = spread / max(float(spread.sum()), np.finfo(float).tiny)
    _, shown, share = _heaviest(names, share)
    drawn = {"names": shown, "values": plain(share), "label": "share"}
    return shown, Figure(caption, "bars", drawn, _bars_size(shown))


def likeness(model: Any, X: Any) -> Section | None:
    """Return how alike the kernels are on some examples; None where there are too many or one."""
    from ...optimization.methods.alignment import kernel_alignment

    compiled: CompiledKernels = model._model.compiled
    if not 1 < compiled.n_kernels <= MOST_ALIGNED:
        return None
    matrix = kernel_alignment(list(compiled.kernels), X)
    cells, names = 0.45 * compiled.n_kernels, 0.08 * max(map(len, compiled.names))
    drawn = {"matrix": plain(matrix), "names": list(compiled.names)}
    size = cells + names + 1.5, cells + 0.75 * names + 0.4
    text = "Kernels that are alike (near 1) can stand for each other, and share their weights."
    figure = Figure("Alignments of pairs of kernels", "alignments", drawn, size)
    return Section("Likeness of kernels", text, [], [figure])


def _heaviest(names: list[str], values: np.ndarray) -> tuple[np.ndarray, list[str], np.ndarray]:
    """Return the order, and the largest values with names, the sum of all others as the last."""
    order = np.argsort(-values, kind="stable")
    first, rest = order[:MOST_BARS], order[MOST_BARS:]
    kept, shown = [names[m] for m in first], values[first]
    if len(rest):
        kept, shown = [*kept, f"{len(rest)} others together"], np.append(shown, values[rest].sum())
    return order, kept, shown


def _bars_size(names: list[str]) -> tuple[float, float]:
    return 7.0, 0.8 + 0.26 * len(names)


def _numbers(value: Any) -> str:
    return ", ".join(f"{one:.6g}" for one in np.ravel(value))
