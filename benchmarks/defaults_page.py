"""The tables and the chart of docs/defaults.md, from one file of results.

    python -m benchmarks.defaults_page --run     measure, write benchmarks/defaults.json, render
    python -m benchmarks.defaults_page           render what benchmarks/defaults.json has

Rendered are docs/generated/defaults_*.md, which the page includes, and
docs/generated/defaults.png. A run that was stopped continues (see `accuracy_default`).
"""

from __future__ import annotations

import argparse
import json
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

import matplotlib as mpl
import numpy as np
from matplotlib.figure import Figure

from . import accuracy_default, accuracy_one_class, accuracy_sequences, report
from .__main__ import warm_up
from .report import Table
from .settings import Settings

RESULTS = Path(__file__).parent / "defaults.json"
GENERATED = Path(__file__).parents[1] / "docs" / "generated"
OTHERS = {"tuned SVM": "#1f77b4", "boosting": "#d95f02"}


def measure(settings: Settings) -> dict[str, Any]:
    """Return the results of all tables of the page, with date and machine."""
    warm_up()
    records = accuracy_default.measure(settings)
    found = {
        "sequences": accuracy_sequences.run(settings),
        "one_class": accuracy_one_class.run(settings),
    }
    place = report.machine()
    return {
        "date": f"{datetime.now(timezone.utc):%Y-%m-%d}",
        "machine": f"{place['cpu']}, {place['cores']} cores, {place['simd']}",
        "records": records,
    } | {name: {"columns": list(one.columns), "rows": one.rows} for name, one in found.items()}


def render(results: dict[str, Any]) -> dict[str, str]:
    """Return the Markdown files of the page by name."""
    found = accuracy_default.tables(results["records"])
    for name in ("sequences", "one_class"):
        found[name] = Table("", results[name]["columns"], results[name]["rows"])
    source = f"`make bench-defaults`, {results['date']}, {results['machine']}, one thread."
    files = {f"defaults_{name}.md": f"{table.body()}\n" for name, table in found.items()}
    return files | {"defaults_source.md": f"{source}\n", "defaults_lead.md": lead(results)}


def lead(results: dict[str, Any]) -> str:
    """Return the mean lead over tuned SVMs on the reported half, as a sentence for the README."""
    found = accuracy_default.by_set("reported", results["records"]).values()
    parts = []
    for classify, text in (
        (True, "{:.3f} in accuracy on {} classification tables"),
        (False, "{:.3f} in R^2 on {} regression tables"),
    ):
        chosen = [one for one in found if one["tuned SVM"]["classify"] == classify]
        each = [one["no argument"]["score"] - one["tuned SVM"]["score"] for one in chosen]
        parts.append(text.format(np.mean(each), len(each)))
    return f"The defaults were ahead of it by {parts[0]}, and by {parts[1]}.\n"


def chart(results: dict[str, Any]) -> Figure:
    """Return a chart of scores of the defaults minus those of other models, reported half."""
    found = accuracy_default.by_set("reported", results["records"])
    lead = {
        name: [one["no argument"]["score"] - one[other]["score"] for other in OTHERS]
        for name, one in found.items()
    }
    names = sorted(lead, key=lambda name: lead[name][0])
    figure = Figure(figsize=(6.5, 0.8 + 0.22 * len(names)), layout="constrained")
    axes = figure.subplots()
    axes.axvline(0.0, color="grey", linewidth=1.0)
    for column, (other, colour) in enumerate(OTHERS.items()):
        values = [lead[name][column] for name in names]
        axes.scatter(values, np.arange(len(names)), color=colour, s=36, label=other, zorder=3)
    axes.set_yticks(np.arange(len(names)), names, fontsize=8)
    axes.set_xlabel("score of the defaults minus score of the other model")
    axes.legend(frameon=False, loc="lower right")
    axes.spines[["top", "right"]].set_visible(False)
    return figure


def main() -> None:
    """Measure on request, then write the files of the page."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.defaults_page")
    parser.add_argument("--run", action="store_true", help="measure; otherwise only render")
    if parser.parse_args().run:
        RESULTS.write_text(json.dumps(measure(Settings()), indent=1) + "\n")
    results = json.loads(RESULTS.read_text())
    GENERATED.mkdir(exist_ok=True)
    for name, text in render(results).items():
        (GENERATED / name).write_text(text)
    mpl.use("agg")
    chart(results).savefig(GENERATED / "defaults.png", dpi=100, metadata={"Software": None})


if __name__ == "__main__":
    main()
