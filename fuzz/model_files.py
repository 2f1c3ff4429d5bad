"""Model files, damaged or altered with valid checksums, and then used.

`load` must refuse a file with a ValueError, or return a model of which every method works: predict,
contributions, tables of weights, displays, verify, save. A model that predicts differently must not
agree with its training data.
"""

from __future__ import annotations

import hashlib
import io
import json
import tempfile
import warnings
import zipfile
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

import kernelweave as kw
from kernelweave import Views, norms, verify
from kernelweave import kernels as k
from kernelweave.model.files.archive import SUMS
from kernelweave.sequences import as_sequences

from .choices import Choices
from .damage import damaged
from .verdicts import DOCUMENTED, Lie

ODD_VALUES: list[Any] = [
    *(None, True, 0, -1, 1, 2, 2**31, 2**63, 10**30, 0.5, -0.0, 1e308, "", "x", "__class__"),
    *(
        [],
        {},
        [0],
        {"array": 0},
        {"array": -1},
        {"array": 10**9},
        {"tuple": []},
        {"dict": [[1, 2]]},
    ),
    *(
        {"float": "nan"},
        {"float": "inf"},
        {"slice": [0, 5, 0]},
        {"bytes": "ACGT"},
        {"objects": [1]},
    ),
    *({"decode": 1}, {"object": "Model", "fields": {}}, {"object": "Lp", "fields": {"p": 1}}),
    *({"object": "Polynomial", "fields": {"degree": 10**9}}, "(a+)+$", "/dev/zero", "../x"),
]
DTYPES = ["f8", "f4", "i8", "i4", "u8", "u1", "?", "c16", ">f8", "S3", "U2", "M8[s]"]


@dataclass(frozen=True)
class Template:
    """A model file with the training data of the model and what it predicts for them."""

    content: bytes
    X: Any
    y: Any
    predicted: dict[str, np.ndarray]


@cache
def templates() -> list[Template]:
    """Return files of fitted models of every kind."""
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(14, 3)), np.arange(14) % 2
    dna = ["".join(rng.choice(list("ACGT"), 12)) for _ in range(14)]
    uneven = [text[: 6 + i % 7] for i, text in enumerate(dna)]
    words = ["red green", "blue", "red blue", "green"] * 3 + ["red", "blue"]
    proteins = ["".join(rng.choice(list("ACDEFGHIKL"), 9)) for _ in range(14)]
    positive, K = np.abs(X), X @ X.T
    repeated, three = np.concatenate([X[:9], X[:5]]), np.arange(14) % 3
    views = Views({"a": X, "b": np.where(np.arange(14)[:, None] % 4 == 0, np.nan, X[:, :1])})
    each = {"a": k.RBF(0.5), "b": k.Linear()}
    fitted = [
        (kw.MKLClassifier([k.RBF([0.1, 1.0]), k.Linear()]), X),
        (kw.MKLClassifier(k.RBF(0.5), normalize="center", norm=norms.Block(3)), X),
        (kw.MKLClassifier([k.Polynomial(2), k.Laplacian()], norm=1, normalize="unit"), X),
        (kw.MKLClassifier([k.ChiSquared(), k.Intersection()], norm=norms.Lp(2, [1, 2])), positive),
        (kw.MKLRegressor(k.RBF(0.5) * k.Linear() + 2 * k.RBF(0.1), loss="squared"), X),
        (kw.MKLOneClass(k.per_feature(k.RBF(0.5))), X),
        (kw.MKLClassifier(k.Precomputed(), normalize=None), K),
        (kw.MKLClassifier(k.WeightedDegree(3, split="degree")), dna),
        (kw.MKLClassifier([k.WeightedDegreeShift(3, 2), k.LocalityImproved()]), dna),
        (kw.MKLClassifier(k.Spectrum(2)), as_sequences(uneven)),
        (kw.MKLClassifier(k.Spectrum(2, alphabet="protein")), proteins),
        (kw.MKLClassifier([k.BagOfWords()]), words),
        (kw.MKLClassifierCV(k.RBF([0.1, 1.0]), norms=(1, 2), Cs=(1.0,), cv=2), X),
        (kw.MKLClassifier([k.RBF([0.1, 1.0]), k.Linear()]), repeated),
        (kw.MKLClassifier(each), views),
        (kw.MKLOneClass(each), views),
        (kw.MKLClassifier(each), Views({"a": X, "b": X[:, :1]})),
        (kw.MKLClassifier(k.RBF([0.1, 1.0])), X, three),
        (kw.MKLClassifier(k.RBF([0.1, 1.0]), share_weights=True, loss="logistic"), X, three),
        (kw.MKLRegressor([k.RBF(0.5), k.Linear()]), X, X[:, :2]),
        (kw.MKLClassifier([k.RBF(0.5), k.Linear()]), X, (X > 0).astype(int)),
        (kw.MKLClassifier([k.RBF(0.5), k.Linear()], multi_class="ovo"), X, three),
        (kw.MKLClassifier(k.RBF([0.1, 1.0]), multi_class="joint", loss="logistic"), X, three),
        (kw.MKLClassifier([k.RBF(0.5), k.Linear()], multi_class="joint"), X, three),
        (kw.MKLClassifier(k.Substring(0.5)), dna),
        (kw.MKLClassifier(k.RBF(0.5), calibrate="sigmoid"), X),
        (kw.MKLClassifier(k.RBF(0.5), multi_class="ovr", calibrate="isotonic"), X, three),
        (kw.MKLRegressor(k.RBF(0.5), calibrate="residuals"), X),
        (kw.MKLRegressor(k.RBF(0.5), loss="squared", calibrate="jackknife+"), X),
        (kw.MKLSurvival(k.RBF([0.1, 1.0])), X, survival_times(rng)),
        (kw.MKLClassifier(), pd.DataFrame({"a": X[:, 0], "b": list("xyxyzzxxyyzxyz")})),
    ]
    return [template(model, examples, *(targets or [y])) for model, examples, *targets in fitted]


