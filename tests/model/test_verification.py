"""`verify` agrees with correct models and with no others."""

import warnings
from dataclasses import replace
from importlib import import_module

import checker
import numpy as np
import pytest
import scipy.sparse as sp
from naive_mkl import plain_norm, spread
from sklearn.exceptions import ConvergenceWarning, NotFittedError

from kernelweave import (
    MKLClassifier,
    MKLClassifierCV,
    MKLOneClass,
    MKLRegressor,
    MKLRegressorCV,
    load,
    norms,
    verify,
)
from kernelweave.kernels import RBF, Identity, Linear, Precomputed, Spectrum, WeightedDegree
from kernelweave.kernels.compile.examples import Dense
from kernelweave.sequences import as_sequences

N = 40
MODELS = {
    "two classes": MKLClassifier(),
    "class weights": MKLClassifier([RBF([0.1, 1.0]), Linear()], class_weight={0: 1.0, 1: 3.0}),
    "logistic": MKLClassifier(RBF([0.1, 1.0]), loss="logistic", norm=norms.Block(3)),
    "plain sum": MKLClassifier([RBF(0.5), Linear()], norm=np.inf, normalize="center"),
    "two stages": MKLClassifier(RBF([0.1, 1.0]), solver="alignment", normalize="unit"),
    "selection": MKLClassifierCV(RBF([0.1, 1.0]), Cs=(0.1, 1.0), norms=(1.0, 2.0)),
    "tube": MKLRegressor(RBF([0.1, 1.0]), norm=1, epsilon=0.01),
    "squares": MKLRegressor([RBF(0.5), Linear()], loss="squared", normalize="trace"),
    "selected regression": MKLRegressorCV(RBF([0.1, 1.0]), Cs=(0.1, 1.0), norms=(1.0, 2.0)),
    "one class": MKLOneClass(RBF([0.1, 1.0]), nu=0.3),
}
THREE = {
    "each its weights": MKLClassifier(RBF([0.1, 1.0])),
    "shared weights": MKLClassifier(RBF([0.1, 1.0]), share_weights=True),
}
every_model = pytest.mark.parametrize("name", MODELS)
every_three = pytest.mark.parametrize("name", THREE)


