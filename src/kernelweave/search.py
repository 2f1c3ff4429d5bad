"""A search over norms and costs: a grid scored on folds, all on one engine.

All folds share one engine and its cache: a fold trains with cost 0 for the examples that it holds
out, so their alphas are 0, and the engine's outputs are their decision values for free. Within a
fold every solution starts from that of a neighbour in the grid (`solvers.path`).
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.base import is_classifier
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import check_scoring
from sklearn.model_selection import check_cv

from .core import single_threaded_blas
from .engines import Engine
from .kernels import resolve
from .machine import Machine, sharing
from .norms import Norm, as_norm
from .norms.kinds import exponent
from .overflow import explained
from .problem import Problem, Result
from .progress import live_line, progress_bar
from .solvers.path import follow
from .solvers.registry import solver_for
from .solvers.start import first_task
from .solvers.task import Task
from .validation import weighed

Split = tuple[np.ndarray, np.ndarray]


@dataclass(frozen=True, eq=False)
class Grid:
    """The norms and costs of a search, in the user's order."""

    norms: list[Norm]
    Cs: np.ndarray

    @classmethod
    def of(cls, norms: Iterable[float | Norm], Cs: Iterable[float]) -> Grid:
        """Make the grid of what a user gave."""
        return cls([as_norm(norm) for norm in norms], np.array(list(Cs), dtype=float))

    @property
    def shape(self) -> tuple[int, int]:
        """Number of norms, number of costs."""
        return len(self.norms), len(self.Cs)

    def best(self, scores: np.ndarray) -> tuple[int, int]:
        """Return where the scores, of the grid's shape, are highest.

        Of equal ones it is that of the smallest C, and then of the largest p: the simplest model.
        """
        scores = np.where(np.isnan(scores), -np.inf, scores)
        sparsity = [-np.nan_to_num(exponent(norm), posinf=np.inf) for norm in self.norms]
        ties = np.argwhere(scores == scores.max())
        i, j = min(ties, key=lambda at: (self.Cs[at[1]], sparsity[at[0]]))
        return int(i), int(j)


