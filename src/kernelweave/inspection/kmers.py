"""k-mer extraction: what every k-mer counts at every position (Sonnenburg et al. 2007, 4.6.2).

A weighted degree kernel of degree d gives weights to words of 1 to d letters. The weight of a k-mer
at a position collects those of all words that overlap it: the letters which both share must agree,
and each letter of the word outside the k-mer counts with its chance in a background. So

    W[u, p] = what the words that overlap [p, p + k) add to f(x), on average,
              over random sequences x that have u at p.

Positional oligomer importance matrices (Sonnenburg et al. 2008) subtract what these words add to
sequences with any letters there: Q[u, p] = E[f(x) | u at p] - E[f(x)].
"""

from __future__ import annotations

import heapq
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from itertools import product
from typing import Any

import numpy as np

from ..common.numbers import is_whole
from ..sequences.alphabets import Alphabet
from .counted_kmers import top_counted, word_at
from .word_tables import MOST_BYTES, WordTables, chances_of, checked_k
from .words import PositionalWords, positional_words


@dataclass(frozen=True, eq=False)
class KmerWeights:
    """The weights of all k-mers at all positions.

    Attributes
    ----------
    k : number of letters.
    W : (n_kmers, n_positions), on the scale of the decision values.
    positions : (n_positions,) 0-based positions at which k-mers start.
    alphabet : the letters.

    Examples
    --------
    >>> from kernelweave import MKLClassifier
    >>> from kernelweave.datasets import make_motifs
    >>> from kernelweave.inspection import kmer_weights
    >>> from kernelweave.kernels import WeightedDegree
    >>> model = MKLClassifier(WeightedDegree(7)).fit(*make_motifs(500, positive_rate=0.3))
    >>> [(kmer, position) for kmer, position, weight in kmer_weights(model, 7).top(2)]
    [('GATTACA', 10), ('AGTAGTG', 30)]
    """

    k: int
    W: np.ndarray
    positions: np.ndarray
    alphabet: Alphabet

    @property
    def kmers(self) -> tuple[str, ...]:
        """The k-mers, in the order of the rows of W."""
        return _kmers(self.alphabet, self.k)

    def top(self, n: int = 10) -> list[tuple[str, int, float]]:
        """Return the n largest weights as tuples (k-mer, 0-based position, weight)."""
        n = _count(n)
        values = self.W.T.ravel()
        largest = np.argpartition(-values, min(n, values.size) - 1)[:n]
        largest = largest[np.argsort(-values[largest], kind="stable")]
        return [self._named(index, values[index]) for index in largest.tolist()]

    def _named(self, index: int, value: float) -> tuple[str, int, float]:
        position, word = divmod(index, len(self.W))
        return word_at(self.alphabet, self.k, word), int(self.positions[position]), float(value)


def kmer_weights(
    model: Any,
    k: int,
    *,
    background: Any = None,
    positions: tuple[int, int] | None = None,
    target: Any = None,
    n_jobs: int | None = None,
) -> KmerWeights:
    """Return what every k-mer counts at every position, W[u, p].

    Parameters
    ----------
    model : a fitted estimator with weighted degree kernels, with or without shifts, learned
        families of them included. Other kernels of the model are left out.
    k : number of letters, up to the degree of the kernel.
    background : (letters,) the chance of each letter outside the k-mer; all the same by default.
    positions : (start, stop), the part of the sequences that k-mers lie in; all of it by default.
    target : the class whose decision function is read, where there are several.
    n_jobs : number of threads.

    Returns
    -------
    KmerWeights on the scale of the model: with normalisations and kernel weights. With
    normalize="unit" and norms that differ, the norm of the sequence that is scored is left out.

    Examples
    --------
    >>> from kernelweave import MKLClassifier
    >>> from kernelweave.datasets import make_motifs
    >>> from kernelweave.inspection import kmer_weights
    >>> from kernelweave.kernels import WeightedDegree
    >>> model = MKLClassifier(WeightedDegree(7)).fit(*make_motifs(500, positive_rate=0.3))
    >>> weights = kmer_weights(model, 3)
    >>> weights.W.shape
    (64, 48)
    """
    words = positional_words(model, target)
    k, (start, stop) = checked_k(words, k), _checked_positions(words, positions, k)
    letters = len(words.alphabet.letters)
    size = 8.0 * letters**k * (stop - start - k + 1)
    if max(size, WordTables.bytes(words, k, stop - start)) > MOST_BYTES:
        raise ValueError(
            f"W of {letters}^{k} k-mers at {stop - start - k + 1} positions would take "
            f"{size / 2**30:.1f} GB; top_kmers(model, n, k={k}) finds the largest weights without "
            "it, or take a smaller k or some positions=(start, stop)"
        )
    return all_weights(WordTables(words, k, start, stop, background, n_jobs), k)


def all_weights(tables: WordTables, k: int) -> KmerWeights:
    """Return the weights of all k-mers that tables have."""
    at, values = zip(*tables.by_position(k), strict=True)
    return KmerWeights(k, np.array(values).T, np.array(at), tables.words.alphabet)


