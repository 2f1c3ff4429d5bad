"""Uncertainty of kernel weights: fits on bootstrap samples and on permuted targets.

A bootstrap sample is a vector of sample weights: how often each example was drawn. It applies to
arrays, tables, sequences and views alike. Fits on permuted targets give the distribution of weights
under the null hypothesis that the targets are independent of the examples.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.base import BaseEstimator, clone, is_classifier
from sklearn.utils import _safe_indexing
from sklearn.utils.validation import has_fit_parameter

from ..common.numbers import as_count
from ..common.types import Data
from .p_values import corrected, permutation_p_values, significant_names
from .refits import Fit, Refits, Task

if TYPE_CHECKING:
    from ..estimators.fitted import FittedEstimator


@dataclass(frozen=True, eq=False)
class BootstrapWeights:
    """Kernel weights of fits on all examples, bootstrap samples and permuted targets.

    Attributes
    ----------
    kernel_names : tuple of M strings
    weights : array of shape (M,), or (classes, M)
        Weights of the fit on all examples.
    samples : array of shape (n, ...)
        Weights of the fits on n bootstrap samples, each with the shape of `weights`.
    permuted : array of shape (n_permutations, ...)
        Weights of the fits on permuted targets, each with the shape of `weights`.

    Examples
    --------
    >>> from kernelweave import MKLClassifier
    >>> from kernelweave.datasets import make_motifs
    >>> from kernelweave.inspection import bootstrap_weights
    >>> from kernelweave.kernels import WeightedDegree
    >>> X, y = make_motifs(200, positive_rate=0.3)
    >>> model = MKLClassifier(WeightedDegree(3, split=[(0, 10), (10, 17), (17, 50)]), norm=2)
    >>> found = bootstrap_weights(model, X, y, n=5, n_permutations=0)
    >>> found.samples.shape
    (5, 3)
    >>> low, high = found.quantiles([0.05, 0.95])
    >>> bool((low <= high).all())
    True
    """

    kernel_names: tuple[str, ...]
    weights: np.ndarray
    samples: np.ndarray
    permuted: np.ndarray

    @property
    def mean(self) -> np.ndarray:
        """Mean weights over the bootstrap samples, shape of `weights`."""
        return self.samples.mean(axis=0)

    @property
    def std(self) -> np.ndarray:
        """Standard deviations over the bootstrap samples, shape of `weights`."""
        return self.samples.std(axis=0, ddof=1 if len(self.samples) > 1 else 0)

    def quantiles(self, q: float | Sequence[float] = (0.05, 0.5, 0.95)) -> np.ndarray:
        """Return quantiles over the bootstrap samples.

        Parameters
        ----------
        q : float or sequence of k floats in [0, 1]
            Probabilities of the quantiles.

        Returns
        -------
        ndarray of shape (k, ...)
            One quantile after the other, each with the shape of `weights`.
        """
        return np.quantile(self.samples, q, axis=0)

    def p_values(self, correction: str | None = "benjamini-hochberg") -> np.ndarray:
        """Return permutation p-values of the weights, shape of `weights`.

        p = (1 + number of fits on permuted targets with at least this weight)
        / (1 + n_permutations).

        Parameters
        ----------
        correction : {"benjamini-hochberg", "bonferroni", "max", None}
            Correction for multiple tests. "benjamini-hochberg" controls the false discovery rate,
            the others the family-wise error rate. "max" compares with the largest weight of each
            fit on permuted targets (Westfall and Young, 1993) and needs few permutations; the
            others need about M / level permutations.

        Returns
        -------
        ndarray with the shape of `weights`

        Raises
        ------
        ValueError
            If no targets were permuted, or if the correction is unknown.
        """
        if not len(self.permuted):
            raise ValueError("p_values requires fits on permuted targets: pass n_permutations >= 1")
        return permutation_p_values(self.weights, self.permuted, correction)

    def selection_p_values(self, correction: str | None = "bonferroni") -> np.ndarray:
        """Return p-values of a binomial test of selection frequencies, shape of `weights`.

        A kernel is selected in a bootstrap sample if its weight exceeds the mean over all kernels
        and samples. Under the null hypothesis, all kernels are selected with the same probability.
        The number of samples that select a kernel is then binomially distributed. No permutations
        are required.

        Parameters
        ----------
        correction : {"benjamini-hochberg", "bonferroni", None}
            Correction for multiple tests.

        Returns
        -------
        ndarray with the shape of `weights`
        """
        from scipy.stats import binom  # takes long to import

        above = self.samples > self.samples.mean()
        p_values = binom.sf(above.sum(axis=0) - 1, len(above), above.mean())
        return corrected(p_values, correction)

    def significant(
        self, level: float = 0.05, correction: str | None = "benjamini-hochberg"
    ) -> list[str]:
        """Return the names of kernels with a p-value of at most `level` for some class.

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


