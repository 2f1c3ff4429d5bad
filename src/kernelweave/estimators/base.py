"""What all estimators share: kernels in, certified solutions out."""

from __future__ import annotations

import sys
import time
from collections.abc import Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import KW_ONLY, dataclass, replace
from itertools import zip_longest
from typing import Any, ClassVar

import numpy as np

from ..common.core import single_threaded_blas
from ..common.numbers import thread_count
from ..engines import Engine, OutputsEngine, TrainingSet
from ..inspection.weights import held_out_shares, shares_of
from ..kernels import CompiledKernels, Kernel
from ..kernels.compile.examples import Examples
from ..kernels.compile.normalize import all_pairwise, prepare, resolve
from ..kernels.default_of_views import candidates_of_views, default_of_views
from ..model.files.checkpoint import Checkpoint, checkpoints, data_key, try_out
from ..model.model import Model
from ..norms import Elliptic, Norm
from ..optimization.best_model import BestModel
from ..optimization.convergence import warn_of
from ..optimization.methods.base import Method
from ..optimization.plan import (
    ENGINES,
    Options,
    choose_engine,
    find_method,
    make_plan,
    suited_norm,
)
from ..optimization.progress import Watch, live_line
from ..optimization.result import Result
from ..optimization.run import Run
from ..optimization.solve import solve, solve_confirmed
from ..optimization.time_left import TimeLeft
from ..problem.hard_margin import HardMarginProblem
from ..problem.problem import Problem
from ..problem.rounding import RoundingBounds
from .automatic import choose
from .fitted import FittedEstimator
from .held_out_shares import FEWEST_FOR_SHARES, held_out_covariances, warn_of_inflated
from .merged_examples import MergedExamples, mergeable
from .overflow import why_not_finite
from .validation import check_examples


@dataclass(frozen=True, eq=False)
class Prepared:
    """What a fit has before it solves anything: kernels on the training examples, and an engine.

    Attributes
    ----------
    compiled : the M kernels, normalised.
    examples : the n training examples as the kernels read them.
    shown : the same, or where they are on other machines a sample of them.
    engine, name : the engine of the kernels that vary on the examples, and its name.
    rounding : how many digits the values of these kernels have.
    shares : how much each example counts in means, shape (n,); the sum is 1.
    """

    compiled: CompiledKernels
    examples: Examples
    shown: Examples
    engine: Engine
    name: str
    rounding: RoundingBounds
    shares: np.ndarray

    def suited_norm(self, norm: Norm) -> Norm:
        """Return a norm of M weights as that of the engine's kernels."""
        norm = suited_norm(norm, self.name, self.compiled.n_kernels)
        return norm.among(self.compiled.varying)

    def suited(self, problems: list[Problem], *, shared: bool) -> tuple[list[Problem], Engine]:
        """Return the problems to solve one after the other, and the engine for them.

        Those of outputs that share their weights are one problem.
        """
        problems = [replace(one, norm=self.suited_norm(one.norm)) for one in problems]
        if not shared:
            return problems, self.engine
        return [Problem.sharing(problems)], OutputsEngine(self.engine, len(problems))


