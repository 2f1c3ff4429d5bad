"""The output of a run: Markdown tables on the screen, and one JSON file."""

from __future__ import annotations

import json
import os
import platform
import sys
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from datetime import datetime, timezone
from importlib.metadata import version
from pathlib import Path
from typing import Any

from joblib import cpu_count

from kernelweave import _core

RESULTS = Path(__file__).parent / "results"
PACKAGES = ("kernelweave", "numpy", "scipy", "scikit-learn", "highspy")


@dataclass
class Table:
    """A table with a title, rows of cells in the order of its columns, and notes below it.

    A cell is a string, a number, or None where there is nothing to say.
    """

    title: str
    columns: Sequence[str]
    rows: list[list[Any]] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    def add(self, *cells: Any) -> None:
        """Append a row."""
        if len(cells) != len(self.columns):
            raise ValueError(f"{self.title}: {len(cells)} cells for {len(self.columns)} columns")
        self.rows.append(list(cells))

    def markdown(self) -> str:
        """Return the table as Markdown, with its title."""
        return f"### {self.title}\n\n{self.body()}"

    def body(self) -> str:
        """Return rows and notes as Markdown; columns of numbers are aligned right."""
        cells = [[_shown(cell) for cell in row] for row in self.rows]
        numeric = [all(map(_is_number, column)) for column in zip(*self.rows, strict=True)]
        rule = ["---:" if right else "---" for right in numeric]
        lines = ["| " + " | ".join(line) + " |" for line in (self.columns, rule, *cells)]
        return "\n".join([*lines, "", *self.notes, ""])


def _is_number(cell: Any) -> bool:
    return isinstance(cell, int | float) or cell is None


def _shown(cell: Any) -> str:
    """Return three digits of a number; nothing for None."""
    if cell is None:
        return ""
    if not isinstance(cell, float):
        return str(cell)
    if 0 < abs(cell) < 1e-3:
        return f"{cell:.1e}"
    return f"{cell:.3g}" if abs(cell) < 1000 else f"{cell:,.0f}"


def machine() -> dict[str, Any]:
    """Describe the machine of a run."""
    return {
        "cpu": _cpu_model(),
        "cores": cpu_count(),
        "simd": _core.simd_level(),
        "system": f"{platform.system()} {platform.machine()}",
        "load": os.getloadavg()[0] if hasattr(os, "getloadavg") else None,
    }


def _cpu_model() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        return platform.processor()
    names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.processor()


def header(place: dict[str, Any]) -> str:
    """Return one line with date, machine and versions."""
    return f"{place['cpu']}, {place['cores']} cores, SIMD level {place['simd']}"


def write(tables: dict[str, Table], place: dict[str, Any]) -> Path:
    """Write all tables of a run to one JSON file, and return its path."""
    now = datetime.now(timezone.utc)
    run = {
        "date": now.isoformat(timespec="seconds"),
        "command": " ".join(["python -m benchmarks", *sys.argv[1:]]),
        "machine": place,
        "versions": {"python": platform.python_version(), **{p: version(p) for p in PACKAGES}},
        "tables": {name: asdict(table) for name, table in tables.items()},
    }
    RESULTS.mkdir(exist_ok=True)
    path = RESULTS / f"{now:%Y%m%d-%H%M%S}-{'-'.join(tables)[:60]}.json"
    path.write_text(json.dumps(run, indent=1) + "\n")
    return path
