"""Workers that die, retire or never come back, schedulers that stop: no wait without end.

KERNELWEAVE_FAULTS=1 (``make faults``) kills at more moments.
"""

import asyncio
import os
import random
import signal
import subprocess
import sys
import threading
import time
from contextlib import suppress

import dask.array as da
import numpy as np
import pytest
from distributed import Client, LocalCluster, wait
from distributed.comm import CommClosedError

from kernelweave import MKLClassifier
from kernelweave.dask import ClusterError, DaskMKLClassifier
from kernelweave.dask.cluster import Cluster, Lost
from kernelweave.engines import sharded
from kernelweave.kernels import RBF

pytestmark = pytest.mark.slow

MANY = bool(os.environ.get("KERNELWEAVE_FAULTS"))
FITS = 20 if MANY else 2
FAMILY = RBF(gamma=list(np.geomspace(0.01, 1, 3)))


@pytest.fixture(scope="module")
def processes():
    """Three workers in processes of their own, which come back when they are killed.

    The machine may be so busy that a scheduler takes long to answer.
    """
    cluster = LocalCluster(
        n_workers=3, threads_per_worker=1, dashboard_address=":0", silence_logs=50
    )
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("kernelweave.dask.cluster.RESPONSE_SECONDS", 100.0)
        yield cluster
    with suppress(KeyError):  # of a worker that was killed before the cluster had heard of it
        cluster.close()


@pytest.fixture
def client(processes):
    with Client(processes) as client:
        try:
            client.wait_for_workers(3, timeout=30)
        except (TimeoutError, asyncio.TimeoutError):  # one that was killed while it started
            processes.scale(len(processes.worker_spec) + 1)
            client.wait_for_workers(3, timeout=60)
        yield client


def problem():
    """Return a problem that takes several iterations; workers create its partitions."""
    rng = da.random.default_rng(0)
    X = rng.normal(size=(600, 4), chunks=(120, 4))
    y = (X[:, 0] * X[:, 1] + 0.3 * X[:, 2] > 0).astype(int)
    return X, y


def fit(client, **given):
    X, y = problem()
    model = DaskMKLClassifier(FAMILY, norm=1, working_set=150, client=client, **given)
    return model.fit(X, y)


def numbers(model):
    return [model.dual_coef_, model.support_, model.intercept_, model.weights_]


def same(one, other):
    return all(np.array_equal(a, b) for a, b in zip(numbers(one), numbers(other), strict=True))


def living(client):
    """Return the process ids of three running workers."""
    for _ in range(100):
        client.wait_for_workers(3, timeout=60)
        found = list(client.run(os.getpid, on_error="ignore").values())
        if len(found) == 3:
            return found
        time.sleep(0.2)
    raise TimeoutError("workers did not come back")


def kill(pid):
    with suppress(ProcessLookupError):  # the other kill may have ended it
        os.kill(pid, signal.SIGKILL)


@pytest.fixture(scope="module")
def undisturbed(processes):
    with Client(processes) as client:
        started = time.monotonic()
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(sharded, "MOST_LOCAL", 100)
            model = fit(client)
        return model, time.monotonic() - started


@pytest.mark.parametrize("seed", range(FITS))
def test_killed_workers_change_nothing(seed, client, undisturbed, monkeypatch):
    """Two workers are killed at random moments: the model is the same, to the last bit."""
    monkeypatch.setattr(sharded, "MOST_LOCAL", 100)  # parts stay on workers, too
    expected, seconds = undisturbed
    moments = random.Random(seed)
    timers = [
        threading.Timer(moments.uniform(0, seconds), kill, (pid,))
        for pid in moments.sample(living(client), 2)
    ]
    for timer in timers:
        timer.start()
    model = fit(client)
    for timer in timers:
        timer.join()
    assert same(model, expected)


