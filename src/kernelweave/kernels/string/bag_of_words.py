"""Kernels on texts."""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from kernelweave.kernels.base import Kernel, OnColumns
from kernelweave.kernels.compile.examples import Sparse, Table
from kernelweave.kernels.compile.program import Expression, Layout
from kernelweave.kernels.data.columns import Columns, choose, found
from kernelweave.kernels.data.inputs import as_input
from kernelweave.model.files.registry import stored

if TYPE_CHECKING:
    from sklearn.feature_extraction.text import CountVectorizer

# Patterns that take time in proportion to a text, whatever it is: letters and classes, of which
# only the last may be repeated without bound, and no group. A word that must end at a boundary must
# begin at one: no part of a text is then tried from more than two places.
_LETTER = r"(?:\\[wWdDsS]|\\[^\w\s]|\[(?:[^\]\[\\]|\\[wWdDsS]|\\[^\w\s])+\]|[^\]\[\\^$*+?{}|()])"
_LETTERS = rf"(?:{_LETTER}(?:\{{[1-9]\}})?)*{_LETTER}[+*]?"
_WORD = rf"(?:{_LETTERS}|\\b{_LETTERS}(?:\\b)?)"
_LINEAR = re.compile(rf"(?:\(\?[aiu]+\))?{_WORD}(?:\|{_WORD})*")
_LONGEST = 200


def check_pattern(kernel: BagOfWords) -> None:
    """Refuse a pattern that could take forever on some text: others read a file than wrote it."""
    if len(kernel.token_pattern) > _LONGEST or not _LINEAR.fullmatch(kernel.token_pattern):
        raise ValueError(
            f"BagOfWords: token_pattern={kernel.token_pattern!r} cannot be in a file; accepted are "
            "letters and classes, of which the last may be repeated (+ or *), between two \\b or "
            "after one, and such words joined by |"
        )


@stored("BagOfWords", check=check_pattern)
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
        scikit-learn's CountVectorizer. Models with patterns that could take forever on some text
        (groups, or repetitions within a word) cannot be saved.
    columns : the columns of texts, which are read as one text; not needed where X is a list of
        texts or has only one column.
    name : what to call the kernel.
    vocabulary : the words; found by `resolve`.

    Examples
    --------
    >>> from kernelweave.kernels import BagOfWords
    >>> texts = ["late again, and broken", "quick and great", "great, great shop"]
    >>> print(BagOfWords()(texts))
    [[4. 1. 0.]
     [1. 3. 2.]
     [0. 2. 5.]]
    >>> print(BagOfWords(binary=True)(texts))
    [[4. 1. 0.]
     [1. 3. 1.]
     [0. 1. 2.]]
    """

    lowercase: bool = True
    binary: bool = False
    token_pattern: str = r"(?u)\b\w\w+\b"
    vocabulary: tuple[str, ...] | None = field(default=None, kw_only=True, repr=False)

    def __post_init__(self) -> None:
        super().__post_init__()
        try:
            re.compile(self.token_pattern)
        except (re.error, TypeError, OverflowError) as error:
            raise ValueError(
                f"BagOfWords: token_pattern must be a regular expression, not "
                f"{self.token_pattern!r}: {error}"
            ) from None

    def resolve(self, X: Any) -> Kernel:
        if isinstance(self.columns, Columns):
            return self
        X = as_input(X)
        columns = choose(self.columns, X, self.name)
        if self.columns is None and len(columns.indices) > 1:
            raise ValueError(
                f"BagOfWords: columns must say which of the {columns.width} columns of X hold texts"
            )
        return self.reading(columns, X)

    def reading(self, columns: Columns, X: Any) -> BagOfWords:
        """Return the same kernel with the words that columns of X hold."""
        try:
            counter = self._counter().fit(columns.texts(X))
        except ValueError as error:
            if "empty vocabulary" not in str(error):
                raise
            raise ValueError(
                f"BagOfWords: X holds no words like token_pattern={self.token_pattern!r}; give "
                "texts with words, or another pattern"
            ) from None
        words = tuple(counter.get_feature_names_out().tolist())
        return replace(self, columns=columns, vocabulary=words)

    def _counter(self) -> CountVectorizer:
        from sklearn.feature_extraction.text import CountVectorizer  # few need it, all would wait

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
        return (self.label(parameters),)

    def expressions(self, layout: Layout) -> list[Expression]:
        _ = found(self, Columns)
        return [(("copy", layout.source("dot", self)),)]

    def table(self, X: Any, training: bool) -> Table:
        """Return the word counts of the texts in X."""
        return Sparse.of(self._counter().transform(self.columns.texts(X)))
