"""A loaded model predicts as the saved one, and a file cannot execute code."""

import dataclasses
import hashlib
import io
import json
import pathlib
import re
import subprocess
import sys
import time
import zipfile

import numpy as np
import old_files
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.compose import make_column_selector
from sklearn.exceptions import NotFittedError

import kernelweave
from kernelweave import (
    MKLClassifier,
    MKLClassifierCV,
    MKLOneClass,
    MKLRegressor,
    datasets,
    kernels,
    load,
    norms,
    verify,
)
from kernelweave.model.files.archive import SUMS
from kernelweave.model.files.fitted_state import LEARNED
from kernelweave.model.files.kw import DOCUMENT, ESTIMATORS, FORMAT
from kernelweave.model.files.legacy import with_current_texts
from kernelweave.model.files.registry import entry_of_name
from kernelweave.optimization.summary import PlanSummary

DATA = pathlib.Path(__file__).parents[2] / "data"


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
    yield MKLClassifier(several, norm=norms.SumOfNorms(0.5)).fit(X, X[:, 0] > 0)
    yield MKLClassifier(normalize="center").fit(X, np.array(["a", "b", "c"])[classes(X)])
    yield MKLClassifier(kernels.per_feature(kernels.RBF()), normalize="unit").fit(X, classes(X))
    yield MKLRegressor(kernels.ChiSquared(gamma=0.5), normalize="trace").fit(np.abs(X), X[:, 0])
    yield MKLOneClass(nu=0.2).fit(X)
    yield MKLClassifierCV(norms=(2.0, np.inf), Cs=(0.1, 1.0), cv=2).fit(X, X[:, 0] > 0)


@pytest.mark.parametrize("number", range(8))
def test_loaded_models_equal_saved_ones(X, tmp_path, number):
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
    X, y = datasets.make_splice(200, positive_rate=0.5, random_state=0)
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


def test_unsavable_objects_are_named_and_leave_no_file(frame, tmp_path):
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
    with pytest.raises(ValueError, match="is not a kernelweave model: it is no complete zip"):
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


OLD = {
    "table": [-0.999999563697237, 1.266480033696615, 0.9999998845318323, 1.0000015257777055],
    "sequences": [2.8999999732570045, 2.9000000088085898, 3.5490530368010895, 2.399999944703639],
}


@pytest.mark.parametrize("name", OLD)
def test_files_of_earlier_versions_are_read(name):
    model = load(DATA / f"{name}-1.kw")
    X, _ = getattr(old_files, name)()
    decide = model.decision_function if name == "table" else model.predict
    np.testing.assert_allclose(decide(X)[:4], OLD[name], rtol=1e-9)


def test_old_files_keep_the_old_meaning_of_elliptic():
    """Elliptic(E) was the norm of theta' E theta, and gaps were relative to the primal value."""
    model = load(DATA / "elliptic-2.kw")
    X, y = old_files.table()
    E = np.array([[1.0, 0.8], [0.8, 2.0]])
    expected = [-0.4005103688562512, 1.0000065508548355, 1.0572054568083922, -0.0008461921401442113]
    np.testing.assert_allclose(model.decision_function(X)[:4], expected, rtol=1e-9)
    np.testing.assert_allclose(model.norm.E, np.linalg.inv(E))
    assert model.certifies_ == model.plan_.certifies == "weights and model"
    assert model.norm.value(model.weights_) == pytest.approx(1.0)
    proof = verify(model, X, y)
    assert proof.agree
    assert np.isnan(proof.reported_constant).all()
    again = clone(model).set_params(tol=1e-6).fit(X, y)
    best, scale = again.dual_objective_, min(model.primal_objective_, again.primal_objective_)
    assert 0 <= model.primal_objective_ - best <= (model.tol + 1e-6) * scale


def test_old_texts_of_certifies_are_replaced():
    plan = PlanSummary("a plan", "machine at given weights")
    fitted = {"certifies_": "weights and machine, with more", "plan_": plan, "n_iter_": 3}
    found = with_current_texts(fitted)
    assert found["certifies_"] == "weights and model, with more"
    assert found["plan_"].certifies == "model with fixed weights"
    assert found["n_iter_"] == 3


