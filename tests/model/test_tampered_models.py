"""Altered models with valid checksums: refused by `load`, reported by `verify`, or harmless."""

import dataclasses
import functools
import io
import json
import zipfile

import numpy as np
import pytest
from fuzz.model_files import sealed

from kernelweave import MKLClassifier, MKLOneClass, MKLRegressor, load, verify
from kernelweave.kernels import RBF, Linear, Spectrum
from kernelweave.model.files.kw import DOCUMENT

INPUTS = 170  # for each of six models: more than 1,000 in all
FACTORS = (-1.0, 0.0, 0.5, 0.9, 1.1, 2.0, 1e6)
DIFFERENT = 1e-4  # a decision value that is altered by this fraction of their largest size


@functools.cache
def fitted(name):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(30, 3))
    y = (X[:, 0] + 0.5 * rng.normal(size=30) > 0).astype(int)
    repeated, texts = np.concatenate([X, X[:20]]), rng.choice(list("ACGT"), size=(30, 12))
    kernels = [RBF([0.1, 1.0]), Linear()]
    texts = ["".join(row) for row in texts]
    models = {
        "classes": (MKLClassifier(kernels), X, y),
        "merged": (MKLClassifier(kernels, norm=1), repeated, np.concatenate([y, y[:20]])),
        "three classes": (MKLClassifier(kernels), X, np.arange(30) % 3),
        "shared": (MKLRegressor(kernels, share_weights=True), X, X[:, :2] ** 2),
        "one class": (MKLOneClass(RBF([0.1, 1.0])), X, None),
        "sequences": (MKLClassifier(Spectrum([2, 3]), normalize="center"), texts, y),
    }
    model, X, y = models[name]
    return model.fit(X, y), X, y


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


@pytest.mark.parametrize("name", ["classes", "merged", "three classes", "shared", "one class",
                                  "sequences"])  # fmt: skip
def test_verify_reports_every_model_that_predicts_differently(name, tmp_path):
    model, X, y = fitted(name)
    path = tmp_path / "m.kw"
    model.save(path)
    members, expected = members_of(path), model._decide(X)
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
        except ValueError:
            continue
        try:
            same = close(other._decide(X), expected) and np.array_equal(
                getattr(other, "classes_", None), getattr(model, "classes_", None)
            )
        except ValueError:
            continue
        if not same:
            different += 1
            try:
                assert not verify(other, X, y).agree
            except ValueError:
                continue  # a clear error is a report, too
    assert different > 10


def close(found, expected):
    return np.abs(found - expected).max() <= DIFFERENT * np.abs(expected).max()


def test_inverted_predictions_are_reported(tmp_path):
    model, X, y = fitted("classes")
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
