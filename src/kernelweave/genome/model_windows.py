"""Properties of a fitted sequence model that determine the windows of a genome to score."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np

from ..inspection.words import output_of
from ..kernels.compile.examples import Examples
from ..kernels.string.hamming_kernel import HammingQuantity
from ..kernels.string.string_columns import Strings
from ..sequences import Sequences
from ..sequences.alphabets import DNA, Alphabet

if TYPE_CHECKING:
    from ..estimators.fitted import FittedEstimator

SHOWN = 3  # number of kernels named in a message


def support_sequences(model: FittedEstimator) -> Sequences:
    """Return the support vectors of a fitted sequence model.

    Raises
    ------
    ValueError
        If the model was not trained on sequences.
    """
    if (found := _sequences(model)) is None:
        names = ", ".join(model.kernel_names_[:SHOWN])
        more = len(model.kernel_names_) - SHOWN
        raise ValueError(
            f"model: this needs a model trained on sequences, and its kernels are {names}"
            f"{f' and {more} more' if more > 0 else ''}; `kernelweave report` and "
            "`inspection.shapley` explain models of tables, `kernelweave predict` scores their rows"
        )
    return found


def on_sequences(model: FittedEstimator) -> bool:
    """Return whether a model was trained on sequences."""
    return _sequences(model) is not None


def alphabet_of(model: FittedEstimator) -> Alphabet:
    """Return the alphabet of a model; DNA if it was not trained on sequences."""
    found = _sequences(model)
    return DNA if found is None else found.alphabet


def _sequences(model: FittedEstimator) -> Sequences | None:
    return sequences_in(model._model.examples)


def sequences_in(examples: Examples) -> Sequences | None:
    """Return the first column of sequences among compiled examples, None if there is none."""
    for table in examples.tables:
        found = getattr(table, "sequences", None)
        if isinstance(found, Sequences):
            return found
    return None


def decision_of(model: FittedEstimator, target: object) -> Callable[[Sequences], np.ndarray]:
    """Return a function from n examples to their decision values for one class, shape (n,).

    `target` is the class, for models of three or more classes. For regressors the function returns
    predictions.

    Raises
    ------
    ValueError
        If the model has several classes and `target` is not one of them.
    """
    output = output_of(model, target)
    decide = getattr(model, "decision_function", None) or model.predict
    return lambda X: np.reshape(decide(X), (len(X), -1))[:, output]


def is_strand_symmetric(model: FittedEstimator, length: int) -> bool:
    """Return whether a window and its reverse complement always have the same score.

    This holds if every kernel counts words of both strands (``both_strands=True``) regardless of
    their position. Weights by position are symmetric if a window has an odd number of words.

    Parameters
    ----------
    model : fitted estimator
        A model trained on sequences.
    length : int
        Number of letters of a window.
    """
    for quantity, _ in model._model.compiled.listing.layout.sources:
        if not getattr(quantity, "both_strands", False):
            return False
        if isinstance(quantity, HammingQuantity) and quantity.centre is not None:
            n_words = length - quantity.length + 1
            if n_words % 2 == 0:
                return False
    return True


def window_length(model: FittedEstimator, length: int | None) -> int:
    """Return the number of letters of a window: `length`, or else that of the support vectors.

    Raises
    ------
    ValueError
        If `length` is None and the support vectors differ in length, or if the kernels require
        another length than `length`.
    """
    known = {view.length for view in _aligned_views(model)}
    if length is None:
        if (common := support_sequences(model).length) is not None:
            return common
        raise ValueError(
            "length must be the number of letters of a window (--length), since the support "
            "vectors of this model differ in length; got None"
        )
    if known and known != {length}:
        raise ValueError(
            f"length: the model was trained on windows of {known.pop()} letters, got {length}"
        )
    return length


def anchor_offset(model: FittedEstimator, anchor: str, offset: int | None, length: int) -> int:
    """Return the position in a window of letters, such as "AG", that scored windows must contain.

    It is `offset`. If `offset` is None, it is the only position at which all support vectors have
    these letters. `length` is the number of letters of a window.

    Raises
    ------
    ValueError
        If the anchor does not fit, or the support vectors do not determine its position.
    """
    if offset is not None:
        if not 0 <= offset <= length - len(anchor):
            raise ValueError(f"offset: {anchor!r} does not fit into {length} letters at {offset}")
        return offset
    support = support_sequences(model)
    if support.length != length:
        raise ValueError(
            "offset: give the position of the anchor (--offset); the support vectors differ in "
            "length"
        )
    texts = list(support)
    fits = [
        at
        for at in range(length - len(anchor) + 1)
        if all(text.startswith(anchor.upper(), at) for text in texts)
    ]
    if len(fits) != 1:
        raise ValueError(
            f"offset: give the position of {anchor!r} (--offset); the support vectors share it at "
            f"{len(fits)} positions"
        )
    return fits[0]


def _aligned_views(model: FittedEstimator) -> list[Strings]:
    """Return the views of kernels that require sequences of one length."""
    sources = model._model.compiled.listing.layout.sources
    return [view for _, view in sources if isinstance(view, Strings)]