def test_a_new_process_loads_every_registered_class(X, tmp_path):
    """Names are imported on first use; `load` imports the classes of files."""
    MKLClassifier(kernels.RBF(1.0)).fit(X, X[:, 0] > 0).save(tmp_path / "m.kw")
    sources = pathlib.Path(kernelweave.__file__).parent.rglob("*.py")
    found = [
        re.findall(r'@(?:registered|formerly)\(\s*"(\w+)"', file.read_text()) for file in sources
    ]
    names = sorted({name for names in found for name in names})
    assert {"MKLClassifierCV", "Standardized", "Ellipse", "Elliptic"} <= set(names)
    script = (
        "import sys; from kernelweave import load; load(sys.argv[1])\n"
        "from kernelweave.model.files.registry import entry_of_name\n"
        "[entry_of_name(name) for name in sys.argv[2:]]"
    )
    subprocess.run([sys.executable, "-c", script, tmp_path / "m.kw", *names], check=True)


def test_names_in_files_are_fixed(X, tmp_path):
    MKLClassifier(kernels.RBF(1.0)).fit(X, X[:, 0] > 0).save(tmp_path / "m.kw")
    load(tmp_path / "m.kw")
    # A class may be renamed; what files call it may not.
    names = (
        "Alphabet BagOfWords Block Centered ChiSquared Chosen Columns CompiledKernels Dense "
        "Ellipse Elliptic Encoded EpsilonInsensitive Examples Given Hinge Intersection Laplacian "
        "Linear LocalityImproved Logistic Lp MWU Member Model NGram OneClass PerFeature PlaneTable "
        "Polynomial Precomputed Product RBF Rescaled SKM Scaled SequenceTable Sequences "
        "SmoothHinge Sparse Spectrum Squared SquaredHinge Stack Substring Sum Unit WeightedDegree "
        "WeightedDegreeShift"
    )
    for name in (*names.split(), *ESTIMATORS):
        assert entry_of_name(name).name == name


class RBF(kernels.RBF):
    """A class of a user that has the name of one of ours."""


def test_classes_of_others_are_not_taken_for_ours(X, tmp_path):
    model = MKLClassifier(RBF(0.5)).fit(X, X[:, 0] > 0)
    with pytest.raises(ValueError, match="a RBF cannot be saved"):
        model.save(tmp_path / "m.kw")


@pytest.mark.parametrize(("several", "message"), [(True, "positions of 3 labels"),
                                                  (False, "classes_ must differ")])  # fmt: skip
def test_names_of_classes_differ(several, message, X, tmp_path):
    y = (X[:, :3] > 0).astype(int) if several else classes(X)
    model = MKLClassifier(kernels.RBF(0.5)).fit(X, y)
    model.classes_ = np.array([0, 0, 1])
    model.save(tmp_path / "m.kw")
    with pytest.raises(ValueError, match=message):
        load(tmp_path / "m.kw")


def test_all_learned_attributes_can_be_saved(X):
    for model in models(X):
        learned = {name for name in vars(model) if name.endswith("_") or name == "_model"}
        assert learned <= set(LEARNED)


def test_paths_are_not_kept(X, tmp_path):
    path = tmp_path / "m.kw"
    MKLClassifier(checkpoint=tmp_path / "run").fit(X, X[:, 0] > 0).save(path)
    assert load(path).checkpoint is None
    rewrite(path, lambda document: set_parameter(document, "checkpoint", "/tmp/elsewhere"))
    assert load(path).checkpoint is None


def set_parameter(document, name, value):
    """Change a parameter in a document."""
    items = [item["tuple"] for item in document["parameters"]["dict"]]
    next(item for item in items if item[0] == name)[1] = value


