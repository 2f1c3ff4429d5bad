"""Summary of a model for standard output."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from ..estimators.fitted import FittedEstimator

MAX_KERNELS = 20  # rows of the table of weights


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
    facts = [
        ("model", f"{found.get('model', '')} ({found['estimator']})"),
        (
            "certificate",
            f"relative duality gap {gap:.1e} {held} {found['tol']:g} ({found['certifies']})",
        ),
        ("support", f"{found['support']:,} examples" + _of(found)),
        ("plan", found["plan"]),
    ]
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


def _of(found: dict[str, object]) -> str:
    return f" of {found['examples']:,}" if "examples" in found else ""
