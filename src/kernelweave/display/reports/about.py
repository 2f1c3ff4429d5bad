"""Report section on the data: examples, columns, targets and groups."""

from __future__ import annotations

from collections.abc import Sized

import numpy as np

from ...common.types import Data
from ...kernels.data.views import Views
from ...sequences import Sequences
from .section import Section

MOST_NAMES = 30  # largest number of columns or classes that are listed by name


def about(X: Sized, y: np.ndarray | None, groups: object) -> Section:
    """Return a table of the numbers of examples, columns, targets and groups."""
    rows = [["", "value"], ["examples", f"{len(X):,}"], *_columns(X)]
    if y is not None:
        rows += _targets(np.asarray(y))
    if groups is not None:
        names = np.unique(np.asarray(groups)).tolist()
        rows.append([f"{len(names)} groups, never split by folds", _listed(names)])
    return Section("Data", "", rows, [], {"examples": len(X)})


def _columns(X: Data) -> list[list[str]]:
    if isinstance(X, Sequences):
        shortest, longest = int(X.lengths.min()), int(X.lengths.max())
        length = f"{shortest}" if shortest == longest else f"{shortest} to {longest}"
        return [["alphabet", X.alphabet.name], ["letters of a sequence", length]]
    if isinstance(X, Views):
        return [["views", _listed(list(X.views))]]
    if hasattr(X, "columns"):
        return [[f"{len(X.columns)} columns", _listed(list(X.columns))]]
    shape: tuple[int, ...] = getattr(X, "shape", ())
    return [["columns", str(shape[1])]] if len(shape) == 2 else []


def _targets(y: np.ndarray) -> list[list[str]]:
    classes, counts = np.unique(y, return_counts=True)
    if len(classes) <= MOST_NAMES:
        counted = [f"{name}: {count:,}" for name, count in zip(classes, counts, strict=True)]
        return [["targets", ", ".join(counted)]]
    if y.dtype.kind in "iuf":
        return [["targets", f"{y.min():.6g} to {y.max():.6g}, mean {y.mean():.6g}"]]
    return [["targets", f"{len(classes)} classes"]]


def _listed(names: list[object]) -> str:
    more = f" and {len(names) - MOST_NAMES} more" if len(names) > MOST_NAMES else ""
    return ", ".join(map(str, names[:MOST_NAMES])) + more
