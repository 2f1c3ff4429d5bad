"""How sure kernel weights are: fits on bootstrap samples, and on permuted targets.

A sample of n examples, drawn with replacement, gives every example the weight of how often it was
drawn. So any data can be drawn from: arrays, tables, sequences, views. Fits on permuted targets
say which weights chance alone produces.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from joblib import Parallel, delayed
from joblib import hash as digest_of
from sklearn.base import BaseEstimator, clone, is_classifier
from sklearn.utils.validation import has_fit_parameter

from ..common.numbers import is_whole, thread_count
from ..optimization.progress import progress_bar
from .kept_fits import Fit, KeptFits

CORRECTIONS = ("benjamini-hochberg", "bonferroni", "max", None)


@dataclass(frozen=True, eq=False)
class BootstrapWeights:
    """Kernel weights of many fits.

    Attributes
    ----------
    kernel_names : names of the M kernels.
    weights : (M,), or (classes, M), of the fit on all examples.
    samples : (n, *weights.shape), of the fits on bootstrap samples.
    permuted : (n_permutations, *weights.shape), of the fits on permuted targets.

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
        """Return quantiles over the bootstrap samples, shape (len(q), *weights.shape)."""
        quantiles: np.ndarray = np.quantile(self.samples, q, axis=0)
        return quantiles

    def p_values(self, correction: str | None = "benjamini-hochberg") -> np.ndarray:
        """Return the chance of so large a weight where targets say nothing, shape of `weights`.

        The weight on all examples is compared with those on permuted targets: p = (1 + how many of
        these are at least as large) / (1 + n_permutations).

        Parameters
        ----------
        correction : {"benjamini-hochberg", "bonferroni", "max", None}
            For the number of kernels. The first one bounds the rate of false discoveries, the
            others the chance of any. "max" compares with the largest of all weights on permuted
            targets (Westfall and Young, 1993), so that few permutations do for many kernels: the
            others need about M / level of them.
        """
        if not len(self.permuted):
            raise ValueError("there were no permutations: give n_permutations >= 1")
        permuted = self.permuted
        if correction == "max":
            permuted, correction = permuted.max(axis=-1, keepdims=True), None
        reached = (permuted >= self.weights).sum(axis=0)
        return corrected((1 + reached) / (1 + len(self.permuted)), correction)

    def selection_p_values(self, correction: str | None = "bonferroni") -> np.ndarray:
        """Return the chance of being above the mean weight so often, shape of `weights`.

        No permutations are needed: if every kernel were as likely as any other to have a weight
        above the mean of all, the number of samples in which it does would have a binomial
        distribution.

        Parameters
        ----------
        correction : {"benjamini-hochberg", "bonferroni", None}, for the number of kernels.
        """
        from scipy.stats import binom  # takes long to import

        above = self.samples > self.samples.mean()
        p_values = binom.sf(above.sum(axis=0) - 1, len(above), above.mean())
        return corrected(p_values, correction)

    def significant(
        self, level: float = 0.05, correction: str | None = "benjamini-hochberg"
    ) -> list[str]:
        """Return the names of kernels whose p-value is at most `level`, for any class."""
        least = np.atleast_2d(self.p_values(correction)).min(axis=0)
        return [name for name, p in zip(self.kernel_names, least, strict=True) if p <= level]


