"""The dense engine: contents of its cache, which do not change its results."""

import numpy as np
import pytest
from kernel_cases import CASES, SUMS, dense
from sklearn.metrics.pairwise import rbf_kernel
from test_engines import Naive, block, change, close, rows_of_memory, some

from kernelweave.kernels import RBF, per_feature

N = 300
every_case = pytest.mark.parametrize("case", (CASES | SUMS).values(), ids=CASES | SUMS)
every_cache = pytest.mark.parametrize("rows", [0, 1, 3, N])


@every_case
def test_a_block_is_symmetric_whether_rows_are_cached_or_not(case, rng):
    engine, idx = case.engine(case.data(rng, N)), some(rng, N)
    engine.change(idx[::2], np.ones(len(idx[::2])))
    values = engine.block(idx, np.ones(engine.n_kernels))
    np.testing.assert_array_equal(values, values.T)


@every_case
@every_cache
def test_a_subset_keeps_outputs_and_cache(case, rows, rng):
    X = case.data(rng, N)
    engine, naive = case.engine(X, cache_mb=rows_of_memory(case, rows)), Naive(case.oracle(X))
    for _ in range(3):
        change(engine, naive, rng)
    before, idx = engine._core.cached_rows, rng.permutation(N)[:120]
    smaller = engine.subset(idx)
    close(smaller.outputs(), naive.outputs[:, idx])
    # An engine of fewer examples answers as if it had never been larger, from its cache or not.
    assert smaller._core.cached_rows <= min(before, 120)
    part = Naive(naive.inside(idx))
    part.alpha = naive.alpha[idx]
    offset = smaller.outputs() - part.outputs
    for _ in range(4):
        block(smaller, part, rng)
        change(smaller, part, rng)
        close(smaller.outputs(), offset + part.outputs)
    close(engine.outputs(), naive.outputs)


def test_a_block_over_many_shared_quantities_of_which_one_is_dear(rng):
    X = rng.normal(size=(N, 150))
    engine = dense([per_feature(RBF(0.5)), RBF(0.01)], X, n_jobs=2)
    engine.change(np.arange(0, N, 7), np.ones(len(range(0, N, 7))))
    assert engine._core.cached_rows > 0
    weights = rng.exponential(size=151)
    expected = weights[-1] * rbf_kernel(X, gamma=0.01)
    for column, weight in zip(X.T, weights[:-1], strict=True):
        expected += weight * rbf_kernel(column[:, None], gamma=0.5)
    order = rng.permutation(N)
    close(engine.block(order, weights)[None], expected[np.ix_(order, order)][None])


def test_rows_cached_by_a_subset_stay_cached(rng):
    case = CASES["distances and dot products"]
    engine = case.engine(case.data(rng, N))
    engine.change(np.arange(20), np.ones(20))
    assert engine.subset(np.arange(10, 60))._core.cached_rows == 10
    assert engine.subset(np.arange(0)).outputs().shape == (5, 0)


@every_case
@every_cache
def test_the_cache_is_bounded(case, rows, rng):
    engine = case.engine(case.data(rng, N), cache_mb=rows_of_memory(case, rows))
    for _ in range(6):
        idx = some(rng, N)
        engine.change(idx, engine.alpha[idx] + 1.0)
        assert engine._core.cached_rows <= (rows if case.planes else 0)
    engine.move_to(np.ones(N))
    assert engine._core.cached_rows == (rows if case.planes else 0)


def test_rows_in_use_are_not_evicted(rng):
    case = CASES["widths on a grid of powers"]
    X = case.data(rng, N)
    engine, naive = case.engine(X, cache_mb=rows_of_memory(case, 3)), Naive(case.oracle(X))
    for idx in ([0, 1, 2], [2, 3, 4, 0], [5, 1, 2, 3, 4, 0], [0, 5]):
        naive.alpha[idx] += 1.0
        engine.change(np.array(idx), naive.alpha[idx])
        close(engine.outputs(), naive.outputs)


@pytest.mark.parametrize("ids", [[-1], [20], [0, 2**40]])
def test_examples_that_do_not_exist_are_refused(ids, rng):
    case = CASES["given"]
    engine = case.engine(case.data(rng, 20))
    ids = np.array(ids)
    for ask in (
        lambda: engine._core.add(ids, np.ones(len(ids))),
        lambda: engine.block(ids, np.ones(1)),
        lambda: engine.blocks(ids),
        lambda: engine.subset(ids),
    ):
        with pytest.raises(ValueError, match="an example index is out of range"):
            ask()


def test_vectors_of_unequal_lengths_are_refused(rng):
    case = CASES["distances and dot products"]
    engine = case.engine(case.data(rng, 20))
    with pytest.raises(ValueError, match="ids and delta differ in length"):
        engine._core.add(np.arange(3), np.ones(2))
    with pytest.raises(ValueError, match="one weight per kernel"):
        engine.block(np.arange(3), np.ones(2))
