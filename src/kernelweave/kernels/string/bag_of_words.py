"""The bag-of-words kernel on texts."""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from kernelweave.common.types import Data, Tabular
from kernelweave.kernels.base import Kernel, TableKernel
from kernelweave.kernels.compile.examples import Sparse, Table
from kernelweave.kernels.data.columns import Columns, choose
from kernelweave.kernels.data.inputs import as_input
from kernelweave.model.files.registry import registered

if TYPE_CHECKING:
    from sklearn.feature_extraction.text import CountVectorizer

# Regular expressions whose matching time is linear in the length of any text, so that a model file
# from another source cannot block the reader. They consist of letters and character classes, of
# which only the last may be repeated without bound, and have no groups. A word that must end at a
# boundary must begin at one: then at most two starting points are tried for any part of a text.
_LETTER = r"(?:\\[wWdDsS]|\\[^\w\s]|\[(?:[^\]\[\\]|\\[wWdDsS]|\\[^\w\s])+\]|[^\]\[\\^$*+?{}|()])"
_LETTERS = rf"(?:{_LETTER}(?:\{{[1-9]\}})?)*{_LETTER}[+*]?"
_WORD = rf"(?:{_LETTERS}|\\b{_LETTERS}(?:\\b)?)"
_LINEAR = re.compile(rf"(?:\(\?[aiu]+\))?{_WORD}(?:\|{_WORD})*")
_LONGEST_PATTERN = 200  # characters


def check_pattern(kernel: BagOfWords) -> None:
    """Raise ValueError if the matching time of the pattern may not be linear in the text."""
    if len(kernel.token_pattern) > _LONGEST_PATTERN or not _LINEAR.fullmatch(kernel.token_pattern):
        raise ValueError(
            f"BagOfWords: token_pattern={kernel.token_pattern!r} cannot be saved; accepted are "
            "letters and classes, of which the last may be repeated (+ or *), between two \\b or "
            "after one, and such words joined by |"
        )


@registered("BagOfWords", check=check_pattern)
@dataclass(frozen=True)
class BagOfWords(TableKernel):
    """Bag-of-words kernel: the dot product of word counts.

    The vocabulary consists of the words of the training texts. Other words are ignored, which does
    not change the similarity of a new text to a training text.

    Parameters
    ----------
    lowercase : bool
        Whether to ignore case.
    binary : bool
        Whether to count a word at most once per text.
    token_pattern : str
        Regular expression of a word; two or more letters or digits by default, as in
        scikit-learn's CountVectorizer. Models whose pattern has groups, or repetitions other than
        at the end of a word, cannot be saved, because such patterns may take very long on some
        texts.
    columns : the columns of texts, which are joined to one text
        Not needed if X is a list of texts or has one column.
    name : str, optional
        Name of the kernel.
    vocabulary : tuple of str, or None
        The words; None before they are taken from the training data.

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

    quantity = "dot"

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
                f"BagOfWords: token_pattern must be a regular expression, got "
                f"{self.token_pattern!r}: {error}"
            ) from None

    def resolve(self, X: Data) -> Kernel:
        if isinstance(self.columns, Columns):
            return self
        X = as_input(X)
        columns = choose(self.columns, X, self.name)
        if self.columns is None and len(columns.indices) > 1:
            raise ValueError(
                f"BagOfWords: columns must select the columns of texts, since X has "
                f"{columns.width} columns"
            )
        return self.reading(columns, X)

    def reading(self, columns: Columns, X: Data) -> BagOfWords:
        """Return the kernel with the vocabulary of some columns of X.

        Parameters
        ----------
        columns : Columns
            The columns of texts.
        X : n training examples

        Returns
        -------
        BagOfWords

        Raises
        ------
        ValueError
            If the texts contain no words.
        """
        try:
            counter = self._counter().fit(columns.texts(as_input(X)))
        except ValueError as error:
            if "empty vocabulary" not in str(error):
                raise
            raise ValueError(
                f"BagOfWords: X contains no words that match token_pattern="
                f"{self.token_pattern!r}; pass texts with words, or another pattern"
            ) from None
        words = tuple(counter.get_feature_names_out().tolist())
        return replace(self, columns=columns, vocabulary=words)

    def _counter(self) -> CountVectorizer:
        from sklearn.feature_extraction.text import CountVectorizer  # slow to import

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

    def table(self, X: Tabular, training: bool) -> Table:
        return Sparse.of(self._counter().transform(self.columns.texts(X)))
