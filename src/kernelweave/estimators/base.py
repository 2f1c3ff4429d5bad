"""The base class of all estimators: it prepares kernels, solves, and stores the model."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import KW_ONLY, dataclass
from typing import Any, ClassVar

import numpy as np

from ..common.core import single_threaded_blas
from ..common.numbers import thread_count
from ..common.types import Data
from ..engines import TrainingSet
from ..kernels import CompiledKernels, Kernel
from ..kernels.compile.examples import Examples
from ..kernels.compile.normalize import all_pairwise, prepare, resolve
from ..kernels.default_of_views import candidates_of_views, default_of_views
from ..model.model import Model
from ..model.weights import held_out_shares, shares_of
from ..norms import Elliptic
from ..optimization.engine_choice import ENGINES, Workload, choose_engine
from ..optimization.log import Watch
from ..optimization.progress import live_line
from ..optimization.result import Result
from ..optimization.time_left import TimeLeft
from ..problem.problem import Problem
from ..problem.rounding import RoundingBounds
from .automatic import choose
from .convergence import warn_of
from .cross_fit import Solved, folds, grouped_folds
from .fit import Fit
from .fitted import FittedEstimator
from .formulation import Formulation, Solution, distinct
from .held_out_shares import FEWEST_FOR_SHARES, held_out_covariances, warn_of_inflated
from .merged_examples import MergedExamples
from .parameters import check_parameters
from .prepared import Prepared
from .validation import check_examples


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
    _extrapolates: ClassVar[bool] = True  # scale up present views if others are absent
    _local: ClassVar[bool] = True  # whether examples are in this process
    _chooses: ClassVar[bool] = True  # whether default kernels are compared on held-out folds

    def _begin(self, X: Data) -> Data:
        """Begin a fit: delete the old model, check parameters, and return validated examples."""
        self._forget()
        check_parameters(self)
        return self._checked(X, reset=True)

    def _train(self, X: Data, formulation: Formulation, factors: Sequence[float] = (1.0,)) -> float:
        """Solve the problems of a formulation, store the model, and return the factor of C.

        Parameters
        ----------
        X : n examples
        formulation : Formulation
            The problems, and how they are solved.
        factors : sequence of floats
            Factors of the costs. With default kernels, one of them is chosen on held-out folds
            together with the kernels.

        Returns
        -------
        float
        """
        deadline = self._deadline()
        formulation.try_out(self.checkpoint)
        method = formulation.method(self.solver)
        # Before equal examples are merged: parameters such as gamma depend on all examples.
        kernels = None if self.kernels is None else self._resolve(self.kernels, X)
        X, formulation, merged = distinct(kernels, X, formulation)
        if merged is not None and (given := getattr(self, "calibration_folds_", None)) is not None:
            self.calibration_folds_ = given[merged.chosen]
        chosen, factor = kernels, 1.0
        if chosen is None:
            chosen, factor = self._defaults(X, formulation, factors)
            self._default, formulation = chosen, formulation.scaled(factor)
        with single_threaded_blas(), self._live_line(X) as watch:
            workload = formulation.workload(method)
            prepared = self._prepare(chosen, X, formulation.costs, workload)
            fit = Fit(self, prepared, kernels, deadline, watch)
            solution = formulation.solve(fit)
        self._learn(prepared, solution, merged)
        self._after_fit(formulation.solved(fit, solution))
        if kernels is None and self._chooses and formulation.explained:
            self._measure_held_out(chosen, X, formulation.outputs)
        return factor

    def _after_fit(self, solved: Solved) -> None:
        """Set attributes that need the engine of the fit, such as calibrators."""

    def _set_calibration_folds(self, groups: object, strata: np.ndarray | None, n: int) -> None:
        """Set the folds of calibration before training, so that each group is in one fold.

        `strata` are labels that the folds share evenly, shape (n,), or None.
        """
        how = getattr(self, "calibrate", None)
        if groups is None or how is None:
            return
        if how == "jackknife+":
            raise ValueError(
                "groups must be None with calibrate='jackknife+', which leaves out single "
                "examples; use calibrate='residuals'"
            )
        self.calibration_folds_ = grouped_folds(groups, strata, n)

    def _calibration_tests(self, n: int, strata: np.ndarray | None) -> list[np.ndarray]:
        """Return the positions of the held-out examples of each fold of calibration."""
        number = getattr(self, "calibration_folds_", None)
        if number is None:
            return folds(n, strata)
        return [np.flatnonzero(number == fold) for fold in np.unique(number)]

    def _measure_held_out(
        self, kernels: list[Kernel], X: Data, problems: Sequence[Problem]
    ) -> None:
        """Set `held_out_covariances_`; warn of kernels that overfit (small held-out share)."""
        found = held_out_covariances(self, kernels, X, problems, np.atleast_2d(self.weights_))
        if found is None:
            return
        self.held_out_covariances_ = found[0] if len(found) == 1 else found
        if self._model.deviations is not None and len(problems[0].y) >= FEWEST_FOR_SHARES:
            shares = shares_of(self._model.deviations).mean(axis=0)
            warn_of_inflated(self.kernel_names_, shares, held_out_shares(found).mean(axis=0))

    def _defaults(
        self, X: Data, formulation: Formulation, factors: Sequence[float]
    ) -> tuple[list[Kernel], float]:
        """Return default kernels and a factor of C, chosen on held-out folds; see `automatic`."""
        problems = formulation.outputs
        if not self._chooses or formulation.is_hard_margin:
            return self._default_kernels(X, formulation.costs), 1.0
        choice = choose(self, X, problems, factors, shared=formulation.shared)
        self.candidates_ = choice.tried
        candidates = self._candidates(X, formulation.costs)
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

    def _shared_deadline(self, fits: int) -> Callable[[], float]:
        """Return a function that is called at the start of each of several fits for its deadline.

        Together the fits take at most `max_time`. Each gets an equal share of the remaining time.
        """
        end, left = self._deadline(), iter(range(fits, 0, -1))

        def deadline() -> float:
            now = time.monotonic()
            return now + (end - now) / next(left, 1)

        return deadline

    def _default_kernels(self, X: Any, costs: np.ndarray) -> list[Kernel]:
        """Return the simplest set of default kernels."""
        return default_of_views(X, costs)

    def _prepare(
        self,
        kernels: list[Kernel],
        X: Any,  # `kernelweave.dask` has its own
        costs: np.ndarray,
        workload: Workload,
    ) -> Prepared:
        """Normalise the kernels, and create an engine for a workload.

        Parameters
        ----------
        kernels : list of Kernel
        X : n examples
        costs : ndarray of shape (n,)
            Weights of the examples in the statistics of the normalisation.
        workload : Workload
            The fits for which the engine is chosen.

        Returns
        -------
        Prepared
        """
        return self._with_engine(*self._normalized(kernels, X, costs), costs, workload)

    def _normalized(
        self, kernels: list[Kernel], X: Data, costs: np.ndarray
    ) -> tuple[CompiledKernels, Examples]:
        """Return the normalised kernels, and the training examples encoded for them."""
        return prepare(
            kernels,
            self.normalize,
            X,
            weights=costs,
            n_jobs=thread_count(self.n_jobs),
            extrapolate=self._extrapolates,
        )

    def _with_engine(
        self, compiled: CompiledKernels, examples: Examples, costs: np.ndarray, workload: Workload
    ) -> Prepared:
        """Return normalised kernels and their training examples with an engine for a workload."""
        n_jobs = thread_count(self.n_jobs)
        training_set = TrainingSet(compiled.listing, examples, self.cache_mb, n_jobs)
        if len(compiled.varying) < compiled.n_kernels:
            training_set = training_set.part(compiled.varying)
        name = choose_engine(training_set, workload)
        engine = ENGINES[name](training_set)
        rounding = RoundingBounds(training_set.kernels, training_set.examples, engine.precision)
        shares = costs / costs.sum()
        return Prepared(compiled, examples, examples, engine, name, rounding, shares, training_set)

    def _learn(
        self,
        prepared: Prepared,
        solution: Solution,
        merged: MergedExamples | None = None,
    ) -> None:
        """Store a solution as the model; warn if it has not converged or is constant."""
        compiled, examples, results = prepared.compiled, prepared.examples, solution.results
        if not all(result.converged and result.weights.any() for result in results):
            names = [compiled.names[m] for m in compiled.varying]
            warn_of(self, solution.on_all_examples, names, prepared.rounding)
        results = [one.spread(compiled.varying, compiled.n_kernels) for one in results]
        shares, n_jobs = prepared.shares, thread_count(self.n_jobs)
        with single_threaded_blas():
            self._model = Model.of(
                compiled,
                examples,
                results,
                shares,
                n_jobs,
                prepared.engine,
                merged,
                solution.alpha,
            )
        self._store(results)

    def _store(self, results: list[Result]) -> None:
        """Set objective values, duality gaps and histories; the rest is derived from the model."""
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
        plan = results[-1].plan
        assert plan is not None  # `solve` follows a plan
        self.plan_, self.certifies_ = plan, plan.certifies
        constant = len(self._model.compiled.varying) < self._model.compiled.n_kernels
        if constant and isinstance(self._used_norm, Elliptic):
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
