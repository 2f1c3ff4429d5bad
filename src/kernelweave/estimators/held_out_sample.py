"""A stratified sample of the training examples, divided into folds, for trial fits."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.base import clone
from sklearn.utils import _safe_indexing

from ..common.types import Data
from ..kernels.data.views import Grams
from ..problem.problem import Problem

if TYPE_CHECKING:
    from .base import MKLEstimator

FOLDS = 3  # number of folds of large samples
SMALL, MORE_FOLDS = 500, 5  # samples up to this size have more folds, since their scores vary more
MOST_EXAMPLES = 2000  # maximum size of a sample: the standard error of a proportion is about 0.01
FEWEST_EXAMPLES = 12  # minimum number of examples for held-out folds
LOOSEST_TOL = 1e-2  # minimum tol of trial fits; with smaller ones predictions hardly change


@dataclass(frozen=True, eq=False)
class HeldOutSample:
    """Sampled examples, their problems, and the fold in which each of them is held out.

    Attributes
    ----------
    X : k examples
    problems : list of Problem
        The problem of each output on these examples.
    folds : ndarray of shape (k,)
        Number of the fold; -1 for examples that are in all training sets.
    """

    X: Any
    problems: list[Problem]
    folds: np.ndarray

    @classmethod
    def of(cls, X: Data, problems: Sequence[Problem]) -> HeldOutSample | None:
        """Return a sample of n examples, or None if they are too few for held-out folds."""
        rows, folds = held_out_folds(problems)
        if rows is None:
            return None
        if len(rows) < len(problems[0].y):
            X = rows_of(X, rows)
            problems = [problem.restricted(rows, problem.tau) for problem in problems]
        return cls(X, list(problems), folds)

    @property
    def tests(self) -> list[np.ndarray]:
        """The positions of the held-out examples of each fold."""
        return [np.flatnonzero(self.folds == number) for number in range(self.folds.max() + 1)]


def trial_of(estimator: MKLEstimator, **parameters: object) -> MKLEstimator:
    """Return an unfitted copy of an estimator for trial fits: silent, with a large tolerance."""
    trial: MKLEstimator = clone(estimator)
    trial.set_params(tol=max(estimator.tol, LOOSEST_TOL), verbose=0, **parameters)
    return trial


def rows_of(X: Data, rows: np.ndarray) -> Any:
    """Return some examples of X: rows of tables, rows and columns of kernel matrices."""
    return X[np.ix_(rows, rows)] if isinstance(X, Grams) else _safe_indexing(X, rows)


def held_out_folds(problems: Sequence[Problem]) -> tuple[np.ndarray | None, np.ndarray]:
    """Return the indices of k sampled examples, and the fold that holds each out, shape (k,).

    Sample and folds are stratified: examples are sorted by their targets and assigned to the folds
    in turn. Only examples with a positive cost in some problem are sampled. If a class has a single
    example, its fold is -1: it belongs to every training set. If there are too few examples, the
    indices are None.
    """
    counted = np.flatnonzero(np.any([problem.C > 0 for problem in problems], axis=0))
    if len(counted) < FEWEST_EXAMPLES:
        return None, np.empty(0, dtype=np.int64)
    shuffled = np.random.default_rng(0).permutation(counted)
    order = np.lexsort([problem.y[shuffled] for problem in problems])
    dealt = shuffled[order]
    dealt = dealt[:: -(-len(dealt) // MOST_EXAMPLES)]
    folds = np.arange(len(dealt)) % (MORE_FOLDS if len(dealt) <= SMALL else FOLDS)
    for problem in problems:
        y = np.where(problem.C[dealt] > 0, problem.y[dealt], 0.0)
        for value in (-1.0, 1.0):
            if problem.loss.kind == "classifier" and np.count_nonzero(y == value) == 1:
                folds[y == value] = -1
    back = np.argsort(dealt)
    return dealt[back], folds[back]
