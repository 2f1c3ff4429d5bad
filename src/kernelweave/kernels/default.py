"""Default kernels: those of an estimator with ``kernels=None``.

Numbers and categories are standardised (`standardized`), so that units do not matter.

* numbers: a linear kernel, and RBF kernels of several widths, on all columns;
* categories (strings, booleans, categorical columns, mixed objects): the same kernels on their
  one-hot encoding; next to numbers also RBF kernels on both together;
* numbers and categories together: Laplacian kernels of several widths;
* texts: the cosine of word counts, for each column;
* DNA, RNA or proteins that hardly repeat, beside other columns: gapped k-mers (proteins: k-mers
  with a mismatch) and k-mers, for each column;
* other strings that hardly repeat (names, codes): the cosine of counts of three letters in a row,
  for each column. As categories they could not generalise to new examples;
* missing numbers: a kernel of their indicators (`Missing`) for each column, or one for all if more
  than 30 columns have missing numbers;
* a table of 2 to 40 columns: optionally one more kernel per column, and up to 10 columns one per
  pair of columns, so that irrelevant columns can lose their weight;
* sequences: gapped k-mers (DNA, RNA) or k-mers with a mismatch (proteins), k-mers, and for equal
  lengths the weighted degree kernel.

`default_candidates` returns the alternatives, simplest first; classifiers and regressors choose
among them on held-out folds (`estimators.automatic`).

The middle width is gamma = 1 / d for d columns of variance 1, which is scikit-learn's
``gamma="scale"`` for scaled columns; successive gammas differ by a factor 4. The squared distance
of two typical examples is 2 d, so at gamma = 16 / d and d > 4 every example is similar only to
itself: such a kernel memorises. The narrowest width therefore depends on d (`NARROWEST`).

Laplacian kernels exp(-gamma sum |x - y|) fit steps and heavy tails, as trees do. Their gammas go
from 1 / (16 d) to 2 / d, a factor 2 apart; typical distances are about d.

A column of strings is text if most of its strings differ and have three words or more. Strings
hardly repeat if there are 40 different ones or more, more than half as many as strings, and most
have three letters or more. Categorical columns are always categories.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields
from datetime import date, time, timedelta
from functools import reduce
from itertools import combinations, pairwise
from numbers import Number
from operator import add
from typing import Any

import numpy as np
import scipy.sparse as sp

from kernelweave.common.types import Data
from kernelweave.common.warnings import warn
from kernelweave.kernels.base import Kernel
from kernelweave.kernels.compile.normalized_kernels import Unit
from kernelweave.kernels.data.columns import choose
from kernelweave.kernels.data.encoding import warn_of_numbers
from kernelweave.kernels.data.inputs import (
    as_input,
    column,
    contains_numbers,
    is_numeric_array,
    items_or_none,
)
from kernelweave.kernels.data.missing import FilledTexts, Missing, missing
from kernelweave.kernels.data.standardized import Standardized, standardized
from kernelweave.kernels.string.bag_of_words import BagOfWords
from kernelweave.kernels.string.gapped_kmer import GappedKmer
from kernelweave.kernels.string.mismatch import Mismatch
from kernelweave.kernels.string.spectrum import NGram, Spectrum
from kernelweave.kernels.string.weighted_degree import WeightedDegree
from kernelweave.kernels.vector.linear import Linear
from kernelweave.kernels.vector.rbf import RBF, Laplacian
from kernelweave.sequences import Sequences
from kernelweave.sequences.alphabets import DNA, PROTEIN, RNA

WIDEST = -3  # exponent of 4 in the smallest gamma, relative to 1 / d
NARROWEST = ((2, 3), (4, 2))  # up to 2 columns 4^3, up to 4 columns 4^2, otherwise 4^1
LONGEST_MATCH = 20  # letters, of the weighted degree kernel
MISMATCHES = (5, 1)  # letters and mismatches, for proteins (Leslie et al., 2004)
MOST_COLUMNS = 40  # maximum number of columns for a kernel per column
MOST_PAIRED = 10  # maximum number of columns for a kernel per pair of columns
TEMPORAL = ("date", "timedelta", "duration", "period", "interval")  # names of dtypes
DATE = re.compile(  # ISO and common dates, optionally with a time; times
    r"(\d{4}[-/]\d\d?[-/]\d\d?|\d\d?[./]\d\d?[./]\d{2,4})([ T]\d\d?:\d\d.*)?|\d\d?:\d\d(:\d\d.*)?"
)
WORDS = 3  # minimum number of words in a string that counts as text
WORD = re.compile(r"\b(?=\w\w)\w*[^\W\d_]\w*")  # two characters or more, one of them a letter
LETTERS = 3  # length of the n-grams that compare strings which hardly repeat
MANY = 40  # minimum number of different values of a column whose strings "hardly repeat"
SEPARATE = 30  # maximum number of columns with one indicator kernel per column


def default_candidates(X: Any, weights: np.ndarray) -> dict[str, list[Kernel]]:
    """Return the alternative sets of default kernels by name, simplest first.

    Parameters
    ----------
    X : array, sparse matrix, frame or Sequences, with n examples.
    weights : weight of each example in means and variances, shape (n,).

    Returns
    -------
    dict from the name of a set to its kernels; one set if there is nothing to choose.
    """
    X = as_input(X)
    if isinstance(X, Sequences):
        return sequence_candidates(X.alphabet, aligned=X.length is not None)
    if alphabet := _alphabet_of_column(X):
        aligned = len({len(text) for text in X[:, 0]}) == 1
        return sequence_candidates(alphabet, aligned=aligned)
    table = Contents.of(X)
    kernels = _joint(table, X, weights)
    candidates = {"all columns": kernels}
    if 2 <= len(table.vectors) <= MOST_COLUMNS:
        each = {index: standardized([index], X, weights) for index in table.vectors}
        each = {index: alone for index, alone in each.items() if alone.n_varying}
        columns = _of_columns(table, each)
        if paired := 3 <= len(each) <= MOST_PAIRED:
            columns += _of_pairs(table, list(each), X, weights)
        if columns:
            name = f"all columns, each column{' and each pair' if paired else ''}"
            candidates[name] = kernels + columns
    return candidates


def default_kernels(X: Data, weights: np.ndarray) -> list[Kernel]:
    """Return default kernels that read all columns of X together.

    Parameters
    ----------
    X : array or sparse matrix of numbers, frame or Sequences, with n examples.
    weights : weight of each example in means and variances, shape (n,).
    """
    X = as_input(X)
    if isinstance(X, Sequences):
        return _of_sequences(X.alphabet)
    if alphabet := _alphabet_of_column(X):
        return _of_sequences(alphabet)
    return _joint(Contents.of(X), X, weights)


def _joint(table: Contents, X: Data, weights: np.ndarray) -> list[Kernel]:
    """Return the kernels of all numbers and categories, of string columns and of missing values.

    `weights`, shape (n,), are the weights of the examples in the means and variances with which
    columns are standardised.
    """
    kernels = _with_linear(table, X, weights, _widths)
    if table.vectors:
        kernels.append(_laplacians(standardized(table.vectors, X, weights)))
    return kernels + _strings(table, X) + _indicators(table, X)


def _with_linear(
    table: Contents, X: Data, weights: np.ndarray, widths: Callable[[Standardized], Kernel]
) -> list[Kernel]:
    """Return linear and nonlinear kernels of all numbers, of all categories, and of both together.

    `widths` returns a nonlinear kernel, or a family of several widths, on given columns. There is
    no linear kernel on both together.
    """
    kernels: list[Kernel] = []
    for indices in table.kinds:
        if indices:
            columns = standardized(indices, X, weights)
            kernels += [Linear(columns=columns), widths(columns)]
    if table.numbers and table.categories:
        kernels.append(widths(standardized(table.vectors, X, weights)))
    return kernels


def _of_columns(table: Contents, each: dict[int, Standardized]) -> list[Kernel]:
    """Return a kernel for each of some columns: RBF for numbers, linear for categories.

    The only numeric column of a table gets none, since the kernels of all numbers read it alone.
    The same holds for the only column of categories.
    """
    return [
        RBF(gamma=1.0, columns=alone) if index in table.numbers else Linear(columns=alone)
        for index, alone in each.items()
        if [index] not in table.kinds
    ]


def _of_pairs(table: Contents, indices: list[int], X: Data, weights: np.ndarray) -> list[Kernel]:
    """Return an RBF kernel for each pair of some columns.

    The only two numeric columns of a table get none, since the kernels of all numbers read this
    pair. The same holds for the only two columns of categories.
    """
    pairs = [pair for pair in combinations(indices, 2) if list(pair) not in table.kinds]
    return [RBF(gamma=0.5, columns=standardized(pair, X, weights)) for pair in pairs]


def sequence_candidates(
    alphabet: Any, *, aligned: bool, columns: Any = None
) -> dict[str, list[Kernel]]:
    """Return the alternative sets of default kernels for sequences, by name.

    Parameters
    ----------
    alphabet : the alphabet of the sequences.
    aligned : whether all sequences have the same length, so that positions may correspond.
    columns : the column that contains the sequences; None for all of X.
    """
    where = {"alphabet": alphabet, "columns": columns}
    strands = bool(alphabet.complement)
    lengths = [4, 5, 6, 7, 8] if strands else [1, 2, 3]
    candidates: dict[str, list[Kernel]] = {}
    if strands:
        candidates["gapped k-mers"] = [Unit(GappedKmer(**where))]
    elif alphabet.symbols_only:
        candidates["k-mers with mismatches"] = [Unit(Mismatch(*MISMATCHES, **where))]
    candidates["k-mers"] = [Unit(Spectrum(lengths, both_strands=strands, **where))]
    if aligned:
        positions = WeightedDegree(LONGEST_MATCH, **where)
        candidates["weighted degree"] = [positions]
        # Sequences that are aligned have one orientation: their words are those of one strand.
        candidates["weighted degree and k-mers"] = [positions, Unit(Spectrum(lengths, **where))]
    return candidates


def _of_sequences(alphabet: object) -> list[Kernel]:
    """Return the first set of default kernels for sequences, whose lengths may differ."""
    return next(iter(sequence_candidates(alphabet, aligned=False).values()))


def alphabet_of(texts: Sequence[object]) -> Any:
    """Return the alphabet of strings that are biological sequences; None for other strings.

    The median length must be 8 or more. It must be 20 or more for proteins with ambiguous codes,
    since all letters from A to Z are then allowed, and short words would be taken for proteins.
    """
    known = [text.upper() for text in texts if isinstance(text, str)]
    if not known:
        return None
    letters, length = set().union(*known), float(np.median([len(text) for text in known]))
    for alphabet, others, shortest in (
        (DNA, "N", 8), (RNA, "N", 8), (PROTEIN, "", 8), (PROTEIN, "BJOUXZ*", 20)
    ):  # fmt: skip
        if length >= shortest and letters <= {*alphabet.letters.decode(), *others}:
            return alphabet
    return None


def _alphabet_of_column(X: Data) -> object:
    """Return the alphabet of an array with one column of sequences; None for other tables."""
    if not isinstance(X, np.ndarray) or X.dtype.kind not in "OU" or X.shape[1] != 1:
        return None
    texts = X[:, 0].tolist()
    return alphabet_of(texts) if all(isinstance(text, str) for text in texts) else None


def default_survival_kernels(X: Data, weights: np.ndarray) -> list[Kernel]:
    """Return default kernels for survival models: linear and Laplacian kernels of one width.

    With a few hundred patients and few events, held-out folds cannot select a width, and narrow
    kernels memorise. Laplacian kernels fit thresholds and heavy tails, which are common in clinical
    and omics tables, better than RBF kernels (`python -m benchmarks survival`). Sequences have
    their first default kernels.

    Parameters
    ----------
    X : array or sparse matrix of numbers, frame or Sequences, with n examples.
    weights : weight of each example in means and variances, shape (n,).
    """
    X = as_input(X)
    if isinstance(X, Sequences) or _alphabet_of_column(X):
        return default_kernels(X, weights)
    table = Contents.of(X)
    kernels = _with_linear(table, X, weights, _middle_laplacian)
    return kernels + _strings(table, X) + _indicators(table, X)


def default_region_kernel(X: Data, weights: np.ndarray) -> list[Kernel]:
    """Return the one kernel of novelty detection; see `default_kernels`.

    It is an RBF kernel with gamma = 1 / d on all d standardised columns of numbers and categories,
    plus the kernels of texts, of strings that hardly repeat and of missing values. Sequences have
    their first default kernel.
    """
    X = as_input(X)
    if isinstance(X, Sequences) or _alphabet_of_column(X):
        return default_kernels(X, weights)
    table = Contents.of(X)
    kernels: list[Kernel] = []
    if table.vectors:
        kernels.append(_middle_width(standardized(table.vectors, X, weights)))
    return [reduce(add, kernels + _strings(table, X) + _indicators(table, X))]


@dataclass(frozen=True)
class Contents:
    """The positions of the columns of a table by kind; `unrepeated` strings hardly repeat."""

    numbers: list[int]
    categories: list[int]
    texts: list[int]
    unrepeated: list[int]
    sequences: list[int]

    @classmethod
    def of(cls, X: Any) -> Contents:
        """Return the positions of the columns of X by kind."""
        every = list(range(X.shape[1]))
        if sp.issparse(X) or is_numeric_array(X):
            return cls(every, [], [], [], [])
        kinds = [_kind(column(X, index), choose(index, X).label_of(0)) for index in every]
        found = {kind: [k for k in every if kinds[k] == kind] for kind in set(kinds)}
        return cls(*(found.get(kind.name, []) for kind in fields(cls)))

    @property
    def kinds(self) -> tuple[list[int], list[int]]:
        """The groups whose columns default kernels read together: numbers, and categories."""
        return self.numbers, self.categories

    @property
    def vectors(self) -> list[int]:
        """Columns of numbers and categories, in their order."""
        return sorted(self.numbers + self.categories)


def _kind(values: Any, label: str) -> str:
    """Return the kind of a column: one of the fields of `Contents`."""
    _refuse_dates(values, label)
    if str(values.dtype).lower() == "object":
        _refuse_odd(values, label)
    if contains_numbers(values, label):
        _warn_of_row_numbers(values, label)
        return "numbers"
    known = [item for item in items_or_none(values) if item is not None]
    categorical = any(word in str(values.dtype).lower() for word in ("cat", "enum"))
    if not categorical:
        warn_of_numbers(set(known), label)
    if categorical:
        return "categories"
    if known and all(isinstance(item, str) and DATE.fullmatch(item) for item in known):
        raise ValueError(_about_dates(label, f"strings such as {known[0]!r}"))
    if _are_texts(known):
        return "texts"
    if not _differ(known):
        return "categories"
    return "sequences" if alphabet_of(known) else "unrepeated"


def _refuse_dates(values: Any, label: str) -> None:
    """Raise ValueError for a column of dates, times, periods or intervals."""
    dtype = str(values.dtype).lower()
    if any(dtype.startswith(word) for word in TEMPORAL) or dtype in ("time", "<m8[ns]"):
        raise ValueError(_about_dates(label, values.dtype))


def _about_dates(label: str, example: object) -> str:
    """Return the message for a column of dates, times or intervals."""
    return (
        f"X: column {label} contains dates, times or intervals ({example}), which default kernels "
        "do not read; replace it by numbers, such as days since a date, the month or the hour, or "
        "by a categorical column, or leave it out"
    )


def _warn_of_row_numbers(values: Any, label: str) -> None:
    """Warn of a column of integers that count the rows: k, k + 1, k + 2, ..."""
    if len(values) < MANY or "int" not in str(values.dtype).lower():
        return
    counted = [item for item in items_or_none(values) if isinstance(item, int)]
    if len(counted) == len(values) and all(b - a == 1 for a, b in pairwise(counted)):
        warn(
            f"X: column {label} counts the rows ({counted[0]}, {counted[1]}, ...); leave it out, "
            "unless the order of the rows carries information",
            UserWarning,
        )


def _refuse_odd(values: Any, label: str) -> None:
    """Raise ValueError for a column of objects other than numbers, strings and booleans."""
    for item in values:
        if isinstance(item, date | time | timedelta) and item == item:
            raise ValueError(_about_dates(label, repr(item)))
        if not isinstance(item, str | bool | Number | None) and str(item) != "<NA>":
            raise ValueError(
                f"X: column {label} contains {item!r}; default kernels read numbers, strings and "
                "booleans: convert the column, leave it out, or pass kernels="
            )


def _are_texts(known: Sequence[object]) -> bool:
    """Return whether more than half of the values are distinct strings of several words."""
    long = {item for item in known if isinstance(item, str) and len(WORD.findall(item)) >= WORDS}
    return 2 * len(long) > len(known)


def _differ(known: Sequence[object]) -> bool:
    """Return whether values are strings that hardly repeat, most of them with `LETTERS` or more."""
    different = set(known)
    if len(different) < MANY or 2 * len(different) <= len(known):
        return False
    long = [item for item in different if isinstance(item, str) and len(item) >= LETTERS]
    return 2 * len(long) > len(different) and all(isinstance(item, str) for item in different)


def _widths(columns: Standardized) -> Kernel:
    """Return RBF kernels with several gammas around 1 / d, for d varying columns."""
    d = max(columns.n_varying, 1)
    narrowest = next((power for most, power in NARROWEST if d <= most), 1)
    return RBF(gamma=[4.0**k / d for k in range(WIDEST, narrowest + 1)], columns=columns)


def _laplacians(columns: Standardized) -> Kernel:
    """Return Laplacian kernels with gammas from 1 / (16 d) to 2 / d, for d varying columns."""
    d = max(columns.n_varying, 1)
    return Laplacian(gamma=[2.0**k / d for k in range(-4, 2)], columns=columns)


def _middle_width(columns: Standardized) -> Kernel:
    """Return the RBF kernel with gamma = 1 / d, for d varying columns."""
    return RBF(gamma=1.0 / max(columns.n_varying, 1), columns=columns)


def _middle_laplacian(columns: Standardized) -> Kernel:
    """Return the Laplacian kernel with gamma = 1 / (4 d), for d varying columns."""
    return Laplacian(gamma=0.25 / max(columns.n_varying, 1), columns=columns)


def _strings(table: Contents, X: Data) -> list[Kernel]:
    """Return the kernels of columns of texts, of sequences and of strings that hardly repeat."""
    kernels: list[Kernel] = [Unit(BagOfWords().reading(_filled(k, X), X)) for k in table.texts]
    for index in table.sequences:
        known = [item for item in items_or_none(column(X, index)) if item is not None]
        where = _filled(index, X)
        sets = sequence_candidates(alphabet_of(known), aligned=False, columns=where)
        kernels += [kernel for one in sets.values() for kernel in one]
    if table.unrepeated:
        labels = ", ".join(choose(index, X).label_of(0) for index in table.unrepeated)
        warn(
            f"X: strings hardly repeat in column{'s' * (len(table.unrepeated) > 1)} {labels} and "
            f"are compared by their n-grams of {LETTERS} letters, not as categories; leave out "
            "identifiers of rows (their kernel may get a large but meaningless weight), give "
            "categories a categorical dtype, or pass kernels=",
            UserWarning,
        )
    return kernels + [Unit(NGram(LETTERS, columns=_filled(k, X))) for k in table.unrepeated]


def _filled(index: int, X: Data) -> FilledTexts:
    """Return the column of strings at a position, with missing values as empty strings."""
    where = choose(index, X)
    return FilledTexts(where.width, where.chosen, where.names)


def _indicators(table: Contents, X: Data) -> list[Kernel]:
    """Return a kernel of missing values (`Missing`) for each numeric column that has some.

    If there are more than `SEPARATE` such columns, all of them share one kernel.
    """
    some = [index for index in table.numbers if missing(X, [index]).any()]
    groups = [[index] for index in some] if len(some) <= SEPARATE else [some]
    return [Missing(columns=indices).resolve(X) for indices in groups]
