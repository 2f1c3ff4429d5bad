"""Importance of positions and word lengths: the largest weight of any k-mer at each position."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from .word_tables import MOST_BYTES, WordTables, checked_k
from .words import positional_words

if TYPE_CHECKING:
    from ..estimators.fitted import FittedEstimator


@dataclass(frozen=True, eq=False)
class Importance:
    """Largest weight of any k-mer, by length and position.

    Attributes
    ----------
    S : ndarray of shape (max_k, length)
        Row k - 1 has the largest weight of any k-mer that starts at each position; NaN where k-mers
        would extend beyond the end.
    strongest : ndarray of shape (max_k, length)
        Index of that k-mer in the order of the rows of `KmerWeights.W`; -1 where S is NaN.

    Examples
    --------
    >>> import numpy as np
    >>> from kernelweave import MKLClassifier
    >>> from kernelweave.datasets import make_motifs
    >>> from kernelweave.inspection import importance
    >>> from kernelweave.kernels import WeightedDegree
    >>> model = MKLClassifier(WeightedDegree(7)).fit(*make_motifs(500, positive_rate=0.3))
    >>> found = importance(model, max_k=7)
    >>> int(np.nanargmax(found.S[6]))
    10
    """

    S: np.ndarray
    strongest: np.ndarray

    @property
    def gain(self) -> np.ndarray:
        """Importance beyond that of shorter words, shape (max_k, length).

        With S_k = S[k - 1], the gain of k-mers at p is max(0, S_k[p] - max(S_(k-1)[p],
        S_(k-1)[p + 1])), the differential importance of Sonnenburg et al. (2008). S_k increases
        with k because longer words include the weights of the words that they overlap.
        """
        shorter = np.full_like(self.S, 0.0)
        shorter[1:, :-1] = np.fmax(self.S[:-1, :-1], self.S[:-1, 1:])
        return np.maximum(self.S - shorter, 0.0)

    @property
    def lengths(self) -> np.ndarray:
        """Word lengths 1 to max_k, shape (max_k,)."""
        return np.arange(1, len(self.S) + 1)


def importance(
    model: FittedEstimator,
    max_k: int = 8,
    *,
    background: object = None,
    target: object = None,
    n_jobs: int | None = None,
) -> Importance:
    """Return the largest weight of any k-mer at each position, for k = 1 to max_k.

    The weights are those that `kmer_weights` returns.

    Parameters
    ----------
    model : fitted estimator
        With weighted degree kernels; other kernels are ignored.
    max_k : int
        Length of the longest words, at most that of the sequences.
    background : array of shape (letters,), optional
        Probability of each letter outside the k-mer; uniform by default.
    target : label, optional
        Class whose decision function is read, for models of three or more classes.
    n_jobs : int, optional
        Number of threads.

    Returns
    -------
    Importance

    Raises
    ------
    ValueError
        If the tables would exceed 1 GB.

    Examples
    --------
    >>> from kernelweave import MKLClassifier
    >>> from kernelweave.datasets import make_motifs
    >>> from kernelweave.inspection import importance
    >>> from kernelweave.kernels import WeightedDegree
    >>> model = MKLClassifier(WeightedDegree(7)).fit(*make_motifs(500, positive_rate=0.3))
    >>> found = importance(model, max_k=7)
    >>> found.S.shape
    (7, 50)
    """
    words = positional_words(model, target)
    max_k = checked_k(words, max_k)
    size = WordTables.bytes(words, max_k, words.length)
    if size > MOST_BYTES:
        raise ValueError(
            f"max_k={max_k} needs tables of {size / 2**30:.1f} GB for "
            f"{len(words.alphabet.letters)} letters and {words.length} positions; use a smaller "
            "max_k"
        )
    return all_importances(WordTables(words, max_k, None, background, n_jobs), max_k)


def all_importances(tables: WordTables, max_k: int) -> Importance:
    """Return the importance of words of up to max_k letters; `tables` must have all positions."""
    S = np.full((max_k, tables.words.length), np.nan)
    strongest = np.full(S.shape, -1, dtype=np.int64)
    for k in range(1, max_k + 1):
        for p, values in tables.by_position(k):
            strongest[k - 1, p] = values.argmax()
            S[k - 1, p] = values[strongest[k - 1, p]]
    return Importance(S, strongest)
