"""Altered models with valid checksums: refused by `load`, reported by `verify`, or harmless."""

import dataclasses
import functools
import io
import json
import zipfile

import numpy as np
import pytest
from fuzz.model_files import predictions, predicts_alike, sealed

from kernelweave import MKLClassifier, MKLOneClass, MKLRegressor, MKLSurvival, load, verify
from kernelweave.kernels import RBF, Linear, Spectrum, Substring
from kernelweave.model.files.kw import DOCUMENT

pd = pytest.importorskip("pandas")

INPUTS = 100  # for each of eighteen models
FACTORS = (-1.0, 0.0, 0.5, 0.9, 1.1, 2.0, 1e6)
DIFFERENT = 1e-4  # a decision value that is altered by this fraction of their largest size
MODELS = ("classes", "merged", "three classes", "shared", "one class", "sequences", "pairs",
          "table", "sigmoid", "isotonic", "jackknife+", "survival",
          "joint logistic", "joint hinge", "calibrated pairs", "calibrated joint classes",
          "ranking")  # fmt: skip


@functools.cache
def fitted(name):
    """Return a fitted model, its training data, and other examples."""
    rng = np.random.default_rng(0)
    X, other = rng.normal(size=(2, 30, 3))
    y = (X[:, 0] + 0.5 * rng.normal(size=30) > 0).astype(int)
    repeated, texts = np.concatenate([X, X[:20]]), rng.choice(list("ACGT"), size=(60, 12))
    kernels = [RBF([0.1, 1.0]), Linear()]
    texts = ["".join(row) for row in texts]
    table = pd.DataFrame({"a": X[:, 0], "b": rng.choice(["x", "y", "z"], 30)})
    rows = pd.DataFrame({"a": [np.nan, *other[1:, 0]], "b": ["w", *rng.choice(["x", "y"], 29)]})
    times = np.array(list(zip(y > 0, np.exp(X[:, 1]), strict=True)),
                     dtype=[("event", "?"), ("time", "f8")])  # fmt: skip
    squared = MKLRegressor(kernels, loss="squared", calibrate="jackknife+")
    models = {
        "classes": (MKLClassifier(kernels), X, y, other),
        "merged": (MKLClassifier(kernels, norm=1), repeated, np.concatenate([y, y[:20]]), other),
        "three classes": (MKLClassifier(kernels, multi_class="ovr"), X, np.arange(30) % 3, other),
        "shared": (MKLRegressor(kernels, share_weights=True), X, X[:, :2] ** 2, other),
        "one class": (MKLOneClass(RBF([0.1, 1.0])), X, None, other),
        "sequences": (
            MKLClassifier(Spectrum([2, 3]), normalize="center"), texts[:30], y, texts[30:]),
        "pairs": (MKLClassifier(kernels, multi_class="ovo"), X, np.arange(30) % 3, other),
        "table": (MKLClassifier(), table, y, rows),
        "sigmoid": (MKLClassifier(kernels, calibrate="sigmoid"), X, y, other),
        "isotonic": (MKLClassifier(kernels, multi_class="ovr", calibrate="isotonic"),
                     X, np.arange(30) % 3, other),
        "jackknife+": (squared, X, X[:, 0] ** 2, other),
        "survival": (MKLSurvival(kernels), X, times, other),
        "joint logistic": (MKLClassifier(kernels, multi_class="joint", loss="logistic"),
                           X, np.arange(30) % 3, other),
        "joint hinge": (MKLClassifier(kernels, multi_class="joint"), X, np.arange(30) % 3, other),
        "calibrated pairs": (MKLClassifier(kernels, multi_class="ovo", calibrate="sigmoid"),
                             X, np.arange(30) % 3, other),
        "calibrated joint classes": (
            MKLClassifier(kernels, multi_class="joint", calibrate="sigmoid"),
            X, np.arange(30) % 3, other),
        "ranking": (MKLSurvival(kernels, loss="ranking"), X, times, other),
        "substrings": (MKLClassifier(Substring(0.5)), texts[:30], y, texts[30:]),
    }  # fmt: skip
    model, X, y, other = models[name]
    return model.fit(X, y), X, y, other


def members_of(path):
    with zipfile.ZipFile(path) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def alter(rng, members):
    """Change one number, one array or one number of the document."""
    names = sorted(name for name in members if name.endswith(".npy"))
    if rng.random() < 0.8:
        name = rng.choice(names)
        array = np.load(io.BytesIO(members[name]))
        if array.size == 0 or array.dtype.kind not in "fiu":
            return
        factor = rng.choice(FACTORS)
        with np.errstate(all="ignore"):
            if rng.random() < 0.5:
                array = (array * factor).astype(array.dtype)
            else:
                place = rng.integers(array.size)
                array.flat[place] = np.asarray(array.flat[place] * factor).astype(array.dtype)
        out = io.BytesIO()
        np.save(out, array)
        members[name] = out.getvalue()
        return
    document = json.loads(members[DOCUMENT])
    places = list(numbers(document["fitted"]))
    holder, key = places[rng.integers(len(places))]
    holder[key] = type(holder[key])(holder[key] * rng.choice(FACTORS))
    members[DOCUMENT] = json.dumps(document).encode()


def numbers(node):
    """Yield every (container, key) of a number."""
    for key, value in list(node.items() if isinstance(node, dict) else enumerate(node)):
        if isinstance(value, dict | list):
            yield from numbers(value)
        elif isinstance(value, int | float) and not isinstance(value, bool) and key != "array":
            yield node, key


SLOW = pytest.param("substrings", marks=pytest.mark.slow)


@pytest.mark.parametrize("name", [*MODELS, SLOW])
def test_verify_reports_every_model_that_predicts_differently(name, tmp_path):
    model, X, y, new = fitted(name)
    path = tmp_path / "m.kw"
    model.save(path)
    members, expected = members_of(path), [predictions(model, each) for each in (X, new)]
    rng = np.random.default_rng(1)
    different = 0
    for _ in range(INPUTS):
        changed = dict(members)
        alter(rng, changed)
        sealed(changed)
        with zipfile.ZipFile(path, "w") as archive:
            for member, content in changed.items():
                archive.writestr(member, content)
        try:
            other = load(path)
            with np.errstate(over="ignore", invalid="ignore"):  # wrong numbers may overflow
                found = [predictions(other, each) for each in (X, new)]
        except ValueError:
            continue
        if not all(map(alike, found, expected)):
            different += 1
            try:
                assert not verify(other, X, y).agree
            except ValueError:
                continue  # a clear error is a report, too
    assert different > 5


def alike(found, expected):
    values = expected["decisions"]
    size = np.abs(values).max()
    close = np.abs(found["decisions"] - values).max() <= DIFFERENT * size
    return close and predicts_alike(found, expected)


def test_inverted_predictions_are_reported(tmp_path):
    model, X, y, _ = fitted("classes")
    model.save(tmp_path / "m.kw")
    other = load(tmp_path / "m.kw")
    other._model = dataclasses.replace(
        other._model, coef=-other._model.coef, intercept=-other._model.intercept
    )
    other.save(tmp_path / "inverted.kw")
    inverted = load(tmp_path / "inverted.kw")
    np.testing.assert_allclose(inverted.decision_function(X), -model.decision_function(X))
    np.testing.assert_array_equal(inverted.dual_coef_, -model.dual_coef_)
    assert not verify(inverted, X, y).agree
