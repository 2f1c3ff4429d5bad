"""The chart and the three tables that open docs/benchmarks.md, and a table of other pages.

    python -m benchmarks.page --run     measure, write benchmarks/page.json, then render
    python -m benchmarks.page           render what benchmarks/page.json has

Rendered are docs/generated/benchmarks_*.md, which pages include, and docs/generated/benchmarks.png.
`--run NAME` measures one table and keeps the others; then all tables show their own dates.
"""

from __future__ import annotations

import argparse
import json
import re
from datetime import datetime, timezone
from importlib import import_module
from pathlib import Path
from typing import Any

import matplotlib as mpl
import numpy as np
from matplotlib.figure import Figure

from . import report
from .__main__ import warm_up
from .report import Table
from .settings import Settings

RESULTS = Path(__file__).parent / "page.json"
GENERATED = Path(__file__).parents[1] / "docs" / "generated"
# Tables of the page, and what the chart calls them.
TABLES = {
    "svm_peers": "SVM, one kernel",
    "mkl_twenty_widths": "MKL, 20 kernels",
    "strings_peers": "DNA sequences",
}
# Tables that other pages include: the options of their commands. Run by name only.
OTHERS = {
    "toy_sparsity": ("--repeats 5 --sizes 50", Settings(repeats=5, sizes=(50,))),
    "classes_speed": ("--repeats 1", Settings(repeats=1)),
    "classes_accuracy": ("", Settings()),
    "classes_joint": ("", Settings()),
}
OURS, PEERS = "#1f77b4", "#808080"


def measure(names: list[str], settings: Settings) -> dict[str, Any]:
    """Return the results of the page, those of `names` measured now."""
    results = json.loads(RESULTS.read_text()) if RESULTS.exists() else {}
    warm_up()
    for name in names:
        options, chosen = OTHERS.get(name, ("", settings))
        table = import_module(f"benchmarks.{name}").run(chosen)
        place = report.machine()
        results[name] = {
            "date": f"{datetime.now(timezone.utc):%Y-%m-%d}",
            "command": f"python -m benchmarks {name} {options}".rstrip(),
            "machine": f"{place['cpu']}, {place['cores']} cores, {place['simd']}",
            "columns": list(table.columns),
            "rows": table.rows,
            "notes": table.notes,
        }
    return results


def rendered(result: dict[str, Any]) -> str:
    """Return a table of the page as Markdown, with its command, date and machine."""
    absent = re.findall(r"Left out: (\w+)\S* is not in \S+\.", "\n".join(result["notes"]))
    notes = [note for note in result["notes"] if not note.startswith("Left out: ")]
    if absent:
        notes.append(f"Data sets that were not available: {', '.join(absent)}.")
    table = Table("", result["columns"], result["rows"], notes)
    source = f"`{result['command']}`, {result['date']}, {result['machine']}."
    return "\n".join([source, "", table.body(), ""])


def chart(results: dict[str, Any]) -> Figure:
    """Return a chart of CPU time relative to ours, one panel for each table."""
    names = [name for name in TABLES if name in results]
    medians = {name: ratios(results[name]) for name in names}
    heights = [len(found) for found in medians.values()]
    figure = Figure(figsize=(7.5, 1.0 + 0.32 * sum(heights)), layout="constrained")
    panels = figure.subplots(len(names), 1, sharex=True, height_ratios=heights, squeeze=False)
    for axes, name in zip(panels[:, 0], names, strict=True):
        found = medians[name]
        places = np.arange(len(found))
        colours = [OURS if "kernelweave" in label else PEERS for label in found]
        axes.axvline(1.0, color="black", linewidth=0.8)
        axes.hlines(places, 1.0, list(found.values()), color=colours, linewidth=3)
        axes.scatter(list(found.values()), places, color=colours, s=50, zorder=3)
        axes.set_yticks(places, [label.replace("`", "") for label in found])
        axes.set_title(TABLES[name], loc="left", fontsize=10)
        axes.set_xscale("log")
        axes.set_xlim(0.25, 1000.0)
        axes.set_ylim(len(found) - 0.5, -0.5)
        for place, value in zip(places, found.values(), strict=True):
            text = f"{value:.0f}" if value >= 10 else f"{value:.2g}"
            left = value < 1  # on the side without a line
            at, side = (-8, "right") if left else (8, "left")
            axes.annotate(
                text, (value, place), (at, 0), textcoords="offset points", fontsize=8, ha=side,
                va="center",
            )  # fmt: skip
        axes.spines[["top", "right"]].set_visible(False)
    panels[-1, 0].set_xlabel("CPU time relative to kernelweave, geometric mean over the sets")
    return figure


