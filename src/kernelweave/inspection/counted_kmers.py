"""The k-mers of kernels that count words, wherever they stand."""

from __future__ import annotations

import heapq
from typing import Any

import numpy as np

from ..kernels.string.spectrum import Spectrum
from ..sequences.alphabets import Alphabet
from ..sequences.weight_stores import WeightStore
from .gapped_words import gapped_words
from .words import fitted_model, output_of, spectrum_parts


def top_counted(model: Any, n: int, target: Any) -> list[tuple[str, float]]:
    """Return the k-mers of spectrum and gapped k-mer kernels with the largest weights."""
    weights: dict[str, float] = {}
    for quantity, sequences, delta in spectrum_parts(model, target):
        kernel = Spectrum(
            quantity.k, alphabet=quantity.alphabet, both_strands=quantity.both_strands
        )
        store = WeightStore(kernel)
        store.add(sequences, delta)
        for word, weight in store.items().items():
            weights[word] = weights.get(word, 0.0) + weight
    for gapped, values in gapped_words(model, target):
        for number in np.argpartition(-values, min(n, len(values)) - 1)[:n].tolist():
            word = word_at(gapped.alphabet, gapped.length, number)
            weights[word] = weights.get(word, 0.0) + float(values[number])
    if not weights:
        _ = fitted_model(model), output_of(model, target)
        raise ValueError(
            "model has no spectrum or gapped k-mer kernel with a weight, so that k-mers have none "
            "apart from their position; give k= for weighted degree kernels"
        )
    return heapq.nlargest(n, weights.items(), key=lambda item: item[1])


def word_at(alphabet: Alphabet, k: int, number: int) -> str:
    """Return a k-mer from its place in the order of a dictionary."""
    letters, text = alphabet.letters.decode("latin-1"), ""
    for _ in range(k):
        number, code = divmod(number, len(letters))
        text = letters[code] + text
    return text
