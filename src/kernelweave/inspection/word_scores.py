"""What the letters of sequences add to a sum of string kernels.

A sum of string kernels is a sum over words: those of a sequence, each with a weight. The weight of
a word is shared by its letters; of words that are compared by their mismatches, by the letters that
agree. Hypothetical scores are those that a letter would have in the place of another one, the rest
of the sequence being as it is (Shrikumar, Prakash and Kundaje, 2019).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction
from functools import singledispatch
from typing import Any

import numpy as np

from ..core import _core
from ..kernels.hamming import Values, spectrum
from ..kernels.hamming_kernel import HammingQuantity
from ..kernels.spectrum import SpectrumQuantity
from ..kernels.wd_quantity import WdQuantity
from ..sequences import Sequences

UNKNOWN = 255


def coded(sequences: Sequences) -> np.ndarray:
    """Return the codes of all letters, shape (n, L); 255 where a letter is unknown or missing."""
    codes = np.full((sequences.n, int(sequences.lengths.max())), UNKNOWN, dtype=np.uint8)
    for i in range(sequences.n):
        codes[i, : sequences.lengths[i]] = np.frombuffer(sequences.packed.codes(i), np.uint8)
    return codes


@singledispatch
def word_scores(quantity: Any, plane: int, table: Any, coef: np.ndarray, new: Any) -> np.ndarray:
    """Return hypothetical scores, shape (n, letters, L), of new sequences.

    Parameters
    ----------
    quantity, plane : what is summed up, and which of its values.
    table, coef : the sequences in the sum, and their coefficients, shape (n_support,).
    new : table of n sequences.
    """
    raise ValueError(
        "model: letters have scores in sums of Spectrum, GappedKmer, Mismatch, WeightedDegree and "
        f"WeightedDegreeShift, not of {type(quantity).__name__}"
    )


@word_scores.register
def _hamming(
    quantity: HammingQuantity, plane: int, table: Any, coef: np.ndarray, new: Any
) -> np.ndarray:
    length, letters = quantity.length, len(quantity.alphabet.letters)
    codes = coded(new.sequences)
    scores = np.zeros((len(codes), letters, codes.shape[1]))
    weights = _position_weights(quantity, new.sequences, codes.shape[1])
    side = _core.Side(table.sequences.n)
    table.add_to(side)
    source, values = quantity.source(), quantity.values[plane]
    shared = tuple(value / (length - m) for m, value in enumerate(values[:-1]))
    for place in range(length):
        tables = _core.place_weights(source, side, coef, place, _floats(shared, letters), 1)
        step = letters ** (length - 1 - place)
        for rows, start, words in _words(codes, length, letters):
            digit = words // step % letters
            for letter in range(letters):
                found = tables[words + (letter - digit.astype(np.int64)) * step]
                scores[rows, letter, start + place] += weights[rows, start] * found
    if values[-1]:
        _share_rest(quantity, values, side, coef, codes, weights, scores)
    return scores


def _share_rest(
    quantity: HammingQuantity,
    values: Values,
    side: _core.Side,
    coef: np.ndarray,
    codes: np.ndarray,
    weights: np.ndarray,
    scores: np.ndarray,
) -> None:
    """Add what words count that agree nowhere: every letter of a word has the same share of it."""
    length, letters = quantity.length, len(quantity.alphabet.letters)
    last = (*[Fraction(0)] * length, values[-1] / length)
    table = _core.place_weights(quantity.source(), side, coef, -1, _floats(last, letters), 1)
    for rows, start, words in _words(codes, length, letters):
        for place in range(length):
            at = codes[rows, start + place].astype(np.int64)
            scores[rows, at, start + place] += weights[rows, start] * table[words]


def _floats(values: Values, letters: int) -> np.ndarray:
    return np.array([float(value) for value in spectrum(values, letters)])


def _words(
    codes: np.ndarray, length: int, letters: int
) -> Iterator[tuple[np.ndarray, int, np.ndarray]]:
    """Give for each start the sequences that have a word there, the start, and these words."""
    powers = letters ** np.arange(length - 1, -1, -1, dtype=np.int64)
    for start in range(codes.shape[1] - length + 1):
        window = codes[:, start : start + length]
        rows = np.flatnonzero((window != UNKNOWN).all(axis=1))
        yield rows, start, window[rows].astype(np.int64) @ powers


def _position_weights(quantity: HammingQuantity, sequences: Sequences, width: int) -> np.ndarray:
    """Return how much the word at each start counts, shape (n, width)."""
    if quantity.centre is None:
        return np.ones((sequences.n, width))
    peak, half_life = quantity.centre
    counts = sequences.lengths[:, None] - quantity.length + 1
    away = np.abs(counts // 2 - np.arange(width))
    weights: np.ndarray = np.minimum(peak, np.floor(peak * 2.0 ** (-away / half_life) + 1))
    return weights


@word_scores.register
def _spectrum(
    quantity: SpectrumQuantity, plane: int, table: Any, coef: np.ndarray, new: Any
) -> np.ndarray:
    weights = {codes: w for _, codes, w in _stored_words(quantity, table, coef)}
    if quantity.both_strands:
        partner = quantity.alphabet.strand_codes
        weights |= {codes[::-1].translate(partner): w for codes, w in weights.items()}
    codes = coded(new.sequences)
    starts = range(codes.shape[1] - quantity.k + 1)
    occurring = dict.fromkeys(starts, weights)
    return _share(codes, len(quantity.alphabet.letters), {quantity.k: occurring})


@word_scores.register
def _weighted_degree(
    quantity: WdQuantity, plane: int, table: Any, coef: np.ndarray, new: Any
) -> np.ndarray:
    chosen: Any = quantity.split
    if chosen not in (None, "degree", "position"):
        raise ValueError(f"model: letters have no scores in a family with split={chosen!r}")
    whole = replace(quantity, split=None)
    if chosen == "degree":
        alone = tuple(w if k == plane else 0.0 for k, w in enumerate(quantity.weights))
        whole = replace(whole, weights=alone)
    words: dict[int, dict[int, dict[bytes, float]]] = {}
    for position, word, weight in _stored_words(whole, table, coef):
        if chosen != "position" or position == plane:
            words.setdefault(len(word), {}).setdefault(position, {})[word] = weight
    return _share(coded(new.sequences), len(new.sequences.alphabet.letters), words)


def _stored_words(quantity: Any, table: Any, coef: np.ndarray) -> list[tuple[int, bytes, float]]:
    """Return the words of a sum with their weights: where they start, their letters, the weight."""
    store = _core.Store(quantity.source(), int(table.sequences.lengths.sum()))
    side = _core.Side(table.sequences.n)
    table.add_to(side)
    store.add(side, coef)
    return store.items()


def _share(
    codes: np.ndarray, letters: int, words: dict[int, dict[int, dict[bytes, float]]]
) -> np.ndarray:
    """Share the weights of words, by length and start, among the letters of sequences."""
    n, width = codes.shape
    scores = np.zeros((n, letters, width))
    for length, by_start in words.items():
        for start, weights in by_start.items():
            for i in range(n):
                word = codes[i, start : start + length]
                for place in range(length):
                    changed = bytearray(word.tobytes())
                    for letter in range(letters):
                        changed[place] = letter
                        found = weights.get(bytes(changed), 0.0)
                        scores[i, letter, start + place] += found / length
    return scores
