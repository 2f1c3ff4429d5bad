"""Newton's method with an approximate kernel matrix: the optimum of that with the exact one."""

import numpy as np
import pytest
from kernel_cases import training_set

from kernelweave import MKLSurvival
from kernelweave.engines import FamilyEngine
from kernelweave.kernels import RBF
from kernelweave.losses import Cox, Logistic
from kernelweave.losses.cox import CoxRisk
from kernelweave.losses.risk import Risk
from kernelweave.norms import Lp
from kernelweave.optimization import plan
from kernelweave.optimization.inner.newton_cg import NewtonCG, Point
from kernelweave.optimization.inner.surrogate_newton import (
    Space,
    SurrogateNewton,
    SurrogateNewtonTuning,
)
from kernelweave.optimization.run import Run
from kernelweave.problem.problem import Problem

N, GAMMAS = 240, np.geomspace(0.01, 30.0, 5)


def make(loss, C, rng):
    """Return a problem with fixed weights, an engine, and these weights."""
    X = rng.normal(size=(N, 4))
    time, event = rng.exponential(np.exp(-X[:, 0])), rng.random(N) < 0.6
    if loss == "cox":
        risk = CoxRisk(Cox(), time, np.full(N, C), event=event)
    else:
        risk = Risk(Logistic(), np.where(time < np.median(time), 1.0, -1.0), np.full(N, C))
    weights = rng.random(len(GAMMAS))
    engine = FamilyEngine.of(training_set(RBF(GAMMAS), X))
    engine.move_to(risk.feasible_alpha())
    return Problem(risk, Lp(1.0)).with_weights(weights), engine, weights


@pytest.mark.parametrize("C", [0.01, 1.0, 100.0])
@pytest.mark.parametrize("loss", ["cox", "logistic"])
def test_the_same_optimum_as_with_the_exact_matrix(loss, C, rng):
    problem, engine, weights = make(loss, C, rng)
    found = SurrogateNewton().solve(problem, engine, weights, Run.start(1e-6))
    assert found.gap <= 1e-6
    np.testing.assert_array_equal(found.alpha, engine.alpha)
    engine.move_to(problem.risk.feasible_alpha())
    exact = NewtonCG("matrix").solve(problem, engine, weights, Run.start(1e-5))
    assert exact.gap <= 1e-5
    assert found.primal == pytest.approx(exact.primal, rel=1.1e-5)


def test_iterations_are_bounded_and_warm_starts_kept(rng):
    problem, engine, weights = make("cox", 10.0, rng)
    first = SurrogateNewton().solve(problem, engine, weights, Run.start(1e-9, 1))
    assert first.n_iter == 1
    solved = SurrogateNewton().solve(problem, engine, weights, Run.start(1e-5))
    again = SurrogateNewton().solve(problem, engine, weights, Run.start(1e-5))
    assert solved.gap <= 1e-5
    assert again.n_iter == 0


def test_space_holds_the_minimum_along_its_directions(rng):
    problem, engine, weights = make("cox", 1.0, rng)
    K = engine.kernel_matrix.under(weights)
    S = rng.normal(size=(3, N))
    space = Space(SurrogateNewtonTuning(space_steps=20, gap_factor=0.0))
    for direction in (*S, S[0] + S[1]):  # one depends on the others
        space.add(direction, K @ direction)
    start = Point.of(problem, np.zeros(N), np.zeros(N))
    found = space.minimum(problem, start)
    assert found.value < start.value
    np.testing.assert_allclose(S @ K @ (found.beta - found.alpha), 0.0, atol=1e-6)
    assert Space(SurrogateNewtonTuning()).minimum(problem, start) is None


@pytest.mark.parametrize("norm", [1, 4 / 3, 2])
def test_weights_of_many_patients_are_those_of_the_exact_matrix(norm, rng, monkeypatch):
    n = 1200
    X = rng.normal(size=(n, 4))
    y = np.array(
        list(zip(rng.random(n) < 0.6, rng.exponential(np.exp(-X[:, 0])), strict=True)),
        dtype=[("event", bool), ("time", float)],
    )
    kernels = [RBF(gamma) for gamma in GAMMAS]
    exact = MKLSurvival(kernels, norm=norm).fit(X, y)
    monkeypatch.setattr(plan, "TUNING_OF_PLANS", plan.PlanTuning(matrix_examples=100))
    model = MKLSurvival(kernels, norm=norm).fit(X, y)
    assert "SurrogateNewton" in repr(model.plan_)
    assert "SurrogateNewton" not in repr(exact.plan_)
    assert model.duality_gap_ <= 1e-3
    assert model.primal_objective_ == pytest.approx(exact.primal_objective_, rel=2e-3)
