"""Products with the matrix of a weighted degree kernel, against the matrix."""

import naive_strings as naive
import numpy as np
import pytest
from kernel_cases import dense, training_set

from kernelweave.engines import LinearEngine
from kernelweave.kernels import RBF, Spectrum, WeightedDegree, WeightedDegreeShift
from kernelweave.sequences import as_sequences


def relatives(rng, n, length, letters, changed=0.1):
    """Return texts with a few common ancestors, so that matches have all lengths."""
    drawn = rng.choice(list(letters), size=(3, length))[rng.integers(0, 3, n)]
    where = rng.random(drawn.shape) < changed
    drawn[where] = rng.choice(list(letters), size=where.sum())
    return ["".join(row) for row in drawn]


def assert_multiplies(kernel, X, rng, how=None, **resources):
    """Check that products by tries equal products with the kernel matrix."""
    engine = dense(kernel, X, how, **resources)
    v = rng.normal(size=len(X))
    blocks = dense(kernel, X, how).blocks(np.arange(len(X)))
    assert engine.costs.products.cheap
    np.testing.assert_allclose(engine.matvec(v, np.ones(1)), blocks[0] @ v, rtol=1e-10, atol=1e-10)


@pytest.mark.parametrize("letters", ["ACGT", "ACGTN"])
@pytest.mark.parametrize("length", [1, 3, 20, 70])
def test_products_by_tries_equal_the_formula(length, letters, rng):
    X = relatives(rng, 30, length, letters)
    weights = rng.random(8)
    K = np.array([[naive.weighted_degree(x, y, weights) for y in X] for x in X])
    v = rng.normal(size=30)
    engine = dense(WeightedDegree(8, weights=weights), as_sequences(X))
    np.testing.assert_allclose(engine.matvec(v, np.ones(1)), K @ v, rtol=1e-10, atol=1e-10)


@pytest.mark.parametrize("how", [None, "unit", "variance"])
@pytest.mark.parametrize("n_jobs", [1, 2])
def test_products_of_normalised_kernels_equal_those_with_the_matrix(how, n_jobs, rng):
    X = as_sequences(relatives(rng, 400, 141, "ACGTN"))
    assert_multiplies(WeightedDegree(20), X, rng, how, n_jobs=n_jobs)


@pytest.mark.parametrize("n", [1, 2, 3])
def test_products_are_exact_for_few_sequences(n, rng):
    assert_multiplies(WeightedDegree(5), as_sequences(relatives(rng, n, 12, "ACGT")), rng)


@pytest.mark.parametrize(
    ("kernel", "letters"),
    [
        (WeightedDegree(32), "ACGT"),
        (WeightedDegree(12, alphabet="protein"), "ACDEFGHIKLMNPQRSTVWYX"),
        (WeightedDegree(8, alphabet="bytes"), "ACgt 19+"),
    ],
)
def test_products_count_matches_as_long_as_a_machine_word(kernel, letters, rng):
    X = as_sequences(relatives(rng, 200, 60, letters, changed=0.02), kernel.alphabet)
    assert_multiplies(kernel, X, rng)


def test_products_are_exact_for_equal_sequences(rng):
    assert_multiplies(WeightedDegree(20), as_sequences(["ACGTTGCA" * 4] * 50), rng)
    assert_multiplies(WeightedDegree(20), as_sequences(["N" * 30] * 50), rng)


def test_products_of_sums_of_kernels_equal_those_with_the_matrix(rng):
    X = as_sequences(relatives(rng, 100, 50, "ACGT"))
    assert_multiplies(2.0 * WeightedDegree(8) + WeightedDegree(2), X, rng, "unit")


def test_products_are_exact_on_every_simd_level(level, rng):
    assert_multiplies(WeightedDegree(9), as_sequences(relatives(rng, 130, 77, "ACGT")), rng)


@pytest.mark.parametrize(
    "kernel",
    [
        WeightedDegree(33),
        WeightedDegree(8, split="degree"),
        WeightedDegree(8, split="position"),
        WeightedDegree(8, store="rows"),
        WeightedDegreeShift(8, 1),
        Spectrum(3),
        WeightedDegree(3) + Spectrum(3),
    ],
    ids=str,
)
def test_kernels_without_tries_have_no_cheap_products(kernel, rng):
    X = as_sequences(relatives(rng, 50, 40, "ACGT"))
    products = dense(kernel, X).costs.products
    assert products is None or not products.cheap


def test_vectors_and_tries_beyond_the_cache_have_no_cheap_products(rng):
    assert dense(RBF(1.0), rng.normal(size=(20, 2))).costs.products is None
    X = as_sequences(relatives(rng, 50, 40, "ACGT"))
    assert not dense(WeightedDegree(3), X, cache_mb=0.01).costs.products.cheap


