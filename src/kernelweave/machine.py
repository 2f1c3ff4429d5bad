"""What all estimators share: kernels in, certified solutions out."""

from __future__ import annotations

import os
import time
import warnings
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.validation import check_is_fitted

from . import model_file
from .checkpoint import Checkpoint, data_key, try_out
from .convergence import complaint
from .core import single_threaded_blas
from .digits import lost_digits
from .distinct import Distinct, mergeable
from .engines import DenseEngine, Engine, MixtureEngine, StackedEngine, Supplies
from .engines.remembering import RememberingEngine
from .engines.streamed import StreamedEngine
from .kernels import CompiledKernels, Kernel, Precomputed
from .kernels.default import default_kernels
from .kernels.examples import Examples
from .kernels.prepare import prepare, resolve
from .model import Model, alphas
from .norms import Norm
from .norms.kinds import is_plain_sum
from .numeric import thread_count
from .overflow import explained
from .problem import Problem, Result
from .progress import live_line
from .solvers.registry import solver_for
from .solvers.start import first_task
from .solvers.task import Task
from .validation import check_examples, check_values


class Machine(BaseEstimator):
    """What the estimators share: kernels in, certified solutions out."""

    def _train(
        self, X: Any, problems: list[Problem], targets: np.ndarray, shared: bool = False
    ) -> None:
        """Solve one problem per output on the examples X and store what was learned.

        Parameters
        ----------
        targets : what tells examples with equal x apart, shape (n,).
        shared : whether the outputs share their weights.
        """
        deadline = self._deadline()
        shared = shared and len(problems) > 1
        if self.checkpoint is not None:
            try_out(self.checkpoint, len(targets) * (len(problems) if shared else 1))
        solver = solver_for(self.solver, problems[0].norm, problems[0].loss, shared=shared)
        kernels = self.kernels
        if kernels is not None:  # parameters that depend on the data depend on all of it
            kernels = resolve(kernels, X)
        distinct = None
        if mergeable(kernels or [], X):
            distinct = Distinct.of(X, targets, problems[0].C)
        if distinct:
            X, problems = X[distinct.chosen], [distinct.merge(problem) for problem in problems]
        with single_threaded_blas(), live_line(type(self).__name__, self.verbose) as watch:
            norms = [problem.norm for problem in problems]
            compiled, examples, engine = self._prepare(
                kernels, X, problems[0].C, [solver], norms, shared=shared
            )
            problems, engine = sharing(problems, engine) if shared else (problems, engine)
            data = None
            if self.checkpoint is not None:
                data = data_key(kernels, self.normalize, examples)
            with explained(compiled, examples, problems):
                results = [
                    self._solve_kept(
                        problem,
                        engine,
                        number,
                        watch=watch,
                        data=data,
                        deadline=_portion(deadline, len(problems) - number),
                    )
                    for number, problem in enumerate(problems)
                ]
        self._learn(compiled, examples, results, distinct)

    def _deadline(self) -> float:
        """Return when a fit that begins now has to end, in the time of `time.monotonic`."""
        return np.inf if self.max_time is None else time.monotonic() + self.max_time

    def _solve_kept(
        self,
        problem: Problem,
        engine: Engine,
        number: int,
        *,
        watch: Any,
        data: Any,
        deadline: float,
    ) -> Result:
        """Solve a problem, where there is a checkpoint from what it says, keeping it up to date."""
        if self.checkpoint is None:
            return self._solve(first_task(problem, engine, watch=watch), deadline)
        path = f"{os.fspath(self.checkpoint)}.{number}"
        checkpoint = Checkpoint(path, problem, data, engine.n_kernels)
        kept = checkpoint.load()
        if kept is None:
            task = first_task(problem, engine, watch=watch)
        else:
            task = Task(problem, engine, *kept, watch=watch)
            engine.rebuild(task.alpha)
        remembering: Any = RememberingEngine(engine, task.alpha, task.theta, checkpoint.keep)
        result = self._solve(replace(task, engine=remembering), deadline)
        checkpoint.remove()
        return result

    def _prepare(
        self,
        kernels: list[Kernel] | None,
        X: Any,
        costs: np.ndarray,
        solvers: Sequence[Any],
        norms: Sequence[Norm],
        *,
        shared: bool,
    ) -> tuple[CompiledKernels, Examples, Engine]:
        """Normalise and compile the kernels on the examples X, and give them an engine.

        It suits the solvers and norms that will be asked for. `shared`: whether machines share
        their weights, each with outputs of its own.
        """
        n_jobs = thread_count(self.n_jobs)
        kernels = kernels or default_kernels(X, costs)
        compiled, examples = prepare(kernels, self.normalize, X, weights=costs, n_jobs=n_jobs)
        supplies = Supplies(compiled.listing, examples, self.cache_mb, n_jobs)
        return compiled, examples, engine_for(supplies, solvers, norms, shared=shared)

    def _solve(self, task: Task, deadline: float) -> Result:
        """Solve a task as the parameters say, until a time."""
        problem, size = task.problem, self.working_set
        solver = solver_for(self.solver, problem.norm, problem.loss, shared=problem.machines > 1)
        result = solver.solve(
            replace(
                task,
                tol=self.tol,
                max_iter=self.max_iter,
                deadline=deadline,
                working_set=Task.working_set if size == "auto" else size,
                interleaved=self.interleaved,
            )
        )
        return result.moved(problem.centre)

    def _learn(
        self,
        compiled: CompiledKernels,
        examples: Examples,
        results: list[Result],
        distinct: Distinct | None = None,
    ) -> None:
        """Keep what the results say of all examples, or of the distinct ones."""
        results = [result.spread(compiled.n_kernels) for result in results]
        lost = lost_digits(compiled, examples, results, self.tol)
        if (message := complaint(self, results, lost)) is not None:
            warnings.warn(message, ConvergenceWarning, stacklevel=4)
        self._model = Model.of(compiled, examples, results)
        alpha = alphas(results, examples.n)
        self._store(results, distinct.expand(alpha) if distinct else alpha)

    def _store(self, results: list[Result], alpha: np.ndarray) -> None:
        """Set the public attributes; alpha has shape (outputs, n)."""
        model = self._model
        self.kernel_names_ = model.compiled.names
        self.support_ = np.flatnonzero(alpha.any(axis=0))
        self.dual_coef_ = alpha[:, self.support_]
        self.intercept_ = model.intercept
        single = len(results) == 1
        self.weights_ = model.weights[0] if single else model.weights
        for name in ("primal", "dual"):
            values = np.array([getattr(result, name) for result in results])
            setattr(self, f"{name}_objective_", float(values[0]) if single else values)
        gaps = np.array([result.gap for result in results])
        self.duality_gap_ = float(gaps[0]) if single else gaps
        histories = [[vars(progress) for progress in result.history] for result in results]
        self.history_ = histories[0] if single else histories
        self.n_iter_ = max(result.n_iter for result in results)

    def _forget(self) -> None:
        """Drop what an earlier fit has learned: an interrupted fit must leave nothing behind."""
        for name in [name for name in vars(self) if name.endswith("_") or name == "_model"]:
            delattr(self, name)

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "_model")  # the columns of X are noted before anything is learned

    def _decide(self, X: Any) -> np.ndarray:
        """Return decision values, shape (n, outputs)."""
        check_is_fitted(self)
        X = check_examples(self, X, reset=False)
        values = self._model.decide(X, n_jobs=thread_count(self.n_jobs))
        return check_values("decision values", values)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the fitted estimator to a file that holds no code; `kernelweave.load` reads it."""
        check_is_fitted(self)
        model_file.save(self, path)

    def _check_loaded(self) -> None:
        """Raise ValueError where what a file says was learned does not fit the model."""
        if len(self._model.intercept) != 1:
            raise ValueError("there must be one decision function")

    def contributions(self, X: Any) -> np.ndarray:
        """Return what each kernel adds to the decision values.

        Parameters
        ----------
        X : n examples.

        Returns
        -------
        Array of shape (n, M), or (n, classes, M) with more than two classes. Summed over the
        kernels, plus the intercept, it is the decision value.
        """
        check_is_fitted(self)
        X = check_examples(self, X, reset=False)
        values = self._model.contributions(X, n_jobs=thread_count(self.n_jobs))
        check_values("contributions", values)
        return values[:, 0] if values.shape[1] == 1 else values

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.pairwise = _all_precomputed(self.kernels)
        return tags


def _portion(deadline: float, problems: int) -> float:
    """Return when the first of some problems has to end, each having as much time."""
    now = time.monotonic()
    return now + (deadline - now) / problems


def engine_for(
    supplies: Supplies, solvers: Sequence[Any], norms: Sequence[Norm], *, shared: bool
) -> Any:
    """Return the engine that suits some kernels and examples, and what solvers can do with.

    Where nothing but the plain sum is asked for it may have one kernel only.
    """
    M, n = supplies.kernels.n_kernels, supplies.examples.n
    combines = not shared and all(solver.combines for solver in solvers)
    if combines and MixtureEngine.serves(supplies):
        return MixtureEngine.of(supplies)
    if combines and all(map(is_plain_sum, norms)) and DenseEngine.sums(supplies):
        return DenseEngine.of_sum(supplies)
    if not shared and all(solver.streams(M, n) for solver in solvers):
        return StreamedEngine(supplies)
    return DenseEngine.of(supplies)


def sharing(problems: list[Problem], engine: Engine) -> tuple[list[Problem], Engine]:
    """Return the one problem of machines that share their weights, and the engine for it."""
    return [Problem.sharing(problems)], StackedEngine(engine, len(problems))


def _all_precomputed(kernels: Any) -> bool:
    """Return whether X is one given matrix, whose columns scikit-learn must split like its rows."""
    one = kernels[0] if isinstance(kernels, list | tuple) and len(kernels) == 1 else kernels
    return isinstance(one, Precomputed) and one.columns is None
