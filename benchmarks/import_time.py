"""Time of `import kernelweave` against `import sklearn.svm`, each in a fresh interpreter."""

from __future__ import annotations

import subprocess
import sys

from .report import Table
from .settings import Settings

MODULES = ("sklearn.svm", "kernelweave")


def seconds_of_import(module: str) -> float:
    """Import a module in a new interpreter and return the seconds that took."""
    code = f"import time; t = time.perf_counter(); import {module}; print(time.perf_counter() - t)"
    done = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    return float(done.stdout)


def run(settings: Settings) -> Table:
    """Import both alternately, and keep the best time of each."""
    rounds = [
        [seconds_of_import(module) for module in MODULES] for _ in range(3 * settings.repeats)
    ]
    sklearn, kernelweave = (min(times) for times in zip(*rounds, strict=True))
    table = Table("Import time", ("sklearn.svm s", "kernelweave s", "difference s"))
    table.add(sklearn, kernelweave, kernelweave - sklearn)
    return table
