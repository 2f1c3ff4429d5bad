"""Widths of RBF kernels learned by gradients of the optimal value of the training problem.

Here a width is a value of gamma in exp(-gamma ||x - y||^2): a large one is a narrow kernel. For
fixed widths a fit solves a convex problem. By strong duality, its optimal value J(gamma) is the
maximum of the dual problem. By Danskin's theorem

    dJ / dgamma_j = -1/2 theta_m alpha' (dK_m / dgamma_j) alpha

for a width gamma_j of kernel m, at the optimal weights theta and dual variables alpha. So one fit
gives both J and its gradient. An outer loop minimises J by L-BFGS-B in log gamma, from several
starts. J is not convex in gamma: each fit has a certificate, but the widths are only a local
optimum.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, MetaEstimatorMixin, clone, is_classifier
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from ..common.core import single_threaded_blas
from ..common.numbers import as_number, is_whole
from ..common.types import Data
from ..kernels import RBF, Kernel
from ..kernels.parameters import LEARNED
from ..kernels.vector.gamma import median

ACCURATE = 1e-6  # relative gap of the fits inside the loop: line searches need accurate values
SPREAD = 10.0  # starting widths of several kernels (and starts) span a factor of SPREAD^2
EVALUATIONS = 3  # maximum number of fits per iteration of L-BFGS-B


@dataclass(frozen=True, eq=False)
class WidthProblem:
    """The optimal value J of the training problem as a function of the logarithms of all widths.

    Attributes
    ----------
    estimator : estimator whose fits are evaluated
    kernels : its kernels, some with gamma="learn"
    X, y : training examples and targets
    columns : the columns that each kernel reads; None for kernels without learned widths
    ard : bool
        Whether every column has a separate width.
    """

    estimator: Any
    kernels: tuple[Kernel, ...]
    X: np.ndarray
    y: np.ndarray
    columns: tuple[np.ndarray | None, ...]
    ard: bool

    @property
    def learned(self) -> list[np.ndarray]:
        """The columns of each kernel with learned widths."""
        return [columns for columns in self.columns if columns is not None]

    def parts(self, values: np.ndarray) -> list[np.ndarray]:
        """Split an array of all learned widths into those of each kernel."""
        sizes = [len(columns) if self.ard else 1 for columns in self.learned]
        return np.split(values, np.cumsum(sizes)[:-1])

    def start(self) -> np.ndarray:
        """Return starting widths: 1 / median squared distance of the columns of each kernel.

        With several learned kernels, these are multiplied by factors from 1 / SPREAD to SPREAD.
        """
        factors = np.geomspace(1 / SPREAD, SPREAD, len(self.learned)) if self.learned[1:] else [1.0]
        parts = []
        for factor, columns in zip(factors, self.learned, strict=True):
            width = factor / median("sqdist", np.ascontiguousarray(self.X[:, columns]))
            parts.append(np.full(len(columns) if self.ard else 1, width))
        return np.concatenate(parts)

    def kernels_at(self, gammas: np.ndarray) -> list[Kernel]:
        """Return the kernels with these widths."""
        widths = iter(self.parts(gammas))
        return [
            kernel if columns is None else self._with_widths(kernel, columns, next(widths))
            for kernel, columns in zip(self.kernels, self.columns, strict=True)
        ]

    def _with_widths(self, kernel: Any, columns: np.ndarray, widths: np.ndarray) -> Kernel:
        if not self.ard:
            return replace(kernel, gamma=float(widths[0]))
        product: Any = None
        for column, width in zip(columns.tolist(), widths.tolist(), strict=True):
            factor = RBF(width, columns=[column])
            product = factor if product is None else product * factor
        return product.named(kernel.name or "RBF, a width per column")

    def fit(self, gammas: np.ndarray, tol: float | None = None) -> Any:
        """Return the fitted estimator at these widths."""
        fitted = clone(self.estimator).set_params(kernels=self.kernels_at(gammas))
        if tol is not None:
            fitted.set_params(tol=min(tol, fitted.tol))
        return fitted.fit(self.X, self.y) if self.y is not None else fitted.fit(self.X)

    def value_and_gradient(self, logarithms: np.ndarray) -> tuple[float, np.ndarray]:
        """Return J and its gradient in the logarithms of the widths."""
        gammas = np.exp(logarithms)
        fitted = self.fit(gammas, ACCURATE)
        alpha = np.zeros(len(self.X))
        alpha[fitted.support_] = fitted.dual_coef_[0]
        theta, first, gradient = np.atleast_1d(fitted.weights_), 0, []
        widths = iter(self.parts(gammas))
        for kernel, columns in zip(self.kernels, self.columns, strict=True):
            if columns is not None:
                part = next(widths)
                Z = self.X[:, columns] * np.sqrt(part)
                slope = scaled_slopes(Z, alpha, self.estimator.normalize == "variance")
                gradient.append(
                    -0.5 * theta[first] * (slope if self.ard else slope.sum(keepdims=True))
                )
            first += 1 if columns is not None else kernel.resolve(self.X).n_kernels
        return float(fitted.dual_objective_), np.concatenate(gradient)


def scaled_slopes(Z: np.ndarray, alpha: np.ndarray, variance: bool) -> np.ndarray:
    """Return gamma_j times the derivative of alpha' K alpha in gamma_j, for each column j.

    Parameters
    ----------
    Z : array of shape (n, d)
        Columns times the root of their gamma: K = exp(-||z_i - z_j||^2).
    alpha : array of shape (n,)
        Dual variables.
    variance : bool
        Whether K is divided by its variance over the n examples.

    Returns
    -------
    array of shape (d,)
    """
    with single_threaded_blas():
        squares = (Z**2).sum(axis=1)
        distance = squares[:, None] + squares - 2 * Z @ Z.T
        K = np.exp(-np.maximum(distance, 0.0))
        slopes = _slopes(Z, K, alpha)
        if not variance:
            return slopes
        shares = np.full(len(Z), 1 / len(Z))
        size = 1 - shares @ K @ shares
        changes = -_slopes(Z, K, shares)
        return slopes / size - (alpha @ K @ alpha) * changes / size**2


def _slopes(Z: np.ndarray, K: np.ndarray, v: np.ndarray) -> np.ndarray:
    """Return -sum_ab v_a v_b K_ab (Z_aj - Z_bj)^2 for each column j."""
    weighted = v[:, None] * K * v
    return 2 * (Z * (weighted @ Z)).sum(axis=0) - 2 * weighted.sum(axis=1) @ Z**2


def _decides(widths: Any) -> bool:
    return hasattr(widths.estimator, "decision_function")


class MKLWidths(MetaEstimatorMixin, BaseEstimator):
    """Learn the widths of RBF kernels together with the kernel weights.

    The widths (gammas) of kernels ``RBF(gamma="learn")`` are learned; other kernels are fixed. The
    training objective is minimised over both widths and weights. It is not convex in the widths.
    The result is the best of several local optima, each with a certified fit. A smaller objective
    need not mean a smaller test error. A grid of widths (``RBF(gamma=[...])``) gives a convex
    problem instead.

    Parameters
    ----------
    estimator : MKLClassifier of two classes, or MKLRegressor of one target
        With one or more kernels ``RBF(gamma="learn")``, also on some columns.
    ard : bool
        Whether each column of a kernel has a separate width (automatic relevance determination).
    starts : int
        Number of starting points of the descent: the median heuristic, and factors around it.
    max_iter : int
        Maximum number of iterations from each start.
    factor : float
        Widths stay within this factor of the start, in both directions.

    Attributes
    ----------
    best_estimator_ : the fitted estimator with the learned widths
    gammas_ : list of arrays
        The widths of each kernel with ``gamma="learn"``: one, or one for each column.
    objective_ : float
        Optimal value of the training objective at these widths.
    objectives_ : array of shape (starts,)
        The same for each start. Different numbers are different local optima.
    n_fits_ : int
        Number of fits.

    Examples
    --------
    >>> import numpy as np
    >>> from kernelweave import MKLRegressor, MKLWidths
    >>> from kernelweave.kernels import RBF
    >>> X = np.random.default_rng(0).uniform(-2, 2, size=(80, 3))
    >>> y = np.sin(3 * X[:, 0])
    >>> model = MKLWidths(MKLRegressor(RBF(gamma="learn"), C=1.0), ard=True, starts=1)
    >>> int(model.fit(X, y).gammas_[0].argmax())
    0
    """

    def __init__(
        self,
        estimator: Any,
        *,
        ard: bool = False,
        starts: int = 3,
        max_iter: int = 30,
        factor: float = 1e3,
    ):
        self.estimator = estimator
        self.ard = ard
        self.starts = starts
        self.max_iter = max_iter
        self.factor = factor

    def fit(self, X: Data, y: object) -> MKLWidths:
        """Learn widths and weights.

        Parameters
        ----------
        X : array of shape (n, d)
            Training examples.
        y : array of shape (n,)
            Targets, of two classes or numbers.

        Returns
        -------
        self

        Raises
        ------
        ValueError
            If no kernel has ``gamma="learn"``, or a parameter is invalid.
        """
        from scipy.optimize import minimize  # takes long to import

        self._check()
        problem = width_problem(self.estimator, X, y, ard=bool(self.ard))
        base = np.log(problem.start())
        shifts = [0.0, *np.linspace(-1, 1, self.starts - 1 if self.starts > 2 else 2)]
        self.n_fits_, found = 0, []
        for shift in shifts[: self.starts]:
            begin = base + shift * np.log(SPREAD)
            limit = np.log(self.factor)
            result = minimize(
                problem.value_and_gradient,
                begin,
                jac=True,
                method="L-BFGS-B",
                bounds=[(one - limit, one + limit) for one in begin],
                options={"maxiter": self.max_iter, "maxfun": EVALUATIONS * self.max_iter},
            )
            self.n_fits_ += int(result.nfev)
            found.append(result)
        self.objectives_ = np.array([result.fun for result in found])
        best = found[int(self.objectives_.argmin())]
        self.objective_ = float(best.fun)
        self.gammas_ = problem.parts(np.exp(best.x))
        self.best_estimator_ = problem.fit(np.exp(best.x))
        self.n_fits_ += 1
        return self

    def _check(self) -> None:
        for name in ("starts", "max_iter"):
            if not is_whole(getattr(self, name)) or getattr(self, name) < 1:
                raise ValueError(f"{name} must be an integer >= 1, got {getattr(self, name)!r}")
        if not 1 < as_number(self.factor) < np.inf:
            raise ValueError(f"factor must be a number > 1, got {self.factor!r}")

    def predict(self, X: Data) -> np.ndarray:
        """Return predictions for n examples, shape (n,).

        Parameters
        ----------
        X : array of shape (n, d)

        Returns
        -------
        ndarray of shape (n,)
        """
        return self._fitted.predict(X)

    @available_if(_decides)  # type: ignore[untyped-decorator]
    def decision_function(self, X: Data) -> np.ndarray:
        """Return decision values of n examples, shape (n,).

        Parameters
        ----------
        X : array of shape (n, d)

        Returns
        -------
        ndarray of shape (n,)
        """
        return self._fitted.decision_function(X)

    def score(self, X: Data, y: object) -> float:
        """Return the score of the fitted estimator: accuracy, or R^2.

        Parameters
        ----------
        X : array of shape (n, d)
        y : array of shape (n,)

        Returns
        -------
        float
        """
        return float(self._fitted.score(X, y))

    @property
    def weights_(self) -> np.ndarray:
        """Kernel weights, shape (M,)."""
        return self._fitted.weights_

    @property
    def classes_(self) -> np.ndarray:
        """The classes."""
        return self._fitted.classes_

    @property
    def _fitted(self) -> Any:
        check_is_fitted(self, "best_estimator_")
        return self.best_estimator_

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        inner = self.estimator.__sklearn_tags__()
        tags.estimator_type = inner.estimator_type
        tags.classifier_tags, tags.regressor_tags = inner.classifier_tags, inner.regressor_tags
        return tags


def width_problem(estimator: Any, X: Any, y: Any, *, ard: bool) -> WidthProblem:
    """Return the problem of learning the widths of an estimator's kernels, after validation."""
    name = type(estimator).__name__
    X, y = np.asarray(X, dtype=float), np.asarray(y)
    if X.ndim != 2 or y.shape != (len(X),):
        raise ValueError(
            f"X must be an array of shape (n, d) and y of shape (n,), got {X.shape} and {y.shape}"
        )
    if is_classifier(estimator) and len(np.unique(y)) != 2:
        raise ValueError(
            f"y has {len(np.unique(y))} classes; widths are learned for two classes: wrap the "
            "estimator in OneVsRestClassifier of scikit-learn"
        )
    if estimator.normalize == "center":
        raise ValueError(f"{name} does not support normalize='center'; pass normalize='variance'")
    if getattr(estimator, "class_weight", None) is not None and estimator.normalize == "variance":
        raise ValueError(
            f"{name}: class_weight changes normalize='variance' with the widths; take "
            "normalize='unit', which leaves RBF kernels as they are"
        )
    given = estimator.kernels
    kernels = tuple(given if isinstance(given, Sequence) else (given,))
    columns = tuple(_columns(kernel, X.shape[1]) for kernel in kernels)
    if all(one is None for one in columns):
        raise ValueError(
            f"{name}: no kernel has learned widths; pass kernels=RBF(gamma='learn'), or a list of "
            f"kernels with such ones, got {given!r}"
        )
    return WidthProblem(estimator, kernels, X, y, columns, ard)


def _columns(kernel: object, width: int) -> np.ndarray | None:
    """Return the columns that a kernel with learned widths reads, None for other kernels."""
    if not isinstance(kernel, RBF) or kernel.gamma != LEARNED:
        return None
    every, chosen = np.arange(width), kernel.columns
    if chosen is None:
        return every
    try:
        return every[chosen if isinstance(chosen, slice) else np.atleast_1d(chosen)]
    except IndexError:
        raise ValueError(
            f"RBF: columns of a kernel with gamma='learn' must be integers below {width} or a "
            f"slice, got {chosen!r}"
        ) from None
