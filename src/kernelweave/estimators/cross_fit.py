"""Cross-fitted decision values: each comes from a model that was trained without its example.

All folds are trained on the engine of the fit. An example that is held out has cost 0, so that its
dual variable is 0 and the engine's output is its decision value. Each fold starts from the solution
on all examples.
"""

from __future__ import annotations

from collections.abc import Sequence
from copy import copy
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from ..common.core import single_threaded_blas
from ..engines import Engine
from ..engines.snapshot import Snapshot
from ..kernels.compile.examples import Examples
from ..losses.class_risk import ClassRisk
from ..optimization.path import at_cost
from ..problem.hard_margin import HardMarginProblem
from ..problem.problem import Problem
from .calibration import OutputLabels
from .fold import Fold, FoldTrainer, without
from .prepared import Prepared

if TYPE_CHECKING:
    from ..optimization.result import Result
    from .base import MKLEstimator

FOLDS = 5
FOLD_TOL = 30.0  # tolerance of the folds, as a multiple of that of the fit


@dataclass(frozen=True, eq=False)
class Optimum:
    """Dual variables, shape (n_outputs n,), and kernel weights, shape (M,), of a problem."""

    alpha: np.ndarray
    weights: np.ndarray

    @classmethod
    def of(cls, result: Result) -> Optimum:
        """Return the optimum that a solver has found."""
        return cls(result.alpha, result.weights)


@dataclass(frozen=True, eq=False)
class Solved:
    """The problems of a fit with their optima.

    Attributes
    ----------
    prepared : Prepared
        Kernels and engine of the fit.
    problems : list of Problem
        One per output, or a single one of all outputs that share their weights.
    engine : Engine
        The engine on which the problems were solved.
    optima : sequence of Optimum
        One for each problem.
    """

    prepared: Prepared
    problems: Sequence[Problem]
    engine: Engine
    optima: Sequence[Optimum]

    @property
    def is_hard_margin(self) -> bool:
        return any(isinstance(one, HardMarginProblem) for one in self.problems)

    @property
    def labels(self) -> OutputLabels:
        """The labels of the outputs, for calibration of a classifier."""
        return OutputLabels.of(self.problems)

    def held_out_values(self, estimator: MKLEstimator, tests: list[np.ndarray]) -> np.ndarray:
        """Return decision values of models trained without the fold of each example.

        Parameters
        ----------
        estimator : MKLEstimator
            Gives the solver, the tolerance and the other parameters of the fits.
        tests : list of ndarrays
            Positions of the held-out examples of each fold.

        Returns
        -------
        ndarray of shape (outputs, n)
        """
        return cross_fitted(estimator, self, tests)


def cross_fitted(estimator: MKLEstimator, solved: Solved, tests: list[np.ndarray]) -> np.ndarray:
    """Return decision values of models trained without the fold of each example.

    Parameters
    ----------
    estimator : gives the solver, the tolerance and the other parameters of the fits.
    solved : the problems of the fit, and their solutions.
    tests : positions of the held-out examples of each fold.

    Returns
    -------
    Array of shape (outputs, n).
    """
    prepared, problems, engine = solved.prepared, solved.problems, solved.engine
    if not isinstance(prepared.examples, Examples):
        raise ValueError(
            "calibrate must be None for examples on other machines; calibrate the model on a sample"
        )
    n = prepared.examples.n
    loose = copy(estimator)
    loose.tol = FOLD_TOL * estimator.tol
    loose.verbose = 0
    deadline = estimator._shared_deadline(len(problems) * len(tests))
    trainer = FoldTrainer(loose, prepared, deadline)
    values = [np.empty((one.n_outputs, n)) for one in problems]
    with single_threaded_blas():
        for problem, optimum, found in zip(problems, solved.optima, values, strict=True):
            engine.move_to(optimum.alpha)
            engine.combined(optimum.weights)
            snapshot = engine.snapshot()
            for test in tests:
                here = without(problem, test)
                fitted = trainer.solve(
                    engine, here, _start(here, engine, snapshot, optimum.weights)
                )
                found[:, test] = Fold(engine, test).values(here, fitted)
    return np.concatenate(values)


def grouped_folds(groups: object, strata: np.ndarray | None, n: int) -> np.ndarray:
    """Return the number of the fold that holds out each example, shape (n,); groups stay whole.

    Parameters
    ----------
    groups : array-like of shape (n,)
        Group of each example.
    strata : (n,) labels that the folds share as evenly as the groups allow, or None
    n : int
        Number of examples.
    """
    from sklearn.model_selection import GroupKFold, StratifiedGroupKFold

    labels = np.unique(np.asarray(groups), return_inverse=True)[1].ravel()
    if len(labels) != n:
        raise ValueError(f"groups must have one value for each of {n} examples, got {len(labels)}")
    count = min(FOLDS, len(np.unique(labels)))
    if count < 2:
        raise ValueError("groups must have at least 2 different values for calibrate, got 1")
    if strata is None:
        splitter: Any = GroupKFold(count)
    else:
        splitter = StratifiedGroupKFold(count, shuffle=True, random_state=0)
    number = np.empty(n, dtype=np.int64)
    targets = np.zeros(n) if strata is None else strata
    for fold, (train, test) in enumerate(splitter.split(labels, targets, labels)):
        number[test] = fold
        if strata is not None and len(np.unique(strata[train])) < len(np.unique(strata)):
            raise ValueError(
                "groups must leave every class to the other folds for calibrate, but a fold has "
                "all examples of a class"
            )
    return number


def folds(n: int, strata: np.ndarray | None) -> list[np.ndarray]:
    """Return the positions of the held-out examples of each fold, shuffled and stratified.

    Parameters
    ----------
    n : int
        Number of examples.
    strata : (n,) labels, or None
        The numbers of examples of a label in two folds differ by at most 1.
    """
    if n < 2:
        raise ValueError(
            f"calibrate needs at least 2 different training examples, got {n}; pass calibrate=None"
        )
    shuffled = np.random.default_rng(0).permutation(n)
    order = shuffled if strata is None else np.lexsort((shuffled, strata))
    return [np.sort(order[first :: min(FOLDS, n)]) for first in range(min(FOLDS, n))]


def _start(problem: Problem, engine: Engine, solution: Snapshot, weights: np.ndarray) -> np.ndarray:
    """Move the engine to a feasible alpha near the solution on all examples; return the weights.

    The alphas of each output must add up to 0, but held-out examples have alpha 0. To restore the
    sum, some alphas of the sign with the larger sum become 0; the others keep their values, so that
    the update is cheap. With a joint loss of all classes the alphas of each example must add up to
    0, too: start from 0.
    """
    if isinstance(problem.risk, ClassRisk):
        engine.move_to(np.zeros_like(solution.alpha))
        return at_cost(problem, engine, weights)
    engine.move_to(*solution)
    alpha = np.where(problem.C > 0, solution.alpha, 0.0)
    for part in alpha.reshape(problem.n_outputs, -1):
        excess = part.sum()
        side = np.flatnonzero(part * excess > 0)
        side = side[np.argsort(-np.abs(part[side]), kind="stable")]
        taken = np.cumsum(np.abs(part[side]))
        last = int(np.searchsorted(taken, abs(excess)))
        part[side[:last]] = 0.0
        if last < len(side):  # reduce one more alpha, so that the sum is 0 up to rounding
            part[side[last]] = 0.0
            part[side[last]] = -part.sum()
    changed = np.flatnonzero(alpha != solution.alpha)
    engine.change(changed, alpha[changed])
    return at_cost(problem, engine, weights)
