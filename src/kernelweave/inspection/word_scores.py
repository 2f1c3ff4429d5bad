"""Contributions of the letters of sequences to a sum of string kernels.

A sum of string kernels is a sum of weights over the words of a sequence. The weight of a word is
divided equally among its letters; for kernels that count mismatches, among the letters that match.
The hypothetical score of a letter is the score that it would have at a position if the rest of the
sequence stayed the same (Shrikumar, Prakash and Kundaje, 2019). With `near`, a pair of words is
ignored if the hypothetical letter is needed to keep it within the allowed number of mismatches.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import singledispatch

import numpy as np

from ..common.core import _core
from ..kernels.string.hamming import Values, spectrum
from ..kernels.string.hamming_kernel import HammingQuantity
from ..kernels.string.spectrum import SpectrumQuantity
from ..kernels.string.string_columns import PlaneTable, SequenceTable
from ..kernels.string.wd_quantity import WdQuantity
from ..sequences import Sequences
from .words import combined_weights

TableOfSequences = SequenceTable | PlaneTable
UNKNOWN = 255  # code of unknown letters and of positions beyond the end


def coded(sequences: Sequences) -> np.ndarray:
    """Return the codes of all letters, shape (n, L); 255 for unknown letters and beyond the end."""
    codes = np.full((sequences.n, int(sequences.lengths.max())), UNKNOWN, dtype=np.uint8)
    for i in range(sequences.n):
        codes[i, : sequences.lengths[i]] = np.frombuffer(sequences.packed.codes(i), np.uint8)
    return codes


@dataclass(frozen=True, eq=False)
class KernelSum:
    """A decision function without intercept: a weighted sum of kernels over support vectors.

    Attributes
    ----------
    planes : ndarray of shape (planes,)
        Weights of the values that the quantity has for a pair of sequences (its planes), such as
        one for each match length.
    table : SequenceTable or PlaneTable
        The support vectors.
    coef : ndarray of shape (n_support,)
        Coefficients of the support vectors.
    """

    planes: np.ndarray
    table: TableOfSequences
    coef: np.ndarray


@singledispatch
def word_scores(
    quantity: object, total: KernelSum, new: TableOfSequences, near: bool
) -> np.ndarray:
    """Return hypothetical scores of new sequences, shape (n, letters, L).

    Parameters
    ----------
    quantity : object
        Says which values the core computes for a pair of sequences; its type selects the function.
    total : KernelSum
        The decision function whose values are divided among letters.
    new : table of n sequences, the longest of L letters
    near : bool
        Leave out words that match only because of the hypothetical letter.

    Raises
    ------
    ValueError
        If the kernel is not a sum over words.
    """
    raise ValueError(
        "model: letter scores need sums of Spectrum, GappedKmer, Mismatch, WeightedDegree and "
        f"WeightedDegreeShift kernels, got {type(quantity).__name__}"
    )


@word_scores.register
def _hamming(
    quantity: HammingQuantity, total: KernelSum, new: TableOfSequences, near: bool
) -> np.ndarray:
    length, letters = quantity.length, len(quantity.alphabet.letters)
    codes = coded(new.sequences)
    scores = np.zeros((len(codes), letters, codes.shape[1]))
    weights = _position_weights(quantity, new.sequences, codes.shape[1])
    side, source = total.table.side, quantity.source()
    shared = [
        tuple(value / (length - m) for m, value in enumerate(h[:-1])) for h in quantity.values
    ]
    functions = [shared, [_nearer(values) for values in shared]] if near else [shared]
    spectra = [_combined(members, total.planes, letters) for members in functions]
    for place in range(length):
        tables = [_core.place_weights(source, side, total.coef, place, one, 1) for one in spectra]
        step = letters ** (length - 1 - place)
        for rows, start, words in _words(codes, length, letters):
            digit = words // step % letters
            for letter in range(letters):
                changed = words + (letter - digit.astype(np.int64)) * step
                found = tables[-1][changed]
                if near:
                    found = np.where(digit == letter, tables[0][changed], found)
                scores[rows, letter, start + place] += weights[rows, start] * found
    if any(values[-1] for values in quantity.values):
        last = [(*[Fraction(0)] * length, values[-1] / length) for values in quantity.values]
        eigenvalues = _combined(last, total.planes, letters)
        table = _core.place_weights(source, side, total.coef, -1, eigenvalues, 1)
        _share_rest(quantity, table, codes, weights, scores)
    return scores


def _share_rest(
    quantity: HammingQuantity,
    table: np.ndarray,
    codes: np.ndarray,
    weights: np.ndarray,
    scores: np.ndarray,
) -> None:
    """Add to `scores` the weights of word pairs in which no letter matches.

    These weights are divided equally among the letters of a word. `table` contains the share of a
    letter for each word. `weights`, shape (n, L), are the position weights of word starts.
    """
    length, letters = quantity.length, len(quantity.alphabet.letters)
    for rows, start, words in _words(codes, length, letters):
        for place in range(length):
            at = codes[rows, start + place].astype(np.int64)
            scores[rows, at, start + place] += weights[rows, start] * table[words]


def _nearer(values: Values) -> Values:
    """Return `values`, indexed by the number of mismatches, with the last nonzero one set to 0."""
    last = max((m for m, value in enumerate(values) if value), default=0)
    return tuple(value if m < last else Fraction(0) for m, value in enumerate(values))


def _combined(members: Sequence[Values], planes: np.ndarray, letters: int) -> np.ndarray:
    """Return the eigenvalues of a weighted sum of functions of the number of mismatches.

    `members` are the functions, `planes` their weights, and `letters` is the size of the alphabet.
    """
    return planes @ np.array([spectrum(h, letters) for h in members], float)


def _words(
    codes: np.ndarray, length: int, letters: int
) -> Iterator[tuple[np.ndarray, int, np.ndarray]]:
    """Yield all words of `length` known letters: rows, start and word numbers for each start.

    Parameters
    ----------
    codes : array of shape (n, L)
        Letters of the sequences as numbers.
    length : int
    letters : int
        Size of the alphabet. A word is numbered by its codes, read as digits in this base.

    Yields
    ------
    rows : array of shape (k,)
        The sequences whose word at `start` has known letters only.
    start : int
    words : array of shape (k,)
        The numbers of these words.
    """
    powers = letters ** np.arange(length - 1, -1, -1, dtype=np.int64)
    for start in range(codes.shape[1] - length + 1):
        window = codes[:, start : start + length]
        rows = np.flatnonzero((window != UNKNOWN).all(axis=1))
        yield rows, start, window[rows].astype(np.int64) @ powers


def _position_weights(quantity: HammingQuantity, sequences: Sequences, width: int) -> np.ndarray:
    """Return the position weight of the word at each start, shape (n, width)."""
    if quantity.centre is None:
        return np.ones((sequences.n, width))
    peak, half_life = quantity.centre
    counts = sequences.lengths[:, None] - quantity.length + 1
    away = np.abs(counts // 2 - np.arange(width))
    return np.minimum(peak, np.floor(peak * 2.0 ** (-away / half_life) + 1))


@word_scores.register
def _spectrum(
    quantity: SpectrumQuantity, total: KernelSum, new: TableOfSequences, near: bool
) -> np.ndarray:
    words = _weighted_words(quantity, total.table, total.planes[0] * total.coef)
    weights = {codes: w for _, codes, w in words}
    if quantity.both_strands:
        complement = quantity.alphabet.strand_codes
        weights |= {codes[::-1].translate(complement): w for codes, w in weights.items()}
    codes = coded(new.sequences)
    n, width = codes.shape
    scores = np.zeros((n, len(quantity.alphabet.letters), width))
    for i, start, place in np.ndindex(n, max(0, width - quantity.k + 1), quantity.k):
        word = bytearray(codes[i, start : start + quantity.k].tobytes())
        for letter in range(scores.shape[1]):
            word[place] = letter
            found = weights.get(bytes(word), 0.0)
            scores[i, letter, start + place] += found / quantity.k
    return _of_own_letters(scores, codes) if near else scores


def _of_own_letters(scores: np.ndarray, codes: np.ndarray) -> np.ndarray:
    """Return the scores of the actual letters, 0 for others, shape (n, letters, L)."""
    return scores * (codes[:, None, :] == np.arange(scores.shape[1])[None, :, None])


def _weighted_words(
    quantity: SpectrumQuantity, table: TableOfSequences, coef: np.ndarray
) -> list[tuple[int, bytes, float]]:
    """Return the words of the support vectors as (start, letter codes, weight)."""
    store = _core.Store(quantity.source(), int(table.sequences.lengths.sum()))
    store.add(table.side, coef)
    return store.items()


@word_scores.register
def _weighted_degree(
    quantity: WdQuantity, total: KernelSum, new: TableOfSequences, near: bool
) -> np.ndarray:
    shifts, weights = combined_weights([(quantity, total.planes)])
    support, codes = coded(total.table.sequences), coded(new.sequences)
    scores = np.zeros((len(codes), len(total.table.sequences.alphabet.letters), codes.shape[1]))
    for shift, of_words in zip(shifts, weights, strict=True):
        around = _around(of_words)
        moved = np.full_like(support, UNKNOWN)
        kept = slice(max(0, -shift), support.shape[1] - max(0, shift))
        moved[:, kept] = support[:, kept.start + shift : kept.stop + shift]
        for i, x in enumerate(codes):
            scores[i] += _at_positions(around, moved, total.coef, x, scores.shape[1])
    return _of_own_letters(scores, codes) if near else scores


def _around(weights: np.ndarray) -> np.ndarray:
    """Return the contribution of matching words to a letter, shape (length, degree, degree).

    Entry [p, i, j] sums the shares of the letter at p in all words that contain p, with at most i
    letters before and at most j letters after p. `weights[s, k]` is the weight of a match of k + 1
    letters from position s on.
    """
    length, degree = weights.shape
    each = np.zeros((length, degree, degree))
    for before, behind in np.ndindex(degree, degree):
        letters = before + behind + 1
        if letters <= degree:
            each[before:, before, behind] = weights[: length - before, letters - 1] / letters
    return each.cumsum(axis=1).cumsum(axis=2)


def _at_positions(
    around: np.ndarray, support: np.ndarray, coef: np.ndarray, x: np.ndarray, letters: int
) -> np.ndarray:
    """Return hypothetical scores of one sequence, shape (letters, length).

    Parameters
    ----------
    around : array of shape (length, degree, degree)
        Result of `_around`.
    support : codes of the support vectors, shape (n_support, length)
    coef : array of shape (n_support,)
    x : codes of the sequence, shape (length,)
    letters : int
        Size of the alphabet.
    """
    length, degree, _ = around.shape
    agrees = (support == x) & (x != UNKNOWN)
    before, behind = _runs(agrees, degree - 1), _runs(agrees[:, ::-1], degree - 1)[:, ::-1]
    scores = np.zeros((letters, length))
    for p in range(length):
        known = support[:, p] != UNKNOWN
        added = coef[known] * around[p, before[known, p], behind[known, p]]
        scores[:, p] = np.bincount(support[known, p], added, minlength=letters)
    return scores


def _runs(agrees: np.ndarray, most: int) -> np.ndarray:
    """Return the length of the run of matches before each position, at most `most`."""
    runs = np.zeros(agrees.shape, dtype=np.int64)
    for p in range(1, agrees.shape[1]):
        runs[:, p] = np.where(agrees[:, p - 1], np.minimum(runs[:, p - 1] + 1, most), 0)
    return runs
