"""Which solver serves which norm and loss, as a Markdown table made from `plan.METHODS`.

``python docs/solver_table.py`` prints it; the documentation holds what it prints.
"""

from __future__ import annotations

from itertools import starmap

import numpy as np

from kernelweave import losses
from kernelweave.norms import Block, Elliptic, Lp, Norm
from kernelweave.optimization.methods.base import Method
from kernelweave.optimization.plan import METHODS

NORMS: dict[str, Norm] = {
    "p = 1": Lp(1),
    "1 < p < inf": Lp(2),
    "p = inf": Lp(np.inf),
    "elliptic": Elliptic(np.eye(2)),
    "block q > 2": Block(3),
    "block q = inf": Block(np.inf),
}
LOSSES: tuple[losses.Loss, ...] = (
    losses.Hinge(),
    losses.SquaredHinge(),
    losses.Logistic(),
    losses.SmoothHinge(),
    losses.EpsilonInsensitive(),
    losses.Squared(),
    losses.OneClass(),
)


def markdown() -> str:
    """Return the table: a row for each solver, a column for each norm, and the losses."""
    head = ["solver", *NORMS, "losses", "shared weights"]
    rule = ["---", *[":-:"] * len(NORMS), "---", ":-:"]
    return "\n".join(_line(cells) for cells in (head, rule, *starmap(_row, METHODS.items())))


def _row(name: str, solver: Method) -> list[str]:
    served = [loss.name for loss in LOSSES if solver.serves_loss(loss)]
    return [
        f"`{name}`",
        *(_mark(solver.serves(norm)) for norm in NORMS.values()),
        "all" if len(served) == len(LOSSES) else ", ".join(served),
        _mark(solver.shares),
    ]


def _mark(yes: bool) -> str:
    return "x" if yes else ""


def _line(cells: list[str]) -> str:
    return "| " + " | ".join(cells) + " |"


if __name__ == "__main__":
    print(markdown())
