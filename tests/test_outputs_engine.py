"""The engine of several machines against einsum on a block-diagonal kernel."""

import numpy as np
import pytest
from kernel_cases import dense
from numpy.testing import assert_allclose

from kernelweave.engines import OutputsEngine
from kernelweave.kernels import RBF, Linear

N, MACHINES = 30, 3


@pytest.fixture
def stacked(rng):
    """An engine of three machines, and its kernels as matrices, shape (M, 90, 90)."""
    X = rng.normal(size=(N, 4))
    K = np.concatenate([RBF([0.1, 1.0])(X), Linear()(X)[None]])
    whole = np.stack([np.kron(np.eye(MACHINES), one) for one in K])
    return OutputsEngine(dense([RBF([0.1, 1.0]), Linear()], X), MACHINES), whole


def test_outputs_follow_alpha(stacked, rng):
    engine, K = stacked
    alpha = np.zeros(N * MACHINES)
    for _ in range(5):
        idx = rng.choice(N * MACHINES, size=12, replace=False)
        delta = rng.normal(size=12)
        engine.add(idx, delta)
        alpha[idx] += delta
        assert_allclose(engine.outputs(), K @ alpha, atol=1e-12)
    theta = rng.uniform(size=3)
    assert_allclose(engine.combined(theta), theta @ (K @ alpha), atol=1e-12)
    assert_allclose(engine.quadratic(), np.einsum("i,mij,j->m", alpha, K, alpha))
    engine.scale(2.0)
    assert_allclose(engine.outputs(), 2.0 * K @ alpha, atol=1e-12)


def test_outputs_can_be_rebuilt_kept_and_restored(stacked, rng):
    engine, K = stacked
    alpha = rng.normal(size=N * MACHINES)
    engine.move_to(alpha)
    assert_allclose(engine.outputs(), K @ alpha, atol=1e-12)
    kept = engine.keep()
    engine.clear()
    assert not engine.outputs().any()
    engine.restore(alpha, kept)
    assert_allclose(engine.outputs(), K @ alpha, atol=1e-12)


def test_blocks_and_diagonal(stacked, rng):
    engine, K = stacked
    idx, weights = rng.permutation(N * MACHINES)[:20], rng.uniform(size=3)
    inside = K[:, idx[:, None], idx]
    assert_allclose(engine.blocks(idx), inside, atol=1e-12)
    assert_allclose(engine.block(idx, weights), np.tensordot(weights, inside, 1), atol=1e-12)
    assert_allclose(engine.diagonal(), np.einsum("mii->mi", K), atol=1e-12)


def test_a_subset_goes_on_from_the_outputs_of_its_machine(stacked, rng):
    engine, K = stacked
    engine.move_to(rng.normal(size=N * MACHINES))
    idx = N + rng.permutation(N)[:10]  # of the second machine
    part, before = engine.subset(idx), engine.outputs()[:, idx].copy()
    part.add(np.arange(10), np.ones(10))
    assert_allclose(part.outputs(), before + K[:, idx[:, None], idx].sum(axis=2), atol=1e-12)
