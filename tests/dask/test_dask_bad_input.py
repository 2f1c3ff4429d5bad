"""Invalid data on a cluster are an error before training, which names the partition."""

import dask.array as da
import dask.dataframe as dd
import numpy as np
import pandas as pd
import pytest
from distributed import Client
from sklearn.model_selection import GridSearchCV

from kernelweave import __version__
from kernelweave.dask import ClusterError, DaskMKLClassifier
from kernelweave.dask.data import Report, _check_alike
from kernelweave.kernels import RBF, Precomputed

Y = np.tile([0, 1], 50)


def rows(n=100, chunks=25):
    return da.from_array(np.random.default_rng(0).normal(size=(n, 4)), chunks=(chunks, 4))


def with_value(value, partition=2):
    X = np.random.default_rng(0).normal(size=(100, 4))
    X[25 * partition + 3, 1] = value
    return da.from_array(X, chunks=(25, 4))


def frame(categories):
    parts = [
        pd.DataFrame({"a": np.arange(50.0), "b": pd.Categorical(["x"] * 50, categories=some)})
        for some in categories
    ]
    return dd.from_map(lambda k: parts[k], range(len(parts)), meta=parts[0])


BAD = {
    "columns in chunks": (lambda: rows().rechunk({1: 2}), r"columns into 2 chunks.*rechunk"),
    "unknown sizes": (lambda: (x := rows())[x[:, 0] > 0], "compute_chunk_sizes"),
    "an array": (lambda: np.ones((100, 4)), "must be a Dask array.*got a ndarray.*MKLClassifier"),
    "NaN": (lambda: with_value(np.nan), "partition 2: Input X contains NaN in column 1"),
    "infinity": (lambda: with_value(np.inf), "partition 2: Input X contains infinity"),
    "too large": (lambda: with_value(1e200), "overflows"),
    "categories": (lambda: frame([["x", "y"], ["x", "z"]]), "'b' has other categories.*categorize"),
    "nothing": (lambda: rows()[:0], "at least one example"),
    "no memory": (
        lambda: da.zeros((10**12, 4), chunks=(10**12, 4)),
        "partition of .* GB, more than the .* that a worker may use",
    ),
}


@pytest.mark.parametrize(("X", "message"), BAD.values(), ids=BAD)
def test_bad_examples(X, message, client):
    with pytest.raises(ValueError, match=message):
        DaskMKLClassifier(RBF(0.1)).fit(X(), Y)


def test_views_in_different_partitions(client):
    with pytest.raises(ValueError, match="views must have the same partitions"):
        DaskMKLClassifier({"a": RBF(0.1)}).fit({"a": rows(), "b": rows(chunks=50)}, Y)


def test_targets_of_another_length(client):
    with pytest.raises(ValueError, match="inconsistent numbers of samples"):
        DaskMKLClassifier(RBF(0.1)).fit(rows(), Y[:-1])


@pytest.mark.parametrize("solver", ["skm", "qcqp"])
def test_solvers_that_need_all_in_one_place(solver, client):
    with pytest.raises(ValueError, match=r"needs the outputs of every kernel.*auto"):
        DaskMKLClassifier(RBF([0.1, 1.0]), norm=1, solver=solver).fit(rows(), Y)


def test_similarities_to_examples_elsewhere(client):
    with pytest.raises(ValueError, match="similarities to all training examples"):
        DaskMKLClassifier(Precomputed()).fit(rows(n=4, chunks=2), Y[:4])


def test_no_client():
    with pytest.raises(ValueError, match=r"no current Dask client.*client="):
        DaskMKLClassifier(RBF(0.1)).fit(rows(), Y)
    with pytest.raises(ValueError, match=r"must be a distributed\.Client, got a str"):
        DaskMKLClassifier(RBF(0.1), client="tcp://here").fit(rows(), Y)


def test_a_closed_client_is_an_error(cluster_of_threads):
    client = Client(cluster_of_threads, set_as_default=False)
    client.close()
    with pytest.raises(ClusterError, match="client must be running, but is closed"):
        DaskMKLClassifier(RBF(0.1), client=client).fit(rows(), Y)


def test_searches_of_scikit_learn(client):
    search = GridSearchCV(DaskMKLClassifier(RBF(0.1)), {"C": [0.1, 1.0]}, error_score="raise")
    with pytest.raises(TypeError, match="DaskMKLClassifierCV"):
        search.fit(rows(), Y)


def test_workers_of_another_version():
    same, other = (Report(10, version, 4, ()) for version in (__version__, "0.0"))
    with pytest.raises(ValueError, match=r"partition 1 .* 0\.0.*install the same version"):
        _check_alike([same, other], ["partition 0", "partition 1"])


def test_partitions_that_differ():
    def report(columns, *kinds):
        return Report(10, __version__, columns, kinds)

    labels = ["partition 0", "partition 1"]
    with pytest.raises(ValueError, match="partition 1 has 3 columns, but partition 0 has 4"):
        _check_alike([report(4), report(3)], labels)
    with pytest.raises(ValueError, match="has a column 'b' where partition 0 has 'a'"):
        _check_alike([report(1, ("a", "int64", ())), report(1, ("b", "int64", ()))], labels)
    with pytest.raises(ValueError, match="'a' is float64 in partition 1, but int64 in partition 0"):
        _check_alike([report(1, ("a", "int64", ())), report(1, ("a", "float64", ()))], labels)


@pytest.mark.parametrize("form", ["ovo", "joint"])
def test_classes_are_trained_against_the_rest_only(client, form):
    model = DaskMKLClassifier(RBF(1.0), client=client, multi_class=form)
    with pytest.raises(ValueError, match=f"multi_class must be 'ovr' or 'auto'.*'{form}'"):
        model.fit(rows(), np.arange(100) % 3)
