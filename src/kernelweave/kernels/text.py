"""Kernels on texts."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

from sklearn.feature_extraction.text import CountVectorizer

from kernelweave.kernels.base import Kernel, OnColumns
from kernelweave.kernels.columns import Columns, choose
from kernelweave.kernels.inputs import as_input
from kernelweave.kernels.parameters import frozen, label
from kernelweave.kernels.program import Expression, Layout
from kernelweave.kernels.tables import Sparse, Table


@dataclass(frozen=True)
class BagOfWords(OnColumns):
    """The dot product of word counts.

    The words are those of the training texts, so that values between a training text and any text
    are exact: a word that no training text has cannot match there. It does not count in the
    similarity of new texts among themselves either.

    Parameters
    ----------
    lowercase : whether to ignore case.
    binary : whether to count a word once per text, however often it occurs.
    token_pattern : regular expression of a word; two or more letters or digits by default, as in
        scikit-learn's CountVectorizer.
    columns : the columns of texts, which are read as one text; not needed where X is a list of
        texts or has only one column.
    vocabulary : the words; found by `resolve`.
    """

    lowercase: bool = True
    binary: bool = False
    token_pattern: str = r"(?u)\b\w\w+\b"
    columns: Any = field(default=None, kw_only=True)
    vocabulary: tuple[str, ...] | None = field(default=None, kw_only=True, repr=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "columns", frozen(self.columns))

    def resolve(self, X: Any) -> Kernel:
        if isinstance(self.columns, Columns):
            return self
        X = as_input(X)
        if self.columns is None and X.shape[1] > 1:
            raise ValueError(
                f"BagOfWords: columns must say which of the {X.shape[1]} columns of X hold texts"
            )
        kernel = replace(self, columns=choose(self.columns, X))
        counter = kernel._counter().fit(kernel.columns.texts(X))
        return replace(kernel, vocabulary=tuple(counter.get_feature_names_out().tolist()))

    def _counter(self) -> CountVectorizer:
        return CountVectorizer(
            lowercase=self.lowercase,
            binary=self.binary,
            token_pattern=self.token_pattern,
            vocabulary=self.vocabulary,
            dtype=float,
        )

    @property
    def labels(self) -> tuple[str, ...]:
        parameters = {"binary": True} if self.binary else {}
        return (label("BagOfWords", parameters, self.columns),)

    @property
    def is_family(self) -> bool:
        return False

    def expressions(self, layout: Layout) -> list[Expression]:
        return [(("copy", layout.source("dot", self)),)]

    def table(self, X: Any, training: bool) -> Table:
        """Return the word counts of the texts in X."""
        return Sparse.of(self._counter().transform(self.columns.texts(X)))