def bootstrap_weights(
    estimator: BaseEstimator,
    X: Data,
    y: object = None,
    n: int = 100,
    *,
    n_permutations: int | None = None,
    sample_weight: object = None,
    n_jobs: int | None = None,
    checkpoint: str | os.PathLike[str] | None = None,
    verbose: int = 0,
    random_state: int = 0,
) -> BootstrapWeights:
    """Return kernel weights of fits on bootstrap samples and on permuted targets.

    Parameters
    ----------
    estimator : MKLClassifier, MKLRegressor or another estimator with `weights_`
        It is cloned.
    X : array, table, views or sequences with n_examples
    y : array-like of shape (n_examples,), optional
        Targets.
    n : int
        Number of bootstrap samples.
    n_permutations : int, optional
        Number of fits on permuted targets; n by default, 0 without targets.
    sample_weight : array of shape (n_examples,), optional
        Sample weights in all fits.
    n_jobs : int or None
        Number of parallel processes; None is one, -1 all processors.
    checkpoint : str or path, optional
        Folder in which the weights of each fit are saved. An interrupted run continues from it;
        results of another estimator or of other data raise ValueError.
    verbose : int
        Whether to display a progress bar.
    random_state : int
        Seed. Each fit derives its own seed from it, so that the result depends neither on `n_jobs`
        nor on interruptions.

    Returns
    -------
    BootstrapWeights

    Raises
    ------
    ValueError
        If `n` or `n_permutations` is invalid, permutations are requested without targets, or the
        checkpoint belongs to other fits.
    TypeError
        If the estimator does not accept sample weights.

    Examples
    --------
    >>> from kernelweave import MKLClassifier
    >>> from kernelweave.datasets import make_motifs
    >>> from kernelweave.inspection import bootstrap_weights
    >>> from kernelweave.kernels import WeightedDegree
    >>> X, y = make_motifs(300)
    >>> model = MKLClassifier(WeightedDegree(3, split=[(0, 10), (10, 17), (17, 50)]), norm=1)
    >>> found = bootstrap_weights(model, X, y, n=10)
    >>> found.kernel_names[found.mean.argmax()]
    'WeightedDegree degree=3 positions=(10, 17)'
    """
    n = as_count("n", n)
    if n_permutations is None:
        n_permutations = 0 if y is None else n
    n_permutations = as_count("n_permutations", n_permutations, 0)
    if not has_fit_parameter(estimator, "sample_weight"):
        raise TypeError(
            f"{type(estimator).__name__}.fit must accept sample_weight; pass an estimator that does"
        )
    if n_permutations and y is None:
        raise ValueError(
            f"n_permutations={n_permutations} requires targets: pass y, or n_permutations=0"
        )
    refits = BootstrapFits(estimator, X, y, int(random_state), sample_weight)
    samples = [Task("sample", number) for number in range(n)]
    permuted = [Task("permuted", number) for number in range(n_permutations)]
    fits = refits.results([Task("all", 0), *samples, *permuted], checkpoint, n_jobs, verbose)
    weights = [fit.values for fit in fits]
    shape = weights[0].shape
    return BootstrapWeights(
        kernel_names=fits[0].names,
        weights=weights[0],
        samples=np.array(weights[1 : n + 1]).reshape(n, *shape),
        permuted=np.array(weights[n + 1 :]).reshape(n_permutations, *shape),
    )


@dataclass(eq=False)
class BootstrapFits(Refits):
    """Fits on all examples, bootstrap samples and permuted targets.

    Attributes
    ----------
    estimator : estimator that is cloned for each fit
    X, y : n examples and their targets
    random_state : int
        Seed, from which each fit derives its own.
    sample_weight : array of shape (n,), or None
        Multiplied by the number of draws of each example.
    """

    sample_weight: Any

    title = "bootstrap"

    @property
    def settings(self) -> object:
        return self.sample_weight

    def fit(self, task: Task) -> Fit:
        """Return the kernel weights of one fit."""
        streams = {"all": 0, "sample": 1, "permuted": 2}
        rng = np.random.default_rng([self.random_state, streams[task.kind], task.number])
        weights = np.ones(self.size) if self.sample_weight is None else self.sample_weight
        y = self.y
        if task.kind == "sample":
            weights = weights * self._counts(rng)
        elif task.kind == "permuted":
            y = _safe_indexing(y, rng.permutation(self.size))
        fitted: FittedEstimator = clone(self.estimator).fit(self.X, y, sample_weight=weights)
        return Fit(fitted.weights_, tuple(fitted.kernel_names_))

    def _counts(self, rng: np.random.Generator) -> np.ndarray:
        """Return the number of draws of each example; the size of each class is preserved."""
        strata = np.asarray(self.y) if is_classifier(self.estimator) else np.zeros(self.size)
        counts = np.zeros(self.size)
        for value in np.unique(strata):
            members = np.flatnonzero(strata == value)
            drawn = rng.choice(members, size=len(members))
            counts += np.bincount(drawn, minlength=self.size)
        return counts
