"""The alternative to string kernels: logistic regression on k-mer features."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import FunctionTransformer, Normalizer, OneHotEncoder

COMPLEMENT = str.maketrans("ACGT", "TGCA")


def counts(least: int, most: int, both_strands: bool = False) -> Pipeline:
    """Return logistic regression on how often each k-mer occurs, k from `least` to `most`.

    Features are scaled to length 1, as kernels are by ``normalize="unit"``.
    """
    count = CountVectorizer(analyzer="char", ngram_range=(least, most), lowercase=False)
    strands = [("strands", FunctionTransformer(with_other_strand))] if both_strands else []
    return Pipeline([*strands, ("count", count), *regression()])


def positional(most: int) -> Pipeline:
    """Return logistic regression on which k-mers, up to k = `most`, stand at each position."""
    at = FunctionTransformer(kmers_at_positions, kw_args={"most": most})
    return Pipeline([("at", at), ("encode", OneHotEncoder(handle_unknown="ignore")), *regression()])


def regression() -> list[tuple]:
    """Return the last steps of all of them."""
    return [("unit", Normalizer()), ("fit", LogisticRegression(max_iter=1000))]


def with_other_strand(texts: Iterable[str]) -> list[str]:
    """Return every text followed by its reverse complement; no k-mer goes across the space."""
    return [f"{text} {text.translate(COMPLEMENT)[::-1]}" for text in texts]


def kmers_at_positions(texts: Iterable[str], most: int) -> np.ndarray:
    """Return numbers of the k-mers at every position, shape (n, k-mers of all lengths)."""
    letters = np.array([list(text.encode()) for text in texts], dtype=np.int64)
    found, longer = [letters], letters
    for k in range(2, most + 1):
        longer = 256 * longer[:, :-1] + letters[:, k - 1 :]
        found.append(longer)
    return np.hstack(found)
