"""Check the docstrings of the API reference with numpydoc's validation: `make lint` runs it."""

from __future__ import annotations

import importlib
import inspect
import re
import sys
from collections.abc import Iterator
from functools import cached_property
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


def listed() -> list[str]:
    """Return the full names in the API reference."""
    found, module = [], "kernelweave"
    for line in REFERENCE.read_text().splitlines():
        if line.startswith(".. currentmodule:: "):
            module = line.split(":: ")[1]
        elif entry := NAME.fullmatch(line):
            found.append(f"{module}.{entry[1]}")
    return found


def methods(cls: type) -> Iterator[tuple[str, bool]]:
    """Yield the names of the public methods and properties of a class, True for properties.

    Members that other packages define are left out.
    """
    for key in dir(cls):
        owner = next((base for base in cls.__mro__ if key in vars(base)), cls)
        if key.startswith("_") or not owner.__module__.startswith("kernelweave."):
            continue
        if isinstance(vars(owner)[key], property | cached_property):
            yield key, True
        elif inspect.isroutine(getattr(cls, key)):
            yield key, False


def errors(name: str, codes: set[str]) -> list[str]:
    """Return numpydoc's errors for a docstring, restricted to some codes."""
    found = validate(name)["errors"]
    return [f"{name}: {code} {text}" for code, text in found if code in codes]


def main() -> int:
    """Print all errors; return 1 if there are any."""
    wrong: list[str] = []
    for name in listed():
        place, _, last = name.rpartition(".")
        thing = getattr(importlib.import_module(place), last)
        is_class = inspect.isclass(thing)
        wrong += errors(name, EVERYWHERE if is_class else OF_FUNCTIONS)
        for method, is_property in methods(thing) if is_class else ():
            if not inspect.getdoc(getattr(thing, method)):
                wrong.append(f"{name}.{method}: GL08 The object does not have a docstring")
            elif not is_property:
                wrong += errors(f"{name}.{method}", OF_FUNCTIONS)
    print(*wrong, sep="\n", end="\n" if wrong else "")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
