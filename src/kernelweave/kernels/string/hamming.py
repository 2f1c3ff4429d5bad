"""Functions of the number of mismatches between words, and their eigenvalues.

A function h of the number of mismatches m of two words of l letters defines a matrix indexed by all
b^l words, where b is the size of the alphabet. It is a sum of Kronecker products of identity
matrices and matrices of ones, one factor for each position. All such matrices therefore have the
same eigenvectors: products of functions that have mean 0 in the letter at some w positions and are
constant at the others. The eigenvalue depends on w only,

    lambda(w) = sum_m h(m) K_m(w),        h(m) = b^-l sum_w lambda(w) K_w(m),

with the polynomials K of Krawtchouk (1929). The kernel is positive semidefinite if no eigenvalue is
negative. Gapped k-mer and mismatch kernels are of this form; see `docs/gapped-kmers.md`.

Values are exact fractions, because the alternating sums cancel.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from functools import cache, lru_cache
from math import comb

Values = tuple[Fraction, ...]  # l + 1 numbers: h(0), ..., h(l) or lambda(0), ..., lambda(l)


@cache
def krawtchouk(length: int, letters: int) -> tuple[tuple[int, ...], ...]:
    """Return the Krawtchouk polynomials K_w(m) in rows w = 0, ..., l and columns m = 0, ..., l."""

    def value(w: int, m: int) -> int:
        terms = (
            (-1) ** i * (letters - 1) ** (w - i) * comb(m, i) * comb(length - m, w - i)
            for i in range(w + 1)
        )
        return sum(terms)

    return tuple(tuple(value(w, m) for m in range(length + 1)) for w in range(length + 1))


def spectrum(values: Sequence[Fraction], letters: int) -> Values:
    """Return the eigenvalues lambda(w) of a function h(m) of the number of mismatches.

    Parameters
    ----------
    values : sequence of l + 1 fractions
        h(0), ..., h(l).
    letters : int
        Size of the alphabet.

    Returns
    -------
    tuple of l + 1 fractions
    """
    return _spectrum(tuple(values), letters)


@lru_cache(maxsize=1024)
def _spectrum(values: Values, letters: int) -> Values:
    table = krawtchouk(len(values) - 1, letters)
    return tuple(_dot(values, column) for column in zip(*table, strict=True))


def from_spectrum(eigenvalues: Sequence[Fraction], letters: int) -> Values:
    """Return the function h(m) of the number of mismatches with given eigenvalues lambda(w)."""
    words = letters ** (len(eigenvalues) - 1)
    return tuple(value / words for value in spectrum(eigenvalues, letters))


def count_values(length: int, k: int, letters: int) -> Values:
    """Return the number of gapped k-mers (k of the l positions) that two words share.

    There is one value for each number of mismatches of the words, 0, ..., l.
    """
    return tuple(Fraction(comb(length - m, k)) for m in range(length + 1))


def full_values(length: int, k: int, letters: int) -> Values:
    """Return the filter that estimates word counts from gapped k-mers (Ghandi et al., 2014).

    The minimum-norm estimate that agrees with all counts of gapped k-mers is the projection of the
    word counts on the eigenvectors with w <= k. A projection is idempotent, so the filter is also
    the function h of the kernel that is the dot product of the estimated counts.
    """
    projection = tuple(Fraction(int(w <= k)) for w in range(length + 1))
    return from_spectrum(projection, letters)


def truncated_values(length: int, k: int, letters: int) -> Values:
    """Return h of the dot product of word counts estimated by the filter `full_values`.

    The filter is set to 0 from the first number of mismatches on where it is not positive.
    """
    weights = full_values(length, k, letters)
    end = next((m for m, weight in enumerate(weights) if weight <= 0), length + 1)
    return _twice([*weights[:end], *[Fraction(0)] * (length + 1 - end)], letters)


def mismatch_values(length: int, most: int, letters: int) -> Values:
    """Return the number of words that are within `most` mismatches of both of two given words.

    There is one value for each number of mismatches of the given words, 0, ..., l.
    """
    return _twice([Fraction(int(m <= most)) for m in range(length + 1)], letters)


FILTERS: dict[str, Callable[[int, int, int], Values]] = {
    "truncated": truncated_values,
    "full": full_values,
    "count": count_values,
}


def cut(values: Values, most: int | None) -> Values:
    """Return the values h(0), ..., h(l), set to 0 above `most` mismatches."""
    if most is None:
        return values
    return tuple(value if m <= most else Fraction(0) for m, value in enumerate(values))


def _twice(weights: Sequence[Fraction], letters: int) -> Values:
    """Return h of the dot product of filtered word counts.

    `weights` are the values of the filter for 0, ..., l mismatches. The counts of both sequences
    are filtered, so that each eigenvalue of the filter is squared.
    """
    return from_spectrum([value**2 for value in spectrum(weights, letters)], letters)


def _dot(values: Sequence[Fraction], factors: Sequence[int]) -> Fraction:
    return sum((v * f for v, f in zip(values, factors, strict=True)), Fraction(0))
