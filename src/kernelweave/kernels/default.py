"""The kernels of an estimator that was given none.

Columns are told apart by what they hold. Numbers and categories are standardised (`standardized`),
so that units do not matter, and texts are compared by their words:

* numbers: a linear kernel, and RBF kernels of seven widths;
* categories (strings, booleans, categorical columns, mixed objects): the same kernels on their
  indicators; next to numbers also RBF kernels of seven widths on both together;
* texts: the cosine of word counts, for each column;
* missing numbers: an indicator of what is missing (`Missing`), for each column.

The middle width is gamma = 1 / d for d columns of variance 1, which is what scikit-learn's
``gamma="scale"`` gives for scaled columns; neighbours differ by a factor 4.

A column of strings holds texts where most of them differ and have three words or more.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import reduce
from numbers import Number
from operator import add
from typing import Any

import numpy as np
import scipy.sparse as sp

from kernelweave.kernels.base import Kernel
from kernelweave.kernels.columns import choose
from kernelweave.kernels.encoding import warn_of_numbers
from kernelweave.kernels.inputs import (
    as_input,
    column,
    holds_numbers,
    is_numeric_array,
    items_or_none,
)
from kernelweave.kernels.missing import FilledTexts, Missing, missing
from kernelweave.kernels.normalize import Unit
from kernelweave.kernels.standardized import Standardized, standardized
from kernelweave.kernels.text import BagOfWords
from kernelweave.kernels.vectors import RBF, Linear

FACTORS = [4.0**k for k in range(-3, 4)]  # of the middle gamma
WORDS = 3  # from which on most strings of a column are texts
WORD = re.compile(r"\w\w+")
SEPARATE = 30  # columns with missing numbers up to which each has a kernel of its own


def default_kernels(X: Any, weights: np.ndarray) -> list[Kernel]:
    """Return kernels for all columns of X; what they depend on is taken from X.

    Parameters
    ----------
    X : array or sparse matrix of numbers, or frame, with n examples.
    weights : how much each example counts in means and variances, shape (n,).
    """
    X, table = as_input(X), Contents.of(X)
    kernels: list[Kernel] = []
    for indices in (table.numbers, table.categories):
        if indices:
            columns = standardized(indices, X, weights)
            kernels += [Linear(columns=columns), _widths(columns)]
    if table.numbers and table.categories:
        kernels.append(_widths(standardized(table.vectors, X, weights)))
    return kernels + _texts(table, X) + _indicators(table, X)


def default_region_kernel(X: Any, weights: np.ndarray) -> list[Kernel]:
    """Return the one kernel that describes where examples X lie; see `default_kernels`.

    It is an RBF kernel with gamma = 1 / d on all d standardised columns of numbers and categories,
    plus those on texts and on what is missing.
    """
    X, table = as_input(X), Contents.of(X)
    kernels: list[Kernel] = []
    if table.vectors:
        columns = standardized(table.vectors, X, weights)
        kernels.append(RBF(gamma=1.0 / max(columns.n_varying, 1), columns=columns))
    return [reduce(add, kernels + _texts(table, X) + _indicators(table, X))]


@dataclass(frozen=True)
class Contents:
    """The positions of the columns of each kind."""

    numbers: list[int]
    categories: list[int]
    texts: list[int]

    @classmethod
    def of(cls, X: Any) -> Contents:
        """Look at what the columns of X hold."""
        every = list(range(X.shape[1]))
        if sp.issparse(X) or is_numeric_array(X):
            return cls(every, [], [])
        kinds = [_kind(column(X, index), choose(index, X).label_of(0)) for index in every]
        found = {kind: [k for k in every if kinds[k] == kind] for kind in set(kinds)}
        return cls(*(found.get(kind, []) for kind in ("numbers", "categories", "texts")))

    @property
    def vectors(self) -> list[int]:
        """Columns of numbers and categories, in their order."""
        return sorted(self.numbers + self.categories)


def _kind(values: Any, label: str) -> str:
    """Return what a column holds."""
    if str(values.dtype).lower() == "object":
        _refuse_odd(values, label)
    if holds_numbers(values, label):
        return "numbers"
    known = [item for item in items_or_none(values) if item is not None]
    categorical = any(word in str(values.dtype).lower() for word in ("cat", "enum"))
    if not categorical:
        warn_of_numbers(set(known), label)
    return "texts" if not categorical and _are_texts(known) else "categories"


def _refuse_odd(values: Any, label: str) -> None:
    """Raise for a column of objects that are neither numbers nor strings nor booleans."""
    for item in values:
        if not isinstance(item, str | bool | Number | None) and str(item) != "<NA>":
            raise ValueError(
                f"X: column {label} holds {item!r}; kernels=None reads numbers, strings and "
                "booleans: turn the column into such, leave it out, or name kernels"
            )


def _are_texts(known: Sequence[Any]) -> bool:
    """Return whether most of some values are strings that differ and have several words."""
    long = {item for item in known if isinstance(item, str) and len(WORD.findall(item)) >= WORDS}
    return 2 * len(long) > len(known)


def _widths(columns: Standardized) -> Kernel:
    middle = 1.0 / max(columns.n_varying, 1)
    return RBF(gamma=[middle * factor for factor in FACTORS], columns=columns)


def _texts(table: Contents, X: Any) -> list[Kernel]:
    """Return a kernel for each column of texts."""
    kernels: list[Kernel] = []
    for index in table.texts:
        where = choose(index, X)
        filled = FilledTexts(where.width, where.chosen, where.names)
        kernels.append(Unit(BagOfWords().reading(filled, X)))
    return kernels


def _indicators(table: Contents, X: Any) -> list[Kernel]:
    """Return a kernel for each column with missing numbers; one for all where they are many."""
    some = [index for index in table.numbers if missing(X, [index]).any()]
    groups = [[index] for index in some] if len(some) <= SEPARATE else [some]
    return [Missing(columns=indices).resolve(X) for indices in groups]
