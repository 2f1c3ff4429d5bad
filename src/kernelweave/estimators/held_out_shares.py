"""Cross-fitting: contributions of kernels to held-out examples, at the learned kernel weights.

A narrow kernel overfits: it contributes much to the decision values of training examples and
nothing to those of new ones. Here the SVM is trained again on each training fold with the kernel
weights fixed. The contributions to held-out examples are then compared with their targets. An SVM
with fixed weights has one kernel, the weighted sum, so that outputs of single kernels are not
needed for training.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from ..common.core import single_threaded_blas
from ..common.numbers import thread_count
from ..common.types import Data
from ..common.warnings import warn
from ..kernels import Kernel
from ..kernels.compile.examples import Examples
from ..kernels.compile.normalized_kernels import weighted
from ..kernels.compile.program import CompiledKernels
from ..model.model import Model
from ..norms import Lp
from ..optimization.engine_choice import Workload
from ..optimization.named_methods import find_method
from ..problem.problem import Problem
from .fold import FoldTrainer, without
from .held_out_sample import HeldOutSample, trial_of

if TYPE_CHECKING:
    from .base import MKLEstimator

LARGE = 0.2  # warnings name kernels with at least this training share
INFLATED = 4.0  # and with at least this ratio of training share to held-out share
FEWEST_FOR_SHARES = 100  # examples below which held-out shares are too noisy for a warning
NAMED = 3  # maximum number of kernels named in a warning


def held_out_covariances(
    estimator: MKLEstimator,
    kernels: list[Kernel],
    X: Data,
    problems: Sequence[Problem],
    weights: np.ndarray,
) -> np.ndarray | None:
    """Return the covariance of each kernel's held-out contributions with the targets.

    Parameters
    ----------
    estimator : gives the parameters of the fits; it is not changed.
    kernels : M kernels.
    X : n examples, of which at most 2,000 are sampled.
    problems : the problem of each output; examples without a cost do not belong to it.
    weights : the learned kernel weights, shape (outputs, M) or (1, M) if shared.

    Returns
    -------
    array of shape (outputs, M), or None if there are too few examples.
    """
    sample = HeldOutSample.of(X, problems)
    if sample is None:
        return None
    trial = trial_of(estimator, solver="auto")
    found = np.zeros((len(problems), weights.shape[1]))
    problems, norm = sample.problems, Lp(np.inf)
    costs = np.max([problem.C for problem in problems], axis=0)
    method = find_method("auto", norm, problems[0].loss, shared=False)
    fits = len(problems) * len(sample.tests)
    workload, deadline = Workload([method], [norm], fits=fits), trial._shared_deadline(fits)
    with single_threaded_blas(), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        compiled, examples = trial._normalized(kernels, sample.X, costs)
        for row, theta in enumerate(weights):
            summed = weighted(compiled, theta)
            if not len(summed.varying):
                continue
            prepared = trial._with_engine(summed, examples, costs, workload)
            trainer = FoldTrainer(trial, prepared, deadline)
            for output in range(row, len(problems), len(weights)):
                problem = replace(problems[output], norm=norm)
                members = np.count_nonzero(problem.C)
                for test in (fold[problem.C[fold] > 0] for fold in sample.tests):
                    if not len(test):
                        continue
                    model = _trained(trainer, without(problem, test), compiled, theta)
                    responses = problem.risk.responses[test]
                    covariances = _covariances(model, examples.take(test), responses, trial.n_jobs)
                    found[output] += covariances * len(test) / members
    return found


def _trained(
    trainer: FoldTrainer, problem: Problem, compiled: CompiledKernels, theta: np.ndarray
) -> Model:
    """Train the model of M kernels with fixed weights theta, whose weighted sum is one kernel."""
    prepared = trainer.prepared
    [suited], engine = prepared.suited([problem])
    engine.move_to(np.zeros(engine.n))
    result = trainer.solve(engine, suited)
    support = np.flatnonzero(result.alpha)
    return Model(
        compiled=compiled,
        examples=prepared.examples.reference(support),
        coef=np.ascontiguousarray(result.alpha[None, support]),
        weights=theta[None],
        intercept=np.atleast_1d(result.bias),
    )


def _covariances(
    model: Model, held_out: Examples, responses: np.ndarray, n_jobs: int | None
) -> np.ndarray:
    """Return the covariance of each kernel's contributions with `responses`, shape (M,).

    Parameters
    ----------
    model : Model
        A model with one output.
    held_out : Examples
        t examples on which the model was not trained.
    responses : ndarray of shape (t,)
        The targets, or the values that replace them for losses of censored times
        (`Risk.responses`).
    n_jobs : int or None
    """
    if model.coef.size == 0:
        return np.zeros(model.weights.shape[1])
    added = model.contributions_of(held_out, thread_count(n_jobs))[:, 0]
    return (responses - responses.mean()) @ added / held_out.n


def warn_of_inflated(names: Sequence[str], shares: np.ndarray, held_out: np.ndarray) -> None:
    """Warn of kernels that contribute far more to training examples than to held-out ones.

    Parameters
    ----------
    names : names of M kernels.
    shares, held_out : share of each kernel in the variation of the decision values of training
        examples, and in the covariance of held-out decision values with the targets, shape (M,).
    """
    inflated = (shares >= LARGE) & (shares > INFLATED * held_out)
    if not inflated.any():
        return
    listed = [m for m in np.argsort(-shares, kind="stable").tolist() if inflated[m]][:NAMED]
    each = [f"{names[m]} ({shares[m]:.2f}, {held_out[m]:.2f})" for m in listed]
    warn(
        "some kernels fit noise, so their weights do not show importance (share on training "
        f"examples, on held-out ones): {'; '.join(each)}; held_out_share in weights_frame() and "
        "inspection.shapley show it",
        UserWarning,
    )
