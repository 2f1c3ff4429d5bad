"""Generalisation bounds of multiple kernel learning (Kloft et al., 2011, section 5).

The hypotheses are h(x) = sum_m <w_m, psi_m(x)> with sum_m ||w_m||^2 / theta_m <= 1 for weights
theta >= 0 of norm at most 1. Their Rademacher complexity says how well they fit random signs: the
smaller it is, the closer the errors on new examples are to those on the training examples.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.base import is_classifier
from sklearn.utils import check_random_state

from ..common.core import single_threaded_blas
from ..common.numbers import thread_count
from ..engines import DenseEngine, TrainingSet
from ..estimators.base import MKLEstimator
from ..kernels import Kernel, prepare
from ..norms import Norm, as_norm
from ..norms.base import conjugate_exponent

CONSTANT = 23 / 22  # of Cortes et al. (2010), whose bound this one extends to all p
NEARLY_INTEGER = 1e-9  # how far above an integer an exponent may be by rounding


def rademacher(p: float, M: int, n: int, R: float = 1.0) -> float:
    """Return a bound on the Rademacher complexity of M kernels under the lp norm (corollary 9).

    Parameters
    ----------
    p : from 1 to inf.
    M : number of kernels, above 1.
    n : number of examples.
    R : the largest sqrt(k_m(x, x)) of any kernel and example.

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
        raise ValueError(f"p must be a number of at least 1, got {p!r}")
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
    X: Any,
    norm: float | Norm,
    *,
    draws: int = 100,
    random_state: Any = None,
    n_jobs: int | None = None,
) -> Estimate:
    """Estimate the Rademacher complexity of kernels on examples, from random signs.

    For signs sigma the best hypothesis reaches sqrt(||s||_dual) / n with s_m = sigma' K_m sigma,
    for every norm of this library.

    Parameters
    ----------
    kernels : as an estimator takes them, not normalised.
    X : n examples.
    norm : a number p >= 1 or a norm object.
    draws : number of random vectors of signs.
    random_state : int, RandomState or None
    n_jobs : number of threads; None is one, -1 all processors.

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
    """A bound on the risk of a classifier, and what it is made of (corollary 11).

    Attributes
    ----------
    bound : what the chance of an error on a new example exceeds with probability delta at most.
    margin_risk : the mean margin loss min(1, (1 - y f / margin)_+) on the training examples.
    complexity : 4 times the Rademacher complexity of models of this size, over the margin.
    confidence : sqrt(log(2 / delta) / (2 n)).

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
    model: MKLEstimator, X: Any, y: Any, margin: float = 1.0, delta: float = 0.05
) -> MarginBound:
    """Return the radius-margin bound of a fitted classifier of two classes under an lp norm.

    The set of hypotheses has the size of the model, sqrt(sum_m ||w_m||^2 / theta_m). The theorem
    asks for a size, and a margin, that are chosen before the data are seen, and for no bias: read
    the bound as a comparison between models, not as a promise.

    Parameters
    ----------
    model : a fitted `MKLClassifier`.
    X, y : the training examples and their labels.
    margin : above 0.
    delta : between 0 and 1.

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
        raise ValueError("model must be a fitted classifier of two classes")
    if not (0 < margin < math.inf and 0 < delta < 1):
        raise ValueError(
            f"margin must be above 0 and delta between 0 and 1, got {margin!r} and {delta!r}"
        )
    norm = as_norm(model.norm_ if hasattr(model, "norm_") else model.norm)
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
