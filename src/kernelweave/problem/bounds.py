"""Generalisation bounds of multiple kernel learning (Kloft et al., 2011, section 5).

The hypotheses are h(x) = sum_m <w_m, psi_m(x)> with sum_m ||w_m||^2 / theta_m <= 1 for weights
theta >= 0 of norm at most 1; psi_m is the feature map of kernel m. Their Rademacher complexity
measures how well they fit random signs: the smaller it is, the closer the test error is to the
training error.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from sklearn.base import is_classifier
from sklearn.utils import check_random_state

from ..common.core import single_threaded_blas
from ..common.numbers import thread_count
from ..common.types import Data
from ..engines import DenseEngine, TrainingSet
from ..estimators.base import MKLEstimator
from ..kernels import Kernel, prepare
from ..norms import Norm, as_norm
from ..norms.base import conjugate_exponent

CONSTANT = 23 / 22  # eta_0 in Cortes, Mohri and Rostamizadeh (2010)
NEARLY_INTEGER = 1e-9  # rounding of an exponent that is an integer


def rademacher(p: float, M: int, n: int, R: float = 1.0) -> float:
    """Return a bound on the Rademacher complexity of M kernels under the lp norm.

    This is corollary 9 of Kloft et al. (2011).

    Parameters
    ----------
    p : float
        Exponent of the norm, from 1 to inf.
    M : int
        Number of kernels, above 1.
    n : int
        Number of examples.
    R : float
        Largest sqrt(k_m(x, x)) over kernels and examples.

    Returns
    -------
    float

    Raises
    ------
    ValueError
        If an argument is outside its range.

    Examples
    --------
    >>> from kernelweave import bounds
    >>> for p in (1, 2, 4):
    ...     print(p, round(bounds.rademacher(p, M=1000, n=10_000), 3))
    1 0.045
    2 0.081
    4 0.193
    """
    if not p >= 1:
        raise ValueError(f"p must be a number >= 1 or inf, got {p!r}")
    if not (M > 1 and n >= 1 and 0 < R < math.inf):
        raise ValueError(f"M must be above 1, n at least 1 and R positive, got {(M, n, R)!r}")
    dual = conjugate_exponent(p)
    factor = math.e * math.ceil(math.log(M))
    if dual < math.inf:
        factor = min(factor, math.ceil(dual - NEARLY_INTEGER))
    return math.sqrt(CONSTANT * M ** (1.0 / dual) * R**2 * factor / n)


@dataclass(frozen=True)
class Estimate:
    """A mean over random draws, and its standard error.

    Attributes
    ----------
    value : float
        The mean.
    error : float
        Its standard error.

    Examples
    --------
    >>> from kernelweave.bounds import Estimate
    >>> Estimate(value=0.1, error=0.002)
    Estimate(value=0.1, error=0.002)
    """

    value: float
    error: float


def empirical_rademacher(
    kernels: Kernel | list[Kernel],
    X: Data,
    norm: float | Norm,
    *,
    draws: int = 100,
    random_state: object = None,
    n_jobs: int | None = None,
) -> Estimate:
    """Return a Monte Carlo estimate of the Rademacher complexity of kernels on examples.

    The estimate is the mean over random sign vectors sigma of sup_h sum_i sigma_i h(x_i) / n. For
    every norm of this library, the supremum over the hypotheses h is sqrt(norm.dual(s)) / n with
    s_m = sigma' K_m sigma.

    Parameters
    ----------
    kernels : kernel or list of kernels
        As for estimators. They are not normalised.
    X : array, table or sequences with n examples
    norm : float >= 1 or norm object
        Norm of the kernel weights; a number is the p of an lp norm.
    draws : int
        Number of random sign vectors.
    random_state : int, RandomState or None
        Seed of the signs.
    n_jobs : int or None
        Number of threads; None is one, -1 all processors.

    Returns
    -------
    Estimate

    Examples
    --------
    >>> import numpy as np
    >>> from kernelweave import bounds
    >>> from kernelweave.kernels import RBF
    >>> X = np.random.default_rng(0).normal(size=(100, 2))
    >>> found = bounds.empirical_rademacher(RBF([0.1, 1.0]), X, norm=1, random_state=0)
    >>> print(f"{found.value:.1f} within {found.error:.2f}")
    0.1 within 0.00
    """
    rng, jobs, norm = check_random_state(random_state), thread_count(n_jobs), as_norm(norm)
    with single_threaded_blas():
        compiled, examples = prepare(kernels, None, X, n_jobs=jobs)
        engine = DenseEngine.of(TrainingSet(compiled.listing, examples, n_jobs=jobs))
        values = np.empty(draws)
        for draw in range(draws):
            engine.move_to(rng.choice([-1.0, 1.0], size=engine.n))
            values[draw] = math.sqrt(norm.dual(engine.quadratic())) / engine.n
    return Estimate(float(values.mean()), float(values.std(ddof=1) / math.sqrt(draws)))


@dataclass(frozen=True)
class MarginBound:
    """A bound on the error rate of a classifier, and its three terms.

    This is corollary 11 of Kloft et al. (2011).

    Attributes
    ----------
    bound : float
        The sum of the terms. With probability 1 - delta it is an upper bound on the error rate.
    margin_risk : float
        Mean margin loss min(1, (1 - y f / margin)_+) on the training examples.
    complexity : float
        4 times the Rademacher complexity of models with this norm, divided by the margin.
    confidence : float
        sqrt(log(2 / delta) / (2 n)) for n training examples.

    Examples
    --------
    >>> from kernelweave.bounds import MarginBound
    >>> MarginBound(bound=0.6, margin_risk=0.1, complexity=0.4, confidence=0.1).complexity
    0.4
    """

    bound: float
    margin_risk: float
    complexity: float
    confidence: float


def margin_bound(
    model: MKLEstimator, X: Data, y: object, margin: float = 1.0, delta: float = 0.05
) -> MarginBound:
    """Return the radius-margin bound of a fitted classifier of two classes under an lp norm.

    It holds for all models with at most the norm of this one, sqrt(sum_m ||w_m||^2 / theta_m). The
    theorem is for models without an intercept (``fit_intercept=False``). It requires that this norm
    and the margin are chosen before the data are seen. Otherwise use the bound to compare models,
    not as a guarantee.

    Parameters
    ----------
    model : MKLClassifier
        Fitted, with two classes and an lp norm.
    X : array, table or sequences
        The n training examples.
    y : array-like of shape (n,)
        Their labels.
    margin : float > 0
        Margin of the margin loss min(1, (1 - y f / margin)_+). A larger margin decreases the
        complexity term and increases the margin risk.
    delta : float in (0, 1)
        Probability with which the bound may fail.

    Returns
    -------
    MarginBound

    Raises
    ------
    ValueError
        If the model is no classifier of two classes with an lp norm, or a number is outside its
        range.

    Examples
    --------
    >>> import numpy as np
    >>> from kernelweave import MKLClassifier, bounds
    >>> from kernelweave.kernels import RBF
    >>> X = np.random.default_rng(0).normal(size=(300, 2))
    >>> y = X[:, 0] > 0
    >>> model = MKLClassifier(RBF([0.1, 1.0]), normalize="unit").fit(X, y)
    >>> found = bounds.margin_bound(model, X, y)
    >>> print(round(found.margin_risk + found.complexity + found.confidence - found.bound, 6))
    0.0
    """
    if not is_classifier(model) or len(model.classes_) != 2:
        raise ValueError(
            f"model must be a fitted classifier of two classes, got {type(model).__name__}"
        )
    if not (0 < margin < math.inf and 0 < delta < 1):
        raise ValueError(
            f"margin must be above 0 and delta between 0 and 1, got {margin!r} and {delta!r}"
        )
    norm = model._used_norm
    if not norm.exponent >= 1:
        raise ValueError(f"model must have an lp norm, got norm={norm!r}")
    labels = np.where(np.asarray(y) == model.classes_[1], 1.0, -1.0)
    f, n = model.decision_function(X), len(labels)
    compiled = model._model.compiled
    diagonals = np.concatenate([np.atleast_2d(kernel.diagonal(X)) for kernel in compiled.kernels])
    # alpha' K_m alpha theta_m, summed over the kernels, from the decision values of the support.
    outputs = f[model.support_] - model.intercept_[0]
    size = math.sqrt(max(float(model.dual_coef_[0] @ outputs), 0.0))
    radius = math.sqrt(float(diagonals.max()))
    complexity = 4.0 * size / margin * rademacher(norm.exponent, len(diagonals), n, radius)
    risk = float(np.minimum(1.0, np.maximum(0.0, 1.0 - labels * f / margin)).mean())
    confidence = math.sqrt(math.log(2.0 / delta) / (2.0 * n))
    return MarginBound(risk + complexity + confidence, risk, complexity, confidence)
