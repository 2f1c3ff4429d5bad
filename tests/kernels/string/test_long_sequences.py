"""Sequences of any length, and sequences that repeat themselves, against the formulas."""

from dataclasses import replace

import naive_strings as naive
import numpy as np
import pytest
from kernel_cases import dense

from kernelweave import MKLClassifier
from kernelweave.common.core import _core
from kernelweave.kernels import (
    CompiledKernels,
    LocalityImproved,
    NGram,
    Spectrum,
    WeightedDegree,
    WeightedDegreeShift,
)
from kernelweave.sequences import as_sequences
from kernelweave.sequences.alphabets import DNA
from kernelweave.sequences.weight_stores import WeightStore

LENGTHS = [63, 64, 65, 256, 257, 4096, 4097, 10_000, 100_000]
LETTERS = {"dna": "ACGTN", "protein": "ACDEFGHIKLMNPQRSTVWYX"}


def relatives(rng, length, n, alphabet="dna"):
    """Texts that share long stretches with the first one, with a few unknown letters."""
    letters = list(LETTERS[alphabet])
    drawn = np.tile(rng.choice(letters[:-1], size=length), (n, 1))
    changed = rng.random((n, length)) < np.linspace(0.05, 0.6, n)[:, None]
    drawn[changed] = rng.choice(letters, size=changed.sum())
    return ["".join(row) for row in drawn]


def pairwise(function, X, *args):
    return np.array([[function(x, y, *args) for y in X] for x in X])


@pytest.mark.parametrize("length", LENGTHS)
def test_long_sequences_equal_the_formula(length, level, rng):
    X, kernel = relatives(rng, length, 2), WeightedDegree(4)
    expected = pairwise(naive.weighted_degree, X, kernel.match_weights)
    np.testing.assert_allclose(kernel(X), expected, rtol=1e-12)
    np.testing.assert_allclose(kernel.diagonal(X), np.diag(expected), rtol=1e-12)


@pytest.mark.parametrize("length", [64, 4096, 4097, 10_000])
def test_long_proteins_equal_the_formula(length, level, rng):
    X = relatives(rng, length, 3, "protein")
    kernel = WeightedDegree(3, alphabet="protein")
    letters = LETTERS["protein"][:-1]
    expected = pairwise(naive.weighted_degree, X, kernel.match_weights, letters)
    np.testing.assert_allclose(kernel(X), expected, rtol=1e-12)


@pytest.mark.parametrize("length", [64, 4096, 4097, 10_000])
def test_shifts_of_long_sequences_equal_the_formula(length, level, rng):
    X = relatives(rng, length, 2)
    for shift in (2, rng.integers(0, 4, length).tolist()):
        kernel = WeightedDegreeShift(3, shift)
        shifts = [shift] * length if isinstance(shift, int) else shift
        expected = pairwise(naive.weighted_degree_shift, X, kernel.match_weights, shifts)
        np.testing.assert_allclose(kernel(X), expected, rtol=1e-12)
        np.testing.assert_allclose(kernel.diagonal(X), np.diag(expected), rtol=1e-12)


def test_shifts_in_several_blocks_equal_the_formula(level, rng):
    X = relatives(rng, 4097, 2)
    kernel = WeightedDegreeShift(1, 600)  # shifted rows take more memory than the core has at once
    x, y = (np.array(list(text)) for text in X)
    value = np.sum((x == y) & (x != "N"), dtype=float)
    for s in range(1, 601):
        ahead, behind = (x[s:] == y[:-s]) & (x[s:] != "N"), (x[:-s] == y[s:]) & (y[s:] != "N")
        value += (ahead.sum() + behind.sum()) / (2 * (s + 1))
    np.testing.assert_allclose(kernel(X)[0, 1], value, rtol=1e-12)


@pytest.mark.parametrize("length", [4096, 4097])
def test_members_of_families_equal_the_formula_and_sum_to_the_kernel(length, level, rng):
    X, weights = relatives(rng, length, 2), (3.0, 2.0, 0.5)
    degrees = WeightedDegree(3, weights=weights, split="degree")(X)
    expected = [w * pairwise(naive.degree_part, X, k) for k, w in enumerate(weights, 1)]
    np.testing.assert_allclose(degrees, expected, rtol=1e-12)
    positions = WeightedDegree(3, weights=weights, split="position")(X)
    for i in (0, 63, 64, 4000, length - 2, length - 1):
        expected = pairwise(naive.position_part, X, weights, i)
        np.testing.assert_allclose(positions[i], expected, rtol=1e-12)
    np.testing.assert_allclose(positions.sum(axis=0), degrees.sum(axis=0), rtol=1e-12)