def poim(
    model: Any,
    k: int,
    *,
    background: Any = None,
    positions: tuple[int, int] | None = None,
    target: Any = None,
    n_jobs: int | None = None,
) -> KmerWeights:
    """Return the positional oligomer importance matrix Q[u, p] = E[f(x) | u at p] - E[f(x)].

    x is random, every letter drawn from the background. What words count whatever letters are at p
    is thus taken away from all k-mers there. Parameters and result are those of `kmer_weights`.

    Examples
    --------
    >>> from kernelweave import MKLClassifier
    >>> from kernelweave.datasets import make_motifs
    >>> from kernelweave.inspection import poim
    >>> from kernelweave.kernels import WeightedDegree
    >>> model = MKLClassifier(WeightedDegree(7)).fit(*make_motifs(500, positive_rate=0.3))
    >>> sorted((kmer, position) for kmer, position, weight in poim(model, 3).top(2))
    [('ACA', 14), ('TAC', 13)]
    """
    found = kmer_weights(
        model, k, background=background, positions=positions, target=target, n_jobs=n_jobs
    )
    return without_mean(found, chances_of(found.alphabet, background))


def without_mean(found: KmerWeights, chances: np.ndarray) -> KmerWeights:
    """Return weights without what k-mers count on average; letters have chances, (letters,)."""
    shares = np.ones(1)
    for _ in range(found.k):
        shares = np.multiply.outer(shares, chances).ravel()
    return KmerWeights(found.k, found.W - shares @ found.W, found.positions, found.alphabet)


def top_kmers(
    model: Any,
    n: int = 10,
    *,
    k: int | None = None,
    background: Any = None,
    target: Any = None,
    n_jobs: int | None = None,
) -> list[tuple[Any, ...]]:
    """Return the n k-mers with the largest weights, largest first.

    Parameters
    ----------
    model : a fitted estimator with string kernels.
    n : number of k-mers.
    k : for weighted degree kernels the number of letters. W is made position by position, so that
        k may be larger than for `kmer_weights`. Not to be given for spectrum kernels, whose k-mers
        of all lengths are ranked together, nor for gapped k-mers, whose l-mers are.
    background, target, n_jobs : as for `kmer_weights`.

    Returns
    -------
    Tuples (k-mer, position, weight) for weighted degree kernels, (k-mer, weight) for the others:
    a k-mer adds its weight to the decision value each time it occurs.

    Examples
    --------
    >>> from kernelweave import MKLClassifier
    >>> from kernelweave.datasets import make_motifs
    >>> from kernelweave.inspection import top_kmers
    >>> from kernelweave.kernels import WeightedDegree
    >>> model = MKLClassifier(WeightedDegree(7)).fit(*make_motifs(500, positive_rate=0.3))
    >>> sorted((kmer, position) for kmer, position, weight in top_kmers(model, 2, k=7))
    [('AGTAGTG', 30), ('GATTACA', 10)]
    """
    n = _count(n)
    if k is None:
        return top_counted(model, n, target)
    words = positional_words(model, target)
    k = checked_k(words, k)
    return largest(_by_position(words, k, background, n_jobs), n, k, words.alphabet)


def largest(
    weights: Iterable[tuple[int, np.ndarray]], n: int, k: int, alphabet: Alphabet
) -> list[tuple[Any, ...]]:
    """Return the n largest weights of k-mers, given position by position, with k-mer and place."""
    best: list[tuple[float, int, int]] = []
    for p, values in weights:
        some = np.argpartition(-values, min(n, len(values)) - 1)[:n]
        found = [(float(values[word]), -p, -int(word)) for word in some]
        best = heapq.nlargest(n, best + found)
    return [(word_at(alphabet, k, -word), -p, value) for value, p, word in best]


def _by_position(
    words: PositionalWords, k: int, background: Any, n_jobs: int | None
) -> Iterator[tuple[int, np.ndarray]]:
    """Give the weights of all k-mers, one position after the other, a few of them in memory."""
    each = WordTables.bytes(words, k, 1)
    room = int(MOST_BYTES / each)
    if room < k:
        raise ValueError(
            f"the weights of {len(words.alphabet.letters)}^{k} k-mers at one position take "
            f"{k * each / 2**30:.1f} GB; take a smaller k"
        )
    step = room - k + 1
    for start in range(0, words.length - k + 1, step):
        stop = min(words.length, start + step + k - 1)
        yield from WordTables(words, k, start, stop, background, n_jobs).by_position(k)


def _checked_positions(words: PositionalWords, positions: Any, k: int) -> tuple[int, int]:
    if positions is None:
        return 0, words.length
    start, stop = positions
    if not (is_whole(start) and is_whole(stop)) or not 0 <= start <= stop - k <= words.length - k:
        raise ValueError(
            f"positions must be (start, stop) with room for {k} letters between 0 and "
            f"{words.length}, the length of the sequences, not {positions!r}"
        )
    return int(start), int(stop)


def _count(n: int) -> int:
    if not is_whole(n) or n < 1:
        raise ValueError(f"n must be an integer >= 1, not {n!r}")
    return int(n)


@lru_cache(maxsize=4)
def _kmers(alphabet: Alphabet, k: int) -> tuple[str, ...]:
    letters = alphabet.letters.decode("latin-1")
    return tuple(map("".join, product(letters, repeat=k)))
