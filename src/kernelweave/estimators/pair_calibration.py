"""Probabilities of pairs of classes (one against one), and of the classes.

Each pair has a calibrator, fitted to cross-fitted decision values of its own examples. The
probabilities of all pairs are coupled to those of the classes (Wu, Lin and Weng, 2004, JMLR 5,
their second method), as in LIBSVM.
"""

from __future__ import annotations

from copy import copy
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from ..common.core import single_threaded_blas
from ..engines.class_pairs import n_classes_of
from ..kernels.compile.examples import Examples
from ..model.model import Model
from .calibration import OutputLabels
from .cross_fit import FOLD_TOL, Solved
from .fit import Fit

if TYPE_CHECKING:
    from .base import MKLEstimator
    from .one_vs_one import OneVsOne

LEAST = 1e-7  # smallest probability of a pair, as in LIBSVM
BATCH = 2**24  # entries of the matrices that are solved at once


@dataclass(frozen=True, eq=False)
class SolvedPairs(Solved):
    """The solved problems of all pairs of classes.

    Attributes
    ----------
    pairs : OneVsOne
        The problems of all pairs.
    """

    pairs: OneVsOne

    @property
    def is_hard_margin(self) -> bool:
        return self.pairs.is_hard_margin

    @property
    def labels(self) -> OutputLabels:
        classes, pairs = self.pairs.classes, self.pairs
        firsts = [first for first, _ in pairs.pairs]
        positive = [
            classes.codes[rows] == first for rows, first in zip(pairs.rows, firsts, strict=True)
        ]
        return OutputLabels(pairs.rows, positive, classes.costs, classes.codes, classes.codes)

    def held_out_values(self, estimator: MKLEstimator, tests: list[np.ndarray]) -> np.ndarray:
        """Return decision values of all pairs, shape (n_pairs, n), as `Solved.held_out_values`.

        The decision function of a pair is evaluated for all examples, also those of other classes.
        """
        prepared, classes = self.prepared, self.pairs.classes
        compiled, examples = prepared.compiled, prepared.examples
        assert isinstance(examples, Examples)  # pairs need all examples in this process
        loose = copy(estimator)
        loose.tol, loose.verbose = FOLD_TOL * estimator.tol, 0
        n_jobs = prepared.training_set.n_jobs if prepared.training_set is not None else 1
        values = np.empty((len(self.pairs.pairs), examples.n))
        deadline = estimator._shared_deadline(len(tests))
        with single_threaded_blas():
            for test in tests:
                costs = classes.costs.copy()
                costs[test] = 0.0
                held = replace(self.pairs, classes=replace(classes, costs=costs))
                solution = held.solve(Fit(loose, prepared, deadline=deadline()))
                results = [
                    one.spread(compiled.varying, compiled.n_kernels) for one in solution.results
                ]
                model = Model.without_statistics(compiled, examples, results, alpha=solution.alpha)
                values[:, test] = model.decide_examples(examples.take(test), n_jobs).T
        return values


def coupled(probabilities: np.ndarray) -> np.ndarray:
    """Return probabilities of K classes from those of their pairs.

    With r_ab the probability of class a in the pair (a, b), and r_ba = 1 - r_ab, they minimise
    sum_ab (r_ba p_a - r_ab p_b)^2 for p that add up to 1, which implies p >= 0.

    Parameters
    ----------
    probabilities : ndarray of shape (n, K (K - 1) / 2)
        Probability of the first class of each pair, in the order (0, 1), (0, 2), ..., (1, 2), ...

    Returns
    -------
    ndarray of shape (n, K)
    """
    n, K = len(probabilities), n_classes_of(probabilities.shape[1])
    found, size = np.empty((n, K)), max(1, BATCH // (K + 1) ** 2)
    for at in range(0, n, size):
        found[at : at + size] = _coupled(probabilities[at : at + size], K)
    return found


def _coupled(probabilities: np.ndarray, K: int) -> np.ndarray:
    n, (a, b) = len(probabilities), np.triu_indices(K, 1)
    r = np.zeros((n, K, K))
    r[:, a, b] = np.clip(probabilities, LEAST, 1.0 - LEAST)
    r[:, b, a] = 1.0 - r[:, a, b]
    # Q p + multiplier = 0 and sum p = 1, their equation 21
    system = np.ones((n, K + 1, K + 1))
    system[:, :K, :K] = -r * r.transpose(0, 2, 1)
    each = np.arange(K)
    system[:, each, each] = (r**2).sum(axis=1)
    system[:, K, K] = 0.0
    target = np.zeros((n, K + 1, 1))
    target[:, K] = 1.0
    p = np.maximum(np.linalg.solve(system, target)[:, :K, 0], 0.0)
    return p / p.sum(axis=1, keepdims=True)
