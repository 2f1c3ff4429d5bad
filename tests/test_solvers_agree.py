"""All solvers of p = 1 find the same optimum, and the documentation lists them as they are."""

from pathlib import Path

import numpy as np
import pytest

from kernelweave import MKLClassifier, kernels
from kernelweave.solvers import table
from kernelweave.solvers.registry import SOLVERS

PAGE = Path(__file__).resolve().parents[1] / "docs" / "solvers.md"
FAMILY = [kernels.Polynomial([1, 2, 3]), kernels.RBF(gamma=np.geomspace(1e-3, 10, 9))]


@pytest.mark.parametrize("name", ["ionosphere", "breast_cancer_wisconsin", "sonar", "pima"])
def test_same_objective_on_real_data(name, load_real):
    pytest.importorskip("clarabel")
    found = load_real(name)
    X, y = found["X"].astype(float)[:120], found["y"][:120]
    X = (X - X.mean(axis=0)) / np.maximum(X.std(axis=0), 1e-9)
    objectives = []
    for solver in ("skm", "qcqp", "cutting-plane", "level"):
        model = MKLClassifier(FAMILY, norm=1, solver=solver, tol=5e-5).fit(X, y)
        assert model.duality_gap_ <= 5e-5
        objectives.append(model.primal_objective_)
    np.testing.assert_allclose(objectives, objectives[0], rtol=1e-4)


def test_the_page_shows_the_table_of_the_registry():
    assert table.markdown() in PAGE.read_text()


def test_the_table_has_every_solver():
    lines = table.markdown().splitlines()
    assert [line.split("`")[1] for line in lines[2:]] == list(SOLVERS)
