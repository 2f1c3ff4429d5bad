"""Proof for those who want it: the certificate of a fitted model, computed anew from its data.

Nothing that a solver kept is used: kernel values, outputs, losses and norms come from the training
data and from what a fit leaves in public, `dual_coef_`, `support_`, `weights_` and `intercept_`.
Kernel matrices are evaluated in blocks of rows, so that memory does not grow with their size.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from sklearn.base import is_classifier, is_regressor
from sklearn.utils.validation import check_is_fitted

from ..common.core import _core, single_threaded_blas
from ..estimators.base import MKLEstimator
from ..estimators.survival import BaseSurvival
from ..estimators.validation import check_examples, check_targets, check_weights, weighed
from ..kernels import CompiledKernels, Kernel
from ..kernels.compile.examples import Reading
from ..kernels.data.absent import completed, each_kernel
from ..norms import Fixed, as_norm
from ..problem.problem import Problem

BLOCK_BYTES = 1 << 26  # of kernel values at a time
ROUNDING = 1e-6  # how far values may be apart, relative to them, that were added up in other orders
EDGE = 1e-12  # how far a bound may be missed, relative to it, by a cost that was divided


@dataclass(frozen=True, repr=False, eq=False)
class Verification:
    """What a model claims, and what its training data say.

    Attributes
    ----------
    primal, dual, constant, gap : array of shape (rows of weights_,)
        Computed from the training data.
    reported_primal, reported_dual, reported_constant, reported_gap : likewise
        What the model says of itself. A model that an earlier version saved says nothing of the
        best constant (NaN), and its gap is relative to the primal value.
    agree : bool
        Whether all of them are the same but for rounding.

    Examples
    --------
    >>> import numpy as np
    >>> from kernelweave import MKLClassifier, verify
    >>> X = np.random.default_rng(0).normal(size=(60, 2))
    >>> y = X[:, 0] > 0
    >>> result = verify(MKLClassifier().fit(X, y), X, y)
    >>> result.agree
    True
    >>> bool(result.gap[0] <= 1e-3)
    True
    """

    primal: np.ndarray
    dual: np.ndarray
    constant: np.ndarray
    gap: np.ndarray
    reported_primal: np.ndarray
    reported_dual: np.ndarray
    reported_constant: np.ndarray
    reported_gap: np.ndarray

    @property
    def agree(self) -> bool:
        old = np.isnan(self.reported_constant)
        size = np.maximum(np.abs(self.reported_primal), np.abs(self.reported_dual))
        with np.errstate(divide="ignore", invalid="ignore"):  # a primal value of 0
            gap = np.where(old, (self.primal - self.dual) / np.abs(self.primal), self.gap)
        return bool(
            np.all(_close(self.primal, self.reported_primal, size))
            and np.all(_close(self.dual, self.reported_dual, size))
            and np.all(old | _close(self.constant, self.reported_constant, size))
            and np.all(_close(gap, self.reported_gap, 1.0 + np.abs(self.reported_gap)))
        )

    def __repr__(self) -> str:
        verdict = "agrees with" if self.agree else "DOES NOT AGREE with"
        lines = [f"Verification: the model {verdict} its training data"]
        for name in ("primal", "dual", "constant", "gap"):
            pairs = zip(getattr(self, name), getattr(self, f"reported_{name}"), strict=True)
            shown = ", ".join(f"{found:.6g} (reported {said:.6g})" for found, said in pairs)
            lines.append(f"  {name:8} {shown}")
        return "\n".join(lines)


def verify(model: MKLEstimator, X: Any, y: Any = None, sample_weight: Any = None) -> Verification:
    """Compute the certificate of a fitted model from its training data.

    Parameters
    ----------
    model : fitted MKLClassifier, MKLRegressor, MKLOneClass or MKLSurvival, or one of those that
        select a model
    X : the n examples that it was trained on
    y : their targets, shape (n,); ignored for one class
    sample_weight : what `fit` was given, shape (n,) or None

    Returns
    -------
    Verification
        Both objective values, that of the best constant, and the gap next to the reported ones.
        With other data than those of the fit they do not agree.

    Raises
    ------
    ValueError
        Where X and y cannot be what the model was trained on: other columns, fewer examples than
        it has seen, other classes.

    Examples
    --------
    >>> import numpy as np
    >>> from kernelweave import MKLClassifier, verify
    >>> from kernelweave.kernels import RBF
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(60, 2))
    >>> y = X[:, 0] * X[:, 1] > 0
    >>> model = MKLClassifier(RBF([0.1, 1.0]), norm=1).fit(X, y)
    >>> verify(model, X, y).agree
    True
    """
    if not isinstance(model, MKLEstimator):
        raise TypeError(f"model must be an estimator of kernelweave, got {type(model).__name__}")
    check_is_fitted(model)
    X = check_examples(model, X, reset=False)
    problems = _problems(model, X, y, sample_weight)
    n = len(problems[0].y)
    if model.support_.size and model.support_.max() >= n:
        raise ValueError(
            f"X must hold the examples that the model was trained on: it has {n}, but "
            f"support_ names example {model.support_.max()}"
        )
    weights = np.atleast_2d(model.weights_)
    counted = np.any([problem.C > 0 for problem in problems], axis=0)
    if len(weights) < len(problems):
        problems = [Problem.sharing(problems)]
    alpha = np.zeros((len(model.dual_coef_), n))
    alpha[:, model.support_] = model.dual_coef_
    varying = model._model.compiled.varying
    each = np.broadcast_to(weights, (len(alpha), weights.shape[1]))
    F, s = _outputs(model, X, alpha, each, counted)
    found = [
        _values(
            _judged(model, problem, theta, varying),
            alpha[rows],
            F[rows],
            s[rows][:, varying],
            theta[varying],
            bias - problem.centre,
        )
        for problem, theta, rows, bias in _rows(problems, weights, model.intercept_)
    ]
    names = ("primal_objective_", "dual_objective_", "constant_objective_", "duality_gap_")
    said = [np.atleast_1d(getattr(model, name, np.full(len(weights), np.nan))) for name in names]
    return Verification(*np.array(found).T, *said)


def _close(found: np.ndarray, said: np.ndarray, size: np.ndarray) -> np.ndarray:
    """Return which values are the same but for rounding, relative to a size."""
    with np.errstate(invalid="ignore"):  # infinite values are equal or not
        same: np.ndarray = (found == said) | (np.abs(found - said) <= ROUNDING * size)
    return same


def _problems(model: Any, X: Any, y: Any, sample_weight: Any) -> list[Problem]:
    """Return the problem of each output."""
    norm = as_norm(model.norm_ if hasattr(model, "norm_") else model.norm)
    if getattr(model, "multilabel_", False):
        each: list[Problem] = model._label_problems(X, y, sample_weight)[0]
        return each
    if is_classifier(model):
        classes, codes = model._labels(X, y)
        if not np.array_equal(classes, model.classes_):
            raise ValueError(
                f"y must hold the classes of the model, {model.classes_.tolist()}, "
                f"got {classes.tolist()}"
            )
        costs = weighed(_C(model), model._costs(classes, codes, sample_weight))
        problems: list[Problem] = model._problems(codes, costs, norm)
        return problems
    if is_regressor(model):
        y = check_targets(model, X, y, numeric=True, several=True).astype(float)
        costs = check_weights(sample_weight, len(y))
        costs = np.multiply.outer(_C(model), costs)
        single: list[Problem] = model._problems(y, costs, norm, model.epsilon_)
        return single
    if isinstance(model, BaseSurvival):
        return [model._problem(X, y, sample_weight, _C(model), norm)]
    return [model._problem(X, sample_weight)]


def _C(model: Any) -> Any:
    return model.C_ if hasattr(model, "C_") else model.C


def _judged(model: Any, problem: Problem, theta: np.ndarray, varying: np.ndarray) -> Problem:
    """Return the problem that was certified: that of the kernels that vary.

    Two-stage weights, shape (M,), are given ones.
    """
    two_stage = model.solver in ("alignment", "centered-alignment")
    return replace(problem, norm=(Fixed(theta) if two_stage else problem.norm).among(varying))


def _rows(problems: list[Problem], weights: np.ndarray, bias: np.ndarray) -> Iterator[Any]:
    """Give each problem with its weights, (M,), and the rows and biases of its machines."""
    first = 0
    for problem, theta in zip(problems, weights, strict=True):
        rows = slice(first, first + problem.n_outputs)
        yield problem, theta, rows, bias[rows]
        first = rows.stop


def _values(
    problem: Problem,
    alpha: np.ndarray,
    F: np.ndarray,
    s: np.ndarray,
    theta: np.ndarray,
    bias: np.ndarray,
) -> tuple[float, float, float, float]:
    """Return both values, that of the best constant, and the gap.

    alpha and F have shape (machines, n), s has shape (machines, M).
    """
    flat, total = alpha.ravel(), s.sum(axis=0)
    inside = np.clip(flat, *problem.risk.bounds)
    flat = np.where(np.abs(flat - inside) <= EDGE * np.abs(inside), inside, flat)
    primal = problem.primal(F.ravel(), total, theta, bias)
    dual = problem.dual(flat, total) - problem.risk.infeasibility_gain(flat, bias)
    return primal, dual, problem.constant, problem.gap(primal, dual)


def _outputs(
    model: Any, X: Any, alpha: np.ndarray, weights: np.ndarray, counted: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Return the outputs without bias, shape (outputs, n), and alpha' K_m alpha, (outputs, M).

    They are 0 for examples without cost, (n,) not `counted`, of which kernels may be infinite.
    """
    F, s = np.zeros(alpha.shape), np.zeros(weights.shape)
    last = 0
    for kernel in each_kernel(model._model.compiled):
        members = slice(last, last + kernel.n_kernels)
        last = members.stop
        for rows, K, columns in _blocks(kernel, X, model.support_, alpha.shape[1], model.n_jobs):
            with np.errstate(over="ignore", invalid="ignore"):
                g = K @ alpha[:, columns].T  # (members, rows, outputs)
            g[:, ~counted[rows]] = 0.0
            F[:, rows] += np.einsum("om,mro->or", weights[:, members], g)
            s[:, members] += np.einsum("mro,or->om", g, alpha[:, rows])
    return F, s


def _blocks(
    kernel: Kernel, X: Any, support: np.ndarray, n: int, n_jobs: int | None
) -> Iterator[tuple[slice, np.ndarray, Any]]:
    """Give rows of n examples, kernel values of shape (M, rows, columns), and what columns are."""
    if _is_given(kernel):  # X is the whole matrix, and may need a repair as a whole
        yield slice(0, n), kernel(X).reshape(-1, n, n), slice(0, n)
        return
    if support.size == 0:
        return
    reading = Reading(X, training=True, n_jobs=n_jobs)
    compiled = CompiledKernels((completed(kernel, reading, reading),))
    examples = compiled.read(reading)
    some = examples.take(support)
    size = max(1, BLOCK_BYTES // (8 * kernel.n_kernels * support.size))
    for start in range(0, n, size):
        rows = slice(start, min(start + size, n))
        part = examples.take(np.arange(start, rows.stop))
        with single_threaded_blas():
            K = _core.evaluate(compiled.program, part.side, some.side, reading.n_jobs)
        yield rows, K, support


def _is_given(kernel: Kernel) -> bool:
    return "given" in CompiledKernels((kernel,)).kinds
