"""Weights of k-mers by position (Sonnenburg et al., 2007, section 4.6.2).

The decision function f of a model with a weighted degree kernel of degree d is a sum of weights of
words of 1 to d letters. The weight of a k-mer u at position p sums the weights of all words that
overlap [p, p + k) and agree with u there; a letter of the word outside the k-mer has its background
probability:

    W[u, p] = expected contribution to f(x) of the words that overlap [p, p + k),
              for random sequences x with u at p.

Positional oligomer importance matrices (Sonnenburg et al., 2008) subtract the expectation over all
sequences: Q[u, p] = E[f(x) | u at p] - E[f(x)].
"""

from __future__ import annotations

import heapq
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from itertools import product
from typing import TYPE_CHECKING, Any

import numpy as np

from ..common.numbers import as_count, is_whole
from ..sequences.alphabets import Alphabet
from .counted_kmers import heaviest_words, word_at
from .word_tables import MOST_BYTES, WordTables, chances_of, checked_k
from .words import PositionalWords, positional_words

if TYPE_CHECKING:
    from ..estimators.fitted import FittedEstimator


@dataclass(frozen=True, eq=False)
class KmerWeights:
    """Weights of all k-mers at all positions.

    Attributes
    ----------
    k : int
        Number of letters.
    W : ndarray of shape (n_kmers, n_positions)
        Weight of each k-mer at each position, on the scale of decision values.
    positions : ndarray of shape (n_positions,)
        0-based starts of the k-mers.
    alphabet : Alphabet

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
        """K-mers in the order of the rows of W."""
        return _kmers(self.alphabet, self.k)

    def top(self, n: int = 10) -> list[tuple[str, int, float]]:
        """Return the n largest weights.

        Parameters
        ----------
        n : int
            Number of weights.

        Returns
        -------
        list of (k-mer, 0-based position, weight), largest weight first
        """
        by_position = zip(self.positions.tolist(), self.W.T, strict=True)
        return largest(by_position, as_count("n", n), self.k, self.alphabet)


def kmer_weights(
    model: FittedEstimator,
    k: int,
    *,
    background: object = None,
    positions: tuple[int, int] | None = None,
    target: object = None,
    n_jobs: int | None = None,
) -> KmerWeights:
    """Return the weights of all k-mers at all positions, W[u, p].

    Parameters
    ----------
    model : fitted estimator
        With weighted degree kernels, with or without shifts, or families of them. Other kernels of
        the model are ignored.
    k : int
        Number of letters. It may exceed the degree of the kernel: then the weight of a k-mer is
        that of the shorter words within and around it.
    background : array of shape (letters,), optional
        Probability of each letter outside the k-mer; uniform by default.
    positions : (start, stop), optional
        Part of the sequences in which k-mers lie; all by default.
    target : label, optional
        Class whose decision function is read, for models of three or more classes.
    n_jobs : int, optional
        Number of threads.

    Returns
    -------
    KmerWeights
        Normalisations and kernel weights are included. With ``normalize="unit"`` and norms that
        differ between sequences, the norm of the scored sequence is left out.

    Raises
    ------
    ValueError
        If the model has no weighted degree kernel, or W would exceed 1 GB.

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
    return all_weights(WordTables(words, k, (start, stop), background, n_jobs), k)


def all_weights(tables: WordTables, k: int) -> KmerWeights:
    """Return the weights of all k-mers at all positions of `tables`."""
    at, values = zip(*tables.by_position(k), strict=True)
    return KmerWeights(k, np.array(values).T, np.array(at), tables.words.alphabet)


