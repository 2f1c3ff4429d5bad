"""Sparse weight stores: a weighted sum of string kernels as one weight for each word.

    w = sum_r delta_r Phi(x_r),        <w, Phi(x)> = sum_r delta_r k(x_r, x)

for a kernel k with feature map Phi, sequences x_r and numbers delta_r, such as changes of dual
variables. Phi(x) has a coordinate for every word that the kernel compares: the k-mers of a spectrum
kernel at any position, or words of up to d letters and their position for a weighted degree kernel.
Sonnenburg, Rätsch and Rieck (2007, section 4.3) call the operations clear, add and lookup. Training
and prediction go through the same stores.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from kernelweave.common.core import _core
from kernelweave.kernels.base import Kernel
from kernelweave.kernels.compile.examples import Examples
from kernelweave.kernels.compile.program import CompiledKernels
from kernelweave.kernels.string.hamming_kernel import HammingKernel
from kernelweave.kernels.string.spectrum import Spectrum
from kernelweave.kernels.string.string_columns import PlaneTable, SequenceTable
from kernelweave.kernels.string.substring import Substring
from kernelweave.kernels.string.weighted_degree import PositionalKernel

from ..common.numbers import thread_count
from ..common.types import Data


class WeightStore:
    """The vector w of weights of the words of a string kernel, which is 0 at first.

    Parameters
    ----------
    kernel : Spectrum, NGram, Substring, GappedKmer, Mismatch, WeightedDegree or WeightedDegreeShift
        Not a family. Its parameter ``store=`` chooses the data structure: "table" (an entry for
        every possible word), "sorted" (arrays), "hash", "suffix" (a suffix array with matching
        statistics, for words of any length); "auto" decides when sequences are added first.
        Kernels with mismatches use a table in which the weight of a word includes the contributions
        of similar words. Weighted degree kernels use tries with weights in inner nodes.

    Examples
    --------
    >>> from kernelweave.kernels import Spectrum
    >>> from kernelweave.sequences.weight_stores import WeightStore
    >>> store = WeightStore(Spectrum(2))
    >>> store.add(["GATTACA"], [2.0])
    >>> store.lookup(["ATTA", "CCCC"])
    array([6., 0.])
    >>> store.items()["TT"]
    2.0
    """

    def __init__(self, kernel: Kernel):
        known = Spectrum | Substring | HammingKernel | PositionalKernel
        if not isinstance(kernel, known) or kernel.is_family:
            raise ValueError(
                "kernel must be Spectrum, NGram, Substring, GappedKmer, Mismatch, WeightedDegree "
                f"or WeightedDegreeShift, and no family, got {kernel!r}"
            )
        if kernel.store == "rows":
            raise ValueError(
                "kernel: store='rows' has no weight store; pass a kernel with store='auto'"
            )
        self.kernel = kernel
        self._store: _core.Store | None = None

    @property
    def kind(self) -> str:
        """Data structure of the weights; "auto" before sequences are added."""
        return self.kernel.store if self._store is None else self._store.kind

    @property
    def nbytes(self) -> int:
        """Memory of the weights, in bytes."""
        return 0 if self._store is None else self._store.nbytes

    def clear(self) -> None:
        """Set all weights to zero."""
        if self._store is not None:
            self._store.clear()

    def add(self, X: Data, delta: object) -> None:
        """Add sum_r delta_r Phi(x_r) to the weights w, for n sequences x_r.

        Parameters
        ----------
        X : n sequences
            `Sequences`, a list, or a column of strings.
        delta : ndarray of shape (n,)
            Finite factor delta_r of each sequence.
        """
        delta = np.ascontiguousarray(delta, dtype=np.float64)
        examples = self._read(X)
        if delta.shape != (examples.n,) or not np.isfinite(delta).all():
            raise ValueError(
                f"delta must be {examples.n} finite numbers, one for each sequence, got an array "
                f"of shape {delta.shape}"
            )
        if self._store is None:
            (table,) = examples.tables
            assert isinstance(table, SequenceTable | PlaneTable)
            self._store = self._made(int(table.sequences.lengths.sum()))
        self._store.add(examples.side, delta)

    def lookup(self, X: Data, *, n_jobs: int | None = None) -> np.ndarray:
        """Return <w, Phi(x)> = sum_r delta_r k(x_r, x) for n sequences x.

        Parameters
        ----------
        X : n sequences
            `Sequences`, a list, or a column of strings.
        n_jobs : int or None
            Number of threads.

        Returns
        -------
        ndarray of shape (n,)
        """
        examples = self._read(X)
        if self._store is None:
            return np.zeros(examples.n)
        return self._store.lookup(examples.side, thread_count(n_jobs))

    def merge(self, other: WeightStore) -> None:
        """Add the weights of another store of the same kernel.

        Parameters
        ----------
        other : WeightStore
            The other store, which is not changed.
        """
        if other._store is None:
            return
        if self._store is None:
            kind = other.kind if self.kind == "auto" else self.kind
            self.kernel = replace(other.kernel, store=kind)
            self._store = self._made(0)
        if replace(self.kernel, store="auto") != replace(other.kernel, store="auto"):
            raise ValueError(
                f"other must be a store of the same kernel, {self.kernel!r}, got one of "
                f"{other.kernel!r}"
            )
        self._store.merge(other._store)

    def items(self) -> dict[Any, float]:
        """Return the non-zero weights by word.

        Words are strings, for weighted degree kernels pairs of a position and a string. The words
        of a `Substring` kernel are all substrings of the sequences: quadratically many in their
        lengths, unless its `longest` is small.

        Returns
        -------
        dict
        """
        if self._store is None:
            return {}
        text = self.kernel.alphabet.text
        return {
            text(codes) if position < 0 else (position, text(codes)): weight
            for position, codes, weight in self._store.items()
        }

    def _read(self, X: Data) -> Examples:
        self.kernel = self.kernel.resolve(X)
        return CompiledKernels((self.kernel,)).examples(X)

    def _made(self, letters: int) -> _core.Store:
        (quantity,) = self.kernel.quantities
        return _core.Store(quantity.source(), letters)
