"""Functions of the mismatches and their spectra against sums over all words."""

from fractions import Fraction
from itertools import combinations, product
from math import comb

import naive_strings as naive
import numpy as np
import pytest

from kernelweave.kernels.string import hamming

SIZES = [(1, 1, 2), (3, 2, 2), (4, 2, 3), (3, 2, 4), (3, 1, 5), (5, 2, 2)]  # length, k, letters


def all_words(length, letters):
    return list(product(range(letters), repeat=length))


def operator(values, length, letters):
    words = all_words(length, letters)
    return np.array([[float(values[naive.mismatches(u, v)]) for v in words] for u in words])


def gapped_counts(length, k, letters):
    """A row for each gapped k-mer, a column for each word: whether the word has it."""
    words = all_words(length, letters)
    return np.array(
        [
            [all(word[p] == a for p, a in zip(places, read, strict=True)) for word in words]
            for places in combinations(range(length), k)
            for read in product(range(letters), repeat=k)
        ],
        dtype=float,
    )


@pytest.mark.parametrize(("length", "k", "letters"), SIZES)
def test_the_spectrum_holds_the_eigenvalues(length, k, letters, rng):
    values = [Fraction(int(v)) for v in rng.integers(-5, 6, length + 1)]
    eigenvalues = [float(v) for v in hamming.spectrum(values, letters)]
    often = [comb(length, w) * (letters - 1) ** w for w in range(length + 1)]
    found = np.linalg.eigvalsh(operator(values, length, letters))
    np.testing.assert_allclose(found, np.sort(np.repeat(eigenvalues, often)), atol=1e-9)
    assert hamming.from_spectrum(hamming.spectrum(values, letters), letters) == tuple(values)


@pytest.mark.parametrize(("length", "k", "letters"), SIZES)
def test_count_is_the_number_of_gapped_kmers_in_common(length, k, letters):
    features = gapped_counts(length, k, letters)
    found = operator(hamming.count_values(length, k, letters), length, letters)
    np.testing.assert_allclose(found, features.T @ features, atol=1e-12)


@pytest.mark.parametrize(("length", "k", "letters"), SIZES)
def test_full_is_the_estimate_of_least_norm(length, k, letters):
    features = gapped_counts(length, k, letters)
    estimate = np.linalg.pinv(features) @ features
    found = operator(hamming.full_values(length, k, letters), length, letters)
    np.testing.assert_allclose(found, estimate, atol=1e-10)
    np.testing.assert_allclose(found, estimate.T @ estimate, atol=1e-10)


@pytest.mark.parametrize(("length", "k", "letters"), SIZES)
def test_truncated_is_the_positive_beginning_of_the_estimate_applied_twice(length, k, letters):
    weights = [float(v) for v in hamming.full_values(length, k, letters)]
    end = next((m for m, weight in enumerate(weights) if weight <= 0), length + 1)
    cut = operator([*weights[:end], *[0] * (length + 1 - end)], length, letters)
    found = operator(hamming.truncated_values(length, k, letters), length, letters)
    np.testing.assert_allclose(found, cut.T @ cut, atol=1e-12)


@pytest.mark.parametrize(("length", "most", "letters"), SIZES)
def test_mismatch_counts_words_near_both(length, most, letters):
    words = all_words(length, letters)
    near = np.array([[naive.mismatches(u, v) <= most for v in words] for u in words], dtype=float)
    found = operator(hamming.mismatch_values(length, most, letters), length, letters)
    np.testing.assert_array_equal(found, near @ near)


def test_values_of_lsgkm():
    """C(l - m, k), and weights that LS-GKM's recursion gives for l = 6, k = 4."""
    assert hamming.count_values(11, 7, 4)[:5] == (330, 120, 36, 8, 1)
    # Mohammad-Noori, Ghateh and Beer (2021): the projection in closed form.
    for length, k in [(6, 4), (11, 7)]:
        closed = [Fraction(row) for row in hamming.krawtchouk(length - 1, 4)[k][:length]]
        full = hamming.full_values(length, k, 4)
        assert [4**length * value for value in full[1:]] == closed


@pytest.mark.parametrize("length", range(2, 13))
def test_filter_values_vanish_beyond_l_minus_k(length):
    """Filters that are not cut have no negative eigenvalue; "count" ends at l - k."""
    for k in range(1, length + 1):
        for values in hamming.FILTERS.values():
            assert min(hamming.spectrum(values(length, k, 4), 4)) >= 0
        assert not any(hamming.count_values(length, k, 4)[length - k + 1 :])
    assert not any(hamming.truncated_values(11, 7, 4)[5:])
