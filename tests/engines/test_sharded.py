"""The sharded engine: the data that it fetches, and those that shards share."""

import pickle
import sys
from dataclasses import replace

import numpy as np
import pytest
from kernel_cases import SHARDED

from kernelweave.engines import LinearEngine, fetched, sharded
from kernelweave.engines.shard import Shard
from kernelweave.engines.shards import LocalShards

FAMILY = "shards of family of two quantities, normalised by variance"
EACH = [FAMILY, "shards of distances and dot products", "shards of normalised by unit"]


class Watched(LocalShards):
    """Shards whose calls are recorded."""

    def call(self, method, shared=(), each=()):
        self.calls.append((method, shared, each))
        return super().call(method, shared, each)


def watched(engine):
    """Record the calls of an engine to its shards from now on."""
    shards = Watched(engine._shards.shards)
    vars(shards)["calls"] = []
    engine._shards = engine.fetched._shards = shards
    return shards.calls


@pytest.mark.parametrize("name", EACH)
def test_block_norms_by_all_shards_are_those_of_one_engine(name, rng, monkeypatch):
    case = SHARDED[name]
    X, alpha = case.data(rng, case.n), rng.normal(size=case.n)
    local, remote = case.engine(X), case.engine(X)
    for engine in (local, remote):
        engine.move_to(alpha)
    expected = local.quadratic()
    monkeypatch.setattr(sharded, "MANY_SUPPORT_VECTORS", 5)
    calls = watched(remote)
    np.testing.assert_allclose(remote.quadratic(), expected, rtol=1e-10)
    assert Shard.block_norms in [method for method, _, _ in calls]


def test_examples_are_fetched_once(rng):
    case = SHARDED[FAMILY]
    engine = case.engine(case.data(rng, case.n))
    calls, idx, theta = watched(engine), np.array([70, 3, 40]), np.ones(engine.n_kernels)
    engine.block(idx, theta)
    fetched = [part for _, _, each in calls for part in each if part is not None]
    assert sum(len(part[0]) for part in fetched) == len(idx)
    del calls[:]
    engine.block(idx[::-1], theta)
    engine.change(idx, np.ones(3))
    engine.combined(theta)
    assert [method for method, _, _ in calls] == [Shard.combined]


def test_iteration_sends_changes_only(rng):
    case = SHARDED[FAMILY]
    engine, theta = case.engine(case.data(rng, case.n)), np.ones(10)
    engine.move_to(rng.normal(size=case.n))
    engine.combined(theta)
    calls = watched(engine)
    engine.change(np.array([4, 9]), np.zeros(2))
    engine.change(np.array([9, 50]), np.ones(2))
    engine.combined(theta)
    ((work, *_),) = [shared for method, shared, _ in calls if method is Shard.combined]
    assert work.examples.n == 3
    engine.combined(theta)
    assert len([method for method, _, _ in calls if method is Shard.combined]) == 1


def test_unused_examples_are_dropped(rng, monkeypatch):
    monkeypatch.setattr(fetched, "FEW", 4)
    case = SHARDED[FAMILY]
    engine = case.engine(case.data(rng, case.n))
    theta, expected = np.ones(engine.n_kernels), []
    for start in range(0, 80, 10):
        idx = np.arange(start, start + 2)
        expected.append(engine.block(idx, theta))
        assert engine.fetched._cached.n <= fetched.SPARE * 4 + 2
    np.testing.assert_array_equal(engine.block(np.arange(2), theta), expected[0])


def test_shards_report_their_size(rng):
    """Dask moves objects that report a small size."""
    for name in ("shards of sparse", FAMILY, "shards of matches by degree"):
        case = SHARDED[name]
        for shard in case.engine(case.data(rng, case.n))._shards.shards:
            size = len(pickle.dumps(shard.examples, protocol=5))
            assert 0.3 * size - 1000 < sys.getsizeof(shard) < size


def test_remote_parts_are_sorted(rng, monkeypatch):
    monkeypatch.setattr(sharded, "MOST_LOCAL", 5)
    case = SHARDED[FAMILY]
    engine = case.engine(case.data(rng, case.n))
    with pytest.raises(ValueError, match="sorted"):
        engine.subset(np.array([5, 4, 3, 2, 1, 0]))


def test_more_light_examples_are_fetched(rng, monkeypatch):
    monkeypatch.setattr(sharded, "MOST_LOCAL", 5)
    case = SHARDED["shards of matches by degree"]
    engine = case.engine(case.data(rng, case.n))
    assert type(engine.subset(np.arange(50))) is sharded.ShardedEngine
    engine._local = replace(engine._local, light=True)
    assert type(engine.subset(np.arange(50))) is LinearEngine
    assert type(engine.subset(np.arange(51))) is sharded.ShardedEngine


@pytest.mark.parametrize("name", EACH)
def test_remote_parts_are_engines_of_shards(name, rng, monkeypatch):
    """Some examples keep their outputs, and follow changes, wherever they are."""
    case = SHARDED[name]
    X, alpha = case.data(rng, case.n), rng.normal(size=case.n)
    engine = case.engine(X)
    theta, idx = rng.exponential(size=engine.n_kernels), np.arange(3, case.n, 2)
    engine.move_to(alpha)
    engine.combined(theta)
    local = engine.subset(idx)
    monkeypatch.setattr(sharded, "MOST_LOCAL", 5)
    remote = engine.subset(idx)
    assert type(remote) is sharded.ShardedEngine
    for values in (alpha[idx[:9]], np.zeros(9), np.ones(9)):
        for one in (local, remote):
            one.change(np.arange(9), values)
        np.testing.assert_allclose(remote.combined(theta), local.combined(theta), atol=1e-9)
    np.testing.assert_array_equal(remote.alpha, local.alpha)
