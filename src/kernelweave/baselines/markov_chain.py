"""Markov chains along sequences of one length, one for each class."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.validation import check_is_fitted

from ..common.numbers import is_whole
from ..estimators.documentation import REFERENCE, Documented
from ..sequences import Sequences, as_sequences
from ..sequences.alphabets import as_alphabet

UNKNOWN = 255


class MarkovChain(ClassifierMixin, Documented, BaseEstimator):
    """Two inhomogeneous Markov chains: how likely is a sequence in either class?

    The chance of the letter at a position depends on the `order` letters before it and on the
    position. Scores are log-odds, log P(x | positive) - log P(x | negative). This is the baseline
    that string kernels are compared with in the splice site literature.

    Parameters
    ----------
    order : number of letters that the next one depends on; at the beginning of a sequence there
        are fewer.
    pseudocount : added to the number of times each letter was seen in each context.
    alphabet : "dna", "rna", "protein" or letters. An unknown letter counts in no context.

    Attributes
    ----------
    classes_ : array of shape (2,)
    log_odds_ : array of shape (length, letters ** order, letters)
        What a letter adds to the score at a position, after the letters before it.

    Examples
    --------
    >>> from kernelweave.baselines import MarkovChain
    >>> from kernelweave.datasets import make_splice
    >>> X, y = make_splice(2000, positive_rate=0.3)
    >>> model = MarkovChain(order=1).fit(X[:1500], y[:1500])
    >>> print(f"{model.score(X[1500:], y[1500:]):.1f}")
    0.9
    """

    _doc_link_template = f"{REFERENCE}/kernelweave.baselines.MarkovChain.html"

    def __init__(self, order: int = 4, *, pseudocount: float = 1.0, alphabet: Any = "dna"):
        self.order = order
        self.pseudocount = pseudocount
        self.alphabet = alphabet

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> MarkovChain:
        """Count letters in their contexts, for either class.

        Parameters
        ----------
        X : n sequences of one length: `Sequences`, a list, or an array of strings.
        y : (n,) two classes.
        sample_weight : (n,) how much each sequence counts.
        """
        self._check_parameters()
        codes, y = self._codes(X), np.asarray(y)
        self.classes_ = np.unique(y)
        if len(self.classes_) != 2 or y.shape != (len(codes),):
            raise ValueError(
                f"y must hold two classes, one value for each of {len(codes)} sequences, not "
                f"{len(self.classes_)} classes in shape {y.shape}"
            )
        weights = np.ones(len(y)) if sample_weight is None else np.asarray(sample_weight, float)
        self.length_ = codes.shape[1]
        known, contexts = self._contexts(codes)
        negative, positive = (
            self._log_chances(codes, contexts, known & (y == value)[:, None], weights)
            for value in self.classes_
        )
        self.log_odds_ = positive - negative
        return self

    def decision_function(self, X: Any) -> np.ndarray:
        """Return log P(x | second class) - log P(x | first class), shape (n,)."""
        check_is_fitted(self)
        codes = self._codes(X)
        if codes.shape[1] != self.length_:
            raise ValueError(
                f"X: sequences have {codes.shape[1]} letters, those of the training data "
                f"{self.length_}"
            )
        known, contexts = self._contexts(codes)
        letters = np.where(known, codes, 0)
        values = self.log_odds_[np.arange(self.length_), contexts, letters]
        scores: np.ndarray = np.where(known, values, 0.0).sum(axis=1)
        return scores

    def predict(self, X: Any) -> np.ndarray:
        """Return the more likely class of n sequences, shape (n,)."""
        positive = self.decision_function(X) > 0
        labels: np.ndarray = self.classes_[positive.astype(int)]
        return labels

    def _check_parameters(self) -> None:
        letters = len(as_alphabet(self.alphabet).letters)
        if not is_whole(self.order) or self.order < 0 or letters**self.order > 10**7:
            raise ValueError(
                f"order must be an integer >= 0 with at most 10^7 contexts, not {self.order!r}"
            )
        if not 0 < self.pseudocount < np.inf:
            raise ValueError(f"pseudocount must be a number > 0, not {self.pseudocount!r}")

    def _codes(self, X: Any) -> np.ndarray:
        """Return the codes of the letters, shape (n, length)."""
        alphabet = as_alphabet(self.alphabet)
        sequences = X if isinstance(X, Sequences) else as_sequences(np.asarray(X), alphabet)
        sequences = as_sequences(sequences, alphabet)
        if np.ptp(sequences.lengths) > 0:
            raise ValueError("X: a Markov chain by position needs sequences of one length")
        packed = [sequences.packed.codes(i) for i in range(len(sequences))]
        return np.frombuffer(b"".join(packed), dtype=np.uint8).reshape(len(packed), -1)

    def _contexts(self, codes: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return which letters count, and the number of the letters before each, (n, length)."""
        letters = len(as_alphabet(self.alphabet).letters)
        known = codes != UNKNOWN
        counted, contexts = known.copy(), np.zeros(codes.shape, dtype=np.int64)
        for back in range(1, min(self.order, codes.shape[1] - 1) + 1):
            before = np.where(known, codes, 0)[:, :-back].astype(np.int64)
            contexts[:, back:] += letters ** (back - 1) * before
            counted[:, back:] &= known[:, :-back]
        return counted, contexts

    def _log_chances(
        self, codes: np.ndarray, contexts: np.ndarray, counted: np.ndarray, weights: np.ndarray
    ) -> np.ndarray:
        """Return log P(letter | position, letters before), shape (length, contexts, letters)."""
        letters = len(as_alphabet(self.alphabet).letters)
        counts = np.full((self.length_, letters**self.order, letters), float(self.pseudocount))
        rows, positions = np.nonzero(counted)
        where = positions, contexts[rows, positions], codes[rows, positions]
        np.add.at(counts, where, weights[rows])
        chances: np.ndarray = np.log(counts / counts.sum(axis=2, keepdims=True))
        return chances
