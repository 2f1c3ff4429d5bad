"""A fit that runs out of iterations or time ends with the best model that it has certified."""

import warnings
from dataclasses import replace

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

from kernelweave import MKLClassifier, MKLRegressor, kernels, verify
from kernelweave.optimization.best_model import BestModel
from kernelweave.optimization.named_methods import METHODS
from kernelweave.optimization.run import Run
from kernelweave.problem.certificate import Certificate

TOL = 1e-9


def fitted(model, X, y):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        return model.fit(X, y)


def learned(model):
    """Gaps of the certified models except the first one, the constant model."""
    return [entry["gap"] for entry in model.history_[1:]] or [model.duality_gap_]


def table(load_real, name, n=120):
    data = load_real(name)
    X = (data["X"] - data["X"].mean(axis=0)) / data["X"].std(axis=0).clip(1e-9)
    return X[:n], data["y"][:n]


SOLVERS = [solver for solver in METHODS if METHODS[solver].first_stage is None]


@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize("iterations", [1, 2, 5])
def test_gap_is_the_smallest_of_the_history_and_true(solver, iterations, load_real):
    X, y = table(load_real, "sonar")
    norm = 1.0 if solver in ("skm", "mwu") else np.inf if solver == "uniform" else 1.5
    loss = "squared_hinge" if solver == "mwu" else "hinge"
    widths = kernels.RBF([1e-3, 1e-2, 0.1, 1.0])
    given = {"norm": norm, "loss": loss, "solver": solver, "C": 10.0, "working_set": 20}
    if solver in ("gradient", "simplemkl", "hessian", "level", "cutting-plane"):
        given["norm"] = 1.0
    model = fitted(MKLClassifier(widths, tol=TOL, max_iter=iterations, **given), X, y)
    gaps = learned(model)
    if solver != "skm":  # its optimality is known of the last entry only
        assert model.duality_gap_ <= min(gaps)
    assert model.n_iter_ <= iterations or solver == "qcqp"
    assert verify(model, X, y).agree


def test_best_model_is_returned_if_the_last_gap_is_larger(load_real):
    X, y = table(load_real, "boston_housing", 150)
    widths, won = kernels.RBF([1e-3, 1e-2, 0.1, 1.0]), 0
    for iterations in range(1, 10):
        model = MKLRegressor(widths, norm=1.0, C=100.0, tol=TOL, max_iter=iterations)
        # Cutting planes, whose gaps rise now and then.
        fitted(model.set_params(solver="cutting-plane", working_set=10), X, y)
        won += model.duality_gap_ < model.history_[-1]["gap"]
        assert model.duality_gap_ <= min(learned(model))
        assert verify(model, X, y).agree
    assert won > 0


def test_next_fit_continues_from_the_last_iteration(load_real, tmp_path):
    X, y = table(load_real, "boston_housing", 300)
    widths = kernels.RBF([1e-3, 1e-2, 0.1, 1.0])
    model = MKLRegressor(widths, norm=1.0, C=100.0, tol=1e-3, working_set=10, max_iter=2)
    model.set_params(checkpoint=tmp_path / "run")
    gaps = []
    while not gaps or gaps[-1] > 1e-3:
        gaps.append(fitted(model, X, y).duality_gap_)
        assert len(gaps) < 500  # a fit that went back to its best entry might never end
    assert list(tmp_path.iterdir()) == []


def test_fits_without_a_budget_keep_no_copy(load_real, monkeypatch):
    seen, result = [], Run.result

    def noted(self, *model):
        seen.append(self.best)
        return result(self, *model)

    monkeypatch.setattr(Run, "result", noted)
    MKLClassifier(kernels.RBF(0.1)).fit(*table(load_real, "sonar"))
    assert seen
    assert seen == [None] * len(seen)


def test_constant_model_is_not_the_best_model(load_real):
    X, y = table(load_real, "sonar")
    each = kernels.per_feature(kernels.RBF(1.0))
    model = fitted(MKLClassifier(each, norm=1.0, tol=TOL, max_iter=1), X, y)
    assert model.history_[1]["gap"] > model.history_[0]["gap"]
    assert model.duality_gap_ == model.history_[1]["gap"]
    assert model.score(X, y) > 0.9


def certificate(gap):
    return Certificate(primal=1.0, dual=1.0 - gap, constant=10.0, gap=gap, bias=0.0)


def test_models_within_the_tolerance_are_not_candidates():
    best = BestModel(0.1)
    run = replace(Run.start(0.1), best=best)
    alpha, theta = np.array([1.0, -1.0]), np.array([0.6, 0.8])
    for gap, factor in ((0.5, 1.0), (0.3, 2.0), (0.05, 3.0), (0.4, 4.0)):
        run.record(certificate(gap), theta, 1, factor * alpha)
    last = run.result(certificate(0.4), 4 * alpha, theta)
    found = best.instead_of(last)
    assert found.gap == 0.3
    np.testing.assert_array_equal(found.alpha, 2 * alpha)
    assert best.instead_of(found) is found
    assert BestModel(0.1).instead_of(last) is last
