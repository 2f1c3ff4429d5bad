"""What a model is and what it learned: certificate, weights, contributions, likeness of kernels."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..kernels.program import CompiledKernels
from ..plots import AlignmentDisplay, ConvergenceDisplay
from .section import COLOURS, Section, svg

MOST_BARS = 20  # kernels of which weights are drawn; the rest is summed up
MOST_ALIGNED = 30  # kernels of which alignments are drawn
MOST_EXAMPLES = 300  # examples on which alignments and contributions are computed


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
        drawn = svg(lambda ax: ConvergenceDisplay.from_estimator(model, ax=ax))
        figures.append(("The duality gap over time, falling to the tolerance", drawn))
    return Section("Certificate", text, rows, figures, {"duality_gap": gap, "tol": tol})


def weights(model: Any) -> Section:
    """Return the weights of the kernels, the heaviest first."""
    values = np.atleast_2d(model.weights_).mean(axis=0)
    names, values = _heaviest(list(model.kernel_names_), values)
    several = np.ndim(model.weights_) == 2
    text = (
        f"{np.count_nonzero(model.weights_)} weights are not zero."
        if not several
        else ("Means over the classes, each of which has weights of its own.")
    )
    drawn = svg(lambda ax: _bars(ax, names, values, "weight"), 7.0, 0.8 + 0.26 * len(names))
    rows = [["kernel", "weight"], *([n, f"{v:.4f}"] for n, v in zip(names, values, strict=True))]
    data = {"kernels": list(model.kernel_names_), "weights": np.asarray(model.weights_).tolist()}
    return Section("Weights", text, rows, [("The weight of each kernel", drawn)], data)


def contributions(model: Any, X: Any) -> Section:
    """Return how much each kernel moves the decisions on some examples."""
    values = model.contributions(X)
    spread = values.reshape(-1, values.shape[-1]).std(axis=0)
    share = spread / max(float(spread.sum()), np.finfo(float).tiny)
    names, share = _heaviest(list(model.kernel_names_), share)
    text = (
        "The standard deviation of what each kernel adds to the decision value, as a share of "
        "their sum. A kernel with a small weight may matter much, and the other way round."
    )
    drawn = svg(lambda ax: _bars(ax, names, share, "share"), 7.0, 0.8 + 0.26 * len(names))
    data = {"shares": dict(zip(names, share.tolist(), strict=True))}
    return Section("Contributions", text, [], [("The share of each kernel", drawn)], data)


def likeness(model: Any, X: Any) -> Section | None:
    """Return how alike the kernels are on some examples; None where there are too many or one."""
    from ..alignment import kernel_alignment

    compiled: CompiledKernels = model._model.compiled
    if not 1 < compiled.n_kernels <= MOST_ALIGNED:
        return None
    matrix = kernel_alignment(list(compiled.kernels), X)
    cells, names = 0.45 * compiled.n_kernels, 0.08 * max(map(len, compiled.names))
    display = AlignmentDisplay(matrix, compiled.names)
    drawn = svg(display.plot, cells + names + 1.5, cells + 0.75 * names + 0.4)
    text = "Kernels that are alike (near 1) can stand for each other, and share their weights."
    return Section("Likeness of kernels", text, [], [("Alignments of pairs of kernels", drawn)])


def _heaviest(names: list[str], values: np.ndarray) -> tuple[list[str], np.ndarray]:
    """Return the largest values with their names, and the sum of all others as the last."""
    order = np.argsort(-values, kind="stable")
    first, rest = order[:MOST_BARS], order[MOST_BARS:]
    if not len(rest):
        return [names[m] for m in first], values[first]
    kept = [*(names[m] for m in first), f"{len(rest)} others together"]
    return kept, np.append(values[first], values[rest].sum())


def _bars(ax: Any, names: list[str], values: np.ndarray, label: str) -> None:
    places = np.arange(len(names))
    ax.barh(places, values, color=COLOURS[0])
    ax.set_yticks(places, [name if len(name) <= 48 else f"{name[:46]}…" for name in names])
    ax.invert_yaxis()
    ax.set_xlabel(label)
    ax.spines[["top", "right"]].set_visible(False)


def _numbers(value: Any) -> str:
    return ", ".join(f"{one:.6g}" for one in np.ravel(value))
