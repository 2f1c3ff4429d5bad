"""Estimators on a cluster: the model of one machine, whatever the number of workers."""

import gc
import subprocess
import sys
import threading
import time
import warnings
from concurrent.futures import ThreadPoolExecutor

import dask.array as da
import dask.bag as db
import dask.dataframe as dd
import numpy as np
import pandas as pd
import pytest
from distributed import Client, LocalCluster, wait
from mkl_cases import uses
from sklearn.exceptions import ConvergenceWarning

from kernelweave import (
    MKLClassifier,
    MKLClassifierCV,
    MKLOneClass,
    MKLRegressor,
    datasets,
    load,
    verify,
)
from kernelweave.dask import (
    DaskMKLClassifier,
    DaskMKLClassifierCV,
    DaskMKLOneClass,
    DaskMKLRegressor,
    DaskMKLRegressorCV,
)
from kernelweave.engines import sharded
from kernelweave.kernels import RBF, BagOfWords, Identity, Linear, Polynomial, per_feature
from kernelweave.kernels.default import default_kernels
from kernelweave.optimization.active_sets import ActiveSets, ActiveSetTuning
from kernelweave.optimization.methods.mwu import MWU
from kernelweave.optimization.plan import PlanTuning

FAMILY = RBF(gamma=list(np.geomspace(0.01, 1, 6)))
MIXED = [RBF([0.1, 0.5]), Polynomial(degree=2), Linear(columns=[0, 1])]
CLASSIFIERS = {
    "one kernel": {"kernels": RBF(0.2)},
    "sparse family": {"kernels": FAMILY, "norm": 1},
    "p = 2": {"kernels": MIXED},
    "p = 4, unit": {"kernels": MIXED, "norm": 4, "normalize": "unit"},
    "plain sum, centred": {"kernels": MIXED, "norm": np.inf, "normalize": "center"},
    "logistic": {"kernels": MIXED, "loss": "logistic", "norm": 1},
    "squared hinge": {"kernels": FAMILY, "loss": "squared_hinge"},
    "small working sets": {"kernels": MIXED, "working_set": 40},
    "columns one by one": {"kernels": per_feature(RBF("scale")), "norm": 1},
    "a ridge": {"kernels": RBF(0.2) + 0.1 * Identity()},
    "default kernels": {},
}


def same_model(ours, plain, X):
    """Two models of one problem: objectives and decision values agree to the certified gap."""
    slack = 2 * max(ours.tol, plain.tol) * abs(plain.primal_objective_)
    assert ours.duality_gap_ <= ours.tol
    assert abs(ours.primal_objective_ - plain.primal_objective_) <= slack
    values = [
        model.predict if isinstance(model, MKLRegressor) else model.decision_function
        for model in (ours, plain)
    ]
    a, b = (f(X) for f in values)
    # |f - f*|^2 is bounded by the gap in the function space that both live in
    assert np.mean((a - b) ** 2) <= 2 * slack


@pytest.mark.parametrize("given", CLASSIFIERS.values(), ids=CLASSIFIERS)
def test_classifier(given, client, table, parts):
    X, y = table
    ours = DaskMKLClassifier(**given).fit(*parts)
    # On a cluster default kernels are not chosen on held-out folds.
    local = (
        given if "kernels" in given else given | {"kernels": default_kernels(X, np.ones(len(X)))}
    )
    plain = MKLClassifier(**local).fit(X, y)
    same_model(ours, plain, X)
    assert ours.kernel_names_ == plain.kernel_names_
    if "Identity" not in repr(ours.kernels):  # of which verify knows new examples only
        assert verify(ours.as_plain(), X, y).agree


def test_regressor_and_one_class(client, table, parts):
    X, _ = table
    y = np.sin(X[:, 0]) + 0.1 * X[:, 1]
    given = {"kernels": MIXED, "tol": 1e-4}
    ours = DaskMKLRegressor(**given).fit(parts[0], da.from_array(y, chunks=100))
    same_model(ours, MKLRegressor(**given).fit(X, y), X)
    ours = DaskMKLOneClass(RBF(0.2), nu=0.2).fit(parts[0])
    same_model(ours, MKLOneClass(RBF(0.2), nu=0.2).fit(X), X)
    assert ours.offset_ == -ours.intercept_[0]


