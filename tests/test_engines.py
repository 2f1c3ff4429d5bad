"""Engines against einsum: any sequence of operations, any cache, any kind of kernel."""

import numpy as np
import pytest
from kernel_cases import CASES, SUMS, dense
from sklearn.metrics.pairwise import rbf_kernel

from kernelweave.kernels import RBF, per_feature

N = 300  # more than one tile of columns, and several of rows
every_case = pytest.mark.parametrize("case", (CASES | SUMS).values(), ids=CASES | SUMS)
every_cache = pytest.mark.parametrize("rows", [0, 1, 3, N])


def megabytes(case, rows, n=N):
    """Room for so many rows and a half."""
    return (rows + 0.5) * max(case.planes, 1) * n * 8 / 2**20


def close(actual, expected):
    """Equal up to rounding, relative to the largest value of each kernel."""
    scale = np.abs(expected).max(axis=tuple(range(1, expected.ndim)), keepdims=True) + 1e-300
    np.testing.assert_allclose(actual / scale, expected / scale, rtol=0, atol=1e-12)


class Naive:
    """What an engine should do, with all kernel matrices at hand."""

    def __init__(self, K):
        self.K, self.alpha = K, np.zeros(K.shape[1])

    @property
    def outputs(self):
        return np.einsum("mij,j->mi", self.K, self.alpha)

    def inside(self, idx):
        return self.K[:, idx[:, None], idx]


def some(rng, n, most=40):
    return rng.choice(n, size=rng.integers(1, most), replace=False)


def add(engine, naive, rng):
    idx = some(rng, engine.n)
    delta = rng.normal(size=len(idx)) * rng.choice([0.0, 1.0], p=[0.2, 0.8], size=len(idx))
    engine.add(idx, delta)
    naive.alpha[idx] += delta


def add_the_same_again(engine, naive, rng):
    idx = np.arange(5)
    engine.add(idx, np.ones(5))
    naive.alpha[idx] += 1.0


def clear(engine, naive, rng):
    engine.clear()
    naive.alpha[:] = 0.0


def rebuild(engine, naive, rng):
    naive.alpha = np.zeros(engine.n)
    naive.alpha[some(rng, engine.n)] = rng.normal()
    engine.move_to(naive.alpha)


def scale(engine, naive, rng):
    engine.scale(0.5)
    naive.alpha *= 0.5


def go_and_come_back(engine, naive, rng):
    kept = engine.keep()
    engine.move_to(rng.normal(size=engine.n))
    engine.restore(naive.alpha, kept)


def block(engine, naive, rng):
    idx = np.union1d(some(rng, engine.n), np.arange(8))
    weights = rng.exponential(size=engine.n_kernels) * rng.choice([0, 1], size=engine.n_kernels)
    expected = np.tensordot(weights, naive.inside(idx), 1)
    close(engine.block(idx, weights)[None], expected[None])


@every_case
@pytest.mark.parametrize(("rows", "n_jobs"), [(0, 1), (1, 2), (3, 1), (N, 2)])
def test_any_sequence_of_operations(case, rows, n_jobs, rng):
    X = case.data(rng, N)
    engine = case.engine(X, cache_mb=megabytes(case, rows), n_jobs=n_jobs)
    naive = Naive(case.oracle(X))
    assert (engine.n, engine.n_kernels) == (N, len(naive.K))
    operations = [add, add_the_same_again, block, add_the_same_again, block]
    choices = [add, add_the_same_again, clear, rebuild, scale, go_and_come_back, block]
    operations += list(rng.choice(choices, size=14))
    for operation in operations:
        operation(engine, naive, rng)
        close(engine.outputs, naive.outputs)


@every_case
def test_blocks_and_diagonal(case, rng):
    X = case.data(rng, N)
    engine, naive, idx = case.engine(X), Naive(case.oracle(X)), some(rng, N)
    close(engine.blocks(idx), naive.inside(idx))
    close(engine.diagonal(), np.einsum("mii->mi", naive.K))
    add(engine, naive, rng)
    close(engine.outputs(np.array([engine.n_kernels - 1, 0])), naive.outputs[[-1, 0]])


@every_case
def test_a_block_is_symmetric_whether_rows_are_cached_or_not(case, rng):
    engine, idx = case.engine(case.data(rng, N)), some(rng, N)
    engine.add(idx[::2], np.ones(len(idx[::2])))
    values = engine.block(idx, np.ones(engine.n_kernels))
    np.testing.assert_array_equal(values, values.T)


