"""What a model on sequences says of the windows that it scores."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ..inspection.words import output_of
from ..kernels.string.string_columns import Strings
from ..sequences import Sequences
from ..sequences.alphabets import DNA, Alphabet


def support_sequences(model: Any) -> Sequences:
    """Return the support examples of a fitted estimator.

    Raises
    ------
    ValueError : where they are no sequences.
    """
    if (found := _sequences(model)) is None:
        raise ValueError("model: this needs a model on sequences")
    return found


def on_sequences(model: Any) -> bool:
    """Return whether a model compares sequences."""
    return _sequences(model) is not None


def alphabet_of(model: Any) -> Alphabet:
    """Return the alphabet of a model, DNA where it has none."""
    found = _sequences(model)
    return DNA if found is None else found.alphabet


def _sequences(model: Any) -> Sequences | None:
    return sequences_in(model._model.examples)


def sequences_in(examples: Any) -> Sequences | None:
    """Return the first sequences among examples as kernels read them, None where there are none."""
    for table in examples.tables:
        found = getattr(table, "sequences", None)
        if isinstance(found, Sequences):
            return found
    return None


def decision_of(model: Any, target: Any) -> Callable[[Any], np.ndarray]:
    """Return what gives n examples the decision values of a class, or what a regression predicts.

    Raises
    ------
    ValueError : where there are several classes and `target` is none of them.
    """
    output = output_of(model, target)
    decide = getattr(model, "decision_function", None) or model.predict
    return lambda X: np.reshape(decide(X), (len(X), -1))[:, output]


def window_length(model: Any, length: int | None) -> int:
    """Return the letters of a window: what was asked for, or what the kernels say."""
    known = {view.length for view in _aligned_views(model)}
    if length is None and len(known) == 1:
        return int(known.pop())
    if length is None:
        raise ValueError("length: say how many letters a window has; the kernels take any number")
    if known and known != {length}:
        raise ValueError(f"length: the model is for windows of {known.pop()} letters, got {length}")
    return length


def anchor_offset(model: Any, anchor: str, offset: int | None, length: int) -> int:
    """Return where in a window the anchor is.

    Raises
    ------
    ValueError : where it does not fit, or where the support examples do not tell.
    """
    if offset is not None:
        if not 0 <= offset <= length - len(anchor):
            raise ValueError(f"offset: {anchor!r} does not fit into {length} letters at {offset}")
        return offset
    support = support_sequences(model)
    if support.length != length:
        raise ValueError("offset: say where the anchor is; the support examples differ in length")
    texts = list(support)
    fits = [
        at
        for at in range(length - len(anchor) + 1)
        if all(text.startswith(anchor.upper(), at) for text in texts)
    ]
    if len(fits) != 1:
        raise ValueError(
            f"offset: say where {anchor!r} is; the support examples have it in {len(fits)} common "
            "places"
        )
    return fits[0]


def _aligned_views(model: Any) -> list[Strings]:
    """Return what those kernels look at that compare sequences of one length."""
    sources = model._model.compiled.listing.layout.sources
    return [view for _, view in sources if isinstance(view, Strings)]