def poim(
    model: FittedEstimator,
    k: int,
    *,
    background: object = None,
    positions: tuple[int, int] | None = None,
    target: object = None,
    n_jobs: int | None = None,
) -> KmerWeights:
    """Return the positional oligomer importance matrix Q[u, p] = E[f(x) | u at p] - E[f(x)].

    The letters of x are independent draws from the background.

    Parameters
    ----------
    model : fitted estimator
    k : int
        Number of letters.
    background : array of shape (letters,), optional
        Probability of each letter outside the k-mer; uniform by default.
    positions : (start, stop), optional
        Part of the sequences in which k-mers lie; all by default.
    target : label, optional
        Class whose decision function is read, for models of three or more classes.
    n_jobs : int, optional
        Number of threads.

    Returns
    -------
    KmerWeights

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
    """Return weights minus their expectation at each position, for a random k-mer.

    `chances`, shape (letters,), are the probabilities of its letters.
    """
    shares = np.ones(1)
    for _ in range(found.k):
        shares = np.multiply.outer(shares, chances).ravel()
    return KmerWeights(found.k, found.W - shares @ found.W, found.positions, found.alphabet)


def top_kmers(
    model: FittedEstimator,
    n: int = 10,
    *,
    k: int | None = None,
    background: object = None,
    target: object = None,
    n_jobs: int | None = None,
) -> list[tuple[Any, ...]]:
    """Return the n k-mers with the largest weights, largest first.

    Parameters
    ----------
    model : fitted estimator
        With string kernels.
    n : int
        Number of k-mers.
    k : int, optional
        Number of letters, for weighted degree kernels. W is computed position by position, so k
        may be larger than for `kmer_weights`. Omit it for spectrum and gapped k-mer kernels, whose
        words of all lengths are ranked together.
    background : array of shape (letters,), optional
        Probability of each letter outside the k-mer; uniform by default.
    target : label, optional
        Class whose decision function is read, for models of three or more classes.
    n_jobs : int, optional
        Number of threads.

    Returns
    -------
    list of tuple
        (k-mer, position, weight) for weighted degree kernels; (k-mer, weight) for the others,
        whose weight is added to the decision value at each occurrence. If a kernel counts both
        strands, a k-mer and its reverse complement are listed once.

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
    n = as_count("n", n)
    if k is None:
        return list(heaviest_words(model, n, target).weights)
    words = positional_words(model, target)
    k = checked_k(words, k)
    return largest(_by_position(words, k, background, n_jobs), n, k, words.alphabet)


def largest(
    weights: Iterable[tuple[int, np.ndarray]], n: int, k: int, alphabet: Alphabet
) -> list[tuple[str, int, float]]:
    """Return the n largest weights of k-mers, given for one position after the other.

    Parameters
    ----------
    weights : iterable of (position, weights of all k-mers there)
    n : int
        Number of weights returned.
    k : int
        Number of letters.
    alphabet : Alphabet

    Returns
    -------
    list of (k-mer, position, weight), largest weight first
    """
    best: list[tuple[float, int, int]] = []
    for p, values in weights:
        some = np.argpartition(-values, min(n, len(values)) - 1)[:n]
        found = [(float(values[word]), -p, -int(word)) for word in some]
        best = heapq.nlargest(n, best + found)
    return [(word_at(alphabet, k, -word), -p, value) for value, p, word in best]


def heaviest_rows(W: np.ndarray, n: int) -> np.ndarray:
    """Return the indices, in increasing order, of the n rows whose largest abs(W) is largest."""
    return np.sort(np.argsort(-np.abs(W).max(axis=1), kind="stable")[:n])


def _by_position(
    words: PositionalWords, k: int, background: object, n_jobs: int | None
) -> Iterator[tuple[int, np.ndarray]]:
    """Yield each position with the weights of all k-mers there.

    At most `MOST_BYTES` of tables are in memory at a time.
    """
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
        yield from WordTables(words, k, (start, stop), background, n_jobs).by_position(k)


def _checked_positions(
    words: PositionalWords, positions: tuple[int, int] | None, k: int
) -> tuple[int, int]:
    if positions is None:
        return 0, words.length
    start, stop = positions
    if not (is_whole(start) and is_whole(stop)) or not 0 <= start <= stop - k <= words.length - k:
        raise ValueError(
            f"positions must be (start, stop) with room for {k} letters between 0 and "
            f"{words.length}, the length of the sequences, got {positions!r}"
        )
    return int(start), int(stop)


@lru_cache(maxsize=4)
def _kmers(alphabet: Alphabet, k: int) -> tuple[str, ...]:
    letters = alphabet.letters.decode("latin-1")
    return tuple(map("".join, product(letters, repeat=k)))
