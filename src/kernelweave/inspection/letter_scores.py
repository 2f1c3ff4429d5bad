"""How much every letter of a sequence adds to its decision value."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..model.model import Model
from .word_scores import UNKNOWN, coded, word_scores
from .words import fitted_model, output_of, terms_of


@dataclass(frozen=True, eq=False)
class LetterScores:
    """Scores of the letters of N sequences, the longest of which has L.

    Attributes
    ----------
    letters : the letters, in their order.
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

    letters: str
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


def letter_scores(model: Any, X: Any, *, target: Any = None, near: bool = False) -> LetterScores:
    """Return how much each letter of N sequences adds to their decision values.

    Parameters
    ----------
    model : fitted estimator, of sums of `Spectrum`, `GappedKmer`,
        `Mismatch`, `WeightedDegree` and `WeightedDegreeShift` on one column of sequences.
    X : N sequences.
    target : the class whose decision function is read, where there are several.
    near : whether hypothetical scores leave out words that come near enough only by the letter in
        question (mode 1 of gkmexplain; mode 2 is False). Contributions are the same.

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
    fitted, output = fitted_model(model), output_of(model, target)
    old, new = fitted.examples, fitted.compiled.examples(X)
    sources = [quantity for quantity, _ in fitted.compiled.listing.layout.sources]
    total = np.zeros(1)
    for (number, slots), planes in _parts(fitted, output).items():
        table = old.tables[old.sources[number]]
        coef = fitted.coef[output] * old.vectors[list(slots)].prod(axis=0)
        fresh = new.tables[new.sources[number]]
        scores = word_scores(sources[number], planes, table, coef, fresh, near)
        total = total + scores * new.vectors[list(slots)].prod(axis=0)[:, None, None]
    tables: list[Any] = list(new.tables)
    codes = coded(tables[0].sequences)
    letters = tables[0].sequences.alphabet.letters.decode("latin-1")
    one_hot = (codes[:, None, :] == np.arange(len(letters))[None, :, None]).astype(np.float64)
    known = (codes != UNKNOWN)[:, None, :]
    return LetterScores(letters, one_hot, np.where(known, total, 0.0))


def _parts(model: Model, output: int) -> dict[tuple[int, tuple[int, ...]], np.ndarray]:
    """Return how much the planes of each source count, by source and normalisations."""
    listing, theta = model.compiled.listing, model.weights[output]
    starts = np.array([*listing.layout.sources.values()])
    quantities = [quantity for quantity, _ in listing.layout.sources]
    parts: dict[tuple[int, tuple[int, ...]], np.ndarray] = {}
    for m in np.flatnonzero(theta):
        expression = listing.expressions[m]
        terms = terms_of(expression)
        if terms is None or any(step[0] == "center" for step in expression):
            raise ValueError(
                "model: a decision value must be a sum over words; exponentials, products and "
                "centred kernels are not"
            )
        for term in terms:
            number = int(np.searchsorted(starts, term.plane, side="right")) - 1
            empty = np.zeros(getattr(quantities[number], "planes", 1))
            planes = parts.setdefault((number, term.slots), empty)
            planes[term.plane - starts[number]] += theta[m] * term.factor
    return parts
