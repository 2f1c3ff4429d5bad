"""Fits to several views of the same examples, some of which lack some of them."""

from __future__ import annotations

from typing import Any

import numpy as np

from kernelweave import Views

from .choices import Choices
from .examples import Given, string_kernel, values, vector_kernel
from .fits import fit_to


def run(data: bytes) -> None:
    """Fit a model to views."""
    fit_to(views, Choices(data))


def views(c: Choices) -> Given:
    """Return two or three views with a kernel for each, or default ones."""
    n, new = c.usual(c.integer(6, 30), [1, 2]), c.integer(1, 5)
    names = ["first", "second", "third"][: c.integer(2, 3)]
    parts = {name: part(c, n, new) for name in names}
    lacking = absent(c, n, len(names)), absent(c, new, len(names))
    old, fresh = (
        {name: without(parts[name][side], rows) for name, rows in zip(names, lack, strict=True)}
        for side, lack in enumerate(lacking)
    )
    kernels = {name: parts[name][2] for name in names}
    return Given(Views(old), Views(fresh), None if c.chance(0.1) else kernels, n)


def part(c: Choices, n: int, new: int) -> tuple[Any, Any, Any]:
    """Return old and new examples of a view, and a kernel."""
    if c.chance(0.25):
        rng, length = c.generator, c.integer(3, 12)
        texts = ["".join(row) for row in rng.choice(list("ACGT"), size=(n + new, length))]
        return np.array(texts[:n], object), np.array(texts[n:], object), string_kernel(c, "dna")
    d = c.integer(1, 3)
    X = values(c, n + new, d).astype(float)
    return X[:n], X[n:], vector_kernel(c, 1, histograms=False)


def absent(c: Choices, n: int, count: int) -> np.ndarray:
    """Return which examples each view lacks, (views, n): mostly some, and no example all views."""
    share = c.pick([0.0, 0.1, 0.4, 0.4, 0.9])
    lacking = c.generator.random((count, n)) < share
    if not c.chance(0.03):
        lacking[c.generator.integers(0, count, n), np.arange(n)] = False
    return lacking


def without(view: Any, rows: np.ndarray) -> Any:
    """Return a view that lacks some rows."""
    found = view.copy()
    found[rows] = None if view.dtype == object else np.nan
    return found
