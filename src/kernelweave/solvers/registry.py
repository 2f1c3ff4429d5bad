"""Which solver serves which problem: one entry for each name that `solver=` accepts."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, fields, replace
from functools import partial
from typing import Any

import numpy as np

from ..alignment import alignment_weights, centered_alignment_weights
from ..losses import Loss
from ..norms import Norm
from ..norms.kinds import (
    exponent,
    has_ball,
    is_curved,
    is_plain_sum,
    is_scale,
    is_smooth,
    is_sparse,
)
from ..problem import Result
from ..steps.analytic import Analytic
from ..steps.base import SolvedTurn, Step, keep_weights
from ..steps.cutting_plane import CuttingPlane
from ..steps.gradient import Gradient
from ..steps.level import Level
from ..steps.newton import Newton
from ..steps.patient import Patient, complete
from . import qcqp
from .active_sets import active_sets
from .journal import Journal
from .mwu import MWU
from .prune import prune
from .sampled import sampled_weights
from .skm import SKM
from .task import Task
from .two_stage import has_targets, two_stage
from .wrapper import wrapper

# Up to this p the analytic step takes so many turns that Newton's are worth it: where new weights
# cost nothing, and where they are dear.
NEARLY_SPARSE, CURVED = 1.3, 2.0

Solve = Callable[[Task], Result]


def any_loss(loss: Loss) -> bool:
    """Every loss has the same dual form, so most solvers serve all of them."""
    return True


def any_norm(norm: Norm) -> bool:
    """Some solver serves each of them."""
    return True


def never(M: int, n: int) -> bool:
    """Return False: most solvers ask for all kernels."""
    return False


@dataclass(frozen=True)
class Solver:
    """A way to solve a problem.

    Attributes
    ----------
    name : str
        What a user calls it.
    solve : callable
        ``solve(task) -> Result``.
    serves : callable
        Says whether the solver can serve a norm.
    serves_loss : callable
        Says whether it can serve a loss.
    shares : bool
        Whether it can serve machines that share their weights.
    combines : bool
        Whether it reads little of single kernels, so that `MixtureEngine` suits it.
    streams : callable
        Says of M kernels and n examples whether it asks for some of the kernels at a time, as
        `StreamedEngine` gives them.
    """

    name: str
    solve: Solve
    serves: Callable[[Norm], bool]
    serves_loss: Callable[[Loss], bool] = any_loss
    shares: bool = False
    combines: bool = False
    streams: Callable[[int, int], bool] = never


def fixed() -> Step:
    """Make the step that leaves the weights as they are."""
    return keep_weights


def stepping(make_step: Callable[[Norm], Step], *, waits: bool = False) -> Solve:
    """Return the solver that alternates between alpha and a weight step.

    `waits`: whether an interleaved step waits for good machines (others wait for complete ones).
    """

    def solve(task: Task) -> Result:
        def fresh() -> Step:
            step = make_step(task.problem.norm)
            return Patient(step) if waits else step

        if len(task.theta) == 1:  # no choice of weights
            return active_sets(task, fixed)
        if not task.interleaved:
            return wrapper(task, complete(make_step(task.problem.norm)))
        clock = Journal(task)
        if waits:
            task = replace(task, theta=sampled_weights(task, fresh))
        return active_sets(task, fresh, clock)

    return solve


def wrapping(make_step: Callable[[Norm], Callable[[SolvedTurn], np.ndarray]]) -> Solve:
    """Return the solver for a step that needs complete machines, interleaved or not."""
    return lambda task: wrapper(task, complete(make_step(task.problem.norm)))


def sparsely(solve: Solve) -> Solve:
    """Return the solver that also sets the weights to 0 that its certificate does not need."""

    def solve_sparsely(task: Task) -> Result:
        result = solve(task)
        return prune(task, result) if is_sparse(task.problem.norm) else result

    return solve_sparsely


def solve_uniform(task: Task) -> Result:
    """Solve one machine on the plain sum of the kernels."""
    return active_sets(replace(task, theta=np.ones_like(task.theta)), fixed)


def solve_automatically(task: Task) -> Result:
    """Solve a task with the solver that suits its norm and its engine."""
    return SOLVERS[automatic(task.problem.norm, task.engine.turns_per_step > 1)].solve(task)


def automatic(norm: Norm, dear: bool) -> str:
    """Name the solver that suits a norm, and an engine for which new weights are dear or not."""
    if is_plain_sum(norm):
        return "uniform"
    if is_sparse(norm):
        return "hessian"
    return "newton" if exponent(norm) <= (CURVED if dear else NEARLY_SPARSE) else "analytic"


# They read little but sums of outputs, over kernels and over machines.
Summing = partial(Solver, shares=True, combines=True)

AUTOMATIC = Summing("auto", solve_automatically, any_norm)

SOLVERS = {
    solver.name: solver
    for solver in (
        Summing("analytic", stepping(Analytic), is_smooth),
        Summing("newton", stepping(Newton, waits=True), is_curved),
        Summing("hessian", sparsely(stepping(Newton, waits=True)), is_sparse),
        Summing("cutting-plane", sparsely(stepping(CuttingPlane)), has_ball),
        Summing("level", sparsely(stepping(Level)), has_ball),
        Summing("gradient", sparsely(wrapping(Gradient)), is_sparse),
        Summing("uniform", solve_uniform, is_plain_sum),
        Solver("alignment", two_stage(alignment_weights), is_scale, has_targets),
        Solver("centered-alignment", two_stage(centered_alignment_weights), is_scale, has_targets),
        Solver("qcqp", qcqp.qcqp, qcqp.serves),
        SKM(),
        MWU(),
    )
}


def solver_for(choice: str | Solver, norm: Norm, loss: Loss, *, shared: bool = False) -> Any:
    """Return the solver of a name, for "auto" the one that suits the norm, or a solver as it is.

    What it returns has the attributes of a `Solver`.

    Raises
    ------
    ValueError
        When there is no such solver, or when it cannot serve the norm, the loss, or (`shared`)
        machines that share their weights.
    """

    def able(solver: Any) -> bool:
        return solver.serves(norm) and solver.serves_loss(loss) and (solver.shares or not shared)

    if isinstance(choice, str) and choice == "auto":
        return AUTOMATIC
    solver: Any = SOLVERS.get(choice) if isinstance(choice, str) else choice
    if not all(hasattr(solver, field.name) for field in fields(Solver)):
        raise ValueError(f"solver must be one of {['auto', *SOLVERS]}, got {choice!r}")
    if not able(solver):
        names = [solver.name for solver in SOLVERS.values() if able(solver)]
        sharing = " and share_weights=True" if shared else ""
        raise ValueError(
            f"solver={choice!r} cannot serve norm={norm!r} with loss={loss.name!r}{sharing}; "
            f"these can: {['auto', *names]}"
        )
    return solver
