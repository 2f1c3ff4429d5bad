"""What changes of single letters do to the decision value of a sequence."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from ..common.numbers import is_whole
from ..sequences import Sequences, as_sequences

MANY = 100_000  # changed sequences that are scored at a time


@dataclass(frozen=True, eq=False)
class VariantEffects:
    """Decision values of changed sequences minus those of the N sequences, the longest of L.

    Attributes
    ----------
    substitutions : (N, letters, L) by another letter; 0 for the letter that is there, NaN beyond
        the end.
    deletions : (N, indels, L) of 1, 2, ... letters from a position on; NaN where there are fewer.
    insertions : (N, letters, L) of a letter before a position; empty without indels.

    Examples
    --------
    >>> from kernelweave import MKLClassifier
    >>> from kernelweave.datasets import make_motifs
    >>> from kernelweave.inspection import variant_effects
    >>> from kernelweave.kernels import Spectrum
    >>> X, y = make_motifs(200, positive_rate=0.5)
    >>> effects = variant_effects(MKLClassifier(Spectrum(4)).fit(X, y), X[:2], indels=1)
    >>> effects.substitutions.shape, effects.deletions.shape, effects.insertions.shape
    ((2, 4, 50), (2, 1, 50), (2, 4, 50))
    """

    substitutions: np.ndarray
    deletions: np.ndarray
    insertions: np.ndarray


def variant_effects(
    model: Any, X: Any, *, indels: int = 0, alphabet: Any = "dna"
) -> VariantEffects:
    """Return what substitutions, and short deletions and insertions, do to decision values.

    Every changed sequence is scored, normalisations included, so that effects are exact.

    Parameters
    ----------
    model : fitted estimator with one decision function on one column of sequences. Weighted degree
        kernels have no indels: all sequences are of one length.
    X : N sequences.
    indels : length of the longest deletion; one letter is inserted at a time. 0: neither.
    alphabet : the letters.

    Examples
    --------
    >>> from kernelweave import MKLClassifier
    >>> from kernelweave.datasets import make_motifs
    >>> from kernelweave.inspection import variant_effects
    >>> from kernelweave.kernels import WeightedDegree
    >>> X, y = make_motifs(500, positive_rate=0.3)
    >>> model = MKLClassifier(WeightedDegree(7)).fit(X, y)
    >>> effects = variant_effects(model, X[y > 0][:3])
    >>> most = effects.substitutions.min(axis=1).argmin(axis=1)
    >>> bool(all(10 <= place < 17 or 30 <= place < 37 for place in most))
    True
    """
    check_is_fitted(model)
    if not is_whole(indels) or indels < 0:
        raise ValueError(f"indels must be an integer >= 0, not {indels!r}")
    sequences = as_sequences(X, alphabet)
    letters = sequences.alphabet.letters.decode("latin-1")
    shape = (sequences.n, len(letters), int(sequences.lengths.max()))
    found = VariantEffects(
        np.full(shape, np.nan),
        np.full((shape[0], indels, shape[2]), np.nan),
        np.full(shape if indels else (shape[0], 0, shape[2]), np.nan),
    )
    decide = getattr(model, "decision_function", None) or model.predict
    original = decide(sequences)
    if original.ndim != 1:
        raise ValueError("model must have one decision function")
    changes = _changes(sequences, letters, indels, found)
    while batch := [change for change, _ in zip(changes, range(MANY), strict=False)]:
        values = decide([text for _, _, text in batch])
        for (array, place, _), value in zip(batch, values, strict=True):
            array[place] = value - original[place[0]]
    return found


def _changes(
    sequences: Sequences, letters: str, indels: int, found: VariantEffects
) -> Iterator[tuple[np.ndarray, tuple[int, int, int], str]]:
    """Give for each change where its effect belongs, and the changed sequence."""
    for i, text in enumerate(sequences):
        for p in range(len(text)):
            for a, letter in enumerate(letters):
                yield found.substitutions, (i, a, p), text[:p] + letter + text[p + 1 :]
                if indels:
                    yield found.insertions, (i, a, p), text[:p] + letter + text[p:]
            for size in range(1, min(indels, len(text) - p, len(text) - 1) + 1):
                yield found.deletions, (i, size - 1, p), text[:p] + text[p + size :]
