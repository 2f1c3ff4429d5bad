"""Contributions of the letters of sequences to their decision values."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import TYPE_CHECKING, cast

import numpy as np

from ..common.types import Data
from ..model.model import Model
from .word_scores import UNKNOWN, KernelSum, TableOfSequences, coded, word_scores
from .words import fitted_model, output_of, plane_terms

if TYPE_CHECKING:
    from ..estimators.fitted import FittedEstimator


@dataclass(frozen=True, eq=False)
class LetterScores:
    """Contributions of letters to the decision values of N sequences of at most L letters.

    Attributes
    ----------
    letters : str
        The alphabet.
    one_hot : ndarray of shape (N, letters, L)
        One-hot encoding of the sequences; zeros for unknown letters and beyond the end.
    hypothetical : ndarray of shape (N, letters, L)
        Contribution that each letter would have at each position if the rest of the sequence stayed
        the same.

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
        """Contributions of the actual letters, 0 for others, shape (N, letters, L).

        Their sum over a sequence is its decision value minus the intercept.
        """
        return self.one_hot * self.hypothetical

    def save(self, sequences: str | os.PathLike[str], scores: str | os.PathLike[str]) -> None:
        """Write the two ``.npz`` files that TF-MoDISco reads.

        Parameters
        ----------
        sequences : path
            File of the one-hot encoding.
        scores : path
            File of the hypothetical scores.
        """
        np.savez_compressed(sequences, self.one_hot)
        np.savez_compressed(scores, self.hypothetical)


def letter_scores(
    model: FittedEstimator, X: Data, *, target: object = None, near: bool = False
) -> LetterScores:
    """Return the contribution of each letter of N sequences to their decision values.

    Parameters
    ----------
    model : fitted estimator
        Kernels are sums of `Spectrum`, `GappedKmer`, `Mismatch`, `WeightedDegree` and
        `WeightedDegreeShift` on one column of sequences.
    X : N sequences
    target : label, optional
        Class whose decision function is read, for models of three or more classes.
    near : bool
        Whether hypothetical scores exclude words that are within the allowed mismatches only
        because of the hypothetical letter (mode 1 of gkmexplain; False is mode 2). Contributions
        are the same.

    Returns
    -------
    LetterScores

    Raises
    ------
    ValueError
        If a decision value is not a sum over words.

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
        table = cast(TableOfSequences, old.tables[old.sources[number]])
        coef = fitted.coef[output] * old.vectors[list(slots)].prod(axis=0)
        fresh = cast(TableOfSequences, new.tables[new.sources[number]])
        scores = word_scores(sources[number], KernelSum(planes, table, coef), fresh, near)
        total = total + scores * new.vectors[list(slots)].prod(axis=0)[:, None, None]
    sequences = cast(TableOfSequences, next(iter(new.tables))).sequences
    codes = coded(sequences)
    letters = sequences.alphabet.letters.decode("latin-1")
    one_hot = (codes[:, None, :] == np.arange(len(letters))[None, :, None]).astype(np.float64)
    known = (codes != UNKNOWN)[:, None, :]
    return LetterScores(letters, one_hot, np.where(known, total, 0.0))


def _parts(model: Model, output: int) -> dict[tuple[int, tuple[int, ...]], np.ndarray]:
    """Return the weights that a decision function gives to the values of string kernels.

    A source computes several values for a pair of sequences (its planes), such as one for each
    match length; each array has one weight for each plane. Keys are the number of the source, and
    the indices of the normalisation factors in `Examples.vectors`.
    """
    listing, theta = model.compiled.listing, model.weights[output]
    starts = np.array([*listing.layout.sources.values()])
    quantities = [quantity for quantity, _ in listing.layout.sources]
    parts: dict[tuple[int, tuple[int, ...]], np.ndarray] = {}
    for m in np.flatnonzero(theta):
        expression = listing.expressions[m]
        terms = plane_terms(expression)
        if terms is None or any(step[0] == "center" for step in expression):
            raise ValueError(
                "model: letter scores need decision values that are sums over words; exponentials, "
                "products and centred kernels are not. variant_effects works for all of them"
            )
        for term in terms:
            number = int(np.searchsorted(starts, term.plane, side="right")) - 1
            empty = np.zeros(getattr(quantities[number], "planes", 1))
            planes = parts.setdefault((number, term.slots), empty)
            planes[term.plane - starts[number]] += theta[m] * term.factor
    return parts