def examples(rng):
    X = rng.normal(size=(N, 3))
    X[N // 2 :: 4] = X[: N // 2 : 4][: len(X[N // 2 :: 4])]  # equal examples are merged in a fit
    return X, (X[:, 0] > 0).astype(int)


@every_model
def test_honest_models_agree(name, rng):
    X, y = examples(rng)
    weights = rng.integers(0, 3, N).astype(float)
    model = MODELS[name].fit(X, y, weights)
    proof = verify(model, X, y, weights)
    assert proof.agree
    assert proof.gap == pytest.approx(model.duality_gap_, abs=1e-9)
    assert "agrees with its training data" in repr(proof)


@every_three
def test_several_classes(name, rng):
    X, _ = examples(rng)
    y = np.array(["a", "b", "c"])[np.arange(N) % 3]
    model = THREE[name].fit(X, y)
    proof = verify(model, X, y)
    assert proof.agree
    assert proof.gap.shape == (1 if name == "shared weights" else 3,)


@every_model
def test_other_data_do_not_agree(name, rng):
    X, y = examples(rng)
    model = MODELS[name].fit(X, y)
    assert verify(model, X, y).agree
    proof = verify(model, X + 0.01 * rng.normal(size=X.shape), y)
    assert not proof.agree
    assert "DOES NOT AGREE" in repr(proof)
    assert not verify(model, X[::-1], y).agree
    if name != "one class":
        assert not verify(model, X, y[::-1]).agree
    assert not verify(model, X, y, np.arange(1.0, N + 1)).agree


@pytest.mark.parametrize(
    ("attribute", "change"),
    [
        ("weights", lambda value: 0.9 * value),
        ("weights", lambda value: 1.1 * value),
        ("coef", lambda value: -value),
        ("coef", lambda value: 1.01 * value),
        ("coef", lambda value: value[:, ::-1]),
        ("intercept", lambda value: value + 0.1),
        ("means", lambda value: value + 0.1),
        ("deviations", lambda value: 2 * value),
        ("duality_gap_", lambda value: 0.5 * value),
        ("primal_objective_", lambda value: 0.99 * value),
        ("dual_objective_", lambda value: 1.01 * value),
    ],
)
@pytest.mark.parametrize("merged", [False, True])
def test_altered_models_do_not_agree(merged, attribute, change, rng):
    X, y = examples(rng) if merged else (rng.normal(size=(N, 3)), np.arange(N) % 2)
    model = MKLClassifier(RBF([0.1, 1.0]), tol=0.05).fit(X, y)
    if attribute.endswith("_"):
        setattr(model, attribute, change(getattr(model, attribute)))
    else:
        values = change(getattr(model._model, attribute))
        model._model = replace(model._model, **{attribute: values})
    assert not verify(model, X, y).agree


def test_altered_indices_do_not_agree(rng):
    X = rng.normal(size=(N, 3))
    y = X[:, 0] > 0
    model = MKLClassifier(Linear()).fit(X, y)
    model._model = replace(model._model, support=np.arange(len(model.support_)))
    assert not verify(model, X, y).agree


def test_altered_support_vectors_do_not_agree(rng):
    X, y = rng.normal(size=(N, 3)), np.arange(N) % 2
    model = MKLClassifier(RBF([0.1, 1.0])).fit(X, y)
    held = model._model.examples
    moved = replace(held, tables=tuple(Dense(-table.values) for table in held.tables))
    model._model = replace(model._model, examples=moved)
    proof = verify(model, X, y)
    assert not proof.agree
    assert "support vectors are not" in repr(proof)


def test_verification_agrees_with_the_checker(rng):
    X, y = examples(rng)
    kernels = [RBF(0.5), Linear()]
    model = MKLClassifier(kernels, norm=1.5, normalize=None).fit(X, y)
    found = checker.certificate(
        np.stack([kernel(X) for kernel in kernels]),
        2.0 * y - 1,
        np.ones(N),
        spread(model.dual_coef_, model.support_, N),
        model.weights_,
        model.intercept_,
        "hinge",
        plain_norm(1.5),
    )
    proof = verify(model, X, y)
    assert proof.primal[0] == pytest.approx(found.primal, rel=1e-12)
    assert proof.dual[0] == pytest.approx(found.dual, rel=1e-12)
    assert proof.gap[0] == pytest.approx(found.gap, abs=1e-12)


@pytest.mark.parametrize("kind", ["sparse", "pandas", "polars", "strings", "sequences", "given"])
def test_every_kind_of_examples(kind, rng):
    X, y = examples(rng)
    kernels = [RBF(0.5), Linear()]
    if kind == "sparse":
        X = sp.csr_array(X)
    elif kind in ("pandas", "polars"):
        frames = pytest.importorskip(kind)
        X = frames.DataFrame({name: X[:, i] for i, name in enumerate("abc")})
        kernels = [RBF(0.5, columns=["a", "b"]), Linear(columns=["c"])]
    elif kind == "given":
        X = RBF(0.5)(X) - 0.1 * np.eye(N)
        X[0, 1] += 0.01
        kernels = Precomputed()
    else:
        X = ["".join(rng.choice(list("ACGT"), 30)) for _ in range(N)]
        kernels = [WeightedDegree(3), Spectrum(2)]
        X = as_sequences(X) if kind == "sequences" else X
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Precomputed", UserWarning)
        model = MKLClassifier(kernels).fit(X, y)
        assert verify(model, X, y).agree


def test_blocks_of_rows_change_nothing(rng, monkeypatch):
    X, y = examples(rng)
    model = MKLClassifier([RBF([0.1, 1.0]), Linear()]).fit(X, y)
    whole = verify(model, X, y)
    monkeypatch.setattr(import_module("kernelweave.model.verification"), "BLOCK_BYTES", 1)
    rows = verify(model, X, y)
    assert rows.primal == pytest.approx(whole.primal, rel=1e-12)
    assert rows.dual == pytest.approx(whole.dual, rel=1e-12)


def test_models_from_files(rng, tmp_path):
    X, y = examples(rng)
    MKLClassifier(RBF([0.1, 1.0])).fit(X, y).save(tmp_path / "m.kw")
    assert verify(load(tmp_path / "m.kw"), X, y).agree


def test_a_model_that_did_not_converge_agrees_with_its_gap(rng):
    X, y = examples(rng)
    with pytest.warns(ConvergenceWarning):
        model = MKLClassifier(RBF([0.1, 1.0]), max_iter=1, working_set=4).fit(X, y)
    proof = verify(model, X, y)
    assert proof.agree
    assert proof.gap[0] > model.tol


def test_bad_input(rng):
    X, y = examples(rng)
    with pytest.raises(NotFittedError):
        verify(MKLClassifier(), X, y)
    with pytest.raises(TypeError, match="model must be an estimator of kernelweave, got int"):
        verify(3, X, y)
    model = MKLClassifier(RBF(0.5)).fit(X, y)
    with pytest.raises(ValueError, match="X has 2 features, but MKLClassifier is expecting 3"):
        verify(model, X[:, :2], y)
    with pytest.raises(ValueError, match=r"X must be the examples .* it has 12, but support_"):
        verify(model, X[:12], y[:12])
    with pytest.raises(ValueError, match=r"y must contain the classes of the model, \[0, 1\]"):
        verify(model, X, y + 1)
    with pytest.raises(ValueError, match="requires y to be passed"):
        verify(model, X)


@pytest.mark.parametrize("kernels", [[RBF(1.0), Identity()], RBF(1.0) + 0.5 * Identity()], ids=str)
def test_examples_are_themselves(kernels, rng):
    """The identity is 1 for a training example and itself, and they are training examples here."""
    X = rng.normal(size=(60, 3))
    y = X[:, 0] > 0
    assert verify(MKLClassifier(kernels).fit(X, y), X, y).agree


def test_two_stage_solvers_certify_fixed_weights(rng):
    X, y = examples(rng)
    assert MODELS["two stages"].fit(X, y).certifies_ == "model with fixed weights"
    assert MODELS["two classes"].fit(X, y).certifies_ == "weights and model"


def test_another_of_the_best_intercepts_is_reported():
    """All decision values are inside the margin, and both classes have as many examples."""
    y = np.arange(30) % 2
    X = np.random.default_rng(0).normal(size=(30, 3))
    model = MKLClassifier(RBF(1.0), C=0.01).fit(X, y)
    assert np.abs(model.decision_function(X)).max() < 0.9
    assert verify(model, X, y).agree
    model._model = replace(model._model, intercept=model._model.intercept + 0.01)
    found = verify(model, X, y)
    assert found.primal == pytest.approx(found.reported_primal)
    assert not found.intercepts_agree
    assert "the intercepts are not those that a fit chooses" in repr(found)
