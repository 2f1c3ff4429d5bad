"""Changes of decision values under substitutions, deletions and insertions."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from sklearn.utils.validation import check_is_fitted

from ..common.numbers import as_count
from ..common.types import Data
from ..sequences import Sequences, as_sequences

if TYPE_CHECKING:
    from ..estimators.fitted import FittedEstimator

BATCH = 100_000  # changed sequences scored at a time


@dataclass(frozen=True, eq=False)
class VariantEffects:
    """Changes of the decision values of N sequences, the longest of L letters.

    Attributes
    ----------
    substitutions : ndarray of shape (N, letters, L)
        Effect of each letter at each position; 0 for the original letter, NaN beyond the end.
    deletions : ndarray of shape (N, indels, L)
        Effect of deleting 1, 2, ... letters from a position on; NaN beyond the end.
    insertions : ndarray of shape (N, letters, L)
        Effect of inserting a letter before a position; empty without indels.

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
    model: FittedEstimator, X: Data, *, indels: int = 0, alphabet: object = "dna"
) -> VariantEffects:
    """Return the effects of substitutions, short deletions and insertions on decision values.

    Every changed sequence is scored, normalisations included, so effects are exact.

    Parameters
    ----------
    model : fitted estimator
        With one decision function, on one column of sequences. Weighted degree kernels need
        sequences of one length and therefore ``indels=0``.
    X : N sequences
    indels : int
        Length of the longest deletion; insertions have one letter. 0: substitutions only.
    alphabet : Alphabet or str
        Alphabet of the sequences, whose letters are substituted and inserted.

    Returns
    -------
    VariantEffects

    Raises
    ------
    ValueError
        If `indels` is negative or the model has several decision functions.

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
    indels = as_count("indels", indels, 0)
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
        raise ValueError(
            f"model must have one decision function, got {original.shape[1]}; fit one class "
            "against the rest"
        )
    changes = _changes(sequences, letters, indels, found)
    while batch := [change for change, _ in zip(changes, range(BATCH), strict=False)]:
        values = decide([text for _, _, text in batch])
        for (array, place, _), value in zip(batch, values, strict=True):
            array[place] = value - original[place[0]]
    return found


def _changes(
    sequences: Sequences, letters: str, indels: int, found: VariantEffects
) -> Iterator[tuple[np.ndarray, tuple[int, int, int], str]]:
    """Yield (array, index, sequence) for each change: array[index] will contain its effect."""
    for i, text in enumerate(sequences):
        for p in range(len(text)):
            for a, letter in enumerate(letters):
                yield found.substitutions, (i, a, p), text[:p] + letter + text[p + 1 :]
                if indels:
                    yield found.insertions, (i, a, p), text[:p] + letter + text[p:]
            for size in range(1, min(indels, len(text) - p, len(text) - 1) + 1):
                yield found.deletions, (i, size - 1, p), text[:p] + text[p + size :]