def rewrite(path, change, version=FORMAT):
    """Change the document of a file, and write it with valid checksums."""
    with zipfile.ZipFile(path) as archive:
        parts = {name: archive.read(name) for name in archive.namelist() if name != SUMS}
    document = json.loads(parts[DOCUMENT])
    document["kernelweave"] = version
    change(document)
    parts[DOCUMENT] = json.dumps(document).encode()
    sums = [f"{hashlib.sha256(content).hexdigest()}  {name}\n" for name, content in parts.items()]
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in parts.items():
            archive.writestr(name, content)
        archive.writestr(SUMS, "".join(sums))


def learned(name, value):
    """Return a change of an attribute that was learned."""

    def change(document):
        items = document["fitted"]["dict"]
        items[:] = [item for item in items if item["tuple"][0] != name]
        items.append({"tuple": [name, value]})

    return change


def objects(value, name):
    """Return the fields of all objects of a name in a document."""
    if isinstance(value, list):
        return [fields for item in value for fields in objects(item, name)]
    if not isinstance(value, dict):
        return []
    own = [value["fields"]] if value.get("object") == name else []
    return own + [fields for item in value.values() for fields in objects(item, name)]


LONG = ["a" * 200_000 + "!", "ab" * 100_000, " a" * 100_000 + "!"]


@pytest.mark.parametrize(
    "pattern", [r"(?u)\b\w\w+\b", r"\w+", r"[a-z]{3}[a-z]*", r"\b[^a]+\b|\S", r"\b[a ]+\b"]
)
def test_patterns_that_take_linear_time_are_kept(tmp_path, pattern):
    texts, y = ["red wine a", "blue beer ab", "red water abc"] * 4, [0, 1, 0] * 4
    model = MKLClassifier(kernels.BagOfWords(token_pattern=pattern)).fit(texts, y)
    model.save(tmp_path / "m.kw")
    other = load(tmp_path / "m.kw")
    start = time.process_time()
    other.predict([*texts, *LONG])
    assert time.process_time() - start < 5.0


@pytest.mark.parametrize(
    "pattern",
    [
        r"(a+)+b",
        r"(?:a|a)*b",
        r"\w+\w+!",
        r"\w+!",
        r"\w+\b",
        r"a*a*a*b",
        r"(\w)\1",
        r"(?=a+)",
        "a" * 300,
    ],
)
def test_patterns_that_may_take_forever_are_neither_written_nor_read(tmp_path, pattern):
    texts, y = ["red wine", "blue beer", "red water"] * 4, [0, 1, 0] * 4
    path = tmp_path / "m.kw"
    model = MKLClassifier(kernels.BagOfWords()).fit(texts, y)
    model.save(path)

    def change(document):
        for fields in objects(document, "BagOfWords"):
            fields["token_pattern"] = pattern

    rewrite(path, change)
    with pytest.raises(ValueError, match="token_pattern"):
        load(path)
    object.__setattr__(model._model.compiled.kernels[0].kernel, "token_pattern", pattern)
    with pytest.raises(ValueError, match="token_pattern"):
        model.save(tmp_path / "other.kw")
    assert not (tmp_path / "other.kw").exists()


