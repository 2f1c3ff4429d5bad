"""Model files: what is loaded decides as what was saved, and a file cannot run code."""

import io
import json
import zipfile

import numpy as np
import pandas as pd
import pytest
from sklearn.compose import make_column_selector
from sklearn.exceptions import NotFittedError

from kernelweave import (
    MKLClassifier,
    MKLClassifierCV,
    MKLOneClass,
    MKLRegressor,
    datasets,
    kernels,
    load,
    norms,
)
from kernelweave.model_file import DOCUMENT


@pytest.fixture
def X(rng):
    return rng.normal(size=(60, 4))


@pytest.fixture
def frame():
    return datasets.make_mixed_table(80, random_state=0)


def classes(X):
    return (X[:, 0] > 0).astype(int) + (X[:, 1] > 0.5)


def models(X):
    several = [kernels.RBF(gamma=[0.1, 1.0], columns=[0, 2]), kernels.Linear() * kernels.RBF()]
    yield MKLClassifier(several, norm=1).fit(X, X[:, 0] > 0)
    yield MKLClassifier(several, norm=norms.Elliptic(np.eye(3)), C=3.0).fit(X, X[:, 0] > 0)
    yield MKLClassifier(normalize="center").fit(X, np.array(["a", "b", "c"])[classes(X)])
    yield MKLClassifier(kernels.per_feature(kernels.RBF()), normalize="unit").fit(X, classes(X))
    yield MKLRegressor(kernels.ChiSquared(gamma=0.5), normalize="trace").fit(np.abs(X), X[:, 0])
    yield MKLOneClass(nu=0.2).fit(X)
    yield MKLClassifierCV(norms=(2.0, np.inf), Cs=(0.1, 1.0), cv=2).fit(X, X[:, 0] > 0)


@pytest.mark.parametrize("number", range(7))
def test_what_is_loaded_is_what_was_saved(X, tmp_path, number):
    model = list(models(X))[number]
    model.save(tmp_path / "m.kw")
    other = load(tmp_path / "m.kw")
    new = np.abs(X[::-1]) if isinstance(model, MKLRegressor) else X[::-1]
    np.testing.assert_array_equal(other.predict(new), model.predict(new))
    np.testing.assert_array_equal(other.contributions(new), model.contributions(new))
    assert repr(other) == repr(model)
    assert other.kernel_names_ == model.kernel_names_
    np.testing.assert_array_equal(other.weights_, model.weights_)
    assert other.duality_gap_ == pytest.approx(model.duality_gap_, rel=0, abs=0)


def test_tables_and_precomputed_kernels(X, frame, tmp_path):
    table, y = frame
    chosen = [
        kernels.RBF(columns=["age", "spend"]),
        kernels.Linear(columns="city"),
        kernels.BagOfWords(columns="review"),
    ]
    model = MKLClassifier(chosen).fit(table, y)
    model.save(tmp_path / "m.kw")
    np.testing.assert_array_equal(load(tmp_path / "m.kw").predict(table), model.predict(table))
    K = X @ X.T + np.eye(len(X))
    given = MKLClassifier(kernels.Precomputed()).fit(K, X[:, 0] > 0)
    given.save(tmp_path / "given.kw")
    np.testing.assert_array_equal(load(tmp_path / "given.kw").predict(K), given.predict(K))


def test_sequences(tmp_path):
    X, y = datasets.make_splice(200, positive_rate=0.5, seed=0)
    model = MKLClassifier(kernels.WeightedDegree(5)).fit(X, y)
    model.save(tmp_path / "m.kw")
    other = load(tmp_path / "m.kw")
    np.testing.assert_array_equal(other.decision_function(X), model.decision_function(X))


def test_a_loaded_model_can_be_fitted_again(X, tmp_path):
    model = MKLClassifier().fit(X, X[:, 0] > 0)
    model.save(tmp_path / "m.kw")
    again = load(tmp_path / "m.kw").fit(X, X[:, 1] > 0)
    assert again.score(X, X[:, 1] > 0) > 0.8


def test_only_fitted_estimators_are_saved(tmp_path):
    with pytest.raises(NotFittedError):
        MKLClassifier().save(tmp_path / "m.kw")
    assert not list(tmp_path.iterdir())


def test_what_cannot_be_saved_is_named_and_leaves_no_file(frame, tmp_path):
    table, y = frame
    numbers = make_column_selector(dtype_include=np.number)
    model = MKLClassifier(kernels.RBF(columns=numbers)).fit(table, y)
    with pytest.raises(ValueError, match="make_column_selector cannot be saved"):
        model.save(tmp_path / "m.kw")
    assert not list(tmp_path.iterdir())


def test_a_file_cut_in_half_is_refused(X, tmp_path):
    path = tmp_path / "m.kw"
    MKLClassifier().fit(X, X[:, 0] > 0).save(path)
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])
    with pytest.raises(ValueError, match="is not a kernelweave model"):
        load(path)


@pytest.mark.parametrize("name", ["Path", "Problem", "Sequences.__init__", "object"])
def test_a_file_makes_no_other_objects(tmp_path, name):
    document = {"kernelweave": 1, "estimator": "MKLClassifier", "fitted": {"dict": []}}
    document["parameters"] = {"dict": [{"tuple": ["C", {"object": name, "fields": {}}]}]}
    with zipfile.ZipFile(tmp_path / "m.kw", "w") as archive:
        archive.writestr(DOCUMENT, json.dumps(document))
    with pytest.raises(ValueError, match="is not a kernelweave model"):
        load(tmp_path / "m.kw")


def test_pickled_arrays_are_refused(X, tmp_path):
    path = tmp_path / "m.kw"
    MKLClassifier().fit(X, X[:, 0] > 0).save(path)
    with zipfile.ZipFile(path) as archive:
        parts = {name: archive.read(name) for name in archive.namelist()}
    evil = io.BytesIO()
    np.save(evil, np.array([pd.Timestamp(0)], dtype=object), allow_pickle=True)
    with zipfile.ZipFile(path, "w") as archive:
        for name, content in parts.items():
            archive.writestr(name, evil.getvalue() if name == "0.npy" else content)
    with pytest.raises(ValueError, match="is not a kernelweave model"):
        load(path)
