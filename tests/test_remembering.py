"""An engine that remembers: the alpha that was kept last is the one whose outputs it holds."""

import numpy as np
import pytest
from kernel_cases import dense, training_set

from kernelweave.engines.remembering import RememberingEngine
from kernelweave.engines.streamed import StreamedEngine
from kernelweave.kernels import RBF, Linear

KERNELS = [RBF(gamma=[0.1, 1.0]), Linear()]
N, M = 20, 3


@pytest.fixture
def X(rng):
    return rng.normal(size=(N, 2))


@pytest.fixture
def kept():
    """alpha and weights, as they were kept last."""
    return {}


def remembering(engine, kept):
    def keep(alpha, weights):
        kept.update(alpha=alpha.copy(), weights=weights.copy())

    return RememberingEngine(engine, np.zeros(N), np.full(M, 1 / M), keep)


def test_every_change_is_kept(X, kept, rng):
    engine, K = remembering(dense(KERNELS, X), kept), dense(KERNELS, X).blocks(np.arange(N))
    engine.block(np.arange(3), np.array([0.2, 0.3, 0.5]))
    engine.add(np.arange(4), np.ones(4))
    np.testing.assert_allclose(K @ kept["alpha"], engine.outputs())
    np.testing.assert_array_equal(kept["weights"], [0.2, 0.3, 0.5])
    before = engine.keep()
    engine.scale(2.0)
    engine.subset(np.arange(10)).add(np.array([9]), np.array([3.0]))
    assert kept["alpha"][[0, 9]].tolist() == [2.0, 3.0]
    alpha = np.where(np.arange(N) < 4, 1.0, 0.0)
    engine.restore(alpha, before)
    np.testing.assert_array_equal(kept["alpha"], alpha)
    np.testing.assert_allclose(K @ alpha, engine.outputs())
    engine.clear()
    engine.add(np.array([1]), np.array([5.0]))
    assert kept["alpha"].sum() == 5.0


def test_what_some_of_the_kernels_are_told_is_kept_of_all(X, kept):
    engine = remembering(StreamedEngine(training_set(KERNELS, X)), kept)
    part = engine.part(np.array([0, 2]))
    part.move_to(np.ones(N))
    part.block(np.arange(3), np.array([0.25, 0.75]))
    part.add(np.array([4]), np.array([2.0]))
    np.testing.assert_array_equal(kept["weights"], [0.25, 0.0, 0.75])
    np.testing.assert_array_equal(kept["alpha"], np.where(np.arange(N) == 4, 3.0, 1.0))
