"""Check the docstrings of the API reference with numpydoc's validation: `make lint` runs it."""

from __future__ import annotations

import importlib
import inspect
import re
import sys
from collections.abc import Iterator
from pathlib import Path

from numpydoc.validate import validate

REFERENCE = Path(__file__).parents[1] / "docs" / "api" / "index.rst"
NAME = re.compile(r"   ([A-Za-z_][\w.]*)")
# https://numpydoc.readthedocs.io/en/latest/validation.html
EVERYWHERE = {"GL01", "GL02", "GL03", "GL05", "GL06", "GL07", "GL09", "GL10"} | {
    *("SS01", "SS03", "SS04", "SS05", "PR02", "PR05", "PR09", "PR10", "RT05"),
}
# Dataclasses document their fields as attributes; some classes refer to parameters of others.
OF_FUNCTIONS = EVERYWHERE | {"PR01", "RT01"}
INTERNAL = re.compile(r"\.solvers\.")  # methods of solver objects serve the plan, not users


def listed() -> list[str]:
    """Return the full names in the API reference."""
    found, module = [], "kernelweave"
    for line in REFERENCE.read_text().splitlines():
        if line.startswith(".. currentmodule:: "):
            module = line.split(":: ")[1]
        elif entry := NAME.fullmatch(line):
            found.append(f"{module}.{entry[1]}")
    return found


def methods(name: str) -> Iterator[str]:
    """Yield the full names of the public methods with docstrings of a class of that name."""
    place, _, last = name.rpartition(".")
    thing = getattr(importlib.import_module(place), last)
    if not inspect.isclass(thing) or INTERNAL.search(name):
        return
    for key, member in inspect.getmembers(thing):
        ours = str(getattr(member, "__module__", "")).startswith("kernelweave.")
        if ours and not key.startswith("_") and inspect.isroutine(member) and member.__doc__:
            yield f"{name}.{key}"


def errors(name: str, codes: set[str]) -> list[str]:
    """Return what numpydoc says against a docstring, for some of its codes."""
    found = validate(name)["errors"]
    return [f"{name}: {code} {text}" for code, text in found if code in codes]


def main() -> int:
    """Print all errors; return 1 if there are any."""
    wrong: list[str] = []
    for name in listed():
        place, _, last = name.rpartition(".")
        is_class = inspect.isclass(getattr(importlib.import_module(place), last))
        wrong += errors(name, EVERYWHERE if is_class else OF_FUNCTIONS)
        for method in methods(name):
            wrong += errors(method, OF_FUNCTIONS)
    print(*wrong, sep="\n", end="\n" if wrong else "")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
