"""Weights of words in models whose kernels count words regardless of position."""

from __future__ import annotations

import heapq
from collections.abc import Iterator
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ..kernels.string.hamming_kernel import HammingQuantity
from ..kernels.string.spectrum import Spectrum, SpectrumQuantity
from ..sequences import Sequences
from ..sequences.alphabets import Alphabet
from ..sequences.weight_stores import WeightStore
from .gapped_words import gapped_words
from .words import fitted_model, output_of, spectrum_parts

if TYPE_CHECKING:
    from ..estimators.fitted import FittedEstimator

CHUNK = 1 << 16  # words decoded at a time


class HeaviestWords(NamedTuple):
    """The words of a model with the largest weights.

    Attributes
    ----------
    weights : list of (word, weight), largest weight first
    alphabet : Alphabet
    both_strands : bool
        Whether all kernels also count the words of the reverse complement.
    """

    weights: list[tuple[str, float]]
    alphabet: Alphabet
    both_strands: bool


def heaviest_words(model: FittedEstimator, n: int, target: object) -> HeaviestWords:
    """Return the n words of spectrum and gapped k-mer kernels with the largest weights.

    `target` is the class whose decision function is read. For kernels with both strands, a word
    and its reverse complement are one word, written as the first of the two in alphabetical order.

    Raises
    ------
    ValueError
        If all spectrum and gapped k-mer kernels of the model have weight 0.
    """
    weights: dict[str, float] = {}
    alphabets: list[Alphabet] = []
    both: list[bool] = []
    for quantity, sequences, delta in spectrum_parts(model, target):
        alphabets.append(quantity.alphabet)
        both.append(quantity.both_strands)
        for word, weight in _spectrum_weights(quantity, sequences, delta).items():
            weights[word] = weights.get(word, 0.0) + weight
    for gapped, values in gapped_words(model, target):
        alphabets.append(gapped.alphabet)
        both.append(gapped.both_strands)
        count = min(n * (1 + gapped.both_strands), len(values))
        for number in np.argpartition(-values, count - 1)[:count].tolist():
            word = word_at(gapped.alphabet, gapped.length, number)
            if gapped.both_strands and word > _other_strand(word, gapped.alphabet):
                continue
            weights[word] = weights.get(word, 0.0) + float(values[number])
    if not weights:
        _ = fitted_model(model), output_of(model, target)
        raise ValueError(
            "model has no spectrum or gapped k-mer kernel with a weight, so words have no weight "
            "apart from their position; give k= for weighted degree kernels"
        )
    heaviest = heapq.nlargest(n, weights.items(), key=lambda item: item[1])
    return HeaviestWords(heaviest, alphabets[0], all(both))


def all_words(model: FittedEstimator, target: object = None) -> Iterator[tuple[str, float]]:
    """Yield every word of a gapped k-mer or spectrum model with its weight.

    The decision value of a sequence is the intercept plus the sum of the weights of its words. With
    ``normalize="unit"`` the sum is divided by the norm of the sequence. For kernels with both
    strands a word and its reverse complement have the same weight and are listed once. Gapped k-mer
    kernels yield all words of their length in alphabetical order, spectrum kernels those of the
    support vectors.

    Parameters
    ----------
    model : fitted estimator
    target : label, optional
        Class whose decision function is read, for models of three or more classes.

    Returns
    -------
    iterator of (str, float)

    Raises
    ------
    ValueError
        If the model has no such kernel, or several of them: their words would overlap.

    Examples
    --------
    >>> from kernelweave import MKLClassifier
    >>> from kernelweave.datasets import make_motifs
    >>> from kernelweave.inspection import all_words
    >>> from kernelweave.kernels import GappedKmer
    >>> model = MKLClassifier(GappedKmer(l=5, k=3)).fit(*make_motifs(200, positive_rate=0.5))
    >>> len(list(all_words(model)))
    512
    """
    gapped = gapped_words(model, target)
    spectra = list(spectrum_parts(model, target))
    if not gapped and not spectra:
        raise ValueError("model has no gapped k-mer or spectrum kernel with a weight")
    if len(gapped) + len(spectra) > 1:
        raise ValueError(
            "model has kernels on words of several lengths; a table of words needs one length"
        )
    return _gapped_rows(*gapped[0]) if gapped else iter(_spectrum_weights(*spectra[0]).items())


def _gapped_rows(quantity: HammingQuantity, values: np.ndarray) -> Iterator[tuple[str, float]]:
    """Yield the words of a gapped k-mer kernel in alphabetical order, with their weights.

    `values`, shape (letters**l,), are the weights; with both strands only the first of a word and
    its reverse complement is yielded.
    """
    letters = np.frombuffer(quantity.alphabet.letters, dtype=np.uint8)
    powers = len(letters) ** np.arange(quantity.length - 1, -1, -1, dtype=np.int64)
    for start in range(0, len(values), CHUNK):
        numbers = np.arange(start, min(start + CHUNK, len(values)))
        codes = numbers[:, None] // powers % len(letters)
        keep = np.ones(len(numbers), dtype=bool)
        if quantity.both_strands:
            complement = np.frombuffer(quantity.alphabet.strand_codes, dtype=np.uint8)
            keep = numbers <= complement[codes[:, ::-1]].astype(np.int64) @ powers
        texts = letters[codes[keep]].view(f"S{quantity.length}").ravel()
        for word, weight in zip(texts.tolist(), values[numbers[keep]].tolist(), strict=True):
            yield word.decode("latin-1"), weight


def _spectrum_weights(
    quantity: SpectrumQuantity, sequences: Sequences, delta: np.ndarray
) -> dict[str, float]:
    """Return the weights of the words of a spectrum kernel.

    `sequences` are the support vectors, `delta`, shape (n,), their coefficients.
    """
    kernel = Spectrum(quantity.k, alphabet=quantity.alphabet, both_strands=quantity.both_strands)
    store = WeightStore(kernel)
    store.add(sequences, delta)
    return dict(store.items())


def _other_strand(word: str, alphabet: Alphabet) -> str:
    pairs = bytes.maketrans(alphabet.letters, alphabet.complement)
    return word.encode("latin-1")[::-1].translate(pairs).decode("latin-1")


def word_at(alphabet: Alphabet, k: int, number: int) -> str:
    """Return the word at position `number` in the alphabetical list of all words of k letters."""
    letters, text = alphabet.letters.decode("latin-1"), ""
    for _ in range(k):
        number, code = divmod(number, len(letters))
        text = letters[code] + text
    return text
