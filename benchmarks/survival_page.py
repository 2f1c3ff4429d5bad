"""The tables of docs/survival.md, from one file of results.

    python -m benchmarks.survival_page --run     measure, write benchmarks/survival.json, render
    python -m benchmarks.survival_page           render what benchmarks/survival.json has

Rendered are docs/generated/survival_*.md, which the page includes. A run that was stopped
continues (see `survival`).
"""

from __future__ import annotations

import argparse
import json
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

import numpy as np

from . import report, survival
from .settings import Settings

RESULTS = Path(__file__).parent / "survival.json"
GENERATED = Path(__file__).parents[1] / "docs" / "generated"


def measure(settings: Settings) -> dict[str, Any]:
    """Return the results of the page, with date and machine."""
    scores, place = survival.measure(settings), report.machine()
    return {
        "date": f"{datetime.now(timezone.utc):%Y-%m-%d}",
        "machine": f"{place['cpu']}, {place['cores']} cores, {place['simd']}",
        "scores": scores,
    }


def render(results: dict[str, Any]) -> dict[str, str]:
    """Return the Markdown files of the page by name."""
    source = f"`make bench-survival`, {results['date']}, {results['machine']}, one thread."
    found = survival.tables(results["scores"])
    files = {f"survival_{name}.md": f"{table.body()}\n" for name, table in found.items()}
    return files | {
        "survival_source.md": f"{source}\n",
        "survival_summary.md": summary(results["scores"]),
    }


def summary(found: dict[str, survival.Scores]) -> str:
    """Return how learned views compare with clinical Cox, and with the best baseline, as a list."""
    lines = []
    with_clinical = [scores for scores in found.values() if survival.CLINICAL in scores]
    for way in survival.OURS:
        means = [
            np.mean([survival.mean_and_error(scores[one])[0] for scores in with_clinical])
            for one in (way, survival.CLINICAL)
        ]
        behind, ahead = [], []
        for name, scores in found.items():
            best = survival.best_baseline(scores)
            mean, error = survival.mean_and_error(survival.difference(scores, way, best))
            (behind if mean < -error else ahead if mean > error else []).append(name)
        level = len(found) - len(behind) - len(ahead)
        lines.append(
            f"* {way}: mean concordance {means[0]:.3f} on the {len(with_clinical)} sets with a "
            f"clinical view, clinical Cox {means[1]:.3f}. More than a standard error ahead of the "
            f"best baseline on {len(ahead)} of {len(found)} sets, within it on {level}, behind on "
            f"{len(behind)}{': ' * bool(behind)}{', '.join(behind)}."
        )
    return "\n".join(lines) + "\n"


def main() -> None:
    """Measure on request, then write the files of the page."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.survival_page")
    parser.add_argument("--run", action="store_true", help="measure; otherwise only render")
    if parser.parse_args().run:
        RESULTS.write_text(json.dumps(measure(Settings()), indent=1) + "\n")
    GENERATED.mkdir(exist_ok=True)
    for name, text in render(json.loads(RESULTS.read_text())).items():
        (GENERATED / name).write_text(text)


if __name__ == "__main__":
    main()