def test_fits_survive_a_retiring_worker(client, undisturbed, monkeypatch):
    monkeypatch.setattr(sharded, "MOST_LOCAL", 100)
    expected, seconds = undisturbed
    first = next(iter(client.scheduler_info()["workers"]))
    timer = threading.Timer(
        seconds / 3, client.retire_workers, ([first],), {"close_workers": False}
    )
    timer.start()
    model = fit(client)
    timer.join()
    assert same(model, expected)


@pytest.fixture
def of_two():
    """A client of two workers in processes, used by one test only."""
    with (
        LocalCluster(
            n_workers=2, threads_per_worker=1, dashboard_address=":0", silence_logs=50
        ) as cluster,
        Client(cluster) as client,
        pytest.MonkeyPatch.context() as patch,
    ):
        patch.setattr("kernelweave.dask.cluster.RESPONSE_SECONDS", 100.0)
        patch.setattr(sharded, "MOST_LOCAL", 100)  # parts stay on workers, too
        yield client


def some_worker(client):
    """Return the process id of a running worker."""
    client.wait_for_workers(1, timeout=60)
    return min(client.run(os.getpid, on_error="ignore").values())


def test_data_whose_worker_has_left_before_the_fit(of_two, undisturbed):
    """Lost partitions are recomputed on other workers."""
    X, y = problem()
    X = X.persist()
    wait(X)
    kill(some_worker(of_two))
    model = DaskMKLClassifier(FAMILY, norm=1, working_set=150, client=of_two).fit(X, y)
    assert same(model, undisturbed[0])


def test_workers_that_die_between_fits(of_two, undisturbed):
    """Several fits on the same data, each with other workers than the last one."""
    X, y = problem()
    X = X.persist()
    for number in range(3):
        if number:
            kill(some_worker(of_two))
        model = DaskMKLClassifier(FAMILY, norm=1, working_set=150, client=of_two).fit(X, y)
        assert same(model, undisturbed[0])


def test_workers_that_die_after_the_fit(of_two):
    """The model is local: any worker can compute its predictions."""
    model = fit(of_two)
    X, _ = problem()
    lazy = model.decision_function(X)
    kill(some_worker(of_two))
    assert np.array_equal(lazy.compute(), model.decision_function(X.compute()))


def fit_for_ever(client):
    while True:
        fit(client)


SCHEDULER = """
import asyncio
from distributed import Scheduler, Worker

async def main():
    async with Scheduler(port=0, dashboard_address=":0") as scheduler:
        async with Worker(scheduler.address, nthreads=1), Worker(scheduler.address, nthreads=1):
            print(scheduler.address, flush=True)
            await scheduler.finished()

asyncio.run(main())
"""


@pytest.fixture
def scheduler():
    """A scheduler with two workers in another process, and its address."""
    process = subprocess.Popen([sys.executable, "-c", SCHEDULER], stdout=subprocess.PIPE, text=True)
    yield process, process.stdout.readline().strip()
    process.kill()
    process.wait()


@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGSTOP], ids=["killed", "stopped"])
@pytest.mark.parametrize("moment", np.linspace(0.7, 2.0, 10 if MANY else 1))
def test_a_lost_scheduler_is_an_error(moment, how, scheduler, monkeypatch):
    monkeypatch.setattr("kernelweave.dask.cluster.RESPONSE_SECONDS", 7.5)
    process, address = scheduler
    with Client(address, timeout=5) as client:
        threading.Timer(moment, process.send_signal, (how,)).start()
        started = time.monotonic()
        with pytest.raises(ClusterError, match="scheduler"):
            fit_for_ever(client)
        seconds = time.monotonic() - started - moment
        print(f"an error {seconds:.1f} s after the scheduler was gone")
        assert seconds < 60  # far from a wait without end
        process.kill()


