"""All solvers of p = 1 find the same optimum, and the documentation lists them as they are."""

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from kernelweave import MKLClassifier, kernels
from kernelweave.datasets import make_sparse_to_uniform
from kernelweave.optimization.named_methods import METHODS

DOCS = Path(__file__).resolve().parents[3] / "docs"
ROADS = ("skm", "cutting-plane", "level", "gradient", "simplemkl")
every_table = pytest.mark.parametrize(
    "name", ["ionosphere", "breast_cancer_wisconsin", "sonar", "pima"]
)


def family(M):
    return [kernels.Polynomial([1, 2, 3]), kernels.RBF(gamma=np.geomspace(1e-3, 10, M - 3))]


def examples(table, n):
    """n random examples with standardised features, and their labels -1 and 1."""
    chosen = np.random.default_rng(0).permutation(len(table["y"]))[:n]
    X, y = table["X"].astype(float)[chosen], table["y"][chosen]
    return (X - X.mean(axis=0)) / np.maximum(X.std(axis=0), 1e-9), np.where(y == y.max(), 1, -1)


@every_table
@pytest.mark.parametrize(
    ("M", "n"), [(12, 100), pytest.param(48, 60, marks=pytest.mark.slow)], ids=["12", "48"]
)
def test_same_objective_on_real_data(name, M, n, load_real):
    pytest.importorskip("clarabel")
    X, y = examples(load_real(name), n)
    settings = {"kernels": family(M), "norm": 1, "tol": 5e-5}
    exact = MKLClassifier(solver="qcqp", **settings).fit(X, y)
    assert exact.duality_gap_ <= 1e-5
    for solver in ROADS if M == 12 else [road for road in ROADS if road != "simplemkl"]:
        model = MKLClassifier(solver=solver, **settings).fit(X, y)  # simplemkl takes 16 s with 48
        assert model.duality_gap_ <= 5e-5
        assert model.primal_objective_ == pytest.approx(exact.primal_objective_, rel=1e-4)


def test_same_weights_where_little_can_be_gained():
    """Relative to |P| alone 50 equal weights would do here, and every solver would stop at its own.

    The toy of Kloft et al. (2011, section 6.1) at a small C: the best p = 1 takes one kernel.
    """
    pytest.importorskip("clarabel")
    X, y, _ = make_sparse_to_uniform(50, n_relevant=50, random_state=0)
    settings = {"kernels": kernels.per_feature(kernels.Linear()), "norm": 1, "C": 1e-4}
    exact = MKLClassifier(solver="qcqp", tol=1e-6, **settings).fit(X, y)
    assert np.count_nonzero(exact.weights_) == 1
    equal = MKLClassifier(solver="alignment", **settings).fit(X, y)
    assert equal.primal_objective_ <= exact.primal_objective_ * (1 + 1e-3)
    for solver in ("auto", *ROADS):
        model = MKLClassifier(solver=solver, **settings).fit(X, y)
        np.testing.assert_allclose(model.weights_, exact.weights_, atol=1e-3)
        gain = model.constant_objective_ - model.primal_objective_
        assert gain == pytest.approx(exact.constant_objective_ - exact.dual_objective_, rel=1e-3)


@every_table
@pytest.mark.parametrize("solver", ["qcqp", *ROADS])
def test_signs_of_the_conditions_of_optimality(solver, name, load_real):
    """Kernels with weight have the largest alpha' K alpha, and examples lie where alpha says."""
    if solver == "qcqp":
        pytest.importorskip("clarabel")
    X, y = examples(load_real(name), 80)
    model = MKLClassifier(family(12), norm=1, solver=solver, normalize=None, tol=1e-5).fit(X, y)
    alpha = np.zeros(len(y))
    alpha[model.support_] = model.dual_coef_[0]
    s = np.concatenate([np.einsum("i,mij,j->m", alpha, k(X), alpha) for k in family(12)])
    margin = y * model.decision_function(X)
    slack = 2e-2
    assert np.all(s[model.weights_ > 1e-3] >= (1 - slack) * s.max())
    assert np.all(margin[alpha == 0] >= 1 - slack)
    assert np.all(margin[y * alpha == 1] <= 1 + slack)
    inside = (y * alpha > 1e-3) & (y * alpha < 1 - 1e-3)
    np.testing.assert_allclose(margin[inside], 1, atol=slack)


@pytest.fixture(scope="module")
def table():
    """What the script for the table prints."""
    script = [sys.executable, DOCS / "solver_table.py"]
    return subprocess.run(script, capture_output=True, text=True, check=True).stdout.strip()


def test_the_page_shows_the_table(table):
    assert table in (DOCS / "solvers.md").read_text()


def test_the_table_has_every_solver(table):
    lines = table.splitlines()
    assert [line.split("`")[1] for line in lines[2:]] == list(METHODS)