def test_several_classes_and_weights_of_examples(client, table, parts):
    X, _ = table
    y = np.array(["a", "b", "c"])[np.digitize(X[:, 0], [-0.5, 0.5])]
    weights = np.where(X[:, 1] > 0, 2.0, 0.5)
    for shared in (False, True):
        given = {"kernels": FAMILY, "norm": 1, "share_weights": shared, "class_weight": "balanced"}
        ours = DaskMKLClassifier(**given).fit(parts[0], y, da.from_array(weights, chunks=50))
        plain = MKLClassifier(**given).fit(X, y, weights)
        assert np.all(np.atleast_1d(ours.duality_gap_) <= ours.tol)
        np.testing.assert_allclose(
            ours.primal_objective_, plain.primal_objective_, rtol=2 * ours.tol
        )
        assert np.mean(ours.predict(parts[0]).compute() == plain.predict(X)) > 0.98


def model_numbers(model):
    return [model.dual_coef_, model.support_, model.intercept_, model.weights_]


def test_the_number_of_workers_makes_no_difference(client, parts, monkeypatch):
    monkeypatch.setattr(sharded, "MOST_LOCAL", 30)  # parts stay where they are, too
    fit = DaskMKLClassifier(FAMILY, norm=1, working_set=60).fit
    two = model_numbers(fit(*parts))
    for count in (1, 3):
        with (
            LocalCluster(
                n_workers=count, threads_per_worker=2, processes=False, dashboard_address=":0"
            ) as cluster,
            Client(cluster),
        ):
            other = DaskMKLClassifier(FAMILY, norm=1, working_set=60).fit(*parts)
            for mine, theirs in zip(two, model_numbers(other), strict=True):
                np.testing.assert_array_equal(mine, theirs)


