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
def test_outputs_and_squared_block_norms_are_those_of_matrices(kernels, matrices_of, rng):
    X, codes = rng.normal(size=(60, 3)), rng.integers(0, 4, 60)
    engine = ClassPairsEngine(training_set(kernels, X), codes, 4)
    engine.move_to(np.where(rng.random(engine.n) < 0.5, 0.0, rng.normal(size=engine.n)))
    matrices, theta = matrices_of(X), np.array([0.3, 0.7])
    outputs, s = np.zeros(engine.n), np.zeros(2)
    for rows, part in zip(engine.rows, engine.slices, strict=True):
        g = matrices[:, rows][:, :, rows] @ engine.alpha[part]
        outputs[part], s = theta @ g, s + g @ engine.alpha[part]
    np.testing.assert_allclose(engine.combined(theta), outputs, rtol=0, atol=1e-10)
    np.testing.assert_allclose(engine.quadratic(), s, rtol=1e-10)