def survival_times(rng: np.random.Generator) -> np.ndarray:
    """Return 14 times, some of them censored."""
    times = np.empty(14, dtype=[("event", "?"), ("time", "f8")])
    times["event"], times["time"] = np.arange(14) % 3 > 0, rng.exponential(size=14)
    return times


def template(model: Any, X: Any, y: Any) -> Template:
    """Fit a model and return its file."""
    y = X[:, 0] if isinstance(model, kw.MKLRegressor) and np.ndim(y) == 1 else y
    model.fit(X, y)
    return Template(_saved(model), X, y, predictions(model, X))


def _saved(model: Any) -> bytes:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "m.kw")
        model.save(path)
        return path.read_bytes()


def run(data: bytes) -> None:
    """Load and use a changed file."""
    c = Choices(data)
    one = c.pick(templates())
    content = damaged(c, one.content) if c.chance(0.1) else crafted(c, one.content)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "m.kw")
        path.write_bytes(content)
        try:
            model = kw.load(path)
        except (ValueError, MemoryError):
            raise
        except Exception as error:
            raise Lie(f"load raised {type(error).__name__}, not ValueError: {error}") from error
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore")  # wrong numbers may overflow
            use(c, model, one, path)


def use(c: Choices, model: Any, one: Template, path: Path) -> None:
    """Call everything that users call; exceptions other than `DOCUMENTED` are findings."""
    same = False
    with suppress(*DOCUMENTED):
        same = predicts_alike(predictions(model, one.X), one.predicted)
    uses = [
        lambda: model.predict(one.X),
        lambda: predictions(model, one.X),
        lambda: model.predict_set(one.X) if hasattr(model, "predict_set") else None,
        lambda: model.predict(without_views(one.X)),
        lambda: model.contributions(one.X),
        lambda: model.weights_frame(one.X if c.chance(0.5) else None),
        lambda: verified(model, one, same),
        lambda: repr(model),
        lambda: saved_again(model, one, path),
        lambda: (model.weights_, model.dual_coef_, model.support_, model.intercept_),
    ]
    for call in uses:
        with suppress(*DOCUMENTED):
            call()
    if c.chance(0.1):
        drawn(c, model)