def test_a_scheduler_that_closes_its_connection_is_lost(scheduler, monkeypatch):
    """A call to a killed scheduler may fail before the client notices."""
    monkeypatch.setattr("kernelweave.dask.cluster.POLL_SECONDS", 0.01)
    monkeypatch.setattr("kernelweave.dask.cluster.CHECK_SECONDS", 0.0)

    async def closed(self):
        raise CommClosedError("in <TCP (closed) ConnectionPool.ncores>: reset by peer")

    process, address = scheduler
    with Client(address, timeout=5) as client:
        cluster = Cluster(client)
        monkeypatch.setattr(type(client.scheduler), "ncores", closed, raising=False)
        with pytest.raises(
            ClusterError, match=r"the scheduler at tcp.* is lost: .*closed"
        ) as raised:
            cluster.gather([cluster.submit("wait", time.sleep, 60)])
        assert not isinstance(raised.value, Lost)  # it is not asked again
        assert client.status == "running"
        process.kill()


def test_without_any_worker_a_checkpoint_is_left(tmp_path, monkeypatch):
    """If all workers are lost the fit fails, and a new cluster resumes from the checkpoint."""
    monkeypatch.setattr("kernelweave.dask.cluster.WORKER_SECONDS", 1.0)
    monkeypatch.setattr("kernelweave.model.files.checkpoint.SECONDS", 0.0)
    X, y = problem()

    def go_on(client, tol):
        given = {"working_set": 20, "tol": tol, "checkpoint": tmp_path / "c", "client": client}
        return DaskMKLClassifier(FAMILY, norm=1, **given).fit(X, y)

    quiet = {"processes": False, "dashboard_address": ":0", "silence_logs": 50}
    with LocalCluster(n_workers=1, **quiet) as one, Client(one, set_as_default=False) as client:

        def leave():
            while not (tmp_path / "c.0").exists():
                time.sleep(0.01)
            one.scale(0)

        threading.Thread(target=leave).start()
        with pytest.raises(ClusterError, match=r"no workers .* checkpoint"):
            go_on(client, 1e-12)
    assert (tmp_path / "c.0").exists()
    with LocalCluster(n_workers=1, **quiet) as one, Client(one, set_as_default=False) as client:
        model = go_on(client, 1e-3)
    assert model.history_[0]["gap"] < 1.0  # it did not start at alpha = 0
    assert not (tmp_path / "c.0").exists()


def slowly(block):
    """Return a block after a while."""
    time.sleep(0.3)
    return block


def out_of_memory(block):
    """Fail as a task does that needs more memory than there is."""
    if len(block):
        raise MemoryError("cannot allocate")
    return block


def test_a_slow_worker_changes_nothing(client, parts):
    X, y = parts
    settings = {"kernels": RBF([0.1, 1.0]), "client": client}
    expected = DaskMKLClassifier(**settings).fit(X, y)
    found = DaskMKLClassifier(**settings).fit(X.map_blocks(slowly, dtype=X.dtype), y)
    np.testing.assert_array_equal(found.dual_coef_, expected.dual_coef_)


def test_a_task_out_of_memory_is_an_error(client, parts):
    X, y = parts
    spoilt = X.map_blocks(out_of_memory, dtype=X.dtype, meta=np.empty((0, 0)))
    model = DaskMKLClassifier(RBF([0.1, 1.0]), client=client)
    with pytest.raises(MemoryError, match="cannot allocate"):
        model.fit(spoilt, y)
    assert not hasattr(model, "weights_")


def test_decision_values_differ_from_local_ones_within_the_certificate(client, table, parts):
    """||w - w*||^2 / 2 <= P - P* for one kernel, so that outputs differ by 2 sqrt(2 gap P)."""
    (X, y), (far_X, far_y) = table, parts
    settings = {"kernels": RBF(0.2), "tol": 1e-6, "normalize": None}
    local = MKLClassifier(**settings).fit(X, y)
    far = DaskMKLClassifier(**settings, client=client).fit(far_X, far_y)
    assert local.primal_objective_ == pytest.approx(far.primal_objective_, rel=1e-6)
    outputs = [model.decision_function(X) - model.intercept_ for model in (local, far.as_plain())]
    bound = 2 * np.sqrt(2 * 1e-6 * local.primal_objective_)  # k(x, x) = 1
    assert np.abs(outputs[0] - outputs[1]).max() <= bound
