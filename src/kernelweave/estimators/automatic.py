"""The choice of default kernels and of C="auto", on held-out folds of a sample.

Every candidate set of kernels has one engine. On each fold the fit for one C starts from the
solution for the previous C (`optimization.path`). So a candidate costs little more than one fit per
fold. A set that adds kernels to the first one is tried at the best C of the first only. A more
complex candidate is chosen only if its held-out loss is lower by more than one standard error of
the paired differences: small samples keep the simplest kernels.
"""

from __future__ import annotations

import sys
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.base import is_classifier

from ..common.core import single_threaded_blas
from ..common.types import Data
from ..kernels import Kernel
from ..optimization.engine_choice import Workload
from ..optimization.named_methods import find_method
from ..problem.problem import Problem
from .fold import FoldTrainer, without
from .held_out_sample import HeldOutSample, trial_of

if TYPE_CHECKING:
    from .base import MKLEstimator

# Values of C, in units of the scale of the targets.
FACTORS = (0.03, 0.1, 0.3, 1.0, 3.0, 10.0, 30.0, 100.0)
TIE_BREAK = 1e-3  # weight of the hinge loss beside the error rate, which has many ties
EQUAL = 1e-6  # difference of mean losses that the tolerance of the fits may cause: TIE_BREAK * tol


@dataclass(frozen=True)
class Choice:
    """The chosen set of kernels and factor of C, with the held-out losses of all sets.

    Attributes
    ----------
    name : the name of the chosen set of kernels.
    factor : the chosen C, relative to that of the problems.
    tried : a dict per set of kernels with its name ("kernels"), its best C ("C", relative), its
        held-out "loss" (error rate, or mean squared error relative to the variance), and whether it
        is "chosen".
    """

    name: str
    factor: float
    tried: list[dict[str, Any]]


def choose(
    estimator: MKLEstimator,
    X: Data,
    problems: Sequence[Problem],
    factors: Sequence[float],
    *,
    shared: bool,
) -> Choice:
    """Return the set of default kernels and the factor of C that held-out losses choose.

    A set with more kernels is chosen only if its loss is lower by more than one standard error.

    Parameters
    ----------
    estimator : gives the sets of kernels and the parameters of the fits; it is not changed.
    X : n examples.
    problems : the problem of each output, with the costs of the examples at factor 1.
    factors : numbers by which the costs are multiplied, ascending.
    shared : whether the outputs share their weights.
    """
    sample = HeldOutSample.of(X, problems)
    first = 1.0 if 1.0 in factors else factors[0]
    if sample is None:
        names = list(estimator._candidates(X, problems[0].C))
        return Choice(names[0], first, [])
    costs = sample.problems[0].C
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the final fit warns again where that matters
        candidates = estimator._candidates(sample.X, costs)
        if len(candidates) == len(factors) == 1:
            return Choice(next(iter(candidates)), first, [])
        weights, simplest = costs * (sample.folds >= 0), next(iter(candidates.values()))
        shares, tried = weights / weights.sum(), dict[str, Trial]()
        deadline = estimator._shared_deadline(len(candidates))
        _notify(estimator, f"comparing on held-out folds: {'; '.join(candidates)}")
        for name, kernels in candidates.items():
            extends = len(tried) > 0 and set(simplest) <= set(kernels)
            costs_tried = [next(iter(tried.values())).factor] if extends else factors
            trial = trial_of(estimator)
            losses = _losses(trial, kernels, sample, costs_tried, deadline(), shared=shared)
            found = tried[name] = Trial.best(losses, costs_tried, shares)
            loss = found.losses @ shares
            _notify(estimator, f"held-out loss {loss:.3f} at C={found.factor:g}: {name}")
    choice = best_of(tried, shares)
    _notify(estimator, f"chosen: {choice.name}")
    return choice


def _notify(estimator: MKLEstimator, message: str) -> None:
    """Write a message to standard error if the estimator is verbose."""
    if estimator.verbose:
        print(f"{type(estimator).__name__}: {message}", file=sys.stderr, flush=True)


