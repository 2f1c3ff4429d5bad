"""A path through norms and costs: every result is the optimum, every start is feasible."""

from dataclasses import replace

import numpy as np
import pytest
from loss_cases import every_loss
from mkl_cases import make_case, planned

from kernelweave import norms
from kernelweave.optimization.path import at_cost, follow
from kernelweave.optimization.run import Run
from kernelweave.optimization.solve import solve


def hinge_case(rng):
    X = rng.normal(size=(40, 3))
    y = np.where(X[:, 0] + 0.3 * X[:, 1] > 0, 1.0, -1.0)
    return make_case({"X": X, "y": y}, "hinge", norms.Lp(1), n=40, C=1e3)


def test_at_a_higher_cost_a_solution_without_alphas_at_bounds_stays_one(rng):
    case = hinge_case(rng)
    result = case.solve("auto", tol=1e-3)
    assert result.converged
    assert np.abs(result.alpha).max() < 0.5 * case.problem.C.max()
    higher = replace(case.problem, risk=replace(case.problem.risk, C=100 * case.problem.C))
    weights = at_cost(higher, case.engine, result.weights)
    np.testing.assert_allclose(weights, result.weights, atol=1e-5)
    np.testing.assert_allclose(case.engine.alpha, result.alpha, rtol=1e-3, atol=1e-9)


@pytest.mark.parametrize("p", [1, 2])
def test_weights_of_a_start_have_norm_1_and_zeros_only_if_the_norm_is_sparse(p, rng):
    case = hinge_case(rng)
    problem = replace(case.problem, norm=norms.Lp(p))
    for weights in (np.zeros(5), 3 * np.eye(5)[2], rng.random(5)):
        found = at_cost(problem, case.engine, weights)
        assert problem.norm.value(found) == pytest.approx(1.0)
        assert found.all() or (p == 1 and weights.any())


@every_loss
def test_a_path_visits_every_norm_and_cost_and_solves_each(loss, rng):
    """In any order of the costs; the engine holds the alpha of each result."""
    X = rng.normal(size=(60, 3))
    table = {"X": X, "y": np.where(X[:, 0] * X[:, 1] > 0, 1.0, -1.0)}
    case = make_case(table, loss.name, norms.Lp(2), n=60, M=4)
    grid, Cs = [norms.Lp(2), norms.Lp(1)], np.array([1.0, 0.1, 10.0])
    if loss.kind == "one-class":  # tau = 0.3 n needs costs of at least 0.3
        Cs = np.array([1.0, 0.4, 10.0])

    def solved(problem, weights):
        plan = planned("auto", problem, case.engine)
        return solve(problem, case.engine, plan, Run.start(1e-6), weights)

    visited = set()
    for i, j, result in follow(case.problem, case.engine, grid, Cs, solved):
        visited.add((i, j))
        risk = replace(case.problem.risk, C=Cs[j] * case.problem.C)
        problem = replace(case.problem, norm=grid[i], risk=risk)
        assert result.converged
        np.testing.assert_array_equal(case.engine.alpha, result.alpha)
        alone = replace(case, problem=problem, engine=case.engine.subset(np.arange(60)))
        assert alone.naive_gap(result) <= 1e-6 + 1e-9
        expected = alone.solve("auto", tol=1e-6)
        assert result.primal == pytest.approx(expected.primal, rel=2e-6)
    assert visited == {(i, j) for i in range(2) for j in range(3)}
