"""Clusters for tests. Workers are processes if tests kill them, otherwise threads."""

import numpy as np
import pytest

pytest.importorskip("distributed", reason="needs kernelweave[dask]")

import dask.array as da
from distributed import Client, LocalCluster

QUIET = {"dashboard_address": ":0", "silence_logs": 50}


@pytest.fixture(scope="session")
def cluster_of_threads():
    """Two workers of one thread each, in this process."""
    with LocalCluster(n_workers=2, threads_per_worker=1, processes=False, **QUIET) as cluster:
        yield cluster


@pytest.fixture
def client(cluster_of_threads):
    """The current client."""
    with Client(cluster_of_threads) as client:
        yield client


@pytest.fixture
def table():
    """A table of two classes that overlap: 400 x 5 in partitions of unequal sizes, and y."""
    rng = np.random.default_rng(3)
    X = rng.normal(size=(400, 5))
    y = np.where(X[:, 0] * X[:, 1] + X[:, 2] + 0.5 * rng.normal(size=400) > 0, 1, -1)
    return X, y


@pytest.fixture
def parts(table):
    """The same as Dask arrays, with more partitions than workers, one of them empty."""
    X, y = table
    chunks = (150, 0, 7, 100, 143)
    return da.from_array(X, chunks=(chunks, 5)), da.from_array(y, chunks=(chunks,))
