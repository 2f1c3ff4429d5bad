"""The papers' experiments at full size: ``python -m benchmarks.papers [NAME ...]``.

A step is a script of ``examples/papers``, run at the paper's sizes and on real data where they are
(see `benchmarks.data`), or a table of benchmarks. Each leaves its numbers (and pictures) in
``benchmarks/results/papers`` when it ends; what is there is not run again, so that a run that was
stopped goes on where it was. A step that fails is named at the end, and the others are run.
``--again`` starts anew.
"""

from __future__ import annotations

import argparse
import json
import os
import runpy
import subprocess
import sys
import time
import traceback
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from . import data
from .report import RESULTS, header, machine

SCRIPTS = data.ROOT / "examples" / "papers"
FOLDER = RESULTS / "papers"
# Tables that hold experiments of a paper on real data, or at sizes of hours.
TABLES = {
    "bach_2004": ("solvers_skm",),
    "sonnenburg_2006": ("mkl_interleaved", "strings_mkl"),
    "sonnenburg_2007": (
        "strings_stores",
        "strings_suffix",
        "strings_crossover",
        "strings_real",
        "strings_sizes",
    ),
    "kloft_2011": ("toy_sparsity", "mkl_growth"),
    "moeller_2018": ("solvers_accuracy", "solvers_mwu"),
}


def plain(value: Any) -> Any:
    """Return arrays and NumPy's numbers as JSON types."""
    if isinstance(value, dict):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple | np.ndarray):
        return [plain(item) for item in value]
    return value.item() if isinstance(value, np.generic) else value


def run_script(name: str) -> Any:
    """Run a script of the gallery at full size; save its pictures and return its results."""
    import matplotlib

    matplotlib.use("agg")
    from matplotlib import pyplot as plt

    os.environ["KERNELWEAVE_PAPERS"] = "full"
    if data.FOLDER.exists():
        os.environ["KERNELWEAVE_DATA"] = str(data.FOLDER)
    plt.close("all")
    found = runpy.run_path(str(SCRIPTS / f"plot_{name}.py"))
    for number in plt.get_fignums():
        plt.figure(number).savefig(FOLDER / f"{name}-{number}.png", dpi=120)
    return plain(found["results"])


def run_table(name: str) -> Any:
    """Run a table of benchmarks in a separate process and return it."""
    command = [sys.executable, "-m", "benchmarks", name]
    run = subprocess.run(command, cwd=data.ROOT, check=True, stdout=subprocess.PIPE, text=True)
    print(run.stdout, flush=True)
    path = Path(run.stdout.rpartition("Written to ")[2].strip())
    return json.loads(path.read_text())["tables"]


def steps() -> dict[str, Callable[[], Any]]:
    """Return all steps by the name of their file, paper by paper."""
    found: dict[str, Callable[[], Any]] = {}
    for paper, tables in TABLES.items():
        for script in sorted(path.stem[5:] for path in SCRIPTS.glob(f"plot_{paper}*.py")):
            found[script] = partial(run_script, script)
        found |= {f"{paper}-{name}": partial(run_table, name) for name in tables}
    return found


def chosen(names: list[str]) -> dict[str, Callable[[], Any]]:
    """Return the steps whose names begin as one of the given ones do; all steps if none."""
    every = steps()
    if unknown := [name for name in names if not any(step.startswith(name) for step in every)]:
        raise SystemExit(f"no such step: {', '.join(unknown)}; there are {', '.join(every)}")
    return {step: run for step, run in every.items() if step.startswith(tuple(names or [""]))}


def run_step(path: Path, run: Callable[[], Any]) -> None:
    """Run a step and write its result to a file atomically."""
    started = time.process_time(), time.time()
    results = run()
    spent = time.process_time() - started[0], time.time() - started[1]
    document = {"machine": header(machine()), "seconds": spent[1], "results": results}
    part = path.with_suffix(".part")
    part.write_text(json.dumps(document, indent=1))
    part.replace(path)
    print(f"    {spent[1]:.0f} s, {spent[0]:.0f} CPU s in this process: {path}", flush=True)


def main() -> None:
    """Run the steps that have not been run."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.papers", description=__doc__)
    parser.add_argument(
        "names", nargs="*", metavar="NAME", help="a paper or a step, or how its name begins"
    )
    parser.add_argument("--again", action="store_true", help="also what has been run")
    arguments = parser.parse_args()
    FOLDER.mkdir(parents=True, exist_ok=True)
    planned, failed = chosen(arguments.names), []
    for number, (name, run) in enumerate(planned.items(), 1):
        path = FOLDER / f"{name}.json"
        if path.exists() and not arguments.again:
            print(f"[{number}/{len(planned)}] {name}: done before ({path.name})", flush=True)
            continue
        print(f"[{number}/{len(planned)}] {name} ...", flush=True)
        try:
            run_step(path, run)
        except Exception:
            traceback.print_exc()
            failed.append(name)
    if failed:
        raise SystemExit(f"failed: {', '.join(failed)}")


if __name__ == "__main__":
    main()
