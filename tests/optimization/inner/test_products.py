"""Products with the kernel matrix: all ways agree with the matrix of the definition."""

import numpy as np
import pytest
from kernel_cases import training_set

from kernelweave.engines import DenseEngine, FamilyEngine, OutputsEngine
from kernelweave.kernels import RBF, Linear
from kernelweave.optimization.inner.products import NystroemMatrix, kernel_product

N = 160


@pytest.fixture
def X(rng):
    return rng.normal(size=(N, 3))


@pytest.mark.parametrize("kind", [DenseEngine, FamilyEngine])
@pytest.mark.parametrize("shape", [(N,), (N, 4)])
def test_matrix_in_memory_is_the_weighted_sum(kind, shape, X, rng):
    kernel, theta, v = RBF([0.1, 0.5, 2.0]), rng.random(3), rng.normal(size=shape)
    engine = kind.of(training_set(kernel, X))
    expected = np.tensordot(theta, kernel(X), 1) @ v
    np.testing.assert_allclose(kernel_product("matrix", engine, theta)(v), expected, atol=1e-9)
    matrix = engine.kernel_matrix
    assert matrix.under(theta) is matrix.under(theta.copy())
    other = np.tensordot(2 * theta, kernel(X), 1)
    np.testing.assert_allclose(matrix.under(2 * theta), other, atol=1e-9)


@pytest.mark.parametrize("shape", [(N,), (N, 4)])
def test_products_of_linear_kernels_need_no_matrix(shape, X, rng):
    engine, v = DenseEngine.of(training_set(Linear(), X)), rng.normal(size=shape)
    found = kernel_product("engine", engine, np.array([2.0]))(v)
    np.testing.assert_allclose(found, 2 * X @ (X.T @ v), atol=1e-10)


@pytest.mark.parametrize("kind", [DenseEngine, FamilyEngine])
def test_nystroem_matrix_is_exact_on_its_sample_and_keeps_alpha(kind, X, rng):
    """Smooth kernels on three columns have low rank: a sample of 20 is nearly enough."""
    kernel, theta = RBF([0.01, 0.02]), np.array([0.3, 0.7])
    engine, alpha = kind.of(training_set(kernel, X)), rng.normal(size=N)
    engine.move_to(alpha)
    outputs = engine.combined(theta).copy()
    approximate = NystroemMatrix.of(engine, theta)
    np.testing.assert_array_equal(engine.alpha, alpha)
    np.testing.assert_allclose(engine.combined(theta), outputs, atol=1e-12)
    K = np.tensordot(theta, kernel(X), 1)
    found = approximate(np.eye(N))
    np.testing.assert_allclose(found, found.T, atol=1e-5)
    np.testing.assert_allclose(found, K, atol=2e-2)
    sample = np.linspace(0, N - 1, N // 8).round().astype(int)
    inside = found[np.ix_(sample, sample)] - approximate.sigma * np.eye(len(sample))
    np.testing.assert_allclose(inside, K[np.ix_(sample, sample)], atol=1e-4)


def test_nystroem_matrix_has_the_diagonal_of_narrow_kernels(X):
    engine = FamilyEngine.of(training_set(RBF([1000.0, 3000.0]), X))
    approximate = NystroemMatrix.of(engine, np.array([0.5, 0.5]))
    assert approximate.sigma == pytest.approx(1.0, abs=0.05)


@pytest.mark.parametrize("products", ["matrix", "engine", "sample"])
def test_products_of_several_outputs_are_those_of_each(products, X, rng):
    kernel = Linear() if products == "engine" else RBF([0.01, 0.02])
    theta = np.ones(kernel.n_kernels)
    each = DenseEngine.of(training_set(kernel, X))
    one, three = (kernel_product(products, e, theta) for e in (each, OutputsEngine(each, 3)))
    v = rng.normal(size=(3 * N, 2))
    expected = np.concatenate([one(part) for part in np.split(v, 3)])
    np.testing.assert_allclose(three(v), expected, atol=1e-4)
    np.testing.assert_allclose(three(v[:, 0]), expected[:, 0], atol=1e-4)