def corrected(p_values: np.ndarray, correction: str | None) -> np.ndarray:
    """Return p-values corrected for their number, those of each class apart."""
    if correction not in CORRECTIONS or correction == "max":
        raise ValueError(f"correction must be one of {list(CORRECTIONS)}, not {correction!r}")
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
    X: Any,
    y: Any = None,
    n: int = 100,
    *,
    n_permutations: int | None = None,
    sample_weight: Any = None,
    n_jobs: int | None = None,
    checkpoint: str | os.PathLike[str] | None = None,
    verbose: int = 0,
    random_state: int = 0,
) -> BootstrapWeights:
    """Fit an estimator on bootstrap samples and on permuted targets, and return its weights.

    Parameters
    ----------
    estimator : an estimator with `weights_` once fitted; it is cloned, not changed.
    X, y : the examples and their targets, as the estimator takes them.
    n : number of bootstrap samples.
    n_permutations : number of fits on permuted targets; n by default, 0 where there are none.
    sample_weight : (n_examples,) weights of the examples in all fits.
    n_jobs : number of fits at a time, each in a process of its own; None is one, -1 all processors.
    checkpoint : a folder for the weights of each fit, which is made. A run that was killed goes on
        from there; weights of another estimator or other data are refused.
    verbose : whether to show how many fits are done, and the time left.
    random_state : where the random numbers start. Every fit has its own, so that neither threads
        nor interruptions change the result.

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
            raise ValueError(f"{name} must be an integer >= {least}, not {value!r}")
    if not has_fit_parameter(estimator, "sample_weight"):
        raise TypeError(f"{type(estimator).__name__}.fit must take sample_weight")
    if n_permutations is None:
        n_permutations = 0 if y is None else n
    if n_permutations and y is None:
        raise ValueError("n_permutations needs targets y")
    runs = Runs(estimator, X, y, sample_weight, int(random_state))
    kinds = ["all", *["sample"] * n, *["permuted"] * n_permutations]
    numbers = [0, *range(n), *range(n_permutations)]
    tasks = list(zip(kinds, numbers, strict=True))
    folder = None if checkpoint is None else KeptFits(Path(checkpoint), runs.key)
    fits = _run(runs, tasks, folder, thread_count(n_jobs), verbose)
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
    """The fits: an estimator, data, and where random numbers start."""

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
        """What tells these fits from others."""
        settings = {
            name: repr(value)
            for name, value in self.estimator.get_params(deep=False).items()
            if name not in ("n_jobs", "verbose", "checkpoint", "cache_mb")
        }
        told = [type(self.estimator).__name__, settings, self.random_state, self.sample_weight]
        parts = [digest_of(part) for part in (told, self.X, self.y)]
        return hashlib.sha256(" ".join(parts).encode()).hexdigest()

    def fit(self, kind: str, number: int) -> Fit:
        """Return what comes of one fit."""
        numbers = {"all": 0, "sample": 1, "permuted": 2}
        rng = np.random.default_rng([self.random_state, numbers[kind], number])
        weights = np.ones(self.size) if self.sample_weight is None else self.sample_weight
        y = self.y
        if kind == "sample":
            weights = weights * self._counts(rng)
        elif kind == "permuted":
            y = np.asarray(y)[rng.permutation(self.size)]
        fitted: Any = clone(self.estimator).fit(self.X, y, sample_weight=weights)
        return Fit(fitted.weights_, tuple(fitted.kernel_names_))

    def _counts(self, rng: np.random.Generator) -> np.ndarray:
        """Return how often each example is drawn, those of each class as often as there are."""
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


def _run(
    runs: Runs, tasks: list[tuple[str, int]], folder: KeptFits | None, n_jobs: int, verbose: int
) -> list[Fit]:
    """Return what comes of all fits, those that were kept from an earlier run included."""
    found = {task: None if folder is None else folder.load(*task) for task in tasks}
    left = [task for task, fit in found.items() if fit is None]
    with progress_bar("bootstrap", len(tasks), verbose) as done:
        for _ in range(len(tasks) - len(left)):
            done()
        for task, fit in _fits(runs, left, n_jobs):
            found[task] = fit
            if folder is not None:
                folder.keep(*task, fit)
            done()
    return [fit for fit in found.values() if fit is not None]


def _fits(
    runs: Runs, tasks: list[tuple[str, int]], n_jobs: int
) -> Iterator[tuple[tuple[str, int], Fit]]:
    """Give what comes of fits, as it comes."""
    if n_jobs == 1:
        yield from (_fit(runs, task) for task in tasks)
        return
    pool = Parallel(n_jobs=n_jobs, return_as="generator_unordered")
    yield from pool(delayed(_fit)(runs, task) for task in tasks)


def _fit(runs: Runs, task: tuple[str, int]) -> tuple[tuple[str, int], Fit]:
    return task, runs.fit(*task)
