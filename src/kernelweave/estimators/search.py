"""Grid search over norms and values of C by cross-validation, with one engine for all folds.

Within a fold every fit starts from the solution of a neighbour in the grid (`optimization.path`).
Sets of default kernels that extend the first set are tried at the best C of the first set only.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import partial
from typing import Any, ClassVar, TypeVar

import numpy as np
from sklearn.base import is_classifier
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import check_scoring
from sklearn.model_selection import check_cv

from ..common.core import single_threaded_blas
from ..common.types import Data, Numbers
from ..common.warnings import warn
from ..kernels import Kernel
from ..norms import Norm, as_norm
from ..optimization.engine_choice import Workload
from ..optimization.named_methods import find_method
from ..optimization.progress import progress_bar
from ..optimization.result import Result
from ..problem.problem import Problem
from .base import MKLEstimator
from .fit import Fit
from .fold import FoldTrainer
from .formulation import Formulation
from .prepared import Prepared

NORMS = (1.0, 4 / 3, 2.0, 4.0, np.inf)
Split = tuple[np.ndarray, np.ndarray]
Score = Callable[[np.ndarray, np.ndarray], float]  # of decision values and held-out indices


@dataclass(frozen=True, eq=False)
class SearchTask(ABC):
    """Cross-validation over norm and C: examples, targets and the problems of training folds.

    Attributes
    ----------
    X : n examples
    y : ndarray of shape (n,) or (n, n_outputs)
        Targets for the scorer.
    weights : ndarray of shape (n,)
        Sample weights.
    weighted : bool
        Whether the scorer uses the sample weights.
    """

    X: Data
    y: np.ndarray
    weights: np.ndarray
    weighted: bool

    @property
    @abstractmethod
    def Cs(self) -> Iterable[float]:
        """The values of C to try."""

    @property
    def strata(self) -> np.ndarray | None:
        """Classes by which the folds of calibration are stratified, shape (n,), or None."""
        return None

    def costs_of(self, train: np.ndarray) -> np.ndarray:
        """Return the costs of the training examples at C = 1, given their t indices, shape (t,)."""
        return np.asarray(self.weights[train])

    @abstractmethod
    def posed(self, costs: np.ndarray, train: np.ndarray, C: float, norm: Norm) -> Formulation:
        """Return the training problems of all outputs, on all n examples.

        Parameters
        ----------
        costs : ndarray of shape (n,)
            Costs of all examples at C = 1; 0 if held out.
        train : ndarray of shape (t,)
            Indices of the training examples.
        C : float
            Factor of the costs.
        norm : Norm
            Norm of the kernel weights.
        """

    @abstractmethod
    def held_out(self, values: np.ndarray) -> object:
        """Return an estimator for scorers that looks up its decision values instead of predicting.

        Parameters
        ----------
        values : ndarray of shape (n_held_out, n_outputs)
            Decision values. The X that is passed to the estimator contains row numbers of it.
        """

    def formulation(self, train: np.ndarray, C: float, norm: Norm) -> Formulation:
        """Return the training problems as a formulation on all n examples.

        Examples outside `train`, the indices of the training examples, have cost 0.
        """
        costs = np.zeros(len(self.y))
        costs[train] = self.costs_of(train)
        return self.posed(costs, train, C, norm)

    def problems_of(self, train: np.ndarray, C: float, norm: Norm) -> list[Problem]:
        """Return the training problems; outputs that share their kernel weights have a common one.

        `train` has the indices of the training examples.
        """
        formulation = self.formulation(train, C, norm)
        problems = list(formulation.on_all)
        shared = formulation.shared and len(problems) > 1
        return [Problem.sharing(problems)] if shared else problems

    def costs(self, norm: Norm) -> np.ndarray:
        """Return the largest cost of each example at C = 1, shape (n,): its weight in means."""
        # Pairs of classes have costs for their own examples only.
        posed = self.problems_of(np.arange(len(self.y)), 1.0, norm)
        largest = [one.C.reshape(one.n_outputs, -1).max(axis=0) for one in posed]
        return np.asarray(np.max(largest, axis=0))

    def score(self, scorer: Callable[..., float], values: np.ndarray, test: np.ndarray) -> float:
        """Return the score of decision values, shape (t, n_outputs), of held-out examples."""
        weighing = {"sample_weight": self.weights[test]} if self.weighted else {}
        positions = np.arange(len(test))[:, None]
        return scorer(self.held_out(values), positions, self.y[test], **weighing)


@dataclass(frozen=True, eq=False)
class Grid:
    """The norms and values of C of a search, in the order in which they were passed."""

    norms: list[Norm]
    Cs: np.ndarray

    @classmethod
    def of(cls, norms: Iterable[float | Norm], Cs: Iterable[float]) -> Grid:
        """Return the grid of norms, or exponents p, and values of C."""
        return cls([as_norm(norm) for norm in norms], np.array(list(Cs), dtype=float))

    @property
    def shape(self) -> tuple[int, int]:
        """Number of norms, number of values of C."""
        return len(self.norms), len(self.Cs)

    @property
    def points(self) -> list[tuple[int, int]]:
        """Indices (norm, C) of all points, in order."""
        return list(np.ndindex(self.shape))

    def best(self, scores: np.ndarray) -> tuple[int, int]:
        """Return the indices of the highest of the scores, which have the shape of the grid.

        Ties are resolved by the smallest C, then by the largest p: the simplest model.
        """
        scores = np.where(np.isnan(scores), -np.inf, scores)
        ties = np.argwhere(scores == scores.max())
        i, j = min(ties, key=lambda at: (self.Cs[at[1]], self._sparsity[at[0]]))
        return int(i), int(j)

    def chosen(self, scores: np.ndarray, rule: str) -> tuple[int, int]:
        """Return the indices of the point that a rule chooses.

        Parameters
        ----------
        scores : ndarray of shape (n_norms, n_Cs, n_folds)
        rule : {"best", "one-standard-error"}
            The point with the highest mean score; or the largest p with a mean score within one
            standard error of that, at its best C.

        Returns
        -------
        tuple of two ints
        """
        means, best = scores.mean(axis=2), self.best(scores.mean(axis=2))
        if rule == "best" or scores.shape[2] == 1:
            return best
        error = scores[best].std(ddof=1) / np.sqrt(scores.shape[2])
        close = np.flatnonzero((means >= means[best] - error).any(axis=1))
        simplest = min(close, key=lambda i: self._sparsity[i])
        return self.best(np.where(np.arange(len(means))[:, None] == simplest, means, -np.inf))

    @property
    def _sparsity(self) -> list[float]:
        """Sort key of each norm: -p, and the largest value for norms without p."""
        return [-np.nan_to_num(norm.exponent, posinf=np.inf) for norm in self.norms]


@dataclass(frozen=True, eq=False)
class Trial:
    """A set of kernels, and its scores on the grid.

    Attributes
    ----------
    kernels : list of Kernel
    prepared : Prepared
        The normalised kernels, the examples and their engine.
    scores : ndarray of shape (n_norms, n_Cs, n_folds)
        NaN where a C was not tried.
    at : tuple of two ints
        The chosen point: indices of its norm and C.
    """

    kernels: list[Kernel]
    prepared: Prepared
    scores: np.ndarray
    at: tuple[int, int]

    @property
    def best(self) -> np.ndarray:
        """Scores of the chosen point, shape (n_folds,)."""
        return np.asarray(self.scores[self.at])

    @property
    def mean(self) -> float:
        """Mean score of the chosen point."""
        return float(self.best.mean())


Searching = TypeVar("Searching", bound="Search")


@dataclass(eq=False, repr=False, kw_only=True)
class Search(MKLEstimator):
    """Methods shared by all searches: score a grid on folds, and fit at the best point."""

    norms: Iterable[float | Norm] = NORMS
    cv: Any = None
    scoring: str | Callable[..., float] | None = None
    rule: str = "best"

    checkpoint: ClassVar[None] = None  # searches have none

    def fit(
        self: Searching,
        X: Data,
        y: object,
        sample_weight: object = None,
        *,
        groups: object = None,
    ) -> Searching:
        """Choose norm and C by cross-validation, and fit the model to all examples.

        Parameters
        ----------
        X : array, table, views or sequences with n examples
        y : array-like of shape (n,) or (n, n_outputs)
            Targets, as for the estimator without a search: one label per example for a
            classifier, event and time for survival analysis.
        sample_weight : array-like of shape (n,), optional
            Factors of C, and weights in scoring.
        groups : array-like of shape (n,), optional
            Group of each example. It is passed to the splitter ``cv``, and the folds of
            ``calibrate`` keep groups together.

        Returns
        -------
        estimator
            The fitted estimator itself.

        Raises
        ------
        ValueError
            If a parameter or the data are invalid, or a training fold has only one class, or no
            event.
        """
        X = self._begin(X)
        task = self._task(X, y, sample_weight)
        self._set_calibration_folds(groups, task.strata, len(task.y))
        self._search(task, self._splits(X, task.y, groups))
        self._after_search(task)
        return self

    @abstractmethod
    def _task(self, X: Data, y: object, sample_weight: object) -> SearchTask:
        """Validate examples, targets and weights, and return them as a task."""

    def _after_search(self, task: SearchTask) -> None:
        """Set attributes that depend on the chosen norm and C."""

    def _search(self, task: SearchTask, splits: list[Split]) -> None:
        """Choose norm and C, and store the final model."""
        grid = Grid.of(self.norms, task.Cs)
        score = partial(task.score, self._scorer())
        with single_threaded_blas():
            trial = self._best_trial(task, grid, splits, score)
            self._default, self.scores_, self.best_score_ = trial.kernels, trial.scores, trial.mean
            norm, C = trial.at
            chosen = float(grid.Cs[C])
            self.norm_ = list(self.norms)[norm]
            self.C_: Numbers = chosen
            formulation = task.formulation(np.arange(len(task.y)), chosen, grid.norms[norm])
            with self._live_line() as watch:
                fit = Fit(self, trial.prepared, deadline=self._deadline(), watch=watch)
                solution = formulation.solve(fit)
        self._learn(trial.prepared, solution)
        self._after_fit(formulation.solved(fit, solution))

    def _best_trial(self, task: SearchTask, grid: Grid, splits: list[Split], score: Score) -> Trial:
        """Return the best set of kernels with its scores; set ``candidates_``."""
        kernels = None if self.kernels is None else self._resolve(self.kernels, task.X)
        costs, workload = task.costs(grid.norms[0]), self._workload(task, grid, len(splits))
        candidates = {"given": kernels} if kernels else self._alternatives(task.X, costs)
        simplest, tried = set(next(iter(candidates.values()))), np.arange(len(grid.Cs))
        self.candidates_, best = [], None
        for name, chosen in candidates.items():
            if self.candidates_ and simplest <= set(chosen):
                tried = np.flatnonzero(grid.Cs == self.candidates_[0]["C"])
            prepared = self._prepare(chosen, task.X, costs, workload)
            scores = np.full((*grid.shape, len(splits)), np.nan)
            part = Grid(grid.norms, grid.Cs[tried])
            scores[:, tried] = self._score(part, prepared, splits, task.problems_of, score)
            trial = Trial(chosen, prepared, scores, grid.chosen(scores, self.rule))
            C = float(grid.Cs[trial.at[1]])
            self.candidates_.append({"kernels": name, "C": C, "score": trial.mean})
            if best is None or better(trial.best, best.best):
                best = trial
        assert best is not None  # there is at least one candidate
        return best

    def _workload(self, task: SearchTask, grid: Grid, folds: int) -> Workload:
        """Return the workload of the engine: a fit for every point of the grid on every fold."""
        first = task.problems_of(np.arange(len(task.y)), grid.Cs.max(), grid.norms[0])
        loss, shared = first[0].loss, first[0].n_outputs > 1
        methods = [find_method(self.solver, one, loss, shared=shared) for one in grid.norms]
        return Workload(methods, grid.norms, shared, len(first) * folds * grid.Cs.size)

    def _alternatives(self, X: Data, costs: np.ndarray) -> dict[str, list[Kernel]]:
        """Return the sets of default kernels to compare, by name."""
        if self._chooses:
            return self._candidates(X, costs)
        return {"default": self._default_kernels(X, costs)}

    def _splits(self, X: Data, y: np.ndarray, groups: object) -> list[Split]:
        """Return the indices of training and held-out examples of each fold."""
        every = np.arange(len(y))
        try:
            splitter = check_cv(self.cv, y, classifier=is_classifier(self))
            splits = [(every[train], every[test]) for train, test in splitter.split(X, y, groups)]
        except (TypeError, ValueError, IndexError) as error:
            raise ValueError(f"cv={self.cv!r} cannot split the data: {error}") from error
        if not splits or any(len(part) == 0 for split in splits for part in split):
            raise ValueError(f"cv must yield non-empty training and test folds, got {self.cv!r}")
        return splits

    def _scorer(self) -> Callable[..., float]:
        if self.scoring is None or isinstance(self.scoring, str) or callable(self.scoring):
            scorer: Callable[..., float] = check_scoring(self, self.scoring)
            self._check_responses(scorer)
            return scorer
        raise ValueError(
            "scoring must be None, the name of a scikit-learn scorer or a callable, "
            f"got {self.scoring!r}"
        )

    def _check_responses(self, scorer: object) -> None:
        """Raise ValueError if a scikit-learn scorer needs methods that this loss does not have."""
        needed = getattr(scorer, "_response_method", "predict")
        names = (needed,) if isinstance(needed, str) else needed
        if not any(hasattr(self, name) for name in names):
            advice = "pass another scoring"
            if is_classifier(self):
                advice = (
                    "pass loss='logistic', which provides probabilities, or a scoring of labels "
                    "or decision values, such as 'accuracy' or 'roc_auc'"
                )
            raise ValueError(
                f"scoring={self.scoring!r} requires {' or '.join(names)}, which "
                f"{type(self).__name__}(loss={self.loss!r}) does not have; {advice}"
            )

    def _score(
        self,
        grid: Grid,
        prepared: Prepared,
        splits: list[Split],
        problems_of: Callable[[np.ndarray, float, Norm], list[Problem]],
        score: Score,
    ) -> np.ndarray:
        """Return the score of every norm, C and fold, shape (n_norms, n_Cs, n_folds)."""
        scores = np.empty((*grid.shape, len(splits)))
        gaps: list[float] = []
        first = problems_of(splits[0][0], 1.0, grid.norms[0])
        paths = len(first) * len(splits)
        title = f"{type(self).__name__}: {len(splits)} folds"
        with progress_bar(title, paths * scores[..., 0].size, self.verbose) as advance:

            def notify(result: Result) -> None:
                gaps.append(result.gap)
                advance()

            trainer = FoldTrainer(self, prepared, self._deadline, notify)
            for fold, (train, test) in enumerate(splits):
                problems = problems_of(train, 1.0, grid.norms[0])
                values = trainer.along_grid(problems, test, grid.norms, grid.Cs)
                for at in grid.points:
                    scores[(*at, fold)] = score(values[at].T, test)
        self._warn_of_gaps(np.array(gaps))
        return scores

    def _limits(self) -> list[str]:
        """Return the names of the limits that are set: max_iter, max_time."""
        return [name for name in ("max_iter", "max_time") if getattr(self, name) is not None]

    def _warn_of_gaps(self, gaps: np.ndarray) -> None:
        if (wide := np.count_nonzero(gaps > self.tol)) > 0:
            warn(
                f"{type(self).__name__}: {wide} of {len(gaps)} fits of the search stopped above "
                f"tol={self.tol:g}, the worst at a relative duality gap of {gaps.max():.2e}; raise "
                f"{' or '.join([*self._limits(), 'tol'])}",
                ConvergenceWarning,
            )


def better(scores: np.ndarray, others: np.ndarray) -> bool:
    """Return whether scores exceed others by more than one standard error.

    Parameters
    ----------
    scores, others : ndarray of shape (n_folds,)
        Scores on the same folds; those of the more complex kernels first.

    Returns
    -------
    bool
    """
    difference = scores - others
    error = difference.std(ddof=1) / np.sqrt(len(scores)) if len(scores) > 1 else 0.0
    return bool(difference.mean() > error)