@dataclass(eq=False, repr=False)
class MKLEstimator(FittedEstimator):
    """What the estimators share: kernels in, certified solutions out.

    Fields are parameters: the constructor that they make is the one that scikit-learn asks for.
    Where examples are on other machines, the functions below are others.
    """

    kernels: Any = None
    _: KW_ONLY
    solver: Any = "auto"
    interleaved: bool = True
    normalize: str | None = "variance"
    tol: float = 1e-3
    max_iter: int | None = None
    max_time: float | None = None
    working_set: int | str = "auto"
    cache_mb: float = 1024
    n_jobs: int | None = None
    verbose: int = 0
    random_state: int | np.random.RandomState | None = None

    _checked = check_examples
    _resolve = staticmethod(resolve)
    _extrapolates: ClassVar[bool] = True  # whether present views make up for absent ones
    _chooses: ClassVar[bool] = True  # whether default kernels are compared on held-out folds

    def _train(
        self,
        X: Any,
        problems: list[Problem],
        targets: np.ndarray,
        shared: bool = False,
        factors: Sequence[float] = (1.0,),
    ) -> float:
        """Solve one problem per output on n examples, store the model, return the factor of C.

        Parameters
        ----------
        X : n examples.
        problems : the problem of each output.
        targets : a number per example that differs where targets differ, shape (n,).
        shared : whether the outputs share their weights.
        factors : values by which costs may be multiplied. Default kernels and a factor are chosen
            on held-out folds.
        """
        deadline = self._deadline()
        shared = shared and len(problems) > 1
        if self.checkpoint is not None:
            try_out(self.checkpoint, len(targets) * (len(problems) if shared else 1))
        method = find_method(self.solver, problems[0].norm, problems[0].loss, shared=shared)
        # Parameters that depend on the data depend on all of it.
        kernels = None if self.kernels is None else self._resolve(self.kernels, X)
        merged = None
        if mergeable(kernels or [], X):
            merged = MergedExamples.of(X, targets, problems[0].C)
        if merged:
            X, problems = X[merged.chosen], [merged.merge(problem) for problem in problems]
        costs, norms = problems[0].C, [problem.norm for problem in problems]
        factor = 1.0
        if kernels is None:
            chosen, factor = self._defaults(X, problems, factors, shared=shared)
            each = problems = [one.scaled(factor) for one in problems]
            self._default = chosen
        else:
            chosen = kernels
        with single_threaded_blas(), self._live_line(X) as watch:
            prepared = self._prepare(
                chosen, X, costs, [method], norms, shared=shared, fits=len(problems)
            )
            problems, engine = prepared.suited(problems, shared=shared)
            kept: list[Checkpoint] = []
            if self.checkpoint is not None:
                data = data_key(kernels, self.normalize, prepared.examples)
                kept = checkpoints(self.checkpoint, problems, data, engine.n_kernels)
            results: list[Result] = []
            for one, file in zip_longest(problems, kept):  # each has as much time
                now, left = time.monotonic(), len(problems) - len(results)
                until = now + (deadline - now) / left
                results.append(
                    self._solve(one, engine, prepared, deadline=until, watch=watch, checkpoint=file)
                )
            if all(file.done for file in kept):
                for file in kept:
                    file.remove()
        self._learn(prepared, results, merged)
        self._cross_fit(prepared, problems, engine, results)
        if kernels is None and self._chooses and not isinstance(problems[0], HardMarginProblem):
            self._measure_held_out(chosen, X, each)
        return factor

    def _cross_fit(
        self, prepared: Prepared, problems: list[Problem], engine: Engine, results: list[Result]
    ) -> None:
        """Learn from decision values of held-out examples, if the parameters ask for it."""

    def _measure_held_out(self, kernels: list[Kernel], X: Any, problems: list[Problem]) -> None:
        """Measure contributions on held-out examples; warn of kernels that memorise."""
        found = held_out_covariances(self, kernels, X, problems, np.atleast_2d(self.weights_))
        if found is None:
            return
        self.held_out_covariances_ = found[0] if len(found) == 1 else found
        if self._model.deviations is not None and len(problems[0].y) >= FEWEST_FOR_SHARES:
            shares = shares_of(self._model.deviations).mean(axis=0)
            warn_of_inflated(self.kernel_names_, shares, held_out_shares(found).mean(axis=0))

    def _defaults(
        self, X: Any, problems: list[Problem], factors: Sequence[float], *, shared: bool
    ) -> tuple[list[Kernel], float]:
        """Return default kernels and a factor of C, chosen on held-out folds; see `automatic`."""
        if not self._chooses or isinstance(problems[0], HardMarginProblem):
            return self._default_kernels(X, problems[0].C), 1.0
        choice = choose(self, X, problems, factors, shared=shared)
        self.candidates_ = choice.tried
        if self.verbose and choice.tried:
            print(f"{type(self).__name__}: {choice}", file=sys.stderr)
        candidates = self._candidates(X, problems[0].C)
        return candidates.get(choice.name, next(iter(candidates.values()))), choice.factor

    def _candidates(self, X: Any, costs: np.ndarray) -> dict[str, list[Kernel]]:
        """Return the alternative sets of default kernels by name, simplest first."""
        return candidates_of_views(X, costs)

    def _live_line(self, X: Any = None) -> AbstractContextManager[Watch | None]:
        """Return a context with what shows progress, if anything does."""
        if not self.verbose:
            return nullcontext()
        clock = TimeLeft(self.tol)
        return live_line(type(self).__name__, lambda progress: f", {clock.after(progress)}")

    def _deadline(self) -> float:
        """Return when a fit that begins now has to end, in the time of `time.monotonic`."""
        return np.inf if self.max_time is None else time.monotonic() + self.max_time

    def _default_kernels(self, X: Any, costs: np.ndarray) -> list[Kernel]:
        """Return the simplest set of default kernels."""
        return default_of_views(X, costs)

    def _prepare(
        self,
        kernels: list[Kernel],
        X: Any,
        costs: np.ndarray,
        methods: Sequence[Method],
        norms: Sequence[Norm],
        *,
        shared: bool,
        fits: int,
    ) -> Prepared:
        """Normalise kernels, and give them an engine for all methods and norms to be asked for.

        `costs`: shape (n,); examples count as much as they cost.
        `shared`: whether outputs share their weights, each with an alpha of its own.
        `fits`: how many machines will be trained on it.
        """
        n_jobs = thread_count(self.n_jobs)
        compiled, examples = prepare(
            kernels,
            self.normalize,
            X,
            weights=costs,
            n_jobs=n_jobs,
            extrapolate=self._extrapolates,
        )
        training_set = TrainingSet(compiled.listing, examples, self.cache_mb, n_jobs)
        if len(compiled.varying) < compiled.n_kernels:
            training_set = training_set.part(compiled.varying)
        name = choose_engine(training_set, methods, norms, shared=shared, fits=fits)
        engine = ENGINES[name](training_set)
        rounding = RoundingBounds(training_set.kernels, training_set.examples, engine.precision)
        return Prepared(compiled, examples, examples, engine, name, rounding, costs / costs.sum())

    def _solve(
        self,
        problem: Problem,
        engine: Engine,
        prepared: Prepared,
        weights: np.ndarray | None = None,
        *,
        deadline: float,
        watch: Watch | None = None,
        checkpoint: Checkpoint | None = None,
        confirm: bool = True,
    ) -> Result:
        """Solve a problem as the parameters say, until a time.

        It starts afresh, from the engine's alpha and given weights, shape (M,), or from what a
        checkpoint says. `confirm`: whether the result is to be kept.
        """
        shared = problem.n_outputs > 1
        method = find_method(self.solver, problem.norm, problem.loss, shared=shared)
        options = Options(self.interleaved, self.working_set, final=confirm)
        plan = make_plan(method, problem, engine, prepared.name, options)
        if self.verbose >= 2 and plan != getattr(self, "plan_", None):
            print(f"{type(self).__name__}: {plan}", file=sys.stderr)
        self.plan_ = plan
        limited = self.max_iter is not None or deadline < np.inf
        run = Run.start(
            self.tol,
            self.max_iter,
            deadline,
            watch=watch,
            observe=checkpoint.keep if checkpoint else None,
            work=engine.work,
            best=BestModel(self.tol) if confirm and limited else None,
        )
        engine.work.clear()
        if checkpoint and (kept := checkpoint.load()):
            alpha, weights = kept
            engine.move_to(alpha)
        try:
            with np.errstate(over="ignore", invalid="ignore"):  # checked in the objective
                if confirm:
                    result = solve_confirmed(problem, engine, plan, run, prepared.rounding, weights)
                else:
                    result = solve(problem, engine, plan, run, weights)
        except FloatingPointError as error:
            raise ValueError(why_not_finite(prepared.compiled, prepared.shown, problem)) from error
        except KeyboardInterrupt:
            if checkpoint:
                checkpoint.keep_last()
            raise
        if self.verbose >= 2 and engine.work.pairs:
            print(f"{type(self).__name__}: {engine.work}", file=sys.stderr)
        if checkpoint:
            checkpoint.end(result, done=result.converged or not run.budget.spent)
        if run.best and run.budget.spent and not result.converged:
            result = run.best.instead_of(result)  # another fit goes on from the last one
        return result.moved(problem.centre)

    def _learn(
        self, prepared: Prepared, results: list[Result], merged: MergedExamples | None = None
    ) -> None:
        """Keep what the results say of all examples, or of the merged ones."""
        compiled, examples = prepared.compiled, prepared.examples
        if not all(result.converged and result.weights.any() for result in results):
            names = [compiled.names[m] for m in compiled.varying]
            warn_of(self, results, names, prepared.rounding)
        results = [one.spread(compiled.varying, compiled.n_kernels) for one in results]
        shares, n_jobs = prepared.shares, thread_count(self.n_jobs)
        with single_threaded_blas():
            self._model = Model.of(
                compiled, examples, results, shares, n_jobs, prepared.engine, merged
            )
        self._store(results)

    def _store(self, results: list[Result]) -> None:
        """Set the certificate and the history; other attributes are derived from the model."""
        single = len(results) == 1
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
        constant = len(self._model.compiled.varying) < self._model.compiled.n_kernels
        norm = getattr(self, "norm_", None) or getattr(self, "norm", None)  # of a search, or given
        if constant and isinstance(norm, Elliptic):
            self.certifies_ += ", with weights of 0 for constant kernels"
        if self.verbose:  # what was reached in the end, whatever the last turn had
            gap, count = float(gaps.max()), self.n_iter_
            print(f"{type(self).__name__}: {count} turns, duality gap {gap:.2e}", file=sys.stderr)

    def _forget(self) -> None:
        """Drop what an earlier fit has learned: an interrupted fit must leave nothing behind."""
        learned = ("_model", "_default")
        for name in [name for name in vars(self) if name.endswith("_") or name in learned]:
            delattr(self, name)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.allow_nan = self.kernels is None
        tags.input_tags.pairwise = all_pairwise(self.kernels)
        return tags