def test_vectors_of_another_length_are_refused(rng):
    engine = dense(WeightedDegree(3), as_sequences(relatives(rng, 9, 20, "ACGT")))
    with pytest.raises(ValueError, match="one number per example"):
        engine.matvec(np.ones(8), np.ones(1))


FAMILIES = [
    WeightedDegree(6, split="degree"),
    WeightedDegree(6, split="position"),
    WeightedDegree(6, split="both"),
    WeightedDegree(6, split=[(20, 40), (3, 11)]),
    WeightedDegree(6, split="degree", position_weights=np.arange(40) % 7),
    [WeightedDegree(6, split="both"), WeightedDegree(3)],
]


@pytest.mark.parametrize("kernels", FAMILIES, ids=range(len(FAMILIES)))
@pytest.mark.parametrize(("letters", "how"), [("ACGT", "unit"), ("ACGTN", None)])
def test_products_of_families_equal_those_with_all_matrices(kernels, letters, how, rng):
    """Weighted sums, quadratic forms and single rows, against the matrices of all members."""
    X = as_sequences(relatives(rng, 90, 40, letters))
    engine = LinearEngine.of(training_set(kernels, X, how, n_jobs=2))
    K, v = engine.blocks(np.arange(90)), rng.normal(size=90)
    theta = rng.random(engine.n_kernels) * rng.choice([0, 1], engine.n_kernels)
    np.testing.assert_allclose(
        engine.matvec(v, theta), np.tensordot(theta, K, 1) @ v, rtol=1e-10, atol=1e-9
    )
    engine.move_to(v)
    np.testing.assert_allclose(
        engine.quadratic(), np.einsum("i,mij,j->m", v, K, v), rtol=1e-9, atol=1e-9
    )
    some = rng.permutation(90)[:13]
    np.testing.assert_allclose(engine.outputs_at(some), (K @ v)[:, some], rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(
        engine.block(some, theta), np.tensordot(theta, K[:, some[:, None], some], 1), atol=1e-10
    )


def test_without_memory_for_all_tries_those_of_support_vectors_suffice(rng):
    X = as_sequences(relatives(rng, 300, 40, "ACGT"))
    given = training_set(WeightedDegree(6, split="both"), X, cache_mb=0.05)
    engine, ample = LinearEngine.of(given), dense(FAMILIES[2], X)
    alpha = np.zeros(300)
    alpha[::40] = rng.normal(size=8)
    engine.move_to(alpha)
    ample.move_to(alpha)
    assert not engine.costs.products.cheap
    np.testing.assert_allclose(engine.quadratic(), ample.quadratic(), rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(engine.outputs(), ample.outputs(), rtol=1e-9, atol=1e-9)


ROOMS = [0.0, 0.01, 0.05, 0.08]  # MB, of about 0.1 that all tries take


@pytest.mark.parametrize("letters", ["ACGT", "ACGTN"])
@pytest.mark.parametrize("cache_mb", ROOMS)
def test_products_are_equal_if_only_some_tries_are_cached(cache_mb, letters, rng):
    """Products are equal bit for bit if some tries do not fit in the cache and are rebuilt."""
    X, v = as_sequences(relatives(rng, 300, 40, letters)), rng.normal(size=300)
    engine, ample = (dense(WeightedDegree(6), X, cache_mb=room) for room in (cache_mb, 1.0))
    assert not engine.costs.products.cheap
    assert ample.costs.products.cheap
    one = np.ones(1)
    np.testing.assert_array_equal(engine.matvec(v, one), ample.matvec(v, one))


@pytest.mark.parametrize("kernels", FAMILIES, ids=range(len(FAMILIES)))
@pytest.mark.parametrize("cache_mb", ROOMS)
def test_products_of_families_are_equal_if_only_some_tries_are_cached(cache_mb, kernels, rng):
    X, v = as_sequences(relatives(rng, 300, 40, "ACGT")), rng.normal(size=300)
    rooms = cache_mb, 1.0
    engine, ample = (
        LinearEngine.of(training_set(kernels, X, cache_mb=room, n_jobs=2)) for room in rooms
    )
    assert not engine.costs.products.cheap
    assert ample.costs.products.cheap
    theta = rng.random(engine.n_kernels)
    np.testing.assert_array_equal(engine.matvec(v, theta), ample.matvec(v, theta))
    engine.move_to(v)
    ample.move_to(v)
    np.testing.assert_array_equal(engine.quadratic(), ample.quadratic())
    some = rng.permutation(300)[:13]
    np.testing.assert_array_equal(engine.outputs_at(some), ample.outputs_at(some))
