"""Kernels on the k-mers of sequences and texts of any length."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import scipy.sparse as sp

from kernelweave.alphabets import Alphabet, as_alphabet
from kernelweave.core import _core
from kernelweave.kernels.base import Kernel
from kernelweave.kernels.columns import Columns, choose
from kernelweave.kernels.inputs import as_input
from kernelweave.kernels.parameters import frozen, label
from kernelweave.kernels.program import Expression, Layout
from kernelweave.kernels.strings import read_column
from kernelweave.kernels.tables import Sparse

MOST_COLUMNS = 1 << 16  # with more possible k-mers, only those of the training data are kept


@dataclass(frozen=True)
class Kmers:
    """The view of a spectrum kernel: how often each k-mer occurs.

    Attributes
    ----------
    vocabulary : the k-mers that count, sorted, as numbers; None: all there can be.
    """

    columns: Columns
    alphabet: Alphabet
    unknown: str
    k: int
    both_strands: bool
    vocabulary: tuple[int, ...] | None = field(default=None, repr=False)

    def learn(self, X: Any) -> Kmers:
        """Return the view with the k-mers of X as its vocabulary, if there can be many."""
        if len(self.alphabet.letters) ** self.k <= MOST_COLUMNS:
            return self
        ids, _, _ = self.counted(X)
        return replace(self, vocabulary=tuple(np.unique(ids).tolist()))

    def counted(self, X: Any) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return the k-mers of each sequence, their counts, and where each sequence ends."""
        found = read_column(X, self.columns, self.alphabet, self.unknown)
        partner = self.alphabet.strand_codes if self.both_strands else None
        return _core.count_kmers(found.packed, self.k, len(self.alphabet.letters), partner)

    def table(self, X: Any, training: bool) -> Sparse:
        """Return the counts of the k-mers of X."""
        ids, counts, ends = self.counted(X)
        if self.vocabulary is None:
            return Sparse(counts, ids.astype(np.int32), ends, len(self.alphabet.letters) ** self.k)
        known = np.array(self.vocabulary, dtype=np.uint64)
        place = np.minimum(np.searchsorted(known, ids), max(len(known) - 1, 0))
        kept = known[place] == ids if len(known) else np.zeros(len(ids), dtype=bool)
        matrix = sp.csr_array((counts * kept, place, ends), shape=(len(ends) - 1, len(known)))
        matrix.eliminate_zeros()
        return Sparse.of(matrix)


@dataclass(frozen=True)
class Spectrum(Kernel):
    """How often each k-mer occurs in both: sum_u #u(x) #u(y) (Leslie, Eskin and Noble, 2002).

    K-mers are counted at all positions; those with an unknown letter do not count.

    Parameters
    ----------
    k : length of the k-mers, or a sequence of lengths, which makes a family.
    both_strands : whether a k-mer and its reverse complement are the same.
    alphabet, unknown, columns : as for all kernels on sequences.
    views : what is counted; found by `resolve`.
    """

    k: Any = 3
    both_strands: bool = field(default=False, kw_only=True)
    alphabet: Any = field(default="dna", kw_only=True)
    unknown: str = field(default="mismatch", kw_only=True)
    columns: Any = field(default=None, kw_only=True)
    views: tuple[Kmers, ...] | None = field(default=None, kw_only=True, repr=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "alphabet", as_alphabet(self.alphabet))
        object.__setattr__(self, "columns", frozen(self.columns))
        if not isinstance(self.k, int):
            object.__setattr__(self, "k", tuple(int(k) for k in self.k))
        if not self.lengths or not all(self._countable(k) for k in self.lengths):
            raise ValueError(
                f"{type(self).__name__}: {self.parameter} must be an integer >= 1 or a sequence of "
                f"them, with fewer than 2^63 possible k-mers, not {self.k!r}"
            )
        if self.both_strands:
            _ = self.alphabet.strand_codes  # refuses alphabets without complement

    def _countable(self, k: int) -> bool:
        return k >= 1 and _core.kmers_fit(k, len(self.alphabet.letters))

    @property
    def parameter(self) -> str:
        """What names and messages call k."""
        return "k"

    @property
    def lengths(self) -> tuple[int, ...]:
        """The length of the k-mers of each member."""
        return self.k if isinstance(self.k, tuple) else (self.k,)

    def resolve(self, X: Any) -> Kernel:
        if self.views is not None:
            return self
        X = as_input(X)
        columns = choose(self.columns, X)
        if len(columns.indices) != 1:
            raise ValueError(f"{type(self).__name__}: columns must pick one column of X")
        views = (
            Kmers(columns, self.alphabet, self.unknown, k, self.both_strands) for k in self.lengths
        )
        return replace(self, columns=columns, views=tuple(view.learn(X) for view in views))

    @property
    def labels(self) -> tuple[str, ...]:
        name = type(self).__name__
        return tuple(label(name, {self.parameter: k}, self.columns) for k in self.lengths)

    @property
    def is_family(self) -> bool:
        return isinstance(self.k, tuple)

    def expressions(self, layout: Layout) -> list[Expression]:
        assert self.views is not None
        return [(("copy", layout.source("dot", view)),) for view in self.views]

    @property
    def selection(self) -> Any:
        return self.columns

    def on(self, columns: Any) -> Kernel:
        return replace(self, columns=columns)


@dataclass(frozen=True)
class NGram(Spectrum):
    """How often each run of n bytes occurs in both texts (Damashek, 1995).

    Parameters
    ----------
    k : the length n of the runs, or a sequence of lengths, which makes a family.
    alphabet : "bytes" by default: all letters, spaces and punctuation count.
    columns : the column of texts.
    """

    alphabet: Any = field(default="bytes", kw_only=True)

    @property
    def parameter(self) -> str:
        return "n"
