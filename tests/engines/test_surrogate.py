"""A surrogate of a matrix from products with other kernels is exact on recorded products."""

import numpy as np
import pytest

from kernelweave.engines.recorded_products import LowRankModel, RecordedProducts
from kernelweave.engines.surrogate import SurrogateMatrix

N = 30
WEIGHTS = np.array([0.5, 0.2, 0.8])


class Quick:
    """Two kernels with cheap products."""

    n_kernels = 2

    def __init__(self, matrices):
        self.matrices = matrices

    def matvec(self, v, theta, *, each=False):
        every = self.matrices @ v
        return every[theta != 0] if each else theta @ every


@pytest.fixture
def matrices(rng):
    factors = rng.normal(size=(3, N, 6))
    return factors @ factors.transpose(0, 2, 1)


def dense(matrix):
    return np.array([matrix @ unit for unit in np.eye(N)])


def seen_with(quick, matrices, moves):
    seen = RecordedProducts(quick)
    for move in moves:
        seen.add(move, matrices @ move, WEIGHTS)
    return seen


@pytest.mark.parametrize("count", [1, 4, 12])
def test_recorded_moves_are_multiplied_as_by_the_matrix(count, matrices, rng):
    moves = rng.normal(size=(count, N))
    own = 0.3 * np.eye(N)
    every = matrices + own
    model = seen_with(Quick(matrices[:2]), every, moves).model(WEIGHTS)
    K, found = np.tensordot(WEIGHTS, every, 1), dense(model)
    np.testing.assert_allclose(found @ moves.T, K @ moves.T, atol=1e-8)
    np.testing.assert_allclose(found, found.T, atol=1e-8)
    assert np.linalg.eigvalsh(found)[0] >= -1e-9
    assert (model.factors >= 0).all()
    assert model.sigma >= 0


def test_a_sum_of_quick_kernels_is_known_at_once(matrices, rng):
    sums = np.array([matrices[0], matrices[1], matrices[0] + 2 * matrices[1] + 0.3 * np.eye(N)])
    model = seen_with(Quick(matrices[:2]), sums, rng.normal(size=(2, N))).model(WEIGHTS)
    np.testing.assert_allclose(model.factors, [0.5 + 0.8, 0.2 + 1.6])
    np.testing.assert_allclose(dense(model), np.tensordot(WEIGHTS, sums, 1), atol=1e-8)


def test_before_any_product_all_kernels_are_like_the_quick_ones(matrices):
    model = RecordedProducts(Quick(matrices[:2])).model(WEIGHTS)
    assert isinstance(model, SurrogateMatrix)
    np.testing.assert_allclose(dense(model), 0.75 * (matrices[0] + matrices[1]))


def test_quick_kernels_that_are_zero_do_no_harm(matrices, rng):
    moves = rng.normal(size=(3, N))
    model = seen_with(Quick(0.0 * matrices[:2]), matrices, moves).model(WEIGHTS)
    K = np.tensordot(WEIGHTS, matrices, 1)
    np.testing.assert_allclose(dense(model) @ moves.T, K @ moves.T, atol=1e-8)


def test_model_without_quick_kernels_is_made_of_recorded_products(matrices, rng):
    assert RecordedProducts().model(WEIGHTS) is None
    model = seen_with(None, matrices, rng.normal(size=(3, N))).model(WEIGHTS)
    assert isinstance(model, LowRankModel)
