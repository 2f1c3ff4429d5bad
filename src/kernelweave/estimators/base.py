"""The base class of all estimators: it prepares kernels, solves, and stores the model."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import KW_ONLY, dataclass, replace
from functools import partial
from itertools import zip_longest
from typing import Any, ClassVar

import numpy as np
import scipy.sparse as sp

from ..common.core import single_threaded_blas
from ..common.numbers import thread_count
from ..common.types import Data
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
    Plan,
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
from .one_vs_one import OneVsOne
from .overflow import why_not_finite
from .pair_trainer import PairTrainer
from .validation import check_examples


@dataclass(frozen=True, eq=False)
class Prepared:
    """Normalised kernels, training examples and an engine: the input of the solvers.

    Attributes
    ----------
    compiled : CompiledKernels
        The M normalised kernels.
    examples : Examples
        The n training examples in the form that the kernels read.
    sample : Examples
        The same, or a sample of them if they are on other machines.
    engine : Engine
        The engine of the kernels that are not constant on the examples.
    name : str
        The name of the engine.
    rounding : RoundingBounds
        Rounding bounds of the kernels of the engine.
    shares : ndarray of shape (n,)
        Weight of each example in means; the sum is 1.
    training_set : TrainingSet, optional
        The kernels and examples of the engine, if they are in this process.
    """

    compiled: CompiledKernels
    examples: Examples
    sample: Examples
    engine: Engine
    name: str
    rounding: RoundingBounds
    shares: np.ndarray
    training_set: TrainingSet | None = None

    def suited_norm(self, norm: Norm) -> Norm:
        """Return a norm of M weights restricted to the kernels of the engine."""
        norm = suited_norm(norm, self.name, self.compiled.n_kernels)
        return norm.among(self.compiled.varying)

    def suited(self, problems: list[Problem], *, shared: bool) -> tuple[list[Problem], Engine]:
        """Return the problems to solve one after the other, and the engine for them.

        Parameters
        ----------
        problems : list of Problem
            The problem of each output.
        shared : bool
            Whether the outputs share their weights; their problems are then joined to one.

        Returns
        -------
        problems : list of Problem
        engine : Engine
        """
        problems = [replace(one, norm=self.suited_norm(one.norm)) for one in problems]
        if not shared:
            return problems, self.engine
        return [Problem.sharing(problems)], OutputsEngine(self.engine, len(problems))


@dataclass(eq=False, repr=False)
class MKLEstimator(FittedEstimator):
    """The base class of all estimators.

    The fields of the dataclass are the parameters of the estimator, so that the generated
    constructor follows the conventions of scikit-learn. Estimators of `kernelweave.dask` replace
    the functions that access examples.
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
    _resolve: ClassVar[Callable[..., list[Kernel]]] = staticmethod(resolve)
    _extrapolates: ClassVar[bool] = True  # whether present views are upscaled for absent ones
    _local: ClassVar[bool] = True  # whether examples are in this process
    _chooses: ClassVar[bool] = True  # whether default kernels are compared on held-out folds

    def _train(
        self,
        X: Any,
        problems: list[Problem],
        targets: np.ndarray,
        shared: bool = False,
        factors: Sequence[float] = (1.0,),
        pairs: OneVsOne | None = None,
    ) -> float:
        """Solve one problem per output, store the model, and return the chosen factor of C.

        Parameters
        ----------
        X : n examples
        problems : list of Problem
            The problem of each output.
        targets : ndarray of shape (n,)
            A number per example; examples with different targets have different numbers.
        shared : bool
            Whether the outputs share their weights.
        factors : sequence of floats
            Factors of the costs. With default kernels, one of them is chosen on held-out folds
            together with the kernels.
        pairs : OneVsOne, optional
            Problems of pairs of classes, which are solved instead of `problems`.

        Returns
        -------
        float
        """
        deadline = self._deadline()
        shared = shared and (len(problems) > 1 or pairs is not None)
        if self.checkpoint is not None:
            try_out(self.checkpoint, len(targets) * (len(problems) if shared else 1))
        method = find_method(self.solver, problems[0].norm, problems[0].loss, shared=shared)
        # Before equal examples are merged: parameters such as gamma depend on all examples.
        kernels = None if self.kernels is None else self._resolve(self.kernels, X)
        merged = None
        if mergeable(kernels or [], X):
            merged = MergedExamples.of(X, targets, problems[0].C)
        if merged:
            X, problems = X[merged.chosen], [merged.merge(problem) for problem in problems]
            pairs = None if pairs is None else pairs.merged(merged, problems[0].C)
        costs, norms = problems[0].C, [problem.norm for problem in problems]
        chosen, factor = kernels, 1.0
        if chosen is None:
            chosen, factor = self._defaults(X, problems, factors, shared=shared)
            problems = [one.scaled(factor) for one in problems]
            self._default = chosen
            pairs = None if pairs is None else pairs.scaled(factor)
        if pairs is not None:
            self._train_pairs(chosen, X, pairs, costs, method, shared=shared, merged=merged)
            return factor
        with single_threaded_blas(), self._live_line(X) as watch:
            prepared = self._prepare(
                chosen, X, costs, [method], norms, shared=shared, fits=len(problems)
            )
            suited, engine = prepared.suited(problems, shared=shared)
            files: list[Checkpoint] = []
            if self.checkpoint is not None:
                data = data_key(kernels, self.normalize, prepared.examples)
                files = checkpoints(self.checkpoint, suited, data, engine.n_kernels)
            solve_one = partial(self._solve, engine=engine, prepared=prepared, watch=watch)
            results = solve_each(solve_one, suited, files, deadline)
        self._learn(prepared, results, merged)
        self._cross_fit(prepared, suited, engine, results)
        if kernels is None and self._chooses and not isinstance(suited[0], HardMarginProblem):
            self._measure_held_out(chosen, X, problems)
        return factor

    def _train_pairs(
        self,
        kernels: list[Kernel],
        X: Any,
        pairs: OneVsOne,
        costs: np.ndarray,
        method: Method,
        *,
        shared: bool,
        merged: MergedExamples | None,
    ) -> None:
        """Solve the problems of all pairs of classes, and store the model."""
        with single_threaded_blas():
            prepared = self._prepare(
                kernels, X, costs, [method], [pairs.norm], shared=False, fits=1
            )
            pairs = pairs.with_norm(prepared.suited_norm(pairs.norm))
            with self._live_line(X) as watch:
                several = prepared.engine.n_kernels > 1  # otherwise there is nothing to share
                trainer = PairTrainer(self, prepared, pairs, self._deadline(), watch)
                results, alpha = trainer.shared() if shared and several else trainer.each()
                del trainer  # and the kernel rows that it holds
        self._learn(prepared, results, merged, alpha)

    def _shares_weights(self) -> bool:
        """Return whether several outputs share their weights."""
        return bool(getattr(self, "share_weights", False))

    def _cross_fit(
        self, prepared: Prepared, problems: list[Problem], engine: Engine, results: list[Result]
    ) -> None:
        """Fit what needs decision values of the training examples: calibrators, hazards."""

    def _measure_held_out(self, kernels: list[Kernel], X: Data, problems: list[Problem]) -> None:
        """Measure contributions on held-out examples; warn of kernels that memorise."""
        found = held_out_covariances(self, kernels, X, problems, np.atleast_2d(self.weights_))
        if found is None:
            return
        self.held_out_covariances_ = found[0] if len(found) == 1 else found
        if self._model.deviations is not None and len(problems[0].y) >= FEWEST_FOR_SHARES:
            shares = shares_of(self._model.deviations).mean(axis=0)
            warn_of_inflated(self.kernel_names_, shares, held_out_shares(found).mean(axis=0))

    def _defaults(
        self, X: Data, problems: list[Problem], factors: Sequence[float], *, shared: bool
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

    def _candidates(self, X: Data, costs: np.ndarray) -> dict[str, list[Kernel]]:
        """Return the alternative sets of default kernels by name, simplest first."""
        return candidates_of_views(X, costs)

    def _live_line(self, X: Data = None) -> AbstractContextManager[Watch | None]:
        """Return a context with a function that displays progress, or None if not verbose."""
        if not self.verbose:
            return nullcontext()
        clock = TimeLeft(self.tol)
        return live_line(type(self).__name__, lambda progress: f", {clock.after(progress)}")

    def _deadline(self) -> float:
        """Return the deadline of a fit that begins now, on the clock `time.monotonic`."""
        return np.inf if self.max_time is None else time.monotonic() + self.max_time

    def _default_kernels(self, X: Any, costs: np.ndarray) -> list[Kernel]:
        """Return the simplest set of default kernels."""
        return default_of_views(X, costs)

    def _prepare(
        self,
        kernels: list[Kernel],
        X: Any,  # `kernelweave.dask` has its own
        costs: np.ndarray,
        methods: Sequence[Method],
        norms: Sequence[Norm],
        *,
        shared: bool,
        fits: int,
    ) -> Prepared:
        """Normalise the kernels, and create an engine that suits all methods and norms.

        Parameters
        ----------
        kernels : list of Kernel
        X : n examples
        costs : ndarray of shape (n,)
            Weights of the examples in the statistics of the normalisation.
        methods, norms : sequences of Method and Norm
            All that will be used with the engine.
        shared : bool
            Whether several outputs, each with its own alpha, share their weights.
        fits : int
            Number of problems that will be solved with the engine.

        Returns
        -------
        Prepared
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
        shares = costs / costs.sum()
        return Prepared(compiled, examples, examples, engine, name, rounding, shares, training_set)

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
        """Solve a problem with the parameters of the estimator.

        Parameters
        ----------
        problem : Problem
        engine : Engine
        prepared : Prepared
        weights : ndarray of shape (M,), optional
            If given, training starts from these weights and the alpha of the engine (warm start).
        deadline : float
            Time of `time.monotonic` at which to stop.
        watch : callable, optional
            Displays progress.
        checkpoint : Checkpoint, optional
            Training continues from its state, if it has one.
        confirm : bool
            Whether to bound the rounding error of the gap, as for the final model.

        Returns
        -------
        Result
        """
        plan = self._make_plan(problem, engine, prepared.name, final=confirm)
        run = self._start_run(engine, deadline, watch, checkpoint, final=confirm)
        if checkpoint and (state := checkpoint.load()):
            alpha, weights = state
            engine.move_to(alpha)
        try:
            with np.errstate(over="ignore", invalid="ignore"):  # the objective is checked instead
                if confirm:
                    result = solve_confirmed(problem, engine, plan, run, prepared.rounding, weights)
                else:
                    result = solve(problem, engine, plan, run, weights)
        except FloatingPointError as error:
            raise ValueError(why_not_finite(prepared.compiled, prepared.sample, problem)) from error
        except KeyboardInterrupt:
            if checkpoint:
                checkpoint.keep_last()
            raise
        if self.verbose >= 2 and engine.work.pairs:
            print(f"{type(self).__name__}: {engine.work}", file=sys.stderr)
        if checkpoint:
            checkpoint.end(result, done=result.converged or not run.budget.spent)
        if run.best and run.budget.spent and not result.converged:
            result = run.best.instead_of(result)  # the checkpoint has the last model instead
        return result.moved(problem.centre)

    def _make_plan(self, problem: Problem, engine: Engine, name: str, *, final: bool) -> Plan:
        """Return the plan of a fit with an engine of this name; set ``plan_``."""
        shared = problem.n_outputs > 1
        method = find_method(self.solver, problem.norm, problem.loss, shared=shared)
        options = Options(self.interleaved, self.working_set, final=final)
        plan = make_plan(method, problem, engine, name, options)
        if self.verbose >= 2 and plan != getattr(self, "plan_", None):
            print(f"{type(self).__name__}: {plan}", file=sys.stderr)
        self.plan_ = plan
        return plan

    def _start_run(
        self,
        engine: Engine,
        deadline: float,
        watch: Watch | None,
        checkpoint: Checkpoint | None,
        *,
        final: bool,
    ) -> Run:
        """Return a run within the limits of the estimator; it keeps the best final model."""
        engine.work.clear()
        limited = self.max_iter is not None or deadline < np.inf
        return Run.start(
            self.tol,
            self.max_iter,
            deadline,
            watch=watch,
            observe=checkpoint.keep if checkpoint else None,
            work=engine.work,
            best=BestModel(self.tol) if final and limited else None,
        )

    def _learn(
        self,
        prepared: Prepared,
        results: list[Result],
        merged: MergedExamples | None = None,
        alpha: sp.csr_matrix | None = None,
    ) -> None:
        """Store the model; warn if it has not converged or is constant.

        `alpha`, shape (n_outputs, n): that of the results, if these are on some examples only.
        """
        compiled, examples = prepared.compiled, prepared.examples
        if not all(result.converged and result.weights.any() for result in results):
            names = [compiled.names[m] for m in compiled.varying]
            warn_of(self, on_all_examples(results, alpha), names, prepared.rounding)
        results = [one.spread(compiled.varying, compiled.n_kernels) for one in results]
        shares, n_jobs = prepared.shares, thread_count(self.n_jobs)
        with single_threaded_blas():
            self._model = Model.of(
                compiled, examples, results, shares, n_jobs, prepared.engine, merged, alpha
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
        norm = getattr(self, "norm_", None) or getattr(
            self, "norm", None
        )  # chosen by a search, or given
        if constant and isinstance(norm, Elliptic):
            self.certifies_ += ", with weights of 0 for constant kernels"
        if self.verbose:  # the final gap, which may differ from that of the last iteration
            gap, count = float(gaps.max()), self.n_iter_
            done = f"{count} iterations, duality gap {gap:.2e}"
            print(f"{type(self).__name__}: {done}", file=sys.stderr)

    def _forget(self) -> None:
        """Delete the fitted attributes, so that an interrupted fit leaves no old model."""
        learned = ("_model", "_default")
        for name in [name for name in vars(self) if name.endswith("_") or name in learned]:
            delattr(self, name)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.allow_nan = self.kernels is None
        tags.input_tags.pairwise = all_pairwise(self.kernels)
        return tags


def solve_each(
    solve_one: Callable[..., Result],
    problems: list[Problem],
    files: list[Checkpoint],
    deadline: float,
) -> list[Result]:
    """Solve problems one after the other, and remove their checkpoints if all are solved.

    Parameters
    ----------
    solve_one : callable
        Solves a problem; takes ``deadline=`` and ``checkpoint=``.
    problems : list of Problem
    files : list of Checkpoint
        One for each problem, or none.
    deadline : float
        Time of `time.monotonic` at which to stop; the remaining time is divided equally.

    Returns
    -------
    list of Result
    """
    results: list[Result] = []
    for one, file in zip_longest(problems, files):
        now, left = time.monotonic(), len(problems) - len(results)
        until = now + (deadline - now) / left
        results.append(solve_one(one, deadline=until, checkpoint=file))
    if all(file.done for file in files):
        for file in files:
            file.remove()
    return results


def on_all_examples(results: list[Result], alpha: sp.csr_matrix | None) -> list[Result]:
    """Return results with the rows of alpha, shape (n_outputs, n), that belong to them."""
    if alpha is None:
        return results
    each = alpha.shape[0] // len(results)
    return [
        replace(one, alpha=alpha[k * each : (k + 1) * each].toarray().ravel())
        for k, one in enumerate(results)
    ]
