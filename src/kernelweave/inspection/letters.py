"""What each letter of a sequence adds to its decision value."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..sequences import Sequences, as_sequences
from .words import PositionalWords, positional_words


def word_scores(model: Any, X: Any, *, target: Any = None) -> np.ndarray:
    """Return what each letter of n sequences adds to their scores, shape (n, length).

    Every word in a sequence adds its weight to the decision value; its letters share it equally.
    The numbers of a sequence add up to the part of its decision value, without intercept, that
    weighted degree kernels make.

    Parameters
    ----------
    model : a fitted estimator with weighted degree kernels.
    X : n sequences of the length that the model has seen.
    target : the class whose decision function is read, where there are several.
    """
    words = positional_words(model, target)
    sequences = as_sequences(X if isinstance(X, Sequences) else np.asarray(X), words.alphabet)
    if len(sequences) and (sequences.lengths != words.length).any():
        raise ValueError(f"X: sequences must have {words.length} letters, as the training data")
    support = _codes(words.sequences)
    return np.array([_scores(words, support, codes) for codes in _codes(sequences)])


def _codes(sequences: Sequences) -> np.ndarray:
    """Return letters as numbers, shape (n, length); unknown ones are 255."""
    packed = [sequences.packed.codes(i) for i in range(len(sequences))]
    return np.frombuffer(b"".join(packed), dtype=np.uint8).reshape(len(packed), -1)


def _scores(words: PositionalWords, support: np.ndarray, x: np.ndarray) -> np.ndarray:
    """Return what each letter of a sequence adds, shape (length,)."""
    scores = np.zeros(words.length + 1)
    lengths = np.arange(1, words.degree + 1)
    for shift, weights in zip(words.shifts, words.weights, strict=True):
        found = weights * _agreeing(words, support, x, shift) / lengths
        for k in lengths.tolist():  # words of k letters from each position on
            starts = found[: words.length - k + 1, k - 1]
            scores[: len(starts)] += starts
            scores[k : k + len(starts)] -= starts
    total: np.ndarray = np.cumsum(scores)[:-1]
    return total


def _agreeing(words: PositionalWords, support: np.ndarray, x: np.ndarray, shift: int) -> np.ndarray:
    """Return what the support sequences count that agree in k letters, shape (length, degree)."""
    sums = np.zeros((words.length, words.degree))
    run = np.zeros(len(support), dtype=np.int64)
    for p in range(words.length - 1, -1, -1):
        if not 0 <= p + shift < words.length:
            run[:] = 0
            continue
        letter = x[p]
        agrees = (support[:, p + shift] == letter) & (letter != 255)
        run = np.where(agrees, np.minimum(run + 1, words.degree), 0)
        counted = np.bincount(run, words.delta, minlength=words.degree + 1)
        sums[p] = np.cumsum(counted[::-1])[::-1][1:]
    return sums
