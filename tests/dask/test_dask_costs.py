"""The cost model against the bytes that fits on many simulated machines send."""

import pickle

import numpy as np
import pytest

from kernelweave.common.core import single_threaded_blas
from kernelweave.dask.costs import Machines, Pass, client_bytes
from kernelweave.datasets import make_splice
from kernelweave.engines import sharded
from kernelweave.engines.fetched import LocalEngines
from kernelweave.engines.shard import Shard, VaryingKernels
from kernelweave.engines.sharded import ShardedEngine
from kernelweave.engines.shards import LocalShards
from kernelweave.kernels import RBF, WeightedDegree, prepare
from kernelweave.losses import Hinge
from kernelweave.norms import Lp
from kernelweave.optimization.active_sets import ActiveSetTuning
from kernelweave.optimization.named_methods import find_method
from kernelweave.optimization.plan import PlanTuning, make_plan
from kernelweave.optimization.run import Run
from kernelweave.optimization.solve import solve
from kernelweave.problem.problem import Problem


class CountedShards(LocalShards):
    """Shards in this process that count the bytes of their arguments and results."""

    def call(self, method, shared=(), each=()):
        results = super().call(method, shared, each)
        if method is Shard.combined:
            work = shared[0]
            counted = Pass(sum(self.sizes), work.examples.n, self.example_bytes)
            sent = len(self.shards) * len(pickle.dumps(shared, protocol=5))
            received = sum(len(pickle.dumps(result, protocol=5)) for result in results)
            self.passes.append((counted, sent, received))
        return results

    def parts(self, each):
        smaller = CountedShards(super().parts(each).shards)
        vars(smaller).update(passes=self.passes, example_bytes=self.example_bytes)
        return smaller


def simulated(kernel, X, y, machines, example_bytes):
    """Fit on so many machines; return the result, and the passes with their bytes."""
    with single_threaded_blas():
        compiled, examples = prepare(kernel, "variance", X)
    kernels = VaryingKernels(compiled, family=False)
    idx = np.array_split(np.arange(examples.n), machines.workers)
    shards = CountedShards([Shard(kernels, examples.take(part)) for part in idx])
    vars(shards).update(passes=[], example_bytes=example_bytes)
    engine = ShardedEngine(shards, LocalEngines(kernels, linear=False))
    problem = Problem.of(Hinge(), Lp(2.0), y.astype(float), np.ones(len(y)))
    plan = make_plan(find_method("auto", problem.norm, problem.loss), problem, engine, "sharded")
    with single_threaded_blas():
        return solve(problem, engine, plan, Run.start(1e-3)), shards.passes


def sequences():
    X, y = make_splice(1500, positive_rate=0.2)
    return WeightedDegree(8), X, y, 48


def vectors():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(1500, 100))
    return RBF(0.005), X, np.where(X[:, 0] + X[:, 1] > 0, 1, -1), 800


@pytest.mark.parametrize("make", [sequences, vectors])
def test_costs_match_bytes_on_fifty_simulated_workers(make, monkeypatch):
    """Sent and received bytes agree with the cost model within 20 percent."""
    tuning = PlanTuning(active_sets=ActiveSetTuning(many_examples=300))
    monkeypatch.setattr("kernelweave.optimization.plan.TUNING_OF_PLANS", tuning)
    monkeypatch.setattr(sharded, "MOST_LOCAL", 200)
    *problem, example_bytes = make()
    machines = Machines(workers=50)
    result, passes = simulated(*problem, machines, example_bytes)
    assert result.gap <= 1e-3
    assert len(passes) > 2
    expected = sum(one.sent(machines.workers) for one, _, _ in passes)
    brought = sum(one.received(machines.workers) for one, _, _ in passes)
    assert sum(sent for _, sent, _ in passes) == pytest.approx(expected, rel=0.2)
    assert sum(received for _, _, received in passes) == pytest.approx(brought, rel=0.2)


def test_predicted_time_falls_with_workers_up_to_network_time():
    one = Pass(n=1e8, q=1e6, example_bytes=800, pair_seconds=1e-9)
    seconds = [one.seconds(Machines(count, threads=16)) for count in (1, 10, 50, 10**6)]
    assert seconds[0] > 9 * seconds[1] > 40 * seconds[2]
    assert seconds[3] > 0.64 + 8e8 / 1.25e9  # messages and answers do not shrink
    assert client_bytes(1e9, 1e7, 48) > 160e9
