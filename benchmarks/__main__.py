"""Run benchmarks: ``python -m benchmarks [NAME ...] [--tiny] [--repeats N]``."""

from __future__ import annotations

import argparse
import ast
import time
from importlib import import_module
from pathlib import Path

import numpy as np

from kernelweave import MKLClassifier, kernels

from . import report, timing
from .data import MissingData
from .settings import Settings


def find() -> dict[str, str]:
    """Return the modules of this package that are benchmarks, with the first line of each.

    They are read and not imported: one may need what an older version of the library lacks.
    """
    found = {}
    for path in sorted(Path(__file__).parent.glob("*.py")):
        module = ast.parse(path.read_text())
        if any(isinstance(part, ast.FunctionDef) and part.name == "run" for part in module.body):
            found[path.stem] = (ast.get_docstring(module) or "").partition("\n")[0]
    return found


def arguments(found: dict[str, str]) -> argparse.Namespace:
    """Read the command line."""
    lines = [f"  {name:<18} {line}" for name, line in found.items()]
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks",
        description="Tables on the screen, and a JSON file of them under benchmarks/results.",
        epilog="\n".join(["tables:", *lines]),
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("names", nargs="*", metavar="NAME", help="tables; all quick ones if none")
    parser.add_argument("--tiny", action="store_true", help="small sizes, to see that it works")
    parser.add_argument("--reduced", action="store_true", help="a minute for each table at most")
    parser.add_argument("--repeats", type=int, default=3, help="how often each side is timed")
    parser.add_argument("--ours", action="store_true", help="without peers that take minutes")
    parser.add_argument("--cpu", action="store_true", help="CPU seconds, not those of the clock")
    parser.add_argument("--sizes", type=int, nargs="+", default=[], help="of some tables: examples")
    parser.add_argument("--jobs", type=int, default=1, help="threads of our fits, in some tables")
    chosen = parser.parse_args()
    if unknown := sorted(set(chosen.names) - set(found)):
        parser.error(f"no such table: {', '.join(unknown)}; there are {', '.join(found)}")
    return chosen


def warm_up() -> None:
    """Fit something, so that no table pays for what is imported when it is first needed."""
    X = np.random.default_rng(0).normal(size=(40, 2))
    MKLClassifier(kernels.RBF(gamma=[0.1, 1.0]), norm=1).fit(X, X[:, 0] > 0).predict(X)


def main() -> None:
    """Run the requested tables."""
    found = find()
    chosen = arguments(found)
    if chosen.cpu:
        timing.default_clock = time.process_time
    modules = {name: import_module(f"benchmarks.{name}") for name in chosen.names or found}
    if not chosen.names:
        modules = {name: one for name, one in modules.items() if getattr(one, "QUICK", True)}
    settings = Settings(
        chosen.tiny,
        chosen.reduced,
        chosen.repeats,
        peers=not chosen.ours,
        sizes=tuple(chosen.sizes),
        jobs=chosen.jobs,
    )
    warm_up()
    place, tables = report.machine(), {}
    print(report.header(place), end="\n\n", flush=True)
    try:
        for name, module in modules.items():
            try:
                tables[name] = module.run(settings)
                print(tables[name].markdown(), flush=True)
            except MissingData as missing:
                print(f"{name} is left out: {missing}", end="\n\n", flush=True)
    finally:  # what was measured stays, whatever comes after it
        print(f"Written to {report.write(tables, place)}")


if __name__ == "__main__":
    main()
