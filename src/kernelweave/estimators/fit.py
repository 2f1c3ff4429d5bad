"""One fit: problems are solved on a prepared engine, within `max_iter` and `max_time`."""

from __future__ import annotations

import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import zip_longest
from typing import TYPE_CHECKING

import numpy as np

from ..engines import Engine
from ..kernels import Kernel
from ..model.files.checkpoint import Checkpoint, checkpoints, data_key, digest
from ..optimization.best_model import BestModel
from ..optimization.budget import Budget
from ..optimization.log import Log, Watch
from ..optimization.named_methods import find_method
from ..optimization.plan import Options, Plan, make_plan
from ..optimization.result import Result
from ..optimization.run import Run
from ..optimization.solve import solve, solve_confirmed
from ..optimization.stopping import StoppingRule
from ..problem.problem import Problem
from .overflow import why_not_finite
from .prepared import Prepared

if TYPE_CHECKING:
    from .base import MKLEstimator


@dataclass(frozen=True, eq=False)
class Fit:
    """Prepared kernels, the parameters of an estimator, and the limits of its fit.

    Attributes
    ----------
    estimator : MKLEstimator
        Gives the parameters of the fit.
    prepared : Prepared
        Kernels and engine of all examples.
    kernels : list of Kernel, optional
        The kernels as the user gave them; None for default kernels.
    deadline : float
        Time of `time.monotonic` at which to stop.
    watch : callable, optional
        Displays progress.
    final : bool
        Whether the models are returned to the user. Then the rounding error of the gap is bounded,
        and a fit that runs out of time returns the best model that it has met.
    """

    estimator: MKLEstimator
    prepared: Prepared
    kernels: list[Kernel] | None = None
    deadline: float = np.inf
    watch: Watch | None = None
    final: bool = True

    def solve(
        self,
        problem: Problem,
        engine: Engine,
        weights: np.ndarray | None = None,
        checkpoint: Checkpoint | None = None,
    ) -> Result:
        """Solve one problem with the parameters of the estimator.

        Parameters
        ----------
        problem : Problem
        engine : Engine
            The engine of the examples and outputs of the problem.
        weights : ndarray of shape (M,), optional
            If given, training starts from these weights and the alpha of the engine (warm start).
        checkpoint : Checkpoint, optional
            Training continues from its state, if it has one.

        Returns
        -------
        Result
        """
        run = self._run(engine, checkpoint)
        if checkpoint and (state := checkpoint.load()):
            alpha, weights = state
            engine.move_to(alpha)
        try:
            with np.errstate(over="ignore", invalid="ignore"):  # the objective is checked instead
                result = self._solved(problem, engine, run, weights)
        except KeyboardInterrupt:
            if checkpoint:
                checkpoint.keep_last()
            raise
        if self.estimator.verbose >= 2 and engine.work.pairs:
            self._print(engine.work)
        if checkpoint:
            checkpoint.end(result, done=result.converged or not run.budget.spent)
        if run.best and run.budget.spent and not result.converged:
            result = run.best.instead_of(result)  # the checkpoint has the last model instead
        return result.moved(problem.centre)

    def solve_each(
        self, problems: Sequence[Problem], engine: Engine, codes: np.ndarray | None = None
    ) -> list[Result]:
        """Solve problems one after the other, and remove their checkpoints if all are solved.

        The remaining time is divided equally. With ``verbose=2`` the plan of the first problem is
        printed. `codes` are the classes of the examples (see `checkpoints`).
        """
        if self.estimator.verbose >= 2:
            self._print(self._plan(problems[0], engine))
        results: list[Result] = []
        files = self.checkpoints(problems, engine, codes)
        for one, file in zip_longest(problems, files):
            fit = self.share(len(problems) - len(results))
            results.append(fit.solve(one, engine, checkpoint=file))
        remove_if_done(files)
        return results

    def share(self, left: int) -> Fit:
        """Return a copy with an equal share of the remaining time, if `left` problems remain."""
        now = time.monotonic()
        return replace(self, deadline=now + (self.deadline - now) / left)

    def _solved(
        self, problem: Problem, engine: Engine, run: Run, weights: np.ndarray | None
    ) -> Result:
        """Return the result of following a plan; raise ValueError if the objective overflows."""
        prepared = self.prepared
        try:
            plan = self._plan(problem, engine)
            if not self.final:
                return solve(problem, engine, plan, run, weights)
            return solve_confirmed(problem, engine, plan, run, prepared.rounding, weights)
        except FloatingPointError as error:
            raise ValueError(why_not_finite(prepared.compiled, prepared.sample, problem)) from error

    def _plan(self, problem: Problem, engine: Engine) -> Plan:
        """Return the plan of a problem."""
        estimator, shared = self.estimator, problem.n_outputs > 1
        method = find_method(estimator.solver, problem.norm, problem.loss, shared=shared)
        options = Options(estimator.interleaved, estimator.working_set, final=self.final)
        return make_plan(method, problem, engine, self.prepared.name, options)

    def _run(self, engine: Engine, checkpoint: Checkpoint | None) -> Run:
        """Return a run within the limits; if they are set, a final fit records its best model."""
        engine.work.clear()
        estimator = self.estimator
        limited = estimator.max_iter is not None or self.deadline < np.inf
        return Run(
            StoppingRule(estimator.tol),
            Budget(estimator.max_iter, self.deadline),
            Log(engine.work, self.watch),
            observe=checkpoint.keep if checkpoint else None,
            best=BestModel(estimator.tol) if self.final and limited else None,
        )

    def checkpoints(
        self, problems: Sequence[Problem], engine: Engine, codes: np.ndarray | None = None
    ) -> list[Checkpoint]:
        """Return the checkpoint of each problem, or none if the estimator has none.

        Parameters
        ----------
        problems : list of Problem
        engine : Engine
        codes : ndarray of shape (n,), optional
            Classes of the examples, if they determine which examples a problem consists of.
        """
        estimator = self.estimator
        if estimator.checkpoint is None:
            return []
        data = data_key(self.kernels, estimator.normalize, self.prepared.examples)
        if codes is not None:
            data = digest((data, codes))
        return checkpoints(estimator.checkpoint, problems, data, engine.n_kernels)

    def _print(self, what: object) -> None:
        print(f"{type(self.estimator).__name__}: {what}", file=sys.stderr)


def remove_if_done(files: list[Checkpoint]) -> None:
    """Remove the checkpoints of a fit if all of its problems are solved."""
    if all(file.done for file in files):
        for file in files:
            file.remove()
