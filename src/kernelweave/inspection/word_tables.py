"""Tables of word weights, from which `kmers` computes the weights of k-mers."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from ..common.core import _core
from ..common.numbers import is_whole, thread_count
from ..sequences.alphabets import Alphabet
from .words import PositionalWords

MOST_BYTES = 2**30  # largest array of weights or tables


class WordTables:
    """Weights of words of up to `longest` letters at a range of positions.

    One pass over the support vectors builds the tables; they then give the weights of k-mers of all
    lengths up to `longest`.

    Parameters
    ----------
    words : PositionalWords
        Weights of words by position of a model.
    longest : int
        Number of letters of the longest words.
    positions : (start, stop), optional
        Range of positions; all by default.
    background : array of shape (letters,), optional
        Probability of each letter outside a k-mer; uniform by default.
    n_jobs : int, optional
        Number of threads.
    """

    def __init__(
        self,
        words: PositionalWords,
        longest: int,
        positions: tuple[int, int] | None = None,
        background: object = None,
        n_jobs: int | None = None,
    ):
        self.words = words
        self.start, self.stop = positions or (0, words.length)
        # Words longer than the degree have no weight themselves, but the shorter words in them do.
        longer = max(0, longest - words.degree)
        weights = np.pad(words.weights, [(0, 0), (0, 0), (0, longer)])
        self.chances = chances_of(words.alphabet, background)
        self._core = _core.WordTables(
            words.sequences.packed,
            np.ascontiguousarray(words.delta),
            np.ascontiguousarray(weights),
            list(words.shifts),
            self.chances,
            longest,
            self.start,
            self.stop,
            thread_count(n_jobs),
        )

    @staticmethod
    def bytes(words: PositionalWords, longest: int, positions: int) -> float:
        """Return the size in bytes of the tables of `positions` positions."""
        return _core.WordTables.bytes(len(words.alphabet.letters), longest, positions)

    def by_position(self, k: int) -> Iterator[tuple[int, np.ndarray]]:
        """Yield each position with the weights of all k-mers there, shape (n_kmers,)."""
        for p in range(self.start, self.stop - k + 1):
            yield p, self._core.weights(k, p)


def chances_of(alphabet: Alphabet, background: object) -> np.ndarray:
    """Return the background probability of each letter, shape (letters,)."""
    letters = len(alphabet.letters)
    if background is None:
        return np.full(letters, 1.0 / letters)
    chances = np.asarray(background, dtype=float)
    wrong = chances.shape != (letters,) or not np.all(chances >= 0)
    if wrong or not abs(chances.sum() - 1) < 1e-6:
        raise ValueError(
            f"background must be {letters} probabilities that sum to 1, for the letters "
            f"{alphabet.letters.decode('latin-1')}, got {background!r}"
        )
    return chances / chances.sum()


def checked_k(words: PositionalWords, k: int) -> int:
    """Return k as an integer; raise ValueError unless 1 <= k <= length of the sequences."""
    if not is_whole(k) or not 1 <= k <= words.length:
        raise ValueError(
            f"k must be between 1 and {words.length}, the length of the sequences, got {k!r}"
        )
    return int(k)
