"""Run benchmarks: ``python -m benchmarks [NAME ...] [--tiny] [--repeats N]``."""

from __future__ import annotations

import argparse
import importlib
import pkgutil
import time
from types import ModuleType

import numpy as np

import benchmarks
from kernelweave import MKLClassifier, kernels

from . import report, timing
from .data import MissingData
from .settings import Settings


def find() -> dict[str, ModuleType]:
    """Return the modules of this package that are benchmarks."""
    names = [info.name for info in pkgutil.iter_modules(benchmarks.__path__)]
    modules = {
        name: importlib.import_module(f"benchmarks.{name}")
        for name in names
        if name not in ("__main__", "against")
    }
    return {name: module for name, module in modules.items() if hasattr(module, "run")}


def arguments(found: dict[str, ModuleType]) -> argparse.Namespace:
    """Read the command line."""
    first = {name: (module.__doc__ or "").partition("\n")[0] for name, module in found.items()}
    lines = [f"  {name:<18} {line}" for name, line in first.items()]
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
    parser.add_argument("--sizes", type=int, nargs="+", default=[], help="of large_noisy")
    parser.add_argument("--jobs", type=int, default=1, help="threads of our fits in large_noisy")
    chosen = parser.parse_args()
    if unknown := sorted(set(chosen.names) - set(found)):
        parser.error(f"no such table: {', '.join(unknown)}; there are {', '.join(found)}")
    return chosen


def warm_up() -> None:
    """Fit something, so that no table pays for what is imported when it is first needed."""
    X = np.random.default_rng(0).normal(size=(40, 2))
    MKLClassifier(kernels.RBF(gamma=[0.1, 1.0]), norm=1).fit(X, X[:, 0] > 0).predict(X)


def main() -> None:
    """Run the tables that were asked for."""
    found = find()
    chosen = arguments(found)
    if chosen.cpu:
        timing.default_clock = time.process_time
    quick = [name for name, module in found.items() if getattr(module, "QUICK", True)]
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
        for name in chosen.names or quick:
            try:
                tables[name] = found[name].run(settings)
                print(tables[name].markdown(), flush=True)
            except MissingData as missing:
                print(f"{name} is left out: {missing}", end="\n\n", flush=True)
    finally:  # what was measured stays, whatever comes after it
        print(f"Written to {report.write(tables, place)}")


if __name__ == "__main__":
    main()