class Search(Machine):
    """What both searches do: score a grid on folds, and fit at its best point."""

    def _search(
        self,
        X: Any,
        y: np.ndarray,
        targets: np.ndarray,
        groups: Any,
        weights: np.ndarray | None,
        costs: Callable[[np.ndarray], np.ndarray],
        held_out: Callable[[np.ndarray], Any],
    ) -> None:
        """Select a model and store it.

        Parameters
        ----------
        y : what scorers compare with, shape (n,).
        targets : what machines learn, shape (n,).
        groups : what splitters may ask for, shape (n,) or None.
        weights : what scorers weigh examples with, shape (n,) or None.
        costs : gives the costs of all n examples at C = 1 when only some train.
        held_out : makes the estimator of decision values, shape (held out, outputs).
        """
        grid, splits = Grid.of(self.norms, self.Cs), self._splits(X, y, groups)
        every = costs(np.arange(len(y)))
        first = self._machines(targets, weighed(grid.Cs.max(), every), grid.norms[0])
        solvers, shared = self._solvers(grid, first), self._shared(first)
        scorer = self._scorer()
        kernels = None if self.kernels is None else resolve(self.kernels, X)

        def score(values: np.ndarray, test: np.ndarray) -> float:
            weighing = {} if weights is None else {"sample_weight": weights[test]}
            return scorer(held_out(values), np.arange(len(test))[:, None], y[test], **weighing)

        def machines(train: np.ndarray) -> list[Problem]:
            return self._machines(targets, costs(train), grid.norms[0])

        with single_threaded_blas():
            compiled, examples, engine = self._prepare(
                kernels, X, every, solvers, grid.norms, shared=shared
            )
            with explained(compiled, examples, first):
                self.scores_ = self._score(grid, engine, splits, machines, score)
                best = grid.best(self.scores_.mean(axis=2))
                self.best_score_ = float(self.scores_[best].mean())
                self.norm_, self.C_ = list(self.norms)[best[0]], float(grid.Cs[best[1]])
                problems = self._machines(targets, self.C_ * every, grid.norms[best[0]])
                results = self._solve_all(*self._arranged(problems, engine))
        self._learn(compiled, examples, results)

    def _solve_all(self, problems: list[Problem], engine: Engine) -> list[Result]:
        """Solve problems in turn."""
        with live_line(type(self).__name__, self.verbose) as watch:
            return [
                self._solve(first_task(one, engine, watch=watch), self._deadline())
                for one in problems
            ]

    def _splits(self, X: Any, y: np.ndarray, groups: Any) -> list[Split]:
        """Return the positions of training and held-out examples of each fold."""
        every = np.arange(len(y))
        try:
            splitter = check_cv(self.cv, y, classifier=is_classifier(self))
            splits = [(every[train], every[test]) for train, test in splitter.split(X, y, groups)]
        except (TypeError, ValueError, IndexError) as error:
            raise ValueError(f"cv={self.cv!r} gives no folds: {error}") from error
        if not splits or any(len(part) == 0 for split in splits for part in split):
            raise ValueError(f"cv must give examples to train on and to hold out, got {self.cv!r}")
        return splits

    def _scorer(self) -> Callable:
        if self.scoring is None or isinstance(self.scoring, str) or callable(self.scoring):
            return check_scoring(self, self.scoring)
        raise ValueError(
            "scoring must be None, the name of a scorer of scikit-learn or a callable, "
            f"got {self.scoring!r}"
        )

    def _solvers(self, grid: Grid, machines: list[Problem]) -> list[Any]:
        """Return the solver of each norm; one that cannot serve is refused before all else."""
        shared, loss = self._shared(machines), machines[0].loss
        return [solver_for(self.solver, norm, loss, shared=shared) for norm in grid.norms]

    def _shared(self, machines: list[Problem]) -> bool:
        return len(machines) > 1 and self.share_weights

    def _arranged(self, machines: list[Problem], engine: Engine) -> tuple[list[Problem], Engine]:
        """Return the problems to solve in turn, and the engine for them."""
        return sharing(machines, engine) if self._shared(machines) else (machines, engine)

    def _score(
        self,
        grid: Grid,
        engine: Engine,
        splits: list[Split],
        machines: Callable[[np.ndarray], list[Problem]],
        score: Callable[[np.ndarray, np.ndarray], float],
    ) -> np.ndarray:
        """Return the scores of every point and fold, shape (norms, Cs, folds)."""
        scores, gaps = np.empty((*grid.shape, len(splits))), []
        paths = len(self._arranged(machines(splits[0][0]), engine)[0]) * len(splits)
        title = f"{type(self).__name__}: {len(splits)} folds"
        with progress_bar(title, paths * scores[..., 0].size, self.verbose) as advance:

            def solve(task: Task) -> Result:
                result = self._solve(task, self._deadline())
                gaps.append(result.gap)
                advance()
                return result

            for fold, (train, test) in enumerate(splits):
                problems, place = self._arranged(machines(train), engine)
                along = [held_out_values(one, place, grid, test, solve) for one in problems]
                values = np.concatenate(along, axis=3)
                for at in np.ndindex(grid.shape):
                    scores[(*at, fold)] = score(values[at], test)
        self._warn_of_gaps(np.array(gaps))
        return scores

    def _limits(self) -> list[str]:
        """Return the parameters that bound a fit."""
        return [name for name in ("max_iter", "max_time") if getattr(self, name) is not None]

    def _warn_of_gaps(self, gaps: np.ndarray) -> None:
        if (wide := np.count_nonzero(gaps > self.tol)) > 0:
            warnings.warn(
                f"{type(self).__name__}: {wide} of {len(gaps)} fits of the search stopped above "
                f"tol={self.tol:g}, the worst at a relative duality gap of {gaps.max():.2e}; raise "
                f"{' or '.join([*self._limits(), 'tol'])}",
                ConvergenceWarning,
                stacklevel=5,
            )


def held_out_values(
    problem: Problem, engine: Engine, grid: Grid, test: np.ndarray, solve: Callable
) -> np.ndarray:
    """Return the decision values of held-out examples, shape (norms, Cs, held out, machines)."""
    values = np.empty((*grid.shape, len(test), problem.machines))
    for i, j, result in follow(problem, engine, grid.norms, grid.Cs, solve):
        F = engine.combined(result.weights).reshape(problem.machines, -1)
        values[i, j] = F[:, test].T + result.bias
    return values