def kept(path, kind):
    """Save a small model of a kind; return new examples for it."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(30, 3))
    y = X[:, 0] > 0
    if kind == "vectors":
        MKLClassifier([kernels.RBF([0.5, 1.0]), kernels.Linear(columns=[0, 2])]).fit(X, y).save(
            path
        )
        return X
    if kind == "matrix":
        K = X @ X.T + np.eye(30)
        MKLClassifier(kernels.Precomputed()).fit(K, y).save(path)
        return K
    texts = ["".join("ACGT"[c] for c in row) for row in rng.integers(0, 4, (30, 70))]
    if kind == "words":
        texts = [text.replace("G", " ") for text in texts]
    chosen = {
        "sequences": [kernels.WeightedDegree(3), kernels.WeightedDegreeShift(2, shift=1)],
        "k-mers": [kernels.Spectrum([2, 3], store="table"), kernels.Spectrum(2, both_strands=True)],
        "words": [kernels.BagOfWords()],
    }[kind]
    MKLClassifier(chosen, normalize="center").fit(texts, y).save(path)
    return texts


def change_field(name, field, value):
    def change(document):
        for fields in objects(document, name):
            fields[field] = value

    return change


CRAFTED = [
    ("matrix", change_field("Given", "ids", {"array": 0})),
    ("vectors", change_field("Dense", "values", {"objects": [1, 2]})),
    ("vectors", change_field("RBF", "gamma", {"tuple": [-1.0, 2.0]})),
    ("vectors", change_field("Encoded", "chosen", {"tuple": [0, 10**9]})),
    ("vectors", change_field("Encoded", "width", 10**15)),
    ("vectors", change_field("Encoded", "offsets", {"tuple": [1.0]})),
    ("vectors", change_field("Linear", "columns", 3)),
    ("vectors", change_field("Examples", "n", 10**12)),
    ("vectors", change_field("Examples", "sources", {"tuple": [5, 5]})),
    ("sequences", change_field("Sequences", "n", 10**9)),
    ("sequences", change_field("Sequences", "length", 10**9)),
    ("sequences", change_field("Sequences", "length", None)),
    ("sequences", change_field("Sequences", "data", {"array": 2})),
    ("sequences", change_field("WeightedDegree", "length", 10**15)),
    ("sequences", change_field("WeightedDegreeShift", "length", 71)),
    ("k-mers", change_field("Sequences", "alphabet", "protein")),
    ("k-mers", change_field("Spectrum", "columns", None)),
    ("words", change_field("BagOfWords", "vocabulary", {"tuple": ["a", "a"]})),
    ("words", change_field("Sparse", "d", 10**15)),
    ("words", change_field("Sparse", "indices", {"array": 3})),
    ("vectors", lambda document: set_parameter(document, "n_jobs", "many")),
    ("vectors", lambda document: set_parameter(document, "tol", -1)),
    ("vectors", lambda document: document.update(kernelweave=FORMAT + 1)),
    ("vectors", lambda document: document.update(kernelweave=True)),
    ("vectors", learned("duality_gap_", 0)),
    ("vectors", learned("duality_gap_", {"array": 0})),
    ("vectors", learned("history_", [1])),
    ("vectors", learned("history_", [{"dict": []}])),
    ("vectors", learned("n_features_in_", -1)),
    ("vectors", learned("weights_", {"array": 0})),  # a copy of part of the model
    ("vectors", learned("C_", "x")),
    ("vectors", change_field("Model", "support", {"array": 0})),
    ("vectors", change_field("Model", "merged_into", {"array": 0})),
    ("vectors", change_field("Model", "shared_weights", 1)),
    ("vectors", lambda document: document.update(estimator="Lp")),
    ("vectors", lambda document: document["fitted"]["dict"].append({"tuple": ["predict_", 1]})),
    ("vectors", lambda document: document["fitted"]["dict"].append({"tuple": ["save", 1]})),
    ("vectors", lambda document: document["fitted"].update(getattr=1)),
]


@pytest.mark.parametrize("number", range(len(CRAFTED)))
def test_crafted_files_are_refused(tmp_path, number):
    kind, change = CRAFTED[number]
    path = tmp_path / "m.kw"
    new = kept(path, kind)
    load(path).predict(new)
    rewrite(path, change)
    with pytest.raises((ValueError, TypeError)):
        load(path).predict(new)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda values: values - values[0] - 1, "out of range"),
        (lambda values: values[::-1], "increasing"),
        (lambda values: values[:-1], "indices, but the model"),
        (lambda values: values.astype(float), "1-D array of integers"),
    ],
)
def test_wrong_indices_of_support_vectors_are_refused(X, tmp_path, change, message):
    path = tmp_path / "m.kw"
    model = MKLClassifier(kernels.Linear()).fit(X, X[:, 0] > 0)
    model._model = dataclasses.replace(model._model, support=change(model.support_))
    model.save(path)
    with pytest.raises(ValueError, match=message):
        load(path)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"fractions": lambda one: 0.5 * one.fractions}, "add up to 1"),
        ({"fractions": lambda one: -one.fractions}, "positive"),
        ({"fractions": lambda _: None}, "given together"),
        ({"merged_into": lambda one: one.merged_into + 1}, "out of range"),
        ({"merged_into": lambda one: one.merged_into[1:]}, "must have shape"),
    ],
)
def test_wrong_fractions_of_merged_examples_are_refused(X, tmp_path, change, message):
    path = tmp_path / "m.kw"
    X = np.concatenate([X, X])
    model = MKLClassifier(kernels.Linear()).fit(X, X[:, 0] > 0)
    ((name, value),) = change.items()
    model._model = dataclasses.replace(model._model, **{name: value(model._model)})
    model.save(path)
    with pytest.raises(ValueError, match=message):
        load(path)


COPIED = {
    "table": ["dual_coef_", "weights_", "intercept_"],
    "merged": ["dual_coef_", "weights_", "intercept_"],
    "shared": ["dual_coef_", "weights_", "intercept_"],
}


@pytest.mark.parametrize(
    ("file", "name"), [(file, name) for file, names in COPIED.items() for name in names]
)
def test_copies_in_old_files_must_agree_with_the_model(tmp_path, file, name):
    source = DATA / ("table-1.kw" if file == "table" else f"{file}-2.kw")
    with zipfile.ZipFile(source) as archive:
        document = json.loads(archive.read(DOCUMENT))
        parts = {one: archive.read(one) for one in archive.namelist()}
    items = dict(item["tuple"] for item in document["fitted"]["dict"])
    member = f"{items[name]['array']}.npy"
    values = np.load(io.BytesIO(parts[member]))
    out = io.BytesIO()
    np.save(out, 2.0 * values if file == "merged" else -values)
    parts[member] = out.getvalue()
    parts.pop(SUMS, None)
    document["kernelweave"] = 1
    parts[DOCUMENT] = json.dumps(document).encode()
    path = tmp_path / "m.kw"
    with zipfile.ZipFile(path, "w") as archive:
        for one, content in parts.items():
            archive.writestr(one, content)
    with pytest.raises(ValueError, match=f"{name} (differ|differs) from"):
        load(path)


def test_old_files_with_merged_examples():
    model = load(DATA / "merged-2.kw")
    X, y = old_files.repeated()
    expected = [1.0000001894282449, 1.0000000110667342, 0.9999999085753929, 0.9999996098105908]
    np.testing.assert_allclose(model.decision_function(X)[:4], expected, rtol=1e-9)
    with pytest.raises(AttributeError, match="fit and save the model again"):
        _ = model.dual_coef_
    with pytest.raises(ValueError, match="cannot be verified"):
        verify(model, X, y)


def test_old_files_with_shared_weights():
    model = load(DATA / "shared-2.kw")
    X, y = old_files.three_classes()
    expected = [-0.2514487314714441, -0.9999999002708764, -1.01188889109894]
    np.testing.assert_allclose(model.decision_function(X)[0], expected, rtol=1e-9)
    assert model.weights_.shape == (2,)
    assert verify(model, X, y).agree


def test_format_3_requires_checksums(X, tmp_path):
    path = tmp_path / "m.kw"
    MKLClassifier().fit(X, X[:, 0] > 0).save(path)
    with zipfile.ZipFile(path) as archive:
        parts = {name: archive.read(name) for name in archive.namelist() if name != SUMS}
    with zipfile.ZipFile(path, "w") as archive:
        for name, content in parts.items():
            archive.writestr(name, content)
    with pytest.raises(ValueError, match="no checksums"):
        load(path)


KEY = b"0123456789abcdef"


def test_signed_files(X, tmp_path):
    path = tmp_path / "m.kw"
    model = MKLClassifier().fit(X, X[:, 0] > 0)
    model.save(path, key=KEY)
    for key in (KEY, None):
        np.testing.assert_array_equal(load(path, key=key).predict(X), model.predict(X))
    with pytest.raises(ValueError, match="signature does not match"):
        load(path, key=KEY[::-1])


def test_unsigned_files_are_refused_with_a_key(X, tmp_path):
    path = tmp_path / "m.kw"
    MKLClassifier().fit(X, X[:, 0] > 0).save(path)
    with pytest.raises(ValueError, match="no signature"):
        load(path, key=KEY)
    (tmp_path / "gkm.model.txt").write_text("svm_type c_svc\n")
    with pytest.raises(ValueError, match="no signature"):
        load(tmp_path / "gkm.model.txt", key=KEY)


def test_altered_signed_files_are_refused(X, tmp_path):
    path = tmp_path / "m.kw"
    MKLClassifier().fit(X, X[:, 0] > 0).save(path, key=KEY)
    rewrite(path, lambda document: set_parameter(document, "C", 2.0))  # valid checksums
    assert load(path).C == 2.0
    with pytest.raises(ValueError, match="signature does not match"):
        load(path, key=KEY)


@pytest.mark.parametrize(("key", "error"), [("secret", TypeError), (b"short", ValueError)])
def test_keys_are_at_least_16_bytes(X, tmp_path, key, error):
    model = MKLClassifier().fit(X, X[:, 0] > 0)
    with pytest.raises(error, match="key must"):
        model.save(tmp_path / "m.kw", key=key)
    assert not list(tmp_path.iterdir())
    with pytest.raises(error, match="key must"):
        load(tmp_path / "m.kw", key=key)


def test_devices_are_refused():
    with pytest.raises(ValueError, match="not a regular file"):
        load("/dev/zero")


FIT = """
import sys
import numpy as np
from kernelweave import MKLClassifier
X = np.random.default_rng(0).normal(size=(60, 4))
MKLClassifier().fit(X, np.arange(60) % 3).save(sys.argv[1])
"""


def test_equal_fits_give_equal_bytes(tmp_path):
    for name in ("a.kw", "b.kw"):
        subprocess.run([sys.executable, "-c", FIT, tmp_path / name], check=True)
        time.sleep(2.1)  # dates in zip files have a resolution of two seconds
    assert (tmp_path / "a.kw").read_bytes() == (tmp_path / "b.kw").read_bytes()


def test_deep_documents_are_refused(tmp_path):
    with zipfile.ZipFile(tmp_path / "m.kw", "w") as archive:
        archive.writestr(DOCUMENT, "[" * 100_000)
    with pytest.raises(ValueError, match="is not a kernelweave model"):
        load(tmp_path / "m.kw")


@pytest.mark.parametrize("kind", ["vectors", "sequences", "matrix", "words"])
def test_every_flipped_byte_is_noticed_or_harmless(tmp_path, kind):
    path = tmp_path / "m.kw"
    new = kept(path, kind)
    whole, expected = path.read_bytes(), load(path).decision_function(new)
    rng = np.random.default_rng(0)
    for place in rng.integers(0, len(whole), 150):
        damaged = bytearray(whole)
        damaged[place] ^= 1 << rng.integers(0, 8)
        path.write_bytes(damaged)
        try:
            other = load(path)
        except ValueError:
            continue
        np.testing.assert_array_equal(other.decision_function(new), expected)  # names, dates


def test_a_missing_file_is_no_damaged_one(tmp_path):
    with pytest.raises(FileNotFoundError):
        load(tmp_path / "m.kw")


BOMB = """
import resource, sys
from kernelweave import load
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
try:
    load(sys.argv[1])
except ValueError:
    print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before)
"""


def test_bombs_take_little_memory(tmp_path):
    path = tmp_path / "m.kw"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr(DOCUMENT, "[" + "[]," * 15_000_000 + "1]")
    done = subprocess.run(
        [sys.executable, "-c", BOMB, str(path)], capture_output=True, text=True, check=True
    )
    assert int(done.stdout) < 50_000  # kilobytes