@pytest.mark.parametrize("length", [4097, 10_000])
@pytest.mark.parametrize(
    "kernel",
    [
        WeightedDegree(20),
        WeightedDegree(30, split="degree"),
        WeightedDegreeShift(4, 2),
        WeightedDegree(5, alphabet="protein"),
    ],
    ids=lambda kernel: repr(kernel)[:40],
)
def test_sums_by_weight_stores_equal_kernel_sums(kernel, length, level, rng):
    alphabet = "dna" if kernel.alphabet == DNA else "protein"
    X = as_sequences(relatives(rng, length, 6, alphabet), alphabet)
    delta = rng.normal(size=6)
    K = kernel(X)
    if kernel.split is None:
        store = WeightStore(kernel.resolve(X))
        store.add(X, delta)
        np.testing.assert_allclose(store.lookup(X), delta @ K, rtol=1e-9)
    compiled = CompiledKernels((replace(kernel, store="trie").resolve(X),))
    engine = _core.Engine(compiled.program, compiled.training(X).side, 0, 2)
    engine.add(np.arange(6), delta)
    np.testing.assert_allclose(engine.outputs, np.atleast_2d(delta @ K), rtol=1e-9)


def test_products_of_long_sequences_equal_those_with_the_matrix(rng):
    X = as_sequences(relatives(rng, 10_000, 20))
    v = rng.normal(size=20)
    kernel = WeightedDegree(12)
    np.testing.assert_allclose(dense(kernel, X).matvec(v, np.ones(1)), kernel(X) @ v, rtol=1e-9)


def test_fits_of_long_sequences_are_certified(rng):
    X = relatives(rng, 4097, 30)
    y = np.arange(30) < 15
    for kernel in (
        WeightedDegree(20),
        WeightedDegreeShift(3, 2),
        WeightedDegree(20, split="degree"),
    ):
        model = MKLClassifier(kernel, C=10.0).fit(X, y)
        assert model.duality_gap_ <= 1e-3
        assert model.score(X, y) > 0.9


@pytest.mark.parametrize("k", [3, 8, 20])
def test_repeats_are_counted(k, rng):
    """Counts of repeated k-mers multiply; every pair of them one by one would take hours."""
    n, unit = 1_000_000, "ACG"
    X = ["A" * n, "AC" * (n // 2), (unit * n)[:n], "A" * 50 + "C" * 50]
    counts = [naive.words(x[:200], k) for x in X[:3]]
    for x, found in zip(X, counts, strict=False):
        for word in found:  # in a periodic sequence all further words repeat with the period
            period = len(found)
            first = x.find(word)
            found[word] = (n - k - first) // period + 1
    counts.append(naive.words(X[3], k))
    expected = [[sum(c * v[u] for u, c in w.items()) for v in counts] for w in counts]
    for both in (Spectrum(k), Spectrum(k, store="rows")):
        np.testing.assert_array_equal(both(X), expected)
        np.testing.assert_array_equal(both.diagonal(X), np.diag(expected))


@pytest.mark.parametrize("store", ["table", "sorted", "hash", "suffix"])
def test_stores_of_repeats_equal_sums_row_by_row(store):
    n = 300_000
    X = ["A" * n, "AC" * (n // 2), "CA" * 100]
    kernel = Spectrum(8, store=store)
    found = WeightStore(kernel)
    found.add(X, [1.0, -0.5, 2.0])
    expected = np.array([1.0, -0.5, 2.0]) @ Spectrum(8, store="rows")(X)
    np.testing.assert_allclose(found.lookup(X), expected, rtol=1e-12)


@pytest.mark.parametrize(
    "kernel",
    [
        WeightedDegree(20),
        WeightedDegreeShift(5, 3),
        LocalityImproved(),
        NGram(5),
        Spectrum(12, both_strands=True),
    ],
    ids=lambda kernel: repr(kernel)[:30],
)
def test_values_of_repeats_are_linear_in_their_length(kernel):
    """The values of sequences that repeat one letter grow with their length as they should."""
    short, middle, long = (kernel(["A" * n])[0, 0] for n in (100, 200, 100_000))
    if isinstance(kernel, NGram | Spectrum):
        short, middle, long = np.sqrt([short, middle, long])
    slope = (middle - short) / 100
    np.testing.assert_allclose(long, short + slope * (100_000 - 100), rtol=1e-9)


def test_tables_of_very_long_shifts_are_refused():
    """Their size is the product of length, degree and shift."""
    X = ["AC" * 10_000] * 2
    kernel = WeightedDegreeShift(20, 20_000, position_weights=np.ones(20_000))
    with pytest.raises(ValueError, match="need tables of more than 4 GB"):
        kernel(X)
