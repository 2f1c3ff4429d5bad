"""Tables of the papers' pages, from the results of the gallery scripts in one file.

    python -m benchmarks.paper_tables --run     run the scripts, write benchmarks/paper_tables.json
    python -m benchmarks.paper_tables           render the tables of that file

Rendered are docs/generated/paper_*.md, which the pages of docs/papers include. `--run NAME` runs
one script and keeps the results of the others; every table shows its own date.
"""

from __future__ import annotations

import argparse
import json
import runpy
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

import matplotlib as mpl
import numpy as np

from . import report
from .papers import SCRIPTS, plain
from .report import Table

RESULTS = Path(__file__).parent / "paper_tables.json"
GENERATED = Path(__file__).parents[1] / "docs" / "generated"
Results = dict[str, Any]
Rows = list[list[Any]]

# Seconds and areas that the papers print, by number of sequences, working set or letters.
PAPER_LINADD = {1000: (1, 3), 10_000: (19, 35)}
PAPER_WORKING_SETS = {12: (4, 51), 42: (3, 35), 112: (3, 43)}
PAPER_MOTIFS = {"0": 1.0, "2": 1.0, "4": 0.998, "5": 0.85}
NORMS = ["1", "4/3", "2", "4", "inf"]


def word_weights(results: Results) -> Rows:
    """Return CPU seconds with and without sums over words, by number of sequences."""
    found = results["CPU seconds with and without stores"]
    columns = zip(found["sequences"], found["rows"], found["auto"], strict=True)
    return [[f"{n:,}", *PAPER_LINADD.get(n, (None, None)), *seconds] for n, *seconds in columns]


def working_sets(results: Results) -> Rows:
    """Return CPU seconds by size of working sets, for 1,000 and 10,000 sequences."""
    found = dict(results["CPU seconds by working set"])
    sizes, default = found.pop("sequences"), found.pop("auto")
    ours = [sizes.index(n) for n in (1000, 10_000)]
    rows = [
        [int(q), *PAPER_WORKING_SETS.get(int(q), (None, None)), *(seconds[i] for i in ours)]
        for q, seconds in found.items()
    ]
    return [*rows, ["default", None, None, *(default[i] for i in ours)]]


def motifs(results: Results) -> Rows:
    """Return the area under the ROC curve by number of replaced letters."""
    found = results["auROC of motifs"]
    return [[int(level), PAPER_MOTIFS[level], found[level]] for level in PAPER_MOTIFS]


def proteins(results: Results) -> Rows:
    """Return 100 (1 - mean Matthews correlation) by p."""
    return [[float(np.mean(results["errors"][p])) for p in NORMS]]


def signals(results: Results) -> Rows:
    """Return the areas on other sequences by number of sequences and p."""
    areas = results["areas"]
    return [[n, *(areas[p][i] for p in NORMS)] for i, n in enumerate(results["sizes"])]


def network(results: Results) -> Rows:
    """Return the mean areas on new drugs by set of kernels and p."""
    labels = {
        "few": "6: each matrix times the sum of the others",
        "products": "9: all products of a drug and a protein matrix",
    }
    areas = results["areas"]
    return [
        [label, *(float(np.mean(areas[f"dti_nr, {kind}, {p}"])) for p in NORMS)]
        for kind, label in labels.items()
    ]


def gaps(results: Results) -> Rows:
    """Return CPU seconds and certified gaps by tolerance."""
    rows, curves = [], results["curves"]
    for i, tol in enumerate(results["gaps"]):
        mwu = curves["mwu"][i] if i < len(curves["mwu"]) else [None, None]
        rows.append([f"{tol:g}", *mwu, *curves["auto"][i]])
    return rows


def growing(results: Results) -> Rows:
    """Return CPU seconds and gaps by numbers of examples and kernels."""
    curves = {key.split(", ")[1]: points for key, points in results["curves"].items()}
    few = zip(curves["mwu"], curves["auto"], strict=True)
    rows = [[f"{a[0]} x 12", a[1], a[3], b[1], b[3]] for a, b in few]
    each = results["kernels for each feature"]
    many = zip(each["mwu"], each["auto"], strict=True)
    return rows + [[f"{a[0]} x {a[1]}", *a[2:], *b[2:]] for a, b in many]


@dataclass(frozen=True)
class PaperTable:
    """A table: its script, its columns, and the function from results to rows."""

    script: str
    columns: tuple[str, ...]
    rows: Callable[[Results], Rows]


STORES = ('`store="rows"`', '`store="auto"`')
P_COLUMNS = tuple(f"p = {p}" for p in NORMS)
SOLVERS = ('`"mwu"`, CPU s', "gap", '`"auto"`, CPU s', "gap")
TABLES = {
    "word_weights": PaperTable(
        "sonnenburg_2007", ("sequences", "paper: WD1", "paper: LinWD1", *STORES), word_weights
    ),
    "working_sets": PaperTable(
        "sonnenburg_2007",
        ("Q", "paper, 1,000", "paper, 10,000", "ours, 1,000", "ours, 10,000"),
        working_sets,
    ),
    "motifs": PaperTable(
        "sonnenburg_2007", ("letters replaced", "auROC, paper", "auROC, ours"), motifs
    ),
    "pages": PaperTable(
        "sonnenburg_2007",
        ("pages", *(f"{store}, CPU s" for store in STORES), "accuracy", "auROC"),
        lambda results: results["pages"],
    ),
    "proteins": PaperTable("kloft_2011_proteins", P_COLUMNS, proteins),
    "signals": PaperTable("kloft_2011_signals", ("sequences", *P_COLUMNS), signals),
    "network": PaperTable("kloft_2011_network", ("kernels", *P_COLUMNS), network),
    "gaps": PaperTable("moeller_2018", ("tol", *SOLVERS), gaps),
    "growing": PaperTable("moeller_2018_scale", ("examples x kernels", *SOLVERS), growing),
}


def measure(names: list[str]) -> dict[str, Any]:
    """Return the rows of all tables, those of the named scripts computed now."""
    found = json.loads(RESULTS.read_text()) if RESULTS.exists() else {}
    mpl.use("agg")
    for script in names:
        results = plain(runpy.run_path(str(SCRIPTS / f"plot_{script}.py"))["results"])
        place = report.machine()
        source = {
            "command": f"python examples/papers/plot_{script}.py",
            "date": f"{datetime.now(timezone.utc):%Y-%m-%d}",
            "machine": f"{place['cpu']}, {place['cores']} cores",
        }
        for name, table in TABLES.items():
            if table.script == script:
                found[name] = source | {"rows": plain(table.rows(results))}
    return found


def render(found: dict[str, Any]) -> dict[str, str]:
    """Return the Markdown of every table, with its command, date and machine, by file name."""
    files = {}
    for name, result in found.items():
        table = Table("", TABLES[name].columns, result["rows"])
        source = f"`{result['command']}`, {result['date']}, {result['machine']}."
        files[f"paper_{name}.md"] = f"{table.body().rstrip()}\n\n{source}\n"
    return files


def main() -> None:
    """Run scripts on request, then write the tables."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.paper_tables")
    parser.add_argument("--run", nargs="*", metavar="NAME", help="scripts to run; all if none")
    options = parser.parse_args()
    if options.run is not None:
        scripts = dict.fromkeys(table.script for table in TABLES.values())
        found = measure(options.run or list(scripts))
        RESULTS.write_text(json.dumps(found, indent=1) + "\n")
    for name, text in render(json.loads(RESULTS.read_text())).items():
        (GENERATED / name).write_text(text)


if __name__ == "__main__":
    main()
