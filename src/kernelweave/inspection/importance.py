"""Where in the sequence which word length matters: S[k, p], the largest weight of any k-mer."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from .word_tables import MOST_BYTES, WordTables, checked_k
from .words import positional_words


@dataclass(frozen=True, eq=False)
class Importance:
    """The largest weight of any k-mer, by length and position.

    Attributes
    ----------
    S : (max_k, length); row k - 1 has the k-mers, and NaN where they would not fit in.
    strongest : the k-mer with that weight at each place, as its number in the order of W's rows.

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
        """What k-mers add to the shorter words in them, shape (max_k, length).

        gain[k, p] = max(0, S[k, p] - max(S[k - 1, p], S[k - 1, p + 1])): longer words collect the
        weights of all that overlap them, and this tells where that is more than their parts say.
        The differential importance of Sonnenburg et al. (2008).
        """
        shorter = np.full_like(self.S, 0.0)
        shorter[1:, :-1] = np.fmax(self.S[:-1, :-1], self.S[:-1, 1:])
        gain: np.ndarray = np.maximum(self.S - shorter, 0.0)
        return gain

    @property
    def lengths(self) -> np.ndarray:
        """The word lengths 1 to max_k, shape (max_k,)."""
        return np.arange(1, len(self.S) + 1)


def importance(
    model: Any,
    max_k: int = 8,
    *,
    background: Any = None,
    target: Any = None,
    n_jobs: int | None = None,
) -> Importance:
    """Return S[k, p] = max over all k-mers u of W[u, p], for k = 1 to max_k.

    Parameters
    ----------
    model : as for `kmer_weights`.
    max_k : the longest words that are looked at, at most the degree of the kernel.
    background, target, n_jobs : as for `kmer_weights`.

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
            f"max_k={max_k} takes tables of {size / 2**30:.1f} GB for "
            f"{len(words.alphabet.letters)} letters and {words.length} positions; take a smaller "
            "one"
        )
    return all_importances(WordTables(words, max_k, 0, words.length, background, n_jobs), max_k)


def all_importances(tables: WordTables, max_k: int) -> Importance:
    """Return the importance of words of up to max_k letters, by tables of all positions."""
    S = np.full((max_k, tables.words.length), np.nan)
    strongest = np.full(S.shape, -1, dtype=np.int64)
    for k in range(1, max_k + 1):
        for p, values in tables.by_position(k):
            strongest[k - 1, p] = values.argmax()
            S[k - 1, p] = values[strongest[k - 1, p]]
    return Importance(S, strongest)