@dataclass(frozen=True, eq=False)
class Trial:
    """The best factor of C of a set of kernels, and its held-out losses, shape (n,)."""

    factor: float
    losses: np.ndarray

    @classmethod
    def best(cls, losses: np.ndarray, factors: Sequence[float], shares: np.ndarray) -> Trial:
        """Return the trial with the lowest mean loss.

        Parameters
        ----------
        losses : held-out losses, shape (factors, n).
        factors : multiples of the costs, ascending; the smallest of equally good ones is chosen.
        shares : weight of each example in means, shape (n,); the sum is 1.
        """
        means = losses @ shares
        best = int(np.argmax(means <= means.min() + EQUAL))
        return cls(factors[best], losses[best])


def best_of(tried: Mapping[str, Trial], shares: np.ndarray) -> Choice:
    """Return the set of kernels that successive comparisons choose.

    The first set is compared with each later one in turn. A later set replaces the present one if
    its held-out loss is lower by more than one standard error of the paired
    differences.

    Parameters
    ----------
    tried : the best trial of each set of kernels, simplest first.
    shares : weight of each example in means, shape (n,); the sum is 1.
    """
    name = next(iter(tried))
    for candidate, trial in tried.items():
        lower = tried[name].losses - trial.losses
        if lower @ shares > _standard_error(lower, shares):
            name = candidate
    listed = [
        {
            "kernels": candidate,
            "C": trial.factor,
            "loss": float(trial.losses @ shares),
            "chosen": candidate == name,
        }
        for candidate, trial in tried.items()
    ]
    return Choice(name, tried[name].factor, listed)


def _standard_error(values: np.ndarray, shares: np.ndarray) -> float:
    """Return the standard error of a weighted mean of independent values, shape (n,)."""
    return float(np.sqrt(shares**2 @ (values - values @ shares) ** 2))


def _losses(
    trial: MKLEstimator,
    kernels: list[Kernel],
    sample: HeldOutSample,
    factors: Sequence[float],
    deadline: float,
    *,
    shared: bool,
) -> np.ndarray:
    """Return the held-out loss of every example for each factor of C, shape (factors, n)."""
    problems, tests = sample.problems, sample.tests
    norm = problems[0].norm
    method = find_method(trial.solver, norm, problems[0].loss, shared=shared)
    values = np.zeros((len(factors), len(problems), len(sample.folds)))
    with single_threaded_blas():
        workload = Workload([method], [norm], shared, len(tests) * len(factors))
        prepared = trial._prepare(kernels, sample.X, problems[0].C, workload)
        trainer = FoldTrainer(trial, prepared, lambda: deadline)
        for test in tests:
            training = [without(problem, test) for problem in problems]
            found = trainer.along_grid(training, test, [norm], np.array(factors), shared=shared)
            values[:, :, test] = found[0]
    targets = np.array([problem.y + problem.centre for problem in problems])
    return errors(values, targets) if is_classifier(trial) else squares(values, targets)


def errors(values: np.ndarray, targets: np.ndarray) -> np.ndarray:
    """Return the misclassification loss of each example, shape (..., n).

    A small multiple of the hinge loss is added to break ties.

    Parameters
    ----------
    values : decision values, shape (..., outputs, n).
    targets : -1 or 1, shape (outputs, n). If exactly one output of every example is 1, the outputs
        are classes, and the error is 0 or 1. Otherwise they are labels, and the error is the
        fraction of wrong labels.
    """
    hinge = np.maximum(0.0, 1.0 - targets * values).mean(axis=-2)
    if len(targets) > 1 and np.all((targets > 0).sum(axis=0) == 1):
        wrong = values.argmax(axis=-2) != targets.argmax(axis=0)
    else:
        wrong = (targets * values <= 0).mean(axis=-2)
    return wrong + TIE_BREAK * hinge


def squares(values: np.ndarray, targets: np.ndarray) -> np.ndarray:
    """Return the squared errors relative to the variance, averaged over outputs, shape (..., n).

    Parameters
    ----------
    values : predictions, shape (..., outputs, n).
    targets : shape (outputs, n).
    """
    variances = targets.var(axis=1)
    scale = np.where(variances > 0, variances, 1.0)[:, None]
    return ((values - targets) ** 2 / scale).mean(axis=-2)
