"""A classifier of sequences by two inhomogeneous Markov chains."""

from __future__ import annotations

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.validation import check_is_fitted

from ..common.numbers import is_whole
from ..common.types import Data
from ..estimators.documentation import REFERENCE, Documented
from ..sequences import Sequences, as_sequences
from ..sequences.alphabets import as_alphabet

UNKNOWN = 255  # code of letters outside the alphabet
MOST_CONTEXTS = 10**7  # 320 MB per position for an alphabet of four letters


class MarkovChain(ClassifierMixin, Documented, BaseEstimator):
    """Classifier of sequences of equal length by two inhomogeneous Markov chains.

    The probability of a letter depends on its position and on the `order` preceding letters.
    Decision values are log-odds, log P(x | second class) - log P(x | first class). This is a common
    baseline for string kernels in the splice site literature.

    Parameters
    ----------
    order : int >= 0
        Number of preceding letters (fewer at the start of a sequence).
    pseudocount : float > 0
        Added to the count of each letter in each context.
    alphabet : {"dna", "rna", "protein"} or a string of letters
        Other letters are ignored, as are letters with another one among the `order` before them.

    Attributes
    ----------
    classes_ : array of shape (2,)
        Class labels.
    length_ : int
        Length of the sequences.
    log_odds_ : array of shape (length, letters ** order, letters)
        Contribution of a letter to the decision value, by position and preceding letters.

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

    def __init__(self, order: int = 4, *, pseudocount: float = 1.0, alphabet: object = "dna"):
        self.order = order
        self.pseudocount = pseudocount
        self.alphabet = alphabet

    def fit(self, X: Data, y: object, sample_weight: object = None) -> MarkovChain:
        """Fit the two chains.

        Parameters
        ----------
        X : `Sequences`, list or array of n strings of equal length
        y : array of shape (n,)
            Labels of two classes.
        sample_weight : array of shape (n,), optional
            Weight of each sequence; 1 by default.

        Returns
        -------
        self

        Raises
        ------
        ValueError
            If there are not two classes, or if the lengths of the sequences differ.
        """
        self._check_parameters()
        codes, y = self._codes(X), np.asarray(y)
        self.classes_ = np.unique(y)
        if len(self.classes_) != 2 or y.shape != (len(codes),):
            raise ValueError(
                f"y must contain two classes, one label for each of {len(codes)} sequences, got "
                f"{len(self.classes_)} classes in an array of shape {y.shape}"
            )
        weights = np.ones(len(y)) if sample_weight is None else np.asarray(sample_weight, float)
        self.length_ = codes.shape[1]
        known, contexts = self._contexts(codes)
        negative, positive = (
            self._log_probabilities(codes, contexts, known & (y == value)[:, None], weights)
            for value in self.classes_
        )
        self.log_odds_ = positive - negative
        return self

    def decision_function(self, X: Data) -> np.ndarray:
        """Return log P(x | second class) - log P(x | first class).

        Parameters
        ----------
        X : n sequences of the length of the training sequences

        Returns
        -------
        array of shape (n,)
        """
        check_is_fitted(self)
        codes = self._codes(X)
        if codes.shape[1] != self.length_:
            raise ValueError(
                f"X: sequences must have {self.length_} letters, as in the training data, got "
                f"{codes.shape[1]}"
            )
        known, contexts = self._contexts(codes)
        letters = np.where(known, codes, 0)
        values = self.log_odds_[np.arange(self.length_), contexts, letters]
        return np.where(known, values, 0.0).sum(axis=1)

    def predict(self, X: Data) -> np.ndarray:
        """Return the class with the larger likelihood.

        Parameters
        ----------
        X : n sequences of the length of the training sequences

        Returns
        -------
        array of shape (n,)
        """
        positive = self.decision_function(X) > 0
        return self.classes_[positive.astype(int)]

    def _check_parameters(self) -> None:
        letters = len(as_alphabet(self.alphabet).letters)
        if not is_whole(self.order) or self.order < 0 or letters**self.order > MOST_CONTEXTS:
            raise ValueError(
                f"order must be an integer >= 0 with at most {MOST_CONTEXTS:,} contexts "
                f"(letters ** order), got {self.order!r}"
            )
        if not 0 < self.pseudocount < np.inf:
            raise ValueError(f"pseudocount must be a finite number > 0, got {self.pseudocount!r}")

    def _codes(self, X: Data) -> np.ndarray:
        """Return the codes of the letters, shape (n, length)."""
        alphabet = as_alphabet(self.alphabet)
        sequences = as_sequences(X if isinstance(X, Sequences) else np.asarray(X), alphabet)
        if np.ptp(sequences.lengths) > 0:
            raise ValueError(
                "X: MarkovChain requires sequences of equal length, got lengths from "
                f"{sequences.lengths.min()} to {sequences.lengths.max()}"
            )
        packed = [sequences.packed.codes(i) for i in range(len(sequences))]
        return np.frombuffer(b"".join(packed), dtype=np.uint8).reshape(len(packed), -1)

    def _contexts(self, codes: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return, for each letter, whether it counts, and the number of its context, (n, length).

        The context is the `order` letters before it. A letter counts if it and its context are in
        the alphabet.
        """
        letters = len(as_alphabet(self.alphabet).letters)
        known = codes != UNKNOWN
        counted, contexts = known.copy(), np.zeros(codes.shape, dtype=np.int64)
        for back in range(1, min(self.order, codes.shape[1] - 1) + 1):
            before = np.where(known, codes, 0)[:, :-back].astype(np.int64)
            contexts[:, back:] += letters ** (back - 1) * before
            counted[:, back:] &= known[:, :-back]
        return counted, contexts

    def _log_probabilities(
        self, codes: np.ndarray, contexts: np.ndarray, counted: np.ndarray, weights: np.ndarray
    ) -> np.ndarray:
        """Return log P(letter | position, context), shape (length, contexts, letters).

        `counted` is a mask of the letters that count, `weights`, shape (n,), those of sequences.
        """
        letters = len(as_alphabet(self.alphabet).letters)
        counts = np.full((self.length_, letters**self.order, letters), float(self.pseudocount))
        rows, positions = np.nonzero(counted)
        where = positions, contexts[rows, positions], codes[rows, positions]
        np.add.at(counts, where, weights[rows])
        return np.log(counts / counts.sum(axis=2, keepdims=True))
