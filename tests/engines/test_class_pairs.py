"""The engine for pairs of classes, against kernel matrices."""

import numpy as np
import pytest
from kernel_cases import training_set
from sklearn.metrics.pairwise import laplacian_kernel, rbf_kernel

from kernelweave.engines.class_pairs import ClassPairsEngine
from kernelweave.kernels import RBF, Laplacian

PRODUCT = [RBF(0.1), RBF(0.2) * Laplacian(0.3)]


def matrices_of_family(X):
    return np.stack([rbf_kernel(X, gamma=0.1), rbf_kernel(X, gamma=1.0)])


def matrices_of_product(X):
    product = rbf_kernel(X, gamma=0.2) * laplacian_kernel(X, gamma=0.3)
    return np.stack([rbf_kernel(X, gamma=0.1), product])


@pytest.mark.parametrize(
    ("kernels", "matrices_of"),
    [([RBF([0.1, 1.0])], matrices_of_family), (PRODUCT, matrices_of_product)],
    ids=["a family", "a product"],
)
def test_operations_agree_with_kernel_matrices(kernels, matrices_of, rng):
    X, codes = rng.normal(size=(60, 3)), rng.integers(0, 4, 60)
    engine = ClassPairsEngine(training_set(kernels, X), codes, 4)
    engine.move_to(np.where(rng.random(engine.n) < 0.5, 0.0, rng.normal(size=engine.n)))
    matrices, theta = matrices_of(X), np.array([0.3, 0.7])
    K = np.zeros((2, engine.n, engine.n))  # blocks on the diagonal, one for each pair
    for rows, part in zip(engine.rows, engine.slices, strict=True):
        K[:, part, part] = matrices[:, rows][:, :, rows]
    outputs, idx = K @ engine.alpha, rng.permutation(engine.n)[:50]
    np.testing.assert_allclose(engine.combined(theta), theta @ outputs, rtol=0, atol=1e-10)
    np.testing.assert_allclose(engine.quadratic(), outputs @ engine.alpha, rtol=1e-10)
    np.testing.assert_allclose(engine.outputs(), outputs, rtol=0, atol=1e-10)
    np.testing.assert_allclose(engine.outputs([1]), outputs[1:], rtol=0, atol=1e-10)
    np.testing.assert_allclose(engine.outputs_at(idx), outputs[:, idx], rtol=0, atol=1e-10)
    inside = K[:, idx[:, None], idx]
    np.testing.assert_allclose(engine.blocks(idx), inside, rtol=0, atol=1e-10)
    for theta in (np.array([0.3, 0.7]), np.array([0.0, 2.0])):
        combined = np.tensordot(theta, inside, 1)
        np.testing.assert_allclose(engine.block(idx, theta), combined, rtol=0, atol=1e-10)
