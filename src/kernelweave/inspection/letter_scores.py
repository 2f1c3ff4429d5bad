"""How much every letter of a sequence adds to its decision value."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from ..kernels.program import Listing
from ..model import Model
from .word_scores import UNKNOWN, coded, word_scores


@dataclass(frozen=True, eq=False)
class LetterScores:
    """Scores of the letters of N sequences, the longest of which has L.

    Attributes
    ----------
    one_hot : (N, letters, L) which letter there is; zeros where it is unknown or missing.
    hypothetical : (N, letters, L) the score that each letter would have in its place.

    Examples
    --------
    >>> from kernelweave import MKLClassifier
    >>> from kernelweave.datasets import make_motifs
    >>> from kernelweave.inspection import letter_scores
    >>> from kernelweave.kernels import Spectrum
    >>> X, y = make_motifs(200, positive_rate=0.5)
    >>> scores = letter_scores(MKLClassifier(Spectrum(4)).fit(X, y), X[:5])
    >>> scores.one_hot.shape, scores.hypothetical.shape
    ((5, 4, 50), (5, 4, 50))
    """

    one_hot: np.ndarray
    hypothetical: np.ndarray

    @property
    def contributions(self) -> np.ndarray:
        """(N, letters, L) the scores of the letters that there are.

        Those of a sequence add up to its decision value minus the intercept.
        """
        contributions: np.ndarray = self.one_hot * self.hypothetical
        return contributions

    def save(self, sequences: str | os.PathLike[str], scores: str | os.PathLike[str]) -> None:
        """Write two ``.npz`` files that TF-MoDISco reads: one-hot letters, hypothetical scores."""
        np.savez_compressed(sequences, self.one_hot)
        np.savez_compressed(scores, self.hypothetical)


def letter_scores(model: Any, X: Any) -> LetterScores:
    """Return how much each letter of N sequences adds to their decision values.

    Parameters
    ----------
    model : fitted estimator with one decision function, of sums of `Spectrum`, `GappedKmer`,
        `Mismatch`, `WeightedDegree` and `WeightedDegreeShift` on one column of sequences.
    X : N sequences.

    Raises
    ------
    ValueError : where a decision value is not a sum over words.

    Examples
    --------
    >>> import numpy as np
    >>> from kernelweave import MKLClassifier
    >>> from kernelweave.datasets import make_motifs
    >>> from kernelweave.inspection import letter_scores
    >>> from kernelweave.kernels import GappedKmer
    >>> X, y = make_motifs(200, positive_rate=0.5)
    >>> model = MKLClassifier(GappedKmer(l=6, k=4), normalize="unit").fit(X, y)
    >>> scores = letter_scores(model, X[:5])
    >>> total = scores.contributions.sum(axis=(1, 2)) + model.intercept_
    >>> np.allclose(total, model.decision_function(X[:5]))
    True
    """
    check_is_fitted(model)
    fitted: Model = model._model
    if len(fitted.intercept) != 1:
        raise ValueError("model must have one decision function")
    listing, old, new = fitted.compiled.listing, fitted.examples, fitted.compiled.examples(X)
    sources = list(listing.layout.sources.items())
    total = np.zeros(1)
    for m in np.flatnonzero(fitted.weights[0]):
        number, plane, slots, factor = _term(listing, int(m))
        quantity, before = sources[number][0][0], old.tables[old.sources[number]]
        coef = factor * fitted.weights[0, m] * fitted.coef[0] * old.vectors[slots].prod(axis=0)
        scores = word_scores(quantity, plane, before, coef, new.tables[new.sources[number]])
        total = total + scores * new.vectors[slots].prod(axis=0)[:, None, None]
    tables: list[Any] = list(new.tables)
    codes = coded(tables[0].sequences)
    letters = len(tables[0].sequences.alphabet.letters)
    one_hot = (codes[:, None, :] == np.arange(letters)[None, :, None]).astype(np.float64)
    known = (codes != UNKNOWN)[:, None, :]
    return LetterScores(one_hot, np.where(known, total, 0.0))


def _term(listing: Listing, m: int) -> tuple[int, int, list[int], float]:
    """Return a kernel as source, plane of it, slots of normalisations, and factor."""
    first, *rest = listing.expressions[m]
    names = {step[0] for step in rest}
    if first[0] != "copy" or names - {"unit", "scale"}:
        raise ValueError(
            "model: a decision value must be a sum over words; exponentials, products and centred "
            "kernels are not"
        )
    starts = np.array([*listing.layout.sources.values()])
    number = int(np.searchsorted(starts, first[1], side="right")) - 1
    slots = [step[1] for step in rest if step[0] == "unit"]
    factor = float(np.prod([step[1] for step in rest if step[0] == "scale"]))
    return number, int(first[1] - starts[number]), slots, factor
