"""Probabilities of pairs of classes (one against one), and of the classes.

Each pair has a calibrator, fitted to cross-fitted decision values of its own examples. The
probabilities of all pairs are coupled to those of the classes (Wu, Lin and Weng, 2004, JMLR 5,
their second method), as in LIBSVM.
"""

from __future__ import annotations

from copy import copy
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from ..kernels.compile.examples import Examples
from ..model.model import Model
from .calibration import Calibrator, calibrators
from .cross_fit import FOLD_TOL
from .fit import Fit

if TYPE_CHECKING:
    from .base import MKLEstimator
    from .one_vs_one import OneVsOne
    from .prepared import Prepared

LEAST = 1e-7  # smallest probability of a pair, as in LIBSVM
BATCH = 2**24  # entries of the matrices that are solved at once


def held_out_values(
    estimator: MKLEstimator, prepared: Prepared, pairs: OneVsOne, tests: list[np.ndarray]
) -> np.ndarray:
    """Return decision values of all pairs by models trained without the fold of each example.

    Parameters
    ----------
    estimator : MKLEstimator
        Solves the problems, with its parameters.
    prepared : Prepared
        Kernels and engine of the fit.
    pairs : OneVsOne
    tests : list of ndarrays
        Positions that each fold holds out.

    Returns
    -------
    ndarray of shape (n_pairs, n)
    """
    compiled, examples = prepared.compiled, prepared.examples
    assert isinstance(examples, Examples)  # pairs need all examples in this process
    loose = copy(estimator)
    loose.tol, loose.verbose = FOLD_TOL * estimator.tol, 0
    loose.calibrate = None
    n_jobs = prepared.training_set.n_jobs if prepared.training_set is not None else 1
    values = np.empty((len(pairs.pairs), examples.n))
    deadline = estimator._shared_deadline(len(tests))
    for test in tests:
        costs = pairs.classes.costs.copy()
        costs[test] = 0.0
        held = replace(pairs, classes=replace(pairs.classes, costs=costs))
        solution = held.solve(Fit(loose, prepared, deadline=deadline()))
        results = [one.spread(compiled.varying, compiled.n_kernels) for one in solution.results]
        model = Model.without_statistics(compiled, examples, results, alpha=solution.alpha)
        values[:, test] = model.decide_examples(examples.take(test), n_jobs).T
    return values


def pair_calibrators(
    method: str, values: np.ndarray, pairs: OneVsOne, weights: np.ndarray
) -> tuple[Calibrator, ...]:
    """Return a calibrator for each pair: the probability of its first class.

    Parameters
    ----------
    method : {"sigmoid", "isotonic"}
    values : ndarray of shape (n_pairs, n)
        Cross-fitted decision values.
    pairs : OneVsOne
    weights : ndarray of shape (n,)
        How much each example counts.
    """
    codes, found = pairs.classes.codes, list[Calibrator]()
    for (first, _), rows, of_pair in zip(pairs.pairs, pairs.rows, values, strict=True):
        known = rows[weights[rows] > 0]
        belongs = (codes[known] == first)[None]
        found += calibrators(method, of_pair[None, known], belongs, weights[known])
    return tuple(found)


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
    n, count = probabilities.shape
    K = round((1 + np.sqrt(1 + 8 * count)) / 2)
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
    shares: np.ndarray = p / p.sum(axis=1, keepdims=True)
    return shares