def ratios(result: dict[str, Any]) -> dict[str, float]:
    """Return the geometric mean of the ratios of each method."""
    columns = result["columns"]
    label = columns.index("method" if "method" in columns else "model")
    ratio, found = columns.index("ratio"), dict[str, list[float]]()
    for row in result["rows"]:
        if row[ratio] is not None:
            found.setdefault(row[label], []).append(row[ratio])
    return {name: float(np.exp(np.mean(np.log(values)))) for name, values in found.items()}


# Rows of the table in README and start page: task, result, data, our method, the other one.
SUMMARY = (
    ("one RBF kernel, adult, 10,000 rows", "svm_peers", "adult", "kernelweave", "scikit-learn"),
    (
        "one RBF kernel, adult, 10,000 rows",
        "svm_peers",
        "adult",
        "kernelweave",
        "scikit-learn-intelex",
    ),
    (
        "20 RBF widths, p = 1, adult, 2,000 rows",
        "mkl_twenty_widths",
        "adult",
        "kernelweave, p = 1",
        "plain sum and `SVC`",
    ),
    (
        "20 RBF widths, p = 1, adult, 2,000 rows",
        "mkl_twenty_widths",
        "adult",
        "kernelweave, p = 1",
        "linear program around `SVC`, p = 1",
    ),
    (
        "20 RBF widths, p = 1, adult, 2,000 rows",
        "mkl_twenty_widths",
        "adult",
        "kernelweave, p = 1",
        "MKLpy, EasyMKL",
    ),
    (
        "6-mers of both strands, 2,000 sequences of CTCF",
        "strings_peers",
        "CTCF",
        "kernelweave, `Spectrum(6)`",
        "LIBLINEAR, 6-mers",
    ),
)


def render(results: dict[str, Any]) -> dict[str, str]:
    """Return the Markdown files of the page, and of the start page, by name."""
    tables = {f"benchmarks_{name}.md": rendered(results[name]) for name in [*TABLES, *OTHERS]}
    return tables | {"speed.md": summary(results)}


def summary(results: dict[str, Any]) -> str:
    """Return a short table of CPU seconds, for README and start page."""
    lines = ["| task | Kernelweave | other software |", "|---|---:|---:|"]
    for task, name, data, ours, theirs in SUMMARY:
        first, second = (seconds(results[name], data, method) for method in (ours, theirs))
        lines.append(f"| {task} | {first:.2f} | {second:.2f} ({theirs.partition(',')[0]}) |")
    source = results["svm_peers"]
    where = f"CPU seconds of one thread (`make bench-page`, {source['date']}, {source['machine']})."
    return "\n".join([where, "", *lines, ""])


def seconds(result: dict[str, Any], data: str, method: str) -> float:
    """Return the CPU seconds of a method on a data set whose label begins with `data`."""
    columns = result["columns"]
    label = columns.index("method" if "method" in columns else "model")
    return next(
        row[columns.index("CPU s")]
        for row in result["rows"]
        if row[0].startswith(data) and row[label] == method
    )


def main() -> None:
    """Measure on request, then write the files of the page."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.page")
    parser.add_argument("--run", nargs="*", metavar="NAME", help="tables to measure; all if none")
    parser.add_argument("--repeats", type=int, default=3)
    chosen = parser.parse_args()
    if chosen.run is not None:
        results = measure(chosen.run or list(TABLES), Settings(repeats=chosen.repeats))
        RESULTS.write_text(json.dumps(results, indent=1) + "\n")
    results = json.loads(RESULTS.read_text())
    GENERATED.mkdir(exist_ok=True)
    for name, text in render(results).items():
        (GENERATED / name).write_text(text)
    mpl.use("agg")
    chart(results).savefig(GENERATED / "benchmarks.png", dpi=150, metadata={"Software": None})


if __name__ == "__main__":
    main()
