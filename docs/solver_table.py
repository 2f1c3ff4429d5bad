"""Which solver supports which norm, as a Markdown table made from `plan.METHODS`.

``python docs/solver_table.py`` prints it; docs/solvers.md contains the output.
"""

from __future__ import annotations

from itertools import starmap

import numpy as np

from kernelweave.norms import Block, Elliptic, Lp, Norm
from kernelweave.optimization.methods.base import Method
from kernelweave.optimization.named_methods import METHODS

NORMS: dict[str, Norm] = {
    "p = 1": Lp(1),
    "1 < p < inf": Lp(2),
    "p = inf": Lp(np.inf),
    "elliptic": Elliptic(np.eye(2)),
}
BLOCKS: dict[str, Norm] = {"q < inf": Block(3), "q = inf": Block(np.inf)}


def markdown() -> str:
    """Return the table: a row for each solver, a column for each norm."""
    head = ["solver", *NORMS, "block"]
    rule = ["---", *[":-:"] * (len(NORMS) + 1)]
    return "\n".join(_line(cells) for cells in (head, rule, *starmap(_row, METHODS.items())))


def _row(name: str, solver: Method) -> list[str]:
    blocks = [text for text, norm in BLOCKS.items() if solver.serves(norm)]
    marks = ("x" if solver.serves(norm) else "" for norm in NORMS.values())
    return [f"`{name}`", *marks, "x" if len(blocks) == len(BLOCKS) else ", ".join(blocks)]


def _line(cells: list[str]) -> str:
    return "| " + " | ".join(cells) + " |"


if __name__ == "__main__":
    print(markdown())
