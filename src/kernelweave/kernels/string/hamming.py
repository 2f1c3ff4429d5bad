"""Functions of the number of mismatches between words, and their spectra.

A function h of the mismatches m of two words of l letters is an operator on tables of all b^l
words. It is a sum of products of I and of the matrix of ones, one for each place of a word, so all
such operators have the same eigenvectors: products of functions that have mean zero in the letter
at some w places and are constant at the others. The eigenvalue depends on w alone,

    lambda(w) = sum_m h(m) K_m(w),        h(m) = b^-l sum_w lambda(w) K_w(m),

with the polynomials K of Krawtchouk (1929). The kernel is positive semidefinite where no eigenvalue
is negative. Gapped k-mers and mismatch kernels are such functions; see `docs/gapped-kmers.md`.

All is computed with fractions: sums over many words cancel.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from functools import cache, lru_cache
from math import comb

Values = tuple[Fraction, ...]  # h by m, or eigenvalues by w: l + 1 numbers


@cache
def krawtchouk(length: int, letters: int) -> tuple[tuple[int, ...], ...]:
    """Return K_w(m), rows w = 0..l, columns m = 0..l."""

    def value(w: int, m: int) -> int:
        terms = (
            (-1) ** i * (letters - 1) ** (w - i) * comb(m, i) * comb(length - m, w - i)
            for i in range(w + 1)
        )
        return sum(terms)

    return tuple(tuple(value(w, m) for m in range(length + 1)) for w in range(length + 1))


def spectrum(values: Sequence[Fraction], letters: int) -> Values:
    """Return the eigenvalues, by w, of a function of the mismatches."""
    return _spectrum(tuple(values), letters)


@lru_cache(maxsize=1024)
def _spectrum(values: Values, letters: int) -> Values:
    table = krawtchouk(len(values) - 1, letters)
    return tuple(_dot(values, column) for column in zip(*table, strict=True))


def from_spectrum(eigenvalues: Sequence[Fraction], letters: int) -> Values:
    """Return the function of the mismatches with given eigenvalues."""
    words = letters ** (len(eigenvalues) - 1)
    return tuple(value / words for value in spectrum(eigenvalues, letters))


def count_values(length: int, k: int, letters: int) -> Values:
    """Return the number of gapped k-mers in which two words agree, by their mismatches.

    A gapped k-mer reads k of the places of a word.
    """
    return tuple(Fraction(comb(length - m, k)) for m in range(length + 1))


def full_values(length: int, k: int, letters: int) -> Values:
    """Return the filter that estimates words from gapped k-mers (Ghandi et al., 2014).

    The estimate of least norm that explains all counts of gapped k-mers is the projection to
    w <= k. A projection applied twice is itself, so this is also the kernel of estimated words.
    """
    projection = tuple(Fraction(int(w <= k)) for w in range(length + 1))
    return from_spectrum(projection, letters)


def truncated_values(length: int, k: int, letters: int) -> Values:
    """Return the kernel of words estimated by a filter that ends where it stops being positive."""
    weights = full_values(length, k, letters)
    end = next((m for m, weight in enumerate(weights) if weight <= 0), length + 1)
    return _twice([*weights[:end], *[Fraction(0)] * (length + 1 - end)], letters)


def mismatch_values(length: int, most: int, letters: int) -> Values:
    """Return how many words are within `most` mismatches of two words, by their mismatches."""
    return _twice([Fraction(int(m <= most)) for m in range(length + 1)], letters)


FILTERS: dict[str, Callable[[int, int, int], Values]] = {
    "truncated": truncated_values,
    "full": full_values,
    "count": count_values,
}


def cut(values: Values, most: int | None) -> Values:
    """Return a function of the mismatches that is 0 beyond `most` of them."""
    if most is None:
        return values
    return tuple(value if m <= most else Fraction(0) for m, value in enumerate(values))


def _twice(weights: Sequence[Fraction], letters: int) -> Values:
    """Return the kernel of words that a filter has been applied to."""
    return from_spectrum([value**2 for value in spectrum(weights, letters)], letters)


def _dot(values: Sequence[Fraction], factors: Sequence[int]) -> Fraction:
    return sum((v * f for v, f in zip(values, factors, strict=True)), Fraction(0))
