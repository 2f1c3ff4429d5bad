"""Permutation test of kernels by their contributions to held-out examples.

Weights with norm=1 add up to 1 even if no kernel predicts the targets. They then concentrate on a
few kernels by chance, so that a test of weights loses its power as noise grows. The statistic T_m
has no such constraint. Each example x_i is predicted by a model that was trained without it; f_m is
the contribution of kernel m to its decision function. With means over the examples of a fold,

    z_i = (y_i - mean y) (f_m(x_i) - mean f_m),    T_m = sum_i z_i / sqrt(sum_i z_i^2).

z_i is positive if kernel m moves the prediction of example i towards its target.

If kernel m is independent of y, T_m has mean 0 and variance about 1, whatever its weight. The
distribution of T over permuted targets calibrates the test for the dependence between folds and
between kernels (studentised permutation tests: Chung and Romano, 2013).
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from sklearn.base import BaseEstimator, clone, is_classifier
from sklearn.model_selection import KFold, StratifiedKFold
from sklearn.utils import _safe_indexing

from ..common.numbers import as_count
from ..common.types import Data
from .p_values import permutation_p_values, significant_names
from .refits import Fit, Refits, Task

if TYPE_CHECKING:
    from ..estimators.fitted import FittedEstimator


@dataclass(frozen=True, eq=False)
class HeldOutTest:
    """Held-out statistics of M kernels, for the targets and for permuted targets.

    Attributes
    ----------
    kernel_names : tuple of M strings
    statistics : array of shape (M,), or (outputs, M)
        Studentised held-out contribution of each kernel: about standard normal for a kernel that is
        independent of the targets, positive for a kernel that predicts them.
    permuted : array of shape (n_permutations, M), or (n_permutations, outputs, M)
        The statistics for each permutation of the targets.

    Examples
    --------
    >>> from kernelweave import MKLClassifier
    >>> from kernelweave.datasets import make_motifs
    >>> from kernelweave.inspection import held_out_test
    >>> from kernelweave.kernels import WeightedDegree
    >>> X, y = make_motifs(300, positive_rate=0.3)
    >>> model = MKLClassifier(WeightedDegree(3, split=[(0, 10), (10, 17), (17, 30)]), norm=1)
    >>> held_out_test(model, X, y, n_permutations=19).significant()
    ['WeightedDegree degree=3 positions=(10, 17)']
    """

    kernel_names: tuple[str, ...]
    statistics: np.ndarray
    permuted: np.ndarray

    def p_values(self, correction: str | None = "max") -> np.ndarray:
        """Return one-sided permutation p-values, shape of `statistics`.

        Parameters
        ----------
        correction : {"max", "benjamini-hochberg", "bonferroni", None}
            Correction for multiple tests. "max" controls the family-wise error rate and needs 19
            permutations for a level of 5 %; the others need about M / level permutations.

        Returns
        -------
        ndarray with the shape of `statistics`
        """
        return permutation_p_values(self.statistics, self.permuted, correction)

    def significant(self, level: float = 0.05, correction: str | None = "max") -> list[str]:
        """Return the names of kernels with a p-value of at most `level` for some output.

        Parameters
        ----------
        level : float
            Significance level.
        correction : str or None
            Correction for multiple tests, an argument of `p_values`.

        Returns
        -------
        list of strings
        """
        return significant_names(self.kernel_names, self.p_values(correction), level)


def held_out_test(
    estimator: BaseEstimator,
    X: Data,
    y: object,
    *,
    n_permutations: int = 99,
    folds: int = 3,
    n_jobs: int | None = None,
    checkpoint: str | os.PathLike[str] | None = None,
    verbose: int = 0,
    random_state: int = 0,
) -> HeldOutTest:
    """Test whether the contributions of each kernel to held-out examples predict their targets.

    Parameters
    ----------
    estimator : MKLClassifier or MKLRegressor
        It is cloned.
    X : array, table, views or sequences with n examples
    y : array-like of shape (n,)
        Targets.
    n_permutations : int
        Number of times the targets are permuted. The least p-value is 1 / (1 + n_permutations).
    folds : int
        Number of folds; (1 + n_permutations) * folds models are fitted.
    n_jobs : int or None
        Number of parallel processes; None is one, -1 all processors.
    checkpoint : str or path, optional
        Folder in which the statistics of each permutation are saved, from which an interrupted run
        continues.
    verbose : int
        Whether to display a progress bar.
    random_state : int
        Seed of folds and permutations.

    Returns
    -------
    HeldOutTest

    Raises
    ------
    ValueError
        If a number is invalid.

    Examples
    --------
    >>> import numpy as np
    >>> from kernelweave import MKLRegressor
    >>> from kernelweave.inspection import held_out_test
    >>> from kernelweave.kernels import RBF
    >>> X = np.random.default_rng(0).normal(size=(150, 3))
    >>> model = MKLRegressor({f"column {c}": RBF(0.5, columns=[c]) for c in range(3)})
    >>> held_out_test(model, X, X[:, 1] ** 2, n_permutations=19).significant()
    ['column 1 gamma=0.5']
    """
    n_permutations, folds = as_count("n_permutations", n_permutations), as_count("folds", folds, 2)
    refits = HeldOutFits(estimator, X, y, int(random_state), folds)
    tasks = [Task("all", 0), *(Task("permuted", number) for number in range(n_permutations))]
    fits = refits.results(tasks, checkpoint, n_jobs, verbose)
    statistics = [fit.values for fit in fits]
    return HeldOutTest(fits[0].names, statistics[0], np.array(statistics[1:]))


@dataclass(eq=False)
class HeldOutFits(Refits):
    """Cross-validated fits to the targets and to permuted targets.

    Attributes
    ----------
    estimator : estimator that is cloned for each fit
    X, y : n examples and their targets
    random_state : int
        Seed, from which each fit derives its own.
    folds : int
        Number of folds of each cross-validation.
    """

    folds: int

    title = "held-out test"

    @property
    def settings(self) -> object:
        return f"{self.folds} folds"

    def fit(self, task: Task) -> Fit:
        """Return the held-out statistics of one cross-validation."""
        y = np.asarray(self.y)
        if task.kind == "permuted":
            y = y[np.random.default_rng([self.random_state, task.number]).permutation(self.size)]
        splitter = StratifiedKFold if is_classifier(self.estimator) else KFold
        split = splitter(self.folds, shuffle=True, random_state=self.random_state)
        parts = []
        for train, test in split.split(np.zeros(self.size), y):
            fitted: FittedEstimator = clone(self.estimator)
            fitted.fit(_safe_indexing(self.X, train), y[train])
            added = fitted.contributions(_safe_indexing(self.X, test))
            parts.append(agreement(fitted, y[test], added))
        return Fit(studentized(np.concatenate(parts)), tuple(fitted.kernel_names_))


def agreement(fitted: FittedEstimator, y: np.ndarray, added: np.ndarray) -> np.ndarray:
    """Return centred targets times centred contributions, shape (n, M) or (n, outputs, M).

    Parameters
    ----------
    fitted : fitted estimator
    y : targets of n held-out examples
    added : contributions to them, shape (n, M) or (n, outputs, M)
    """
    target = np.asarray(y, dtype=float) if not is_classifier(fitted) else _coded(fitted, y)
    target = target.reshape(len(y), -1)[:, : added.shape[1] if added.ndim == 3 else 1]
    centred = (target - target.mean(axis=0))[..., None]
    products: np.ndarray = centred * (added - added.mean(axis=0)).reshape(*target.shape, -1)
    return products if added.ndim == 3 else products[:, 0]


def _coded(fitted: FittedEstimator, y: np.ndarray) -> np.ndarray:
    """Return 1 for examples of the class of each output and 0 for others, shape (n, outputs)."""
    if getattr(fitted, "multi_class_", "ovr") == "ovo":
        raise ValueError(
            "estimator must not be trained on pairs of classes for a held-out test; pass "
            "multi_class='ovr' to it"
        )
    classes = fitted.classes_[1:] if len(fitted.classes_) == 2 else fitted.classes_
    return (y[:, None] == classes).astype(float)


def studentized(products: np.ndarray) -> np.ndarray:
    """Return the sum over examples divided by the root of the sum of squares, 0 where that is 0."""
    size = np.sqrt((products**2).sum(axis=0))
    return products.sum(axis=0) / np.where(size > 0, size, 1.0)
