"""What commands say of a model."""

from __future__ import annotations

from typing import Any

import numpy as np

MOST_KERNELS = 20  # of which a table shows the weights


def describe(model: Any) -> dict[str, Any]:
    """Return what a fitted estimator is, as plain values."""
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
    """Write what is known of a model to standard output as tables."""
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
    for m in order[:MOST_KERNELS]:
        table.add_row(f"{weights[m]:.3f}", found["kernels"][m])
    console.print(table)
    if (rest := order[MOST_KERNELS:]).size:
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
        facts.append(
            (name, f"{score['mean']:.3f} ± {score['std']:.3f} on {len(score['folds'])} folds")
        )
    if "seconds" in found:
        facts.append(("time", f"{found['seconds']:.1f} s"))
    return facts


def _of(found: dict[str, Any]) -> str:
    return f" of {found['examples']:,}" if "examples" in found else ""
