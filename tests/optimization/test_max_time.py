"""`max_time` ends a fit with a valid model, certified at the gap that was reached."""

import time
import warnings

import numpy as np
import pytest
from mkl_cases import make_case
from sklearn.exceptions import ConvergenceWarning

from kernelweave import MKLClassifier, MKLOneClass, MKLRegressor, losses, norms
from kernelweave.estimators.fit import Fit
from kernelweave.estimators.selection import MKLClassifierCV
from kernelweave.kernels import RBF
from kernelweave.optimization.methods.mwu import MWU
from kernelweave.optimization.methods.skm import SKM
from kernelweave.optimization.named_methods import METHODS

NO_TIME = 1e-9
HARD = {"C": 1e4, "tol": 1e-9, "max_time": NO_TIME}


@pytest.fixture
def data(rng):
    X = rng.normal(size=(80, 3))
    return X, (X[:, 0] + rng.normal(size=80) > 0).astype(int)


@pytest.mark.parametrize("solver", METHODS)
def test_every_solver_stops_with_a_model(solver, load_real):
    chosen = METHODS[solver]
    norm = next(
        norm for norm in (norms.Lp(1), norms.Lp(2), norms.Lp(np.inf)) if chosen.serves(norm)
    )
    case = make_case(load_real("wdbc"), losses.SquaredHinge(), norm, C=100.0)
    result = case.solve(solver, tol=1e-12, max_iter=None, deadline=time.monotonic())
    assert result.late
    assert not result.converged
    assert result.n_iter <= 200  # those of an iteration of Clarabel
    if "alignment" not in solver:
        assert case.naive_gap(result) == pytest.approx(result.gap, rel=1e-6)


@pytest.mark.parametrize(
    "model",
    [
        MKLClassifier(RBF([0.1, 1.0]), **HARD),
        MKLRegressor(RBF([0.1, 1.0]), **HARD),
        MKLOneClass(RBF([0.1, 1.0]), tol=1e-12, max_time=NO_TIME),
    ],
)
def test_a_fit_that_runs_out_of_time_warns(model, data):
    message = r"relative duality gap of .*, above tol=1e-.*; raise max_time=1e-09 or tol"
    with pytest.warns(ConvergenceWarning, match=message):
        model.fit(*data)
    primal, dual = model.primal_objective_, model.dual_objective_
    gap = (primal - dual) / min(abs(primal), model.constant_objective_ - dual)
    assert gap == pytest.approx(model.duality_gap_)
    assert np.isfinite(model.predict(data[0])).all()


def test_time_that_is_enough_changes_nothing(data):
    plain = MKLClassifier(RBF([0.1, 1.0])).fit(*data)
    bound = MKLClassifier(RBF([0.1, 1.0]), max_time=1e6).fit(*data)
    np.testing.assert_array_equal(plain.dual_coef_, bound.dual_coef_)
    assert plain.n_iter_ == bound.n_iter_


def test_classes_share_the_time(rng, monkeypatch):
    X, y = rng.normal(size=(90, 2)), np.repeat([0, 1, 2], 30)
    deadlines = []

    def solve(self, *given, **others):
        deadlines.append(self.deadline - time.monotonic())
        return original(self, *given, **others)

    original = Fit.solve
    monkeypatch.setattr(Fit, "solve", solve)
    MKLClassifier(RBF(1.0), max_time=300.0).fit(X, y)
    np.testing.assert_allclose(deadlines, [100.0, 150.0, 300.0], atol=5.0)


def test_a_long_working_set_looks_at_the_clock(rng):
    """One working set of all examples, on which SMO and interior points take long."""
    X = rng.normal(size=(1500, 2))
    y = np.sign(rng.normal(size=1500))
    model = MKLClassifier(
        RBF([1e-4, 1e-3]), C=1e8, tol=1e-12, working_set=1500, max_time=0.3, normalize="variance"
    )
    with pytest.warns(ConvergenceWarning, match="max_time"):
        model.fit(X, y)
    assert model.history_[-1]["seconds"] < 60.0


def test_skm_pair_steps_check_the_time_limit(load_real):
    case = make_case(load_real("wdbc"), losses.Hinge(), norms.Lp(1), C=1e6)
    result = case.solve(SKM(), tol=1e-12, max_iter=None, deadline=time.monotonic() + 0.05)
    assert result.late


def test_a_search_bounds_each_fit(data):
    search = MKLClassifierCV(RBF(1.0), norms=[2.0], Cs=[1e4], cv=2, tol=1e-9, max_time=NO_TIME)
    with pytest.warns(ConvergenceWarning) as caught:
        search.fit(*data)
    assert any("raise max_time or tol" in str(one.message) for one in caught)
    assert any("raise max_time=1e-09 or tol" in str(one.message) for one in caught)


def test_several_fits_share_a_time_limit(monkeypatch):
    """Each gets an equal part of the time that is left."""
    clock = iter([100.0, 100.0, 102.0, 113.0, 120.0])
    monkeypatch.setattr(time, "monotonic", lambda: next(clock))
    deadline = MKLClassifier(max_time=12.0)._shared_deadline(3)
    assert [deadline() for _ in range(4)] == [104.0, 107.0, 112.0, 112.0]
    monkeypatch.undo()
    assert MKLClassifier()._shared_deadline(3)() == np.inf


def test_folds_of_calibration_share_the_time_limit(data, monkeypatch):
    limits, solve = [], Fit.solve

    def noted(fit, *given, **named):
        limits.append(fit.deadline)
        return solve(fit, *given, **named)

    monkeypatch.setattr(Fit, "solve", noted)
    MKLClassifier(RBF(1.0), calibrate="sigmoid", max_time=1000.0).fit(*data)
    first, *folds = np.array(limits) - time.monotonic()
    assert len(folds) == 5
    assert 900 < first <= 1000
    np.testing.assert_allclose(folds, 1000.0 / np.arange(5, 0, -1), rtol=0.2)


def test_warnings_do_not_name_unset_limits(data):
    with pytest.warns(ConvergenceWarning, match="raise max_iter=1 or tol") as caught:
        MKLClassifier(RBF([0.1, 1.0]), C=1e4, tol=1e-9, max_iter=1, working_set=4).fit(*data)
    assert "max_time" not in str(caught[0].message)
    settings = {"norm": 1.0, "loss": "squared_hinge", "solver": MWU(eps=0.5)}
    ended = (
        r"the number of rounds that eps=0.5 allows, which grows with 1 / eps\^2: raise tol, use "
        r"solver=MWU\(eps=0.05\)"
    )
    with pytest.warns(ConvergenceWarning, match=ended) as caught:
        MKLClassifier(RBF([0.1, 1.0]), tol=1e-9, **settings).fit(*data)
    assert "max_" not in str(caught[0].message)


@pytest.mark.parametrize("seconds", [0, -1.0, np.nan, np.inf, "1", True, [1.0]])
def test_max_time_is_a_positive_number(seconds, data):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(ValueError, match="max_time must be None or a finite number above 0"):
            MKLClassifier(max_time=seconds).fit(*data)
