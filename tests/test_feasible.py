"""Starting points: feasible for every loss, with slopes that a solver can follow."""

import numpy as np
import pytest
from loss_cases import every_loss

from kernelweave import losses, norms
from kernelweave.problem import Problem
from kernelweave.training.starts import feasible_alpha

COSTS = {
    "equal": lambda y: np.full(len(y), 2.0),
    "different": lambda y: np.linspace(0.0, 3.0, len(y)),
    "tiny and huge": lambda y: np.where(np.arange(len(y)) % 3, 1e-9, 1e9),
    "nothing on one side": lambda y: np.where(y > 0, 0.0, 1.0),
    "nothing": lambda y: np.zeros(len(y)),
}


def make_problem(loss, C, y):
    return Problem(loss, norms.Lp(2), y, C, tau=0.2 * C.sum() if loss.kind == "one-class" else 0.0)


@every_loss
@pytest.mark.parametrize("costs", COSTS.values(), ids=COSTS)
def test_the_start_is_feasible(loss, costs):
    y = np.where(np.arange(25) % 4, -1.0, 1.0)
    problem = make_problem(loss, costs(y), y)
    alpha, term = feasible_alpha(problem), problem.term
    assert alpha.shape == y.shape
    assert np.all((term.lo <= alpha) & (alpha <= term.hi))
    assert alpha.sum() == pytest.approx(problem.tau, abs=1e-12 * (1 + np.abs(alpha).sum()))
    assert np.isfinite(problem.dual(alpha, np.zeros(1)))


@every_loss
@pytest.mark.parametrize("costs", ["equal", "different", "tiny and huge"])
def test_slopes_are_finite_where_an_entropy_has_no_end(loss, costs):
    y = np.where(np.arange(25) % 4, -1.0, 1.0)
    problem = make_problem(loss, COSTS[costs](y), y)
    down, up = problem.term.slopes(feasible_alpha(problem))
    entropic = problem.term.ent > 0
    assert np.all(np.isfinite(down[entropic]))
    assert np.all(np.isfinite(up[entropic]))


def test_an_unbalanced_problem_starts_inside_its_box():
    y = np.array([1.0] + [-1.0] * 999)
    alpha = feasible_alpha(make_problem(losses.Logistic(), np.ones(1000), y))
    assert np.all(y * alpha > 0)
    assert np.all(y * alpha < 1)
