"""Uncertainty of kernel weights: fits on bootstrap samples and on permuted targets.

A bootstrap sample is a vector of sample weights: how often each example was drawn. It applies to
arrays, tables, sequences and views alike. Fits on permuted targets give the distribution of weights
under the null hypothesis that the targets are independent of the examples.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from joblib import Parallel, delayed
from joblib import hash as digest_of
from sklearn.base import BaseEstimator, clone, is_classifier
from sklearn.utils import _safe_indexing
from sklearn.utils.validation import has_fit_parameter

from ..common.numbers import is_whole, thread_count
from ..common.types import Data
from ..optimization.progress import progress_bar
from .saved_fits import Fit, SavedFits

CORRECTIONS = ("benjamini-hochberg", "bonferroni", "max", None)


@dataclass(frozen=True, eq=False)
class BootstrapWeights:
    """Kernel weights of fits on all examples, bootstrap samples and permuted targets.

    Attributes
    ----------
    kernel_names : tuple of M strings
    weights : array of shape (M,), or (classes, M)
        Weights of the fit on all examples.
    samples : array of shape (n, ...)
        Weights of the fits on bootstrap samples.
    permuted : array of shape (n_permutations, ...)
        Weights of the fits on permuted targets.

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
        mean: np.ndarray = self.samples.mean(axis=0)
        return mean

    @property
    def std(self) -> np.ndarray:
        """Standard deviations over the bootstrap samples, shape of `weights`."""
        std: np.ndarray = self.samples.std(axis=0, ddof=1 if len(self.samples) > 1 else 0)
        return std

    def quantiles(self, q: Any = (0.05, 0.5, 0.95)) -> np.ndarray:
        """Return quantiles over the bootstrap samples.

        Parameters
        ----------
        q : float or sequence of k floats in [0, 1]

        Returns
        -------
        ndarray of shape (k, ...)
            One quantile after the other, each with the shape of `weights`.
        """
        quantiles: np.ndarray = np.quantile(self.samples, q, axis=0)
        return quantiles

    def p_values(self, correction: str | None = "benjamini-hochberg") -> np.ndarray:
        """Return permutation p-values of the weights, shape of `weights`.

        p = (1 + number of fits on permuted targets with at least this weight) /
        (1 + n_permutations).

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
            If there were no permutations, or for an unknown correction.
        """
        if not len(self.permuted):
            raise ValueError("p_values requires fits on permuted targets: pass n_permutations >= 1")
        return permutation_p_values(self.weights, self.permuted, correction)

    def selection_p_values(self, correction: str | None = "bonferroni") -> np.ndarray:
        """Return p-values of a binomial test of selection frequencies, shape of `weights`.

        A kernel is selected in a bootstrap sample if its weight exceeds the mean of all weights.
        Under the null hypothesis, all kernels are selected with the same probability. The number
        of samples that select a kernel is then binomially distributed. No permutations are
        required.

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
            As for `p_values`.

        Returns
        -------
        list of strings
        """
        return significant_names(self.kernel_names, self.p_values(correction), level)


def significant_names(names: Sequence[str], p_values: np.ndarray, level: float) -> list[str]:
    """Return the names of M kernels with a p-value, shape (..., M), of at most `level`."""
    least = np.atleast_2d(p_values).min(axis=0)
    return [name for name, p in zip(names, least, strict=True) if p <= level]


def permutation_p_values(
    observed: np.ndarray, permuted: np.ndarray, correction: str | None
) -> np.ndarray:
    """Return corrected p-values of statistics by those of n permutations.

    Parameters
    ----------
    observed : array of shape (..., M)
    permuted : array of shape (n, ..., M)
    correction : one of CORRECTIONS

    Returns
    -------
    ndarray of shape (..., M)
    """
    count = len(permuted)
    if correction == "max":
        permuted, correction = permuted.max(axis=-1, keepdims=True), None
    reached = (permuted >= observed).sum(axis=0)
    return corrected((1 + reached) / (1 + count), correction)


