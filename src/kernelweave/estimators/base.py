"""What all estimators share: kernels in, certified solutions out."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from itertools import zip_longest
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from .. import model_file
from ..checkpoint import Checkpoint, checkpoints, data_key, try_out
from ..convergence import warn_of
from ..core import single_threaded_blas
from ..digits import Digits
from ..engines import Engine, TrainingSet
from ..kernels import Kernel
from ..kernels.default_of_views import default_of_views
from ..kernels.precomputed import all_precomputed
from ..kernels.prepare import prepare, resolve
from ..merged_examples import MergedExamples, mergeable
from ..model import Model, alphas
from ..norms import Norm
from ..numeric import thread_count
from ..plan import ENGINES, choose_engine, find_method, make_plan
from ..problem import Problem
from ..progress import live_line
from ..solvers.base import Method
from ..training.history import History, Progress, Result, ignore
from ..training.solve import solve
from ..validation import check_examples, check_values
from ..weights import weights_frame
from .kernel_parameters import KernelParameters
from .prepared import Prepared

if TYPE_CHECKING:
    from pandas import DataFrame


class MKLEstimator(KernelParameters):
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
        method = find_method(self.solver, problems[0].norm, problems[0].loss, shared=shared)
        # Parameters that depend on the data depend on all of it.
        kernels = None if self.kernels is None else resolve(self.kernels, X)
        merged = None
        if mergeable(kernels or [], X):
            merged = MergedExamples.of(X, targets, problems[0].C)
        if merged:
            X, problems = X[merged.chosen], [merged.merge(problem) for problem in problems]
        with single_threaded_blas(), self._live_line() as watch:
            norms = [problem.norm for problem in problems]
            how = {"shared": shared, "fits": len(problems)}
            prepared = self._prepare(kernels, X, problems[0].C, [method], norms, **how)
            problems, engine = prepared.suited(problems, shared=shared)
            kept: list[Checkpoint] = []
            if self.checkpoint is not None:
                data = data_key(kernels, self.normalize, prepared.examples)
                kept = checkpoints(self.checkpoint, problems, data, engine.n_kernels)
            results: list[Result] = []
            with prepared.explained(problems):
                for one, file in zip_longest(problems, kept):
                    result = self._solve(
                        one,
                        engine,
                        prepared.name,
                        deadline=_portion(deadline, len(problems) - len(results)),
                        watch=watch,
                        checkpoint=file,
                        digits=prepared.digits,
                    )
                    results.append(result)
        self._learn(prepared, results, merged)

    def _live_line(self) -> AbstractContextManager[Callable[[Progress], None]]:
        """Return a context with what shows progress, if anything does."""
        return live_line(type(self).__name__) if self.verbose else nullcontext(ignore)

    def _deadline(self) -> float:
        """Return when a fit that begins now has to end, in the time of `time.monotonic`."""
        return np.inf if self.max_time is None else time.monotonic() + self.max_time

    def _default_kernels(self, X: Any, costs: np.ndarray) -> list[Kernel]:
        """Return the kernels of an estimator that was given none."""
        return default_of_views(X, costs)

    def _prepare(
        self,
        kernels: list[Kernel] | None,
        X: Any,
        costs: np.ndarray,
        methods: Sequence[Method],
        norms: Sequence[Norm],
        *,
        shared: bool,
        fits: int,
    ) -> Prepared:
        """Normalise and compile the kernels on the examples X, and give them an engine.

        It suits the methods, the norms and the number of `fits` that will be asked for. `shared`:
        whether outputs share their weights, each with an alpha of its own.
        """
        n_jobs = thread_count(self.n_jobs)
        kernels = kernels or self._default_kernels(X, costs)
        compiled, examples = prepare(kernels, self.normalize, X, weights=costs, n_jobs=n_jobs)
        training_set = TrainingSet(compiled.listing, examples, self.cache_mb, n_jobs)
        if len(compiled.varying) < compiled.n_kernels:
            training_set = training_set.part(compiled.varying)
        name = choose_engine(training_set, methods, norms, shared=shared, fits=fits)
        engine = ENGINES[name](training_set)
        digits = Digits(training_set.kernels, training_set.examples, engine.precision)
        shares = costs / costs.sum()
        return Prepared(compiled, examples, engine, name, digits, shares)

    def _solve(
        self,
        problem: Problem,
        engine: Engine,
        name: str,
        weights: np.ndarray | None = None,
        *,
        deadline: float,
        watch: Callable[[Progress], None] = ignore,
        checkpoint: Checkpoint | None = None,
        digits: Digits | None = None,
    ) -> Result:
        """Solve a problem as the parameters say, until a time.

        It starts afresh, from the engine's alpha and given weights, shape (M,), or from what a
        checkpoint says. With the `digits` of the kernels it is confirmed.
        """
        shared = problem.n_outputs > 1
        method = find_method(self.solver, problem.norm, problem.loss, shared=shared)
        how = {"interleaved": self.interleaved, "working_set": self.working_set}
        plan = make_plan(method, problem, engine, name, **how)
        if self.verbose >= 2 and plan != getattr(self, "plan_", None):
            print(f"{type(self).__name__}: {plan}", file=sys.stderr)
        self.plan_ = plan
        observe = checkpoint.keep if checkpoint else ignore
        history = History(self.tol, self.max_iter, deadline, watch=watch, observe=observe)
        if checkpoint and (kept := checkpoint.load()):
            alpha, weights = kept
            engine.move_to(alpha)
        result = solve(problem, engine, plan, history, weights, digits)
        if checkpoint:
            checkpoint.remove()
        return result.moved(problem.centre)

    def _learn(
        self, prepared: Prepared, results: list[Result], merged: MergedExamples | None = None
    ) -> None:
        """Keep what the results say of all examples, or of the merged ones."""
        compiled, examples = prepared.compiled, prepared.examples
        if not all(result.converged and result.weights.any() for result in results):
            names = [compiled.names[m] for m in compiled.varying]
            warn_of(self, results, names, prepared.digits)
        results = [one.spread(compiled.varying, compiled.n_kernels) for one in results]
        shares, n_jobs = prepared.shares, thread_count(self.n_jobs)
        with single_threaded_blas():
            self._model = Model.of(compiled, examples, results, shares, n_jobs)
        alpha = alphas(results, examples.n)
        self._store(results, merged.expand(alpha) if merged else alpha)

    def _store(self, results: list[Result], alpha: np.ndarray) -> None:
        """Set the public attributes; alpha has shape (outputs, n)."""
        model = self._model
        self.kernel_names_ = model.compiled.names
        self.support_ = np.flatnonzero(alpha.any(axis=0))
        self.dual_coef_ = alpha[:, self.support_]
        self.intercept_ = model.intercept
        single = len(results) == 1
        self.weights_ = model.weights[0] if single else model.weights
        for name in ("primal", "dual", "constant"):
            values = np.array([getattr(result, name) for result in results])
            setattr(self, f"{name}_objective_", float(values[0]) if single else values)
        gaps = np.array([result.gap for result in results])
        self.duality_gap_ = float(gaps[0]) if single else gaps
        if all(result.optimality for result in results):
            pairs = np.array([result.optimality for result in results])
            self.optimality_ = pairs[0] if single else pairs
        histories = [[vars(progress) for progress in result.history] for result in results]
        self.history_ = histories[0] if single else histories
        self.n_iter_ = max(result.n_iter for result in results)
        self.certifies_ = self.plan_.certifies
        if self.verbose:  # what was reached in the end, whatever the last turn had
            gap, count = float(gaps.max()), self.n_iter_
            print(f"{type(self).__name__}: {count} turns, duality gap {gap:.2e}", file=sys.stderr)

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
        X : n examples

        Returns
        -------
        Array of shape (n, M), or (n, classes, M) with more than two classes. Summed over the
        kernels, plus the intercept, it is the decision value.
        """
        check_is_fitted(self)
        X = check_examples(self, X, reset=False)
        found = self._model.contributions(X, n_jobs=thread_count(self.n_jobs))
        values = check_values("contributions", found)
        return values[:, 0] if values.shape[1] == 1 else values

    def weights_frame(self, X: Any = None, *, by: str | None = None) -> DataFrame:
        """Return how much each kernel, or each view, counts.

        Parameters
        ----------
        X : n examples over which shares are taken; by default the training examples.
        by : None for a row per kernel, "view" for the sums over the kernels of each view.

        Returns
        -------
        pandas DataFrame with the columns kernel and view, output (with several of them), weight,
        and share: the standard deviation of what a kernel (or all kernels of a view together) adds
        to the decision values, as a part of the sum of these.
        """
        check_is_fitted(self)
        added = None
        if X is not None:
            X = check_examples(self, X, reset=False)
            added = self._model.contributions(X, n_jobs=thread_count(self.n_jobs))
        return weights_frame(self, added, by)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.allow_nan = self.kernels is None
        tags.input_tags.pairwise = all_precomputed(self.kernels)
        return tags


def _portion(deadline: float, problems: int) -> float:
    """Return when the first of some problems has to end, each having as much time."""
    now = time.monotonic()
    return now + (deadline - now) / problems