def predictions(model: Any, X: Any) -> dict[str, np.ndarray]:
    """Return everything that a model predicts, by name, as numbers."""
    found = {"decisions": model._decide(X)}
    if isinstance(model, kw.MKLClassifier):
        found["classes"] = np.asarray(model.classes_)
    if hasattr(model, "predict_proba"):
        found["probabilities"] = model.predict_proba(X)
    if hasattr(model, "predict_interval"):
        found["intervals"] = model.predict_interval(X, 0.2)
    if isinstance(model, kw.MKLSurvival) and model.loss == "cox":
        curves = model.predict_survival_function(X)
        found["survival"] = np.array([curve.y for curve in curves])
        found["times"] = np.array([curve.x for curve in curves])
    return found


def predicts_alike(found: dict[str, np.ndarray], expected: dict[str, np.ndarray]) -> bool:
    """Return whether all predictions are equal up to a fraction of the largest.

    It is 1 % for decision values. What folds of cross-fitting give may differ by 5 %.
    """
    if found.keys() != expected.keys():
        return False
    return all(
        np.array_equal(found[name], value)
        if value.dtype.kind not in "f"
        else differs_little(found[name], value, 0.01 if name == "decisions" else 0.05)
        for name, value in expected.items()
    )


def differs_little(found: np.ndarray, expected: np.ndarray, fraction: float) -> bool:
    """Return whether values differ by less than a fraction of the largest."""
    if found.shape != expected.shape:
        return False
    size = np.abs(expected).max(where=np.isfinite(expected), initial=0.0)
    return bool(np.all((found == expected) | (np.abs(found - expected) <= fraction * size)))


def without_views(X: Any) -> Any:
    """Return examples of which one view is absent, if they have views."""
    if not isinstance(X, Views):
        return X
    return Views({"a": X["a"], "b": np.full((len(X), 1), np.nan)})


def verified(model: Any, one: Template, same: bool) -> None:
    """Raise a `Lie` if a model that predicts differently agrees with its training data."""
    proof = verify(model, one.X, one.y)
    repr(proof)
    if proof.agree and not same:
        raise Lie(f"predictions differ, but {proof}")


def saved_again(model: Any, one: Template, path: Path) -> None:
    """Raise a `Lie` if a model that is saved and loaded again predicts differently."""
    values = predictions(model, one.X)
    model.save(path)
    again = predictions(kw.load(path), one.X)
    if any(not np.array_equal(again[name], values[name], equal_nan=True) for name in values):
        raise Lie("a model that is saved again predicts differently")


