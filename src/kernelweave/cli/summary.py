"""Summary of a model that `fit` and `info` print."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from ..estimators.fitted import FittedEstimator

MAX_KERNELS = 10  # rows of the table of weights
MAX_COLUMNS = 100  # columns of wider tables are not ranked
NAMED_COLUMNS = 5  # number of columns of the ranking that are printed
EXPLAINED = 50  # number of examples, and of background rows, for Shapley values


def describe(model: FittedEstimator) -> dict[str, Any]:
    """Return the properties of a fitted estimator as plain values, by name."""
    weights = np.atleast_2d(model.weights_)
    found = {
        "estimator": type(model).__name__,
        "parameters": {
            name: value if isinstance(value, int | float | str | None) else repr(value)
            for name, value in model.get_params().items()
            if name not in ("verbose", "checkpoint")
        },
        "kernels": list(model.kernel_names_),
        "weights": weights[0] if len(weights) == 1 else weights,
        "support": len(model.support_),
        "primal": model.primal_objective_,
        "dual": model.dual_objective_,
        "duality_gap": model.duality_gap_,
        "tol": model.tol,
        "certifies": model.certifies_,
        "plan": repr(model.plan_),
    }
    if hasattr(model, "classes_"):
        found["classes"] = list(model.classes_)
    return found


def explain_defaults(model: FittedEstimator, X: Any, y: Any) -> dict[str, Any]:
    """Return the held-out score of default kernels, and the most important columns.

    The result is empty if the estimator has not chosen its kernels itself.

    Parameters
    ----------
    model : fitted estimator
    X : table or sequences of n examples
    y : ndarray of shape (n,) or None

    Returns
    -------
    dict
        "held_out": the held-out score beside that of a constant model, as a sentence;
        "candidates": name, C and held-out loss of each set of kernels that was tried;
        "columns": the columns with the largest mean absolute Shapley values, for small tables.
    """
    from ..inspection import shapley  # takes long to import

    chosen = [one for one in getattr(model, "candidates_", []) if one["chosen"]]
    if not chosen:
        return {}
    score, folds = 1.0 - chosen[0]["loss"], "on held-out folds of the training examples"
    found: dict[str, Any] = {"held_out": f"R^2 {score:.2f} {folds} (0 for a constant)"}
    if hasattr(model, "classes_"):
        largest = np.unique(y, return_counts=True)[1].max() / len(y)
        found["held_out"] = f"accuracy {score:.2f} {folds} ({largest:.2f} for the largest class)"
    found["candidates"] = model.candidates_
    if hasattr(X, "columns") and len(X.columns) <= MAX_COLUMNS:
        rows = np.linspace(0, len(X) - 1, min(len(X), EXPLAINED)).astype(int)
        values = shapley(model, X.iloc[rows], background=X, n_background=EXPLAINED)
        sizes = np.abs(values.values).reshape(*values.values.shape[:2], -1).mean(axis=(0, 2))
        first = np.argsort(-sizes, kind="stable")[:NAMED_COLUMNS].tolist()
        found["columns"] = {values.feature_names[k]: float(sizes[k]) for k in first}
    return found


def print_summary(found: dict[str, Any]) -> None:
    """Print the properties of a model as tables."""
    from rich.console import Console
    from rich.table import Table

    console = Console()
    facts = Table.grid(padding=(0, 2))
    for name, value in _facts(found):
        facts.add_row(name, value)
    console.print(facts)
    weights = np.atleast_2d(found["weights"]).mean(axis=0)
    order = np.argsort(-weights, kind="stable")
    table = Table("weight", "kernel", box=None, padding=(0, 2))
    for m in order[:MAX_KERNELS]:
        table.add_row(f"{weights[m]:.3f}", found["kernels"][m])
    console.print(table)
    if (rest := order[MAX_KERNELS:]).size:
        console.print(f"  and {len(rest)} more, together {weights[rest].sum():.3f}")


def _facts(found: dict[str, Any]) -> list[tuple[str, str]]:
    gap = float(np.max(found["duality_gap"]))
    held = "<=" if gap <= found["tol"] else "above"
    facts = [("model", f"{found.get('model', '')} ({found['estimator']})")]
    if "held_out" in found:
        facts.append(("held out", found["held_out"]))
        facts.append(("kernels", _chosen(found["candidates"])))
    if "columns" in found:
        each = [f"{name} {value:.2f}" for name, value in found["columns"].items()]
        facts.append(("columns", f"{', '.join(each)} (mean absolute Shapley values)"))
    facts += [
        (
            "certificate",
            f"relative duality gap {gap:.1e} {held} {found['tol']:g} ({found['certifies']})",
        ),
        ("support", f"{found['support']:,} examples" + _of(found)),
    ]
    if "plan" in found:
        facts.append(("plan", found["plan"]))
    for name, score in (found.get("cross_validation") or {}).items():
        mean, std, folds = score["mean"], score["std"], len(score["folds"])
        facts.append((name, f"{mean:.3f} ± {std:.3f}, mean of {folds} folds"))
    if "test" in found:
        scores = dict(found["test"])
        count = scores.pop("examples")
        text = ", ".join(f"{name} {value:.3f}" for name, value in scores.items())
        facts.append(("test", f"{text} on {count:,} examples of the test chromosomes"))
    if "seconds" in found:
        facts.append(("time", f"{found['seconds']:.1f} s"))
    return facts


def _chosen(candidates: list[dict[str, Any]]) -> str:
    """Return a text about the chosen kernels and C, and the options that override them."""
    [one] = [one for one in candidates if one["chosen"]]
    count = len(candidates)
    among = f"best of {count} sets of kernels" if count > 1 else "C chosen on the folds"
    return f"{one['kernels']}, C={one['C']:g} ({among}; -k and -C override)"


def _of(found: dict[str, object]) -> str:
    return f" of {found['examples']:,}" if "examples" in found else ""