@every_case
@every_cache
def test_a_subset_keeps_outputs_and_cache(case, rows, rng):
    X = case.data(rng, N)
    engine, naive = case.engine(X, cache_mb=megabytes(case, rows)), Naive(case.oracle(X))
    for _ in range(3):
        add(engine, naive, rng)
    before, idx = engine._core.cached_rows, rng.permutation(N)[:120]
    smaller = engine.subset(idx)
    close(smaller.outputs, naive.outputs[:, idx])
    # An engine of fewer examples answers as if it had never been larger, from its cache or not.
    assert smaller._core.cached_rows <= min(before, 120)
    part, offset = Naive(naive.inside(idx)), smaller.outputs.copy()
    for _ in range(4):
        block(smaller, part, rng)
        add(smaller, part, rng)
        close(smaller.outputs, offset + part.outputs)
    close(engine.outputs, naive.outputs)


def test_a_block_over_many_shared_quantities_of_which_one_is_dear(rng):
    X = rng.normal(size=(N, 150))
    engine = dense([per_feature(RBF(0.5)), RBF(0.01)], X, n_jobs=2)
    engine.add(np.arange(0, N, 7), np.ones(len(range(0, N, 7))))
    assert engine._core.cached_rows > 0
    weights = rng.exponential(size=151)
    expected = weights[-1] * rbf_kernel(X, gamma=0.01)
    for column, weight in zip(X.T, weights[:-1], strict=True):
        expected += weight * rbf_kernel(column[:, None], gamma=0.5)
    order = rng.permutation(N)
    close(engine.block(order, weights)[None], expected[np.ix_(order, order)][None])


def test_what_is_cached_of_a_subset_stays_cached(rng):
    case = CASES["distances and dot products"]
    engine = case.engine(case.data(rng, N))
    engine.add(np.arange(20), np.ones(20))
    assert engine.subset(np.arange(10, 60))._core.cached_rows == 10
    assert engine.subset(np.arange(0)).outputs.shape == (5, 0)


@every_case
@every_cache
def test_the_cache_is_bounded(case, rows, rng):
    engine = case.engine(case.data(rng, N), cache_mb=megabytes(case, rows))
    for _ in range(6):
        idx = some(rng, N)
        engine.add(idx, np.ones(len(idx)))
        assert engine._core.cached_rows <= (rows if case.planes else 0)
    engine.move_to(np.ones(N))
    assert engine._core.cached_rows == (rows if case.planes else 0)


def test_rows_in_use_are_not_evicted_by_the_turn_that_uses_them(rng):
    case = CASES["widths on a grid of powers"]
    X = case.data(rng, N)
    engine, naive = case.engine(X, cache_mb=megabytes(case, 3)), Naive(case.oracle(X))
    for idx in ([0, 1, 2], [2, 3, 4, 0], [5, 1, 2, 3, 4, 0], [0, 5]):
        engine.add(np.array(idx), np.ones(len(idx)))
        naive.alpha[idx] += 1.0
        close(engine.outputs, naive.outputs)


def test_no_examples_to_add_change_nothing(rng):
    case = CASES["given"]
    engine = case.engine(case.data(rng, 20))
    engine.add(np.arange(3), np.ones(3))
    before = engine.outputs.copy()
    engine.add(np.empty(0, dtype=np.int64), np.empty(0))
    np.testing.assert_array_equal(engine.outputs, before)
    assert engine.block(np.empty(0, dtype=np.int64), np.ones(1)).shape == (0, 0)


@pytest.mark.parametrize("ids", [[-1], [20], [0, 2**40]])
def test_examples_that_do_not_exist_are_refused(ids, rng):
    case = CASES["given"]
    engine = case.engine(case.data(rng, 20))
    ids = np.array(ids)
    for ask in (
        lambda: engine.add(ids, np.ones(len(ids))),
        lambda: engine.block(ids, np.ones(1)),
        lambda: engine.blocks(ids),
        lambda: engine.subset(ids),
    ):
        with pytest.raises(ValueError, match="an example index is out of range"):
            ask()


def test_arrays_that_do_not_fit_are_refused(rng):
    case = CASES["distances and dot products"]
    engine = case.engine(case.data(rng, 20))
    with pytest.raises(ValueError, match="ids and delta differ in length"):
        engine.add(np.arange(3), np.ones(2))
    with pytest.raises(ValueError, match="one weight per kernel"):
        engine.block(np.arange(3), np.ones(2))
