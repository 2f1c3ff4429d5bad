"""Sequences from lists, arrays and columns of strings."""

from __future__ import annotations

from typing import Any

from ..common.core import _core
from .alphabets import DNA, Alphabet, as_alphabet
from .packed import Sequences

_POLICIES = ("mismatch", "error")


def as_sequences(values: object, alphabet: object = DNA, *, unknown: str = "mismatch") -> Sequences:
    """Return packed sequences from a list, an array, or a column of strings.

    Parameters
    ----------
    values : list, 1-D array, pandas or polars Series of n strings (or bytes), or Sequences
    alphabet : Alphabet, "dna", "rna", "protein", "bytes", or a string of letters
        The letters of the sequences.
    unknown : {"mismatch", "error"}
        Whether letters outside the alphabet, such as N, match nothing or are an error.

    Returns
    -------
    Sequences

    Raises
    ------
    TypeError, ValueError
        If values are not strings, or contain letters that are not accepted.

    Examples
    --------
    >>> from kernelweave.sequences import as_sequences
    >>> as_sequences(["GATTACA", "GATNACA"])[1]
    'GATNACA'
    >>> as_sequences(["MKV", "MRV"], "protein")[0]
    'MKV'
    """
    alphabet = as_alphabet(alphabet)
    if isinstance(values, Sequences):
        return _checked(values, alphabet, unknown)
    refuse = refuses(unknown)
    try:
        parts = _core.pack_strings(_listed(values), alphabet.codes, alphabet.planes, refuse)
    except (TypeError, ValueError) as error:
        kind = TypeError if isinstance(error, TypeError) else ValueError
        raise kind(f"sequences ({alphabet.name}): {error}") from None
    return Sequences(alphabet, **parts)


def _listed(values: Any) -> list[object]:
    if isinstance(values, str | bytes):
        raise TypeError(
            "sequences must be a list or a column of strings, got one string; pass [text]"
        )
    if len(getattr(values, "shape", (0,))) != 1:
        raise ValueError(
            f"sequences must be one column of strings, got an array of shape {values.shape}"
        )
    for name in ("to_list", "tolist"):
        if hasattr(values, name):
            return getattr(values, name)()
    return list(values)


def _checked(sequences: Sequences, alphabet: Alphabet, unknown: str) -> Sequences:
    if sequences.alphabet != alphabet:
        raise ValueError(
            f"alphabet must be {sequences.alphabet.name!r}, that of the sequences, got "
            f"{alphabet.name!r}; read the texts again for another alphabet"
        )
    if refuses(unknown) and sequences.has_unknown:
        raise ValueError(
            f"sequences ({alphabet.name}): there are letters outside the alphabet; with "
            "unknown='mismatch' they match nothing"
        )
    return sequences


def refuses(unknown: str) -> bool:
    """Return whether the option `unknown` makes unknown letters an error."""
    if unknown not in _POLICIES:
        raise ValueError(f"unknown must be one of {list(_POLICIES)}, got {unknown!r}")
    return unknown == "error"
