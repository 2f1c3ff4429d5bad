"""The kernels of an estimator that was given none.

Columns are told apart by what they hold. Numbers and categories are standardised (`standardized`),
so that units do not matter, and texts are compared by their words:

* numbers: a linear kernel, and RBF kernels of seven widths;
* categories (strings, booleans, categorical columns, mixed objects): the same kernels on their
  indicators; next to numbers also RBF kernels of seven widths on both together;
* texts: the cosine of word counts, for each column;
* strings that hardly repeat (names, codes): the cosine of counts of three letters in a row, for
  each column. As categories they would say nothing of new examples, and take most of the time;
* missing numbers: an indicator of what is missing (`Missing`), for each column.

The middle width is gamma = 1 / d for d columns of variance 1, which is what scikit-learn's
``gamma="scale"`` gives for scaled columns; neighbours differ by a factor 4.

A column of strings holds texts where most of them differ and have three words or more. Strings
hardly repeat where there are 40 different ones or more, more than half as many as strings, and most
have three letters or more. Categorical columns are what they say they are.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, fields
from functools import reduce
from numbers import Number
from operator import add
from typing import Any

import numpy as np
import scipy.sparse as sp

from kernelweave.common.warnings import warn
from kernelweave.kernels.base import Kernel
from kernelweave.kernels.compile.normalized_kernels import Unit
from kernelweave.kernels.data.columns import choose
from kernelweave.kernels.data.encoding import warn_of_numbers
from kernelweave.kernels.data.inputs import (
    as_input,
    column,
    holds_numbers,
    is_numeric_array,
    items_or_none,
)
from kernelweave.kernels.data.missing import FilledTexts, Missing, missing
from kernelweave.kernels.data.standardized import Standardized, standardized
from kernelweave.kernels.string.bag_of_words import BagOfWords
from kernelweave.kernels.string.spectrum import NGram
from kernelweave.kernels.vector.linear import Linear
from kernelweave.kernels.vector.rbf import RBF

FACTORS = [4.0**k for k in range(-3, 4)]  # of the middle gamma
WORDS = 3  # from which on most strings of a column are texts
WORD = re.compile(r"\w\w+")
LETTERS = 3  # in a row, by which strings that hardly repeat are compared
MANY = 40  # different strings from which on they may be such
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
    return kernels + _strings(table, X) + _indicators(table, X)


def default_region_kernel(X: Any, weights: np.ndarray) -> list[Kernel]:
    """Return the one kernel that describes where examples X lie; see `default_kernels`.

    It is an RBF kernel with gamma = 1 / d on all d standardised columns of numbers and categories,
    plus those on texts, on strings that hardly repeat and on what is missing.
    """
    X, table = as_input(X), Contents.of(X)
    kernels: list[Kernel] = []
    if table.vectors:
        columns = standardized(table.vectors, X, weights)
        kernels.append(RBF(gamma=1.0 / max(columns.n_varying, 1), columns=columns))
    return [reduce(add, kernels + _strings(table, X) + _indicators(table, X))]


@dataclass(frozen=True)
class Contents:
    """The positions of the columns of each kind."""

    numbers: list[int]
    categories: list[int]
    texts: list[int]
    unrepeated: list[int]

    @classmethod
    def of(cls, X: Any) -> Contents:
        """Look at what the columns of X hold."""
        every = list(range(X.shape[1]))
        if sp.issparse(X) or is_numeric_array(X):
            return cls(every, [], [], [])
        kinds = [_kind(column(X, index), choose(index, X).label_of(0)) for index in every]
        found = {kind: [k for k in every if kinds[k] == kind] for kind in set(kinds)}
        return cls(*(found.get(kind.name, []) for kind in fields(cls)))

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
    if categorical:
        return "categories"
    return "texts" if _are_texts(known) else "unrepeated" if _differ(known) else "categories"


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


def _differ(known: Sequence[Any]) -> bool:
    """Return whether some values are strings with letters to compare, of which few are equal."""
    different = set(known)
    if len(different) < MANY or 2 * len(different) <= len(known):
        return False
    long = [item for item in different if isinstance(item, str) and len(item) >= LETTERS]
    return 2 * len(long) > len(different) and all(isinstance(item, str) for item in different)


def _widths(columns: Standardized) -> Kernel:
    middle = 1.0 / max(columns.n_varying, 1)
    return RBF(gamma=[middle * factor for factor in FACTORS], columns=columns)


def _strings(table: Contents, X: Any) -> list[Kernel]:
    """Return a kernel for each column of texts and of strings that hardly repeat."""
    kernels: list[Kernel] = [Unit(BagOfWords().reading(_filled(k, X), X)) for k in table.texts]
    if table.unrepeated:
        labels = ", ".join(choose(index, X).label_of(0) for index in table.unrepeated)
        warn(
            f"X: strings hardly repeat in column{'s' * (len(table.unrepeated) > 1)} {labels}, and "
            f"are compared by {LETTERS} letters in a row, not as categories; leave out what only "
            "identifies rows (its kernel may have a large weight that says nothing), give "
            "categories a categorical dtype, or name kernels",
            UserWarning,
        )
    return kernels + [Unit(NGram(LETTERS, columns=_filled(k, X))) for k in table.unrepeated]


def _filled(index: int, X: Any) -> FilledTexts:
    """Return a column of strings, in which a missing one is empty."""
    where = choose(index, X)
    return FilledTexts(where.width, where.chosen, where.names)


def _indicators(table: Contents, X: Any) -> list[Kernel]:
    """Return a kernel for each column with missing numbers; one for all where they are many."""
    some = [index for index in table.numbers if missing(X, [index]).any()]
    groups = [[index] for index in some] if len(some) <= SEPARATE else [some]
    return [Missing(columns=indices).resolve(X) for indices in groups]
