"""This version against another one: ``python -m benchmarks.against REV [NAME ...] [--rounds N]``.

Builds the other revision in a separate environment, runs the tables of this tree with both versions
in turn, and prints for every row the CPU seconds of this version relative to those of the other.
With ``--limit 1.1`` it ends by naming the rows that take more than 1.1 times as long, and fails if
there are any. It also fails if certified objectives contradict each other (table "agreement"), or
if a version cannot run a table.
"""

from __future__ import annotations

import argparse
import json
import math
import subprocess
import sys
from pathlib import Path
from typing import Any

from .report import Table, header, machine

ROOT = Path(__file__).parents[1]
TABLES = (
    "svm_speed",
    "svm_condition",
    "mkl_speed",
    "mkl_interleaved",
    "mkl_many_kernels",
    "strings_training",
    "strings_motif",
    "solvers_skm",
    "solvers_mwu",
    "agreement",
)
UNITS = ("s", "seconds")  # last words of the columns that hold times
RATE = " per "  # in columns of speeds, such as "sequences per CPU s"
SHORTEST = 0.05  # seconds: of shorter times a ratio says nothing
ROUNDING = 1e-9  # relative, of an objective: by so much a dual value may exceed a primal value
OTHERS = ("scikit-learn", "SVC", "Clarabel")  # first words of the columns that hold times of peers


def build(revision: str) -> Path:
    """Return the Python that has another revision of the package; it is built once."""
    describe = ["git", "-C", str(ROOT), "rev-parse", "--short=12", f"{revision}^{{commit}}"]
    commit = subprocess.run(describe, check=True, capture_output=True, text=True).stdout.strip()
    place = ROOT / "build" / "against" / commit
    python = place / "venv" / "bin" / "python"
    if not (place / "done").exists():
        source = place / "source"
        source.mkdir(parents=True, exist_ok=True)
        archive = subprocess.Popen(["git", "-C", ROOT, "archive", commit], stdout=subprocess.PIPE)
        subprocess.run(["tar", "-x", "-C", source], stdin=archive.stdout, check=True)
        subprocess.run([sys.executable, "-m", "venv", place / "venv"], check=True)
        install = [python, "-m", "pip", "install", "--quiet", f"{source}[conic,frames]"]
        subprocess.run(install, check=True)
        (place / "done").touch()
    return python


def measure(python: Path | str, name: str, sizes: list[str]) -> dict[str, Any]:
    """Return one table, run once with a Python; `sizes` are options of the benchmarks."""
    command = [str(python), "-m", "benchmarks", name, "--repeats", "1", "--ours", "--cpu", *sizes]
    run = subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True)
    path = Path(run.stdout.rpartition("Written to ")[2].strip())
    table = json.loads(path.read_text())["tables"].get(name)
    path.unlink()
    return table or {"columns": [], "rows": []}


def times(table: dict[str, Any]) -> dict[tuple[str, ...], float]:
    """Return our times of a table: the keys are the labels of a row and the name of the column."""
    found = {}
    for number, row in enumerate(table["rows"]):
        label = " ".join(str(cell) for cell in row if isinstance(cell, str | int))[:60]
        for column, cell in zip(table["columns"], row, strict=True):
            ours = column.split()[-1] in UNITS and not column.startswith(OTHERS)
            if ours and RATE not in column and isinstance(cell, float):
                found[str(number), label, column] = cell
    return found


def contradictions(ours: dict[str, Any], theirs: dict[str, Any]) -> list[str]:
    """Return a line for each row of two tables whose certified objectives contradict each other.

    By weak duality no dual objective exceeds a primal objective of the same problem. Tables without
    columns "primal" and "dual" have nothing to compare.
    """
    columns = list(ours["columns"])
    if not {"primal", "dual"} <= set(columns):
        return []
    primal, dual, found = columns.index("primal"), columns.index("dual"), []
    for one, other in zip(ours["rows"], theirs["rows"], strict=True):
        for a, b in ((one, other), (other, one)):
            if a[dual] > b[primal] + ROUNDING * abs(b[primal]):
                found.append(f"{a[0]}: dual objective {a[dual]:.9g}, primal {b[primal]:.9g}")
    return found


def compare(name: str, other: Path, rounds: int, sizes: list[str]) -> tuple[Table, list[str]]:
    """Return the best times of both versions on a table, measured alternately; contradictions."""
    best: dict[tuple[str, str], list[float]] = {}
    sides, tables = (sys.executable, other), [{}, {}]
    for _ in range(rounds):
        for side, python in enumerate(sides):
            tables[side] = measure(python, name, sizes)
            for (number, label, column), seconds in times(tables[side]).items():
                # Counts such as iterations may differ: rows are matched by their place.
                entry = best.setdefault((number, column), [math.inf, math.inf, label])
                entry[side] = min(entry[side], seconds)
    table = Table(name, ("row", "column", "this s", "other s", "ratio"))
    for (_, column), (ours, theirs, label) in best.items():
        table.add(label, column, ours, theirs, ours / theirs)
    ours, theirs = (sum(entry[side] for entry in best.values()) for side in (0, 1))
    logs = [math.log(ours / theirs) for ours, theirs, _ in best.values() if ours > SHORTEST]
    table.add("all rows", "", ours, theirs, ours / theirs)
    mean = math.exp(sum(logs) / len(logs)) if logs else math.nan
    table.notes.append(f"Geometric mean over {len(logs)} times above {SHORTEST} s: {mean:.3f}.")
    return table, contradictions(*tables)


def slower(table: Table, limit: float) -> list[str]:
    """Return a line for each row that takes more than `limit` times as long as before."""
    return [
        f"{table.title}, {label}, {column}: {ours:.3g} s, was {theirs:.3g} s"
        for label, column, ours, theirs, ratio in table.rows
        if ratio > limit and SHORTEST < ours < float("inf")
    ]


def main() -> None:
    """Compare the requested tables."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.against", description=__doc__)
    parser.add_argument("revision", help="what git calls the other version, such as HEAD~1")
    parser.add_argument("names", nargs="*", default=TABLES, metavar="NAME", help="tables")
    parser.add_argument("--rounds", type=int, default=3, help="how often each side runs")
    parser.add_argument("--limit", type=float, help="the ratio above which a row is slower")
    parser.add_argument("--tiny", action="store_true", help="small sizes, to see that it works")
    parser.add_argument("--reduced", action="store_true", help="all tables in about ten minutes")
    chosen = parser.parse_args()
    sizes = [f"--{name}" for name in ("tiny", "reduced") if getattr(chosen, name)]
    other = build(chosen.revision)
    print(header(machine()), f"this version against {chosen.revision}", sep="; ", end="\n\n")
    found, wrong, failed = [], [], []
    for name in chosen.names:
        try:
            table, contradicted = compare(name, other, chosen.rounds, sizes)
        except subprocess.CalledProcessError as error:  # such as names that a version lacks
            failed.append(f"{name}, {error.cmd[0]}: {error.stderr.splitlines()[-1]}")
            continue
        print(table.markdown(), *contradicted, sep="\n", flush=True)
        wrong += contradicted
        found += slower(table, chosen.limit) if chosen.limit else []
    if failed:
        print("These tables fail with one of the versions:", *failed, sep="\n", file=sys.stderr)
    if wrong:
        sys.exit(f"Certified objectives contradict those of {chosen.revision}.")
    if found:
        sys.exit(
            f"More than {chosen.limit} times as long as in {chosen.revision}:\n" + "\n".join(found)
        )
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