def corrected(p_values: np.ndarray, correction: str | None) -> np.ndarray:
    """Return p-values corrected for multiple tests, separately for each class."""
    if correction not in CORRECTIONS or correction == "max":
        raise ValueError(f"correction must be one of {list(CORRECTIONS)}, got {correction!r}")
    if correction is None:
        return p_values
    if correction == "bonferroni":
        adjusted: np.ndarray = np.minimum(1.0, p_values * p_values.shape[-1])
    else:
        from scipy.stats import false_discovery_control  # takes long to import

        adjusted = false_discovery_control(p_values, axis=-1)
    return adjusted


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
        results of another estimator or other data are refused.
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
        If a number is invalid, or permutations are requested without targets.
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
    for name, value, least in (("n", n, 1), ("n_permutations", n_permutations, 0)):
        if value is not None and (not is_whole(value) or value < least):
            raise ValueError(f"{name} must be an integer >= {least}, got {value!r}")
    if not has_fit_parameter(estimator, "sample_weight"):
        raise TypeError(
            f"{type(estimator).__name__}.fit must accept sample_weight; pass an estimator that does"
        )
    if n_permutations is None:
        n_permutations = 0 if y is None else n
    if n_permutations and y is None:
        raise ValueError(
            f"n_permutations={n_permutations} requires targets: pass y, or n_permutations=0"
        )
    runs = Runs(estimator, X, y, sample_weight, int(random_state))
    kinds = ["all", *["sample"] * n, *["permuted"] * n_permutations]
    numbers = [0, *range(n), *range(n_permutations)]
    tasks = list(zip(kinds, numbers, strict=True))
    folder = None if checkpoint is None else SavedFits(Path(checkpoint), runs.key)
    fits = run_fits(runs, tasks, folder, thread_count(n_jobs), verbose)
    weights = [fit.weights for fit in fits]
    shape = weights[0].shape
    return BootstrapWeights(
        kernel_names=fits[0].names,
        weights=weights[0],
        samples=np.array(weights[1 : n + 1]).reshape(n, *shape),
        permuted=np.array(weights[n + 1 :]).reshape(n_permutations, *shape),
    )


@dataclass(eq=False)
class Runs:
    """Estimator, data and seed of all fits."""

    estimator: BaseEstimator
    X: Any
    y: Any
    sample_weight: Any
    random_state: int

    @property
    def size(self) -> int:
        """Number of examples."""
        shape = getattr(self.X, "shape", None)
        return int(shape[0]) if shape else len(self.X if self.y is None else self.y)

    @property
    def key(self) -> str:
        """Digest of estimator, data and seed, which identifies saved results."""
        settings = {
            name: repr(value)
            for name, value in self.estimator.get_params(deep=False).items()
            if name not in ("n_jobs", "verbose", "checkpoint", "cache_mb")
        }
        settings_and_seed = [
            type(self.estimator).__name__,
            settings,
            self.random_state,
            self.sample_weight,
        ]
        parts = [digest_of(part) for part in (settings_and_seed, self.X, self.y)]
        return hashlib.sha256(" ".join(parts).encode()).hexdigest()

    def fit(self, kind: str, number: int) -> Fit:
        """Return the kernel weights and names of one fit.

        Parameters
        ----------
        kind : {"all", "sample", "permuted"}
            Fit to all examples, to a bootstrap sample, or to permuted targets.
        number : int
            Number of the sample or permutation, part of the seed.
        """
        numbers = {"all": 0, "sample": 1, "permuted": 2}
        rng = np.random.default_rng([self.random_state, numbers[kind], number])
        weights = np.ones(self.size) if self.sample_weight is None else self.sample_weight
        y = self.y
        if kind == "sample":
            weights = weights * self._counts(rng)
        elif kind == "permuted":
            y = _safe_indexing(y, rng.permutation(self.size))
        fitted: Any = clone(self.estimator).fit(self.X, y, sample_weight=weights)
        return Fit(fitted.weights_, tuple(fitted.kernel_names_))

    def _counts(self, rng: np.random.Generator) -> np.ndarray:
        """Return the number of draws of each example; the size of each class is preserved."""
        counts = np.zeros(self.size)
        for members in self._strata():
            drawn = rng.choice(members, size=len(members))
            counts += np.bincount(drawn, minlength=self.size)
        return counts

    def _strata(self) -> list[np.ndarray]:
        if not is_classifier(self.estimator):
            return [np.arange(self.size)]
        y = np.asarray(self.y)
        return [np.flatnonzero(y == value) for value in np.unique(y)]


def run_fits(
    runs: Runs, tasks: list[tuple[str, int]], folder: SavedFits | None, n_jobs: int, verbose: int
) -> list[Fit]:
    """Return the weights of all fits, saved ones included."""
    found = {task: None if folder is None else folder.load(*task) for task in tasks}
    left = [task for task, fit in found.items() if fit is None]
    with progress_bar("bootstrap", len(tasks), verbose) as done:
        for _ in range(len(tasks) - len(left)):
            done()
        for task, fit in _fits(runs, left, n_jobs):
            found[task] = fit
            if folder is not None:
                folder.save(*task, fit)
            done()
    return [fit for fit in found.values() if fit is not None]


def _fits(
    runs: Runs, tasks: list[tuple[str, int]], n_jobs: int
) -> Iterator[tuple[tuple[str, int], Fit]]:
    """Yield tasks and their weights as they finish."""
    if n_jobs == 1:
        yield from (_fit(runs, task) for task in tasks)
        return
    pool = Parallel(n_jobs=n_jobs, return_as="generator_unordered")
    yield from pool(delayed(_fit)(runs, task) for task in tasks)


def _fit(runs: Runs, task: tuple[str, int]) -> tuple[tuple[str, int], Fit]:
    return task, runs.fit(*task)