def test_two_fits_at_the_same_time(client, parts):
    problems = [(FAMILY, 1), (MIXED, 2)]

    def fit(which):
        kernels, p = problems[which]
        return model_numbers(DaskMKLClassifier(kernels, norm=p, client=client).fit(*parts))

    alone, together = [fit(0), fit(1)], {}
    threads = [threading.Thread(target=lambda k=k: together.update({k: fit(k)})) for k in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for k in range(2):
        for mine, theirs in zip(alone[k], together[k], strict=True):
            np.testing.assert_array_equal(mine, theirs)


def test_many_fits_at_the_same_time(client, parts):
    def fit(_):
        model = DaskMKLClassifier(FAMILY, norm=1, client=client)
        return model_numbers(model.fit(*parts))

    with ThreadPoolExecutor(8) as pool:
        found = list(pool.map(fit, range(8)))
    for one in found[1:]:
        for mine, theirs in zip(found[0], one, strict=True):
            np.testing.assert_array_equal(mine, theirs)


def test_scheduler_has_no_tasks_after_a_fit(client, cluster_of_threads, parts):
    """After a fit the scheduler has no task of it, and no memory is used."""
    DaskMKLClassifier(FAMILY, norm=1).fit(*parts)
    gc.collect()
    for _ in range(100):
        left = [key for key in cluster_of_threads.scheduler.tasks if "kernelweave" in str(key)]
        if not left:
            break
        time.sleep(0.1)
    assert left == []


def test_workers_without_data_take_no_part(client, cluster_of_threads):
    """One partition is on one worker, and stays there."""
    X = da.random.default_rng(0).normal(size=(5000, 4), chunks=(5000, 4)).persist()
    wait(X)
    (home,) = {worker for workers in client.who_has(X).values() for worker in workers}
    y = (X[:, 0] > 0).astype(int)
    for worker in cluster_of_threads.workers.values():
        worker.state.log.clear()
    DaskMKLClassifier(RBF(0.2)).fit(X, y)
    ran = {
        worker.address
        for worker in cluster_of_threads.workers.values()
        for event in worker.state.log
        if "kernelweave-combined" in str(event[0]) and "executing" in event
    }
    assert ran == {home}


def test_active_sets_local_and_remote(client, monkeypatch):
    """More than 20,000 examples, so that active sets grow; parts of them stay on workers."""
    tuning = PlanTuning(active_sets=ActiveSetTuning(many_examples=300))
    monkeypatch.setattr("kernelweave.optimization.plan.TUNING_OF_PLANS", tuning)
    rng = np.random.default_rng(1)
    X = rng.normal(size=(2000, 4))
    y = np.where(X[:, 0] + X[:, 1] ** 2 > 1, 1, -1)
    plain = MKLClassifier(FAMILY, norm=1).fit(X, y)
    for most in (100_000, 100):
        monkeypatch.setattr(sharded, "MOST_LOCAL", most)
        ours = DaskMKLClassifier(FAMILY, norm=1).fit(da.from_array(X, chunks=(700, 4)), y)
        assert uses(ours.plan_, ActiveSets)
        same_model(ours, plain, X)


def frames(n=300):
    X, y = datasets.make_mixed_table(n, random_state=0)
    numbers, categories = ["age", "spend"], ["city", "colour"]
    kernels = [
        RBF("scale", columns=numbers),
        per_feature(Linear(columns=categories)),
        BagOfWords(columns="review"),
    ]
    return X, y, kernels


def test_frames_with_columns_of_all_kinds(client, monkeypatch):
    X, y, kernels = frames()
    given = {"kernels": kernels, "norm": 1, "normalize": "unit"}
    plain = MKLClassifier(**given).fit(X, y)
    D = dd.from_pandas(X.reset_index(drop=True), npartitions=4)
    for most in (5000, 40):  # what kernels take from data is more than a sample holds
        monkeypatch.setattr("kernelweave.dask.data.MOST_EXAMPLES", most)
        ours = DaskMKLClassifier(**given).fit(D, y)
        same_model(ours, plain, X)
        assert ours.kernel_names_ == plain.kernel_names_
    assert list(ours.feature_names_in_) == list(X.columns)
    labels = ours.predict(D)
    assert isinstance(labels, da.Array)
    np.testing.assert_array_equal(labels.compute(), ours.as_plain().predict(X))


def test_views(client):
    rng = np.random.default_rng(0)
    X = {"a": rng.normal(size=(200, 3)), "b": rng.normal(size=(200, 2))}
    y = np.where(X["a"][:, 0] + X["b"][:, 1] > 0, 1, -1)
    X["b"][3] = np.nan  # absent
    kernels = {"a": RBF(0.3), "b": Linear()}
    D = {name: da.from_array(view, chunks=(60, view.shape[1])) for name, view in X.items()}
    ours = DaskMKLClassifier(kernels).fit(D, y)
    same_model(ours, MKLClassifier(kernels).fit(X, y), X)


def test_texts_in_a_bag(client):
    X, y, _ = frames()
    texts = X["review"].tolist()
    ours = DaskMKLClassifier(BagOfWords()).fit(db.from_sequence(texts, npartitions=3), y)
    same_model(ours, MKLClassifier(BagOfWords()).fit(texts, y), texts)


def test_answers_are_lazy(client, table, parts):
    X, _ = table
    ours = DaskMKLClassifier(MIXED).fit(*parts)
    plain = ours.as_plain()
    for what in ("decision_function", "predict", "contributions"):
        lazy = getattr(ours, what)(parts[0])
        expected = getattr(plain, what)(X)
        assert isinstance(lazy, da.Array)
        assert lazy.shape == expected.shape
        assert lazy.dtype == expected.dtype
        np.testing.assert_array_equal(lazy.compute(), expected)
        np.testing.assert_array_equal(getattr(ours, what)(X), expected)  # not lazy for arrays


def test_a_model_needs_no_dask(client, table, parts, tmp_path):
    ours = DaskMKLClassifier(FAMILY, norm=1).fit(*parts)
    ours.save(tmp_path / "m.kw")
    assert type(load(tmp_path / "m.kw")) is MKLClassifier
    np.save(tmp_path / "X.npy", table[0])
    script = """
import sys
sys.modules.update({"dask": None, "distributed": None})
import numpy as np, kernelweave
model = kernelweave.load(sys.argv[1] + "/m.kw")
np.save(sys.argv[1] + "/f.npy", model.decision_function(np.load(sys.argv[1] + "/X.npy")))
"""
    subprocess.run([sys.executable, "-c", script, str(tmp_path)], check=True)
    np.testing.assert_array_equal(np.load(tmp_path / "f.npy"), ours.decision_function(table[0]))


def test_a_checkpoint_resumes(client, table, parts, tmp_path, monkeypatch):
    from kernelweave.model.files import checkpoint

    monkeypatch.setattr(checkpoint, "SECONDS", 0.0)
    given = {"kernels": MIXED, "working_set": 30, "checkpoint": tmp_path / "c"}
    monkeypatch.setattr(checkpoint.Checkpoint, "remove", lambda self: None)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        first = DaskMKLClassifier(max_iter=2, **given).fit(*parts)
    assert (tmp_path / "c.0").exists()
    again = DaskMKLClassifier(**given).fit(*parts)
    assert again.history_[0]["gap"] <= first.history_[-1]["gap"] * (1 + 1e-9)
    other = parts[0] + 1.0
    with pytest.raises(ValueError, match="belongs to another problem"):
        DaskMKLClassifier(**given).fit(other, parts[1])


def test_progress_on_a_cluster_prints_bytes(client, parts, capsys):
    DaskMKLClassifier(MIXED, verbose=1, working_set=40).fit(*parts)
    shown = capsys.readouterr().err
    for word in ("iteration", "duality gap", "sent", "left"):
        assert word in shown


def test_searches_over_folds(client, table, parts, tmp_path):
    X, y = table
    given = {"norms": [1, 2], "Cs": [0.1, 1.0, 10.0], "cv": 3, "kernels": MIXED}
    ours = DaskMKLClassifierCV(**given).fit(*parts)
    plain = MKLClassifierCV(**given).fit(X, y)
    assert ours.scores_.shape == plain.scores_.shape
    np.testing.assert_allclose(ours.scores_, plain.scores_, atol=0.03)
    assert ours.best_score_ == ours.scores_.mean(axis=2).max()
    assert ours.duality_gap_ <= ours.tol
    ours.save(tmp_path / "m.kw")
    assert type(load(tmp_path / "m.kw")) is MKLClassifierCV
    y = X[:, 0] + np.sin(X[:, 1])
    ours = DaskMKLRegressorCV(RBF(0.1), norms=[2], Cs=[1.0, 10.0], cv=2).fit(parts[0], y)
    assert ours.best_score_ > 0.8
    assert isinstance(ours.predict(parts[0]), da.Array)


def test_multiplicative_weights_in_batches(client, table, parts, monkeypatch):
    """Rounds on batches reach the gap of a local fit in few passes."""
    X, y = table
    monkeypatch.setattr("kernelweave.optimization.methods.game.CANDIDATES", 20)
    given = {"kernels": MIXED, "norm": 1, "loss": "squared_hinge", "solver": "mwu", "tol": 0.1}
    ours = DaskMKLClassifier(**given).fit(*parts)
    plain = MKLClassifier(**given).fit(X, y)
    assert plain.duality_gap_ <= 0.1
    assert ours.duality_gap_ <= 0.1
    assert len(ours.history_) < 60
    assert abs(ours.primal_objective_ / plain.primal_objective_ - 1) < 0.1
    assert verify(ours.as_plain(), X, y).agree


def test_a_round_on_candidates_is_measured_in_the_trace_of_all_examples(
    client, table, parts, monkeypatch
):
    X, y = table
    monkeypatch.setattr("kernelweave.optimization.methods.game.CANDIDATES", 20)
    rounds = MWU(eps=0.5, scaling="trace", rho=1 + np.sqrt(4 / len(y)))
    given = {"norm": 1, "loss": "squared_hinge", "solver": rounds, "max_iter": 30, "tol": 0.1}
    with pytest.warns(ConvergenceWarning):
        plain = MKLClassifier(RBF([0.1, 1.0]), normalize="unit", **given).fit(X, y)
    with pytest.warns(ConvergenceWarning):
        ours = DaskMKLClassifier(RBF([0.1, 1.0]), normalize="unit", **given).fit(*parts)
    assert np.isfinite([plain.duality_gap_, ours.duality_gap_]).all()


def test_parameters_are_those_of_the_plain_estimators():
    for ours, plain in (
        (DaskMKLClassifier, MKLClassifier),
        (DaskMKLRegressor, MKLRegressor),
        (DaskMKLOneClass, MKLOneClass),
    ):
        assert ours().get_params() == plain().get_params() | {"client": None}
    model = DaskMKLClassifier(pd and FAMILY, C=3.0)
    assert model.set_params(C=4.0).C == 4.0