def drawn(c: Choices, model: Any) -> None:
    """Draw the displays of a model."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    try:
        with suppress(*DOCUMENTED):
            c.pick([kw.WeightsDisplay, kw.ConvergenceDisplay]).from_estimator(model)
            pyplot.gcf().canvas.draw()
    finally:
        pyplot.close("all")


def crafted(c: Choices, content: bytes) -> bytes:
    """Return a file with another document, other arrays, or other members."""
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    if c.chance(0.5):  # a change that `load` cannot notice in most cases
        scaled_array(c, members)
        sealed(members)
        return packed(c, members, [zipfile.ZIP_DEFLATED])
    for _ in range(c.integer(1, 3)):
        change = c.pick([changed_document] * 3 + [changed_array] * 3 + [changed_members])
        change(c, members)
    if not c.chance(0.05):
        sealed(members)
    return packed(c, members)


def sealed(members: dict[str, bytes]) -> None:
    """Give members valid checksums of their present contents."""
    members.pop(SUMS, None)
    sums = [f"{hashlib.sha256(content).hexdigest()}  {name}\n" for name, content in members.items()]
    members[SUMS] = "".join(sums).encode()


def changed_document(c: Choices, members: dict[str, bytes]) -> None:
    """Replace, swap, drop or wrap something inside the document."""
    try:
        document = json.loads(members["model.json"])
    except (ValueError, KeyError, RecursionError):
        return
    places = list(_places(document))
    if not places:
        return
    holder, key = c.pick(places)
    other, place = c.pick(places)
    how = c.integer(0, 5)
    if how <= 1:
        holder[key] = c.pick(ODD_VALUES)
    elif how == 2:
        holder[key] = json.loads(json.dumps(other[place]))
    elif how == 3 and isinstance(holder, dict):
        del holder[key]
    elif how == 4:
        for _ in range(c.usual(3, [400], 0.1)):
            holder[key] = c.pick([[holder[key]], {"tuple": [holder[key]]}])
    elif isinstance(holder[key], int) and not isinstance(holder[key], bool):
        holder[key] += c.pick([-1, 1, 1000, 2**40])
    try:
        text = json.dumps(document)
    except RecursionError:  # deeper than what this process can write; the next choice is as deep
        text = members["model.json"].decode()
    if c.chance(0.01):
        text = "[" * 100_000 + text
    members["model.json"] = text.encode()


def _places(node: Any) -> Any:
    """Give every (container, key) of a document."""
    items = node.items() if isinstance(node, dict) else enumerate(node)
    for key, value in list(items):
        yield node, key
        if isinstance(value, dict | list):
            yield from _places(value)


def changed_array(c: Choices, members: dict[str, bytes]) -> None:
    """Give an array another dtype, shape, size or content, or a false header."""
    names = [name for name in members if name.endswith(".npy")]
    if not names:
        return
    name = c.pick(names)
    try:
        array = np.load(io.BytesIO(members[name]), allow_pickle=False)
    except Exception:  # an earlier change has spoilt it, and NumPy raises many kinds of errors
        return
    how = c.integer(0, 6)
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        if how == 0 and array.dtype.kind in "fiub":
            array = array.astype(c.pick(DTYPES))
        elif how == 1:
            array = array.ravel()[: c.integer(0, array.size)]
        elif how == 2:
            array = np.resize(array, c.pick([(1,), (2, 2), (100,), (1, 1, 1), (0,), ()]))
        elif how == 3 and array.size and array.dtype.kind in "fiu":
            array = array.copy()
            array.flat[c.integer(0, array.size - 1)] = c.pick([0, 1, 3, 100, 127])
        elif how == 4 and array.size and array.dtype.kind in "fi":
            array = array.copy()
            array.flat[c.integer(0, array.size - 1)] = c.pick([-1, -(2**31), 2**31 - 1])
        elif how == 5 and array.size and array.dtype.kind == "f":
            array = array * c.pick([np.nan, np.inf, 1e300, -1.0])
    file = io.BytesIO()
    np.save(file, array)
    stored = file.getvalue()
    if how == 6:  # a shape far above what follows, in a header of the same length
        shape = str(array.shape).encode()
        lie = b"(9" + shape[2:] if len(shape) > 3 else shape
        stored = stored.replace(shape, lie, 1)
        stored = stored.replace(b"(14,", c.pick([b"(99,", b"(-1,", b"(0x,"]), 1)
    members[name] = stored


def scaled_array(c: Choices, members: dict[str, bytes]) -> None:
    """Multiply a number of an array, or all of them."""
    name = c.pick([name for name in members if name.endswith(".npy")])
    array = np.load(io.BytesIO(members[name]), allow_pickle=False)
    if array.size == 0 or array.dtype.kind not in "fiu":
        return
    factor, place = c.pick([-1.0, 0.0, 0.5, 0.9, 1.1, 2.0, 1e6]), c.integer(0, array.size - 1)
    with np.errstate(all="ignore"):
        scaled = (array * factor).astype(array.dtype)
        if c.chance(0.5):
            array.flat[place] = scaled.flat[place]
            scaled = array
    file = io.BytesIO()
    np.save(file, scaled)
    members[name] = file.getvalue()


def changed_members(c: Choices, members: dict[str, bytes]) -> None:
    """Drop, swap or spoil a member."""
    if not members:
        return
    one, two = c.pick(sorted(members)), c.pick(sorted(members))
    how = c.integer(0, 3)
    if how == 0:
        del members[one]
    elif how == 1:
        members[one], members[two] = members[two], members[one]
    elif how == 2:
        members[one] = damaged(c, members[one])
    else:
        members[c.pick(["../x", "99.npy", "model.json ", "0.npy/"])] = members[one]


def packed(c: Choices, members: dict[str, bytes], methods: list[int] | None = None) -> bytes:
    """Return members as an archive."""
    file = io.BytesIO()
    how = c.pick(
        methods
        or [zipfile.ZIP_DEFLATED] * 6 + [zipfile.ZIP_STORED, zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA]
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        with zipfile.ZipFile(file, "w", how) as archive:
            for name, content in members.items():
                archive.writestr(name, content)
                if c.chance(0.01):
                    archive.writestr(name, content)
    return file.getvalue()
