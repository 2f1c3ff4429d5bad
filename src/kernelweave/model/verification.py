"""Verification: the certificate of a fitted model, recomputed from its training data.

Nothing that a solver cached is used: kernel values, outputs, losses and norms are computed from the
training data and from the `Model` that predicts. Its support vectors must be the training examples
with the indices `support_`. Kernel matrices are evaluated in blocks of rows, so that memory does
not grow with their size.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.base import is_classifier, is_regressor
from sklearn.utils.validation import check_is_fitted

from ..common.core import _core, single_threaded_blas
from ..common.types import Data
from ..estimators.base import MKLEstimator
from ..estimators.fitted import NO_SUPPORT
from ..estimators.survival import BaseSurvival
from ..estimators.validation import check_examples, check_targets, check_weights, weighed
from ..kernels import CompiledKernels, Kernel
from ..kernels.compile.examples import Reading
from ..kernels.compile.normalized_kernels import FromMean
from ..kernels.data.absent import absent_of_members, completed, each_kernel
from ..norms import Fixed
from ..optimization.named_methods import find_method
from ..problem.problem import Problem
from .files.checkpoint import encoded
from .model import Model
from .recalibration import calibration_agrees
from .statistics import sample_size, spread, view_numbers

if TYPE_CHECKING:
    from ..estimators.fitted import FittedEstimator
    from ..estimators.formulation import Formulation

BLOCK_BYTES = 1 << 26  # memory of the kernel values evaluated at a time
ROUNDING = 1e-6  # allowed relative difference of values that were summed in different orders
STATISTICS_ROUNDING = 1e-4  # of means and deviations, which are accurate to six digits
STANDARD_ERRORS = 10.0  # allowed difference of a mean over a sample, in standard errors
BOUND_ROUNDING = 1e-12  # allowed relative violation of a bound by a dual variable that was divided


@dataclass(frozen=True, repr=False, eq=False)
class Verification:
    """Reported and recomputed certificate of a model.

    Attributes
    ----------
    primal, dual, constant, gap : array of shape (n_weight_vectors,)
        Objective values, objective value of the constant model, and relative duality gap, computed
        from the training data.
    reported_primal, reported_dual, reported_constant, reported_gap : array, likewise
        Values reported by the model. Models of earlier versions do not report the constant model
        (NaN), and their gap is relative to the primal value.
    intercepts_agree : bool
        Whether the intercepts are those that a fit chooses for the decision values. For the hinge
        loss the best intercepts can form an interval; a fit chooses its midpoint.
    support_vectors_agree : bool
        Whether the support vectors of the model are the training examples `support_` of X.
    statistics_agree : bool
        Whether the mean contributions of the kernels, which predictions use if a view is absent,
        and the deviations that `weights_frame` reports are those of the training examples.
    calibration_agrees : bool
        Whether calibrators, conformity scores, leave-one-out models and the baseline hazard are
        those recomputed from the training examples. Folds of cross-fitting are trained again.
    agree : bool
        Whether all reported and recomputed values agree up to rounding.

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
    intercepts_agree: bool = True
    support_vectors_agree: bool = True
    statistics_agree: bool = True
    calibration_agrees: bool = True

    @property
    def agree(self) -> bool:
        """Whether all recomputed values agree with the reported ones, up to rounding."""
        old = np.isnan(self.reported_constant)
        size = np.maximum(np.abs(self.reported_primal), np.abs(self.reported_dual))
        with np.errstate(divide="ignore", invalid="ignore"):  # a primal value of 0
            gap = np.where(old, (self.primal - self.dual) / np.abs(self.primal), self.gap)
        return bool(
            self.intercepts_agree
            and self.support_vectors_agree
            and self.statistics_agree
            and self.calibration_agrees
            and np.all(_close(self.primal, self.reported_primal, size))
            and np.all(_close(self.dual, self.reported_dual, size))
            and np.all(old | _close(self.constant, self.reported_constant, size))
            and np.all(_close(gap, self.reported_gap, 1.0 + np.abs(self.reported_gap)))
        )

    def __repr__(self) -> str:
        verdict = "agrees with" if self.agree else "DOES NOT AGREE with"
        lines = [f"Verification: the model {verdict} its training data"]
        for name in ("primal", "dual", "constant", "gap"):
            pairs = zip(getattr(self, name), getattr(self, f"reported_{name}"), strict=True)
            values = ", ".join(f"{found:.6g} (reported {stated:.6g})" for found, stated in pairs)
            lines.append(f"  {name:8} {values}")
        if not self.intercepts_agree:
            lines.append("  the intercepts are not those that a fit chooses")
        if not self.support_vectors_agree:
            lines.append("  the support vectors are not the examples `support_` of X")
        if not self.statistics_agree:
            lines.append("  the mean contributions of the kernels are not those on X")
        if not self.calibration_agrees:
            lines.append("  probabilities, sets, intervals or hazards do not follow from X and y")
        return "\n".join(lines)


def verify(
    model: MKLEstimator, X: Data, y: object = None, sample_weight: object = None
) -> Verification:
    """Recompute the certificate of a fitted model from its training data.

    Parameters
    ----------
    model : fitted MKLClassifier, MKLRegressor, MKLOneClass or MKLSurvival, or one of the searches
    X : the n training examples
    y : array of shape (n,) or (n, n_outputs), optional
        Their targets; ignored by one-class models.
    sample_weight : array of shape (n,), optional
        The weights that were passed to `fit`.

    Returns
    -------
    Verification
        Recomputed and reported values. They do not agree if X, y and sample_weight are not those of
        the fit, or if the model was altered so that it predicts differently.

    Raises
    ------
    ValueError
        If X and y cannot be the training data (other columns, fewer examples, other classes), or if
        the model has no certificate.

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
    fitted = _certified(model)
    X = check_examples(model, X, reset=False)
    problems = problems_of(model, X, y, sample_weight)
    _check_sizes(fitted, problems)
    outputs = _Outputs.of(fitted, problems)
    outputs.add_all(X, model.support_, model.n_jobs)
    solutions = list(_solutions(model, problems, outputs))
    primal, dual, constant, gap = np.array([one.values() for one in solutions]).T
    unknown = np.full(len(primal), np.nan)  # models of earlier versions do not report it
    return Verification(
        primal=primal,
        dual=dual,
        constant=constant,
        gap=gap,
        reported_primal=np.atleast_1d(model.primal_objective_),
        reported_dual=np.atleast_1d(model.dual_objective_),
        reported_constant=np.atleast_1d(getattr(model, "constant_objective_", unknown)),
        reported_gap=np.atleast_1d(model.duality_gap_),
        intercepts_agree=all(one.intercepts_agree() for one in solutions),
        support_vectors_agree=_support_vectors_agree(fitted, X, model.n_jobs),
        statistics_agree=outputs.statistics_agree(),
        calibration_agrees=calibration_agrees(model, X, y, problems),
    )


def _check_sizes(model: Model, problems: list[Problem]) -> None:
    """Raise ValueError if the training data have too few examples or another number of outputs."""
    n, support = len(problems[0].y) // problems[0].n_outputs, model.support
    if support is not None and support.size and support.max() >= n:
        raise ValueError(
            f"X must be the examples that the model was trained on: it has {n}, but "
            f"support_ contains index {support.max()}"
        )
    outputs = sum(problem.n_outputs for problem in problems)
    if outputs != len(model.intercept):
        raise ValueError(
            f"y must be the targets of the fit: they give {outputs} problems, but the model "
            f"has {len(model.intercept)} decision functions"
        )


def _certified(model: FittedEstimator) -> Model:
    """Return the model of an estimator; raise ValueError if there is nothing to verify."""
    if not hasattr(model, "duality_gap_"):
        raise ValueError(
            "model has no certificate: it was not trained by kernelweave (such as models of "
            "LS-GKM); fit it on its training data"
        )
    if model._model.support is None:
        raise ValueError(f"model cannot be verified: {NO_SUPPORT}")
    fitted: Model = model._model
    norm = model._used_norm
    norm.value(fitted.weights[0])  # raises ValueError if the norm is for another number of kernels
    return fitted


def _shares(costs: np.ndarray) -> np.ndarray:
    """Return the weight of each example in means, shape (n,), from its cost."""
    with np.errstate(over="ignore", invalid="ignore"):
        shares: np.ndarray = costs / costs.sum()
    return shares


def _close(found: np.ndarray, stated: np.ndarray, size: np.ndarray) -> np.ndarray:
    """Return a mask of the values that are equal up to rounding relative to `size`."""
    with np.errstate(invalid="ignore"):  # infinity minus infinity
        same: np.ndarray = (found == stated) | (np.abs(found - stated) <= ROUNDING * size)
    return same


def problems_of(
    model: FittedEstimator, X: object, y: object, sample_weight: object
) -> list[Problem]:
    """Return the problem of each output, or the one problem of a joint multi-class loss."""
    norm = model._used_norm
    if getattr(model, "multilabel_", False):
        return model._label_problems(X, y, sample_weight)[0]
    if is_classifier(model):
        classes, codes = model._labels(X, y)
        if not np.array_equal(classes, model.classes_):
            raise ValueError(
                f"y must contain the classes of the model, {model.classes_.tolist()}, "
                f"got {classes.tolist()}"
            )
        costs = weighed(_C(model), model._costs(classes, codes, sample_weight))
        posed: Formulation = model._formulation(codes, costs, norm, len(classes))
        return list(posed.on_all)
    if is_regressor(model):
        y = check_targets(model, X, y, numeric=True, several=True).astype(float)
        costs = check_weights(sample_weight, len(y))
        costs = np.multiply.outer(_C(model), costs)
        return model._problems(y, costs, norm, model.epsilon_)
    if isinstance(model, BaseSurvival):
        return [model._problem(X, y, sample_weight, _C(model), norm)]
    return [model._problem(X, sample_weight)]


def _C(model: FittedEstimator) -> Any:
    return model.C_ if hasattr(model, "C_") else model.C


def _certified_problem(
    model: FittedEstimator, problem: Problem, theta: np.ndarray, varying: np.ndarray
) -> Problem:
    """Return the problem whose gap was certified: `problem` without the constant kernels.

    `varying` are the indices of the other kernels. Two-stage methods certify the SVM with fixed
    weights theta, shape (M,).
    """
    method = find_method(model.solver, problem.norm, problem.loss)
    two_stage = method.first_stage is not None
    return replace(problem, norm=(Fixed(theta) if two_stage else problem.norm).among(varying))


@dataclass(frozen=True, eq=False)
class _Solution:
    """The part of a model that solves one problem, with the outputs of its kernels.

    Attributes
    ----------
    problem : Problem
        The problem that was certified.
    alpha, F : arrays of shape (n_outputs, n)
        Dual variables, and decision values without intercept.
    s : array of shape (n_outputs, M)
        Squared block norms.
    theta : array of shape (M,)
        Kernel weights.
    bias : array of shape (n_outputs,)
        Intercepts for the targets of the problem, which are centred.
    """

    problem: Problem
    alpha: np.ndarray
    F: np.ndarray
    s: np.ndarray
    theta: np.ndarray
    bias: np.ndarray

    def values(self) -> tuple[float, float, float, float]:
        """Return primal value, dual value, objective of the constant model, and gap."""
        problem, alpha, s = self.problem, self.alpha.ravel(), self.s.sum(axis=0)
        inside = np.clip(alpha, *problem.risk.bounds)
        alpha = np.where(np.abs(alpha - inside) <= BOUND_ROUNDING * np.abs(inside), inside, alpha)
        primal = problem.primal(self.F.ravel(), s, self.theta, self.bias)
        dual = problem.dual(alpha, s, self.F.ravel())
        dual -= problem.risk.infeasibility_gain(alpha, self.bias)
        return primal, dual, problem.constant, problem.gap(primal, dual)

    def intercepts_agree(self) -> bool:
        """Return whether the intercepts are optimal, or the midpoint of an optimal interval."""
        with np.errstate(over="ignore", invalid="ignore"):
            constant = not self.theta.any()
            fitted = self.problem.best_bias(self.F.ravel(), self.alpha.ravel())
            best = self.problem.constant_model[1] if constant else fitted
            size = np.abs(self.F).max(initial=0.0) + np.abs(best)
        return bool(np.all(_close(np.asarray(best), self.bias, size)))


def _solutions(
    model: FittedEstimator, problems: list[Problem], outputs: _Outputs
) -> Iterator[_Solution]:
    """Yield the solution of each problem; outputs that share their weights have one."""
    fitted: Model = model._model
    weights, varying = fitted.weights[: fitted.n_weight_vectors], fitted.compiled.varying
    if len(weights) < len(problems):
        problems = [Problem.sharing(problems)]
    first = 0
    for problem, theta in zip(problems, weights, strict=True):
        rows = slice(first, first + problem.n_outputs)
        first = rows.stop
        yield _Solution(
            _certified_problem(model, problem, theta, varying),
            outputs.alpha[rows],
            outputs.F[rows],
            outputs.s[rows][:, varying],
            theta[varying],
            fitted.intercept[rows] - problem.centre,
        )


class _Outputs:
    """Outputs of the kernels for the dual variables of a model, added up kernel by kernel.

    Attributes
    ----------
    alpha : array of shape (n_outputs, n)
        Dual variables.
    F : array of shape (n_outputs, n)
        Decision values without intercept; 0 for examples without cost, whose kernel values may be
        infinite.
    s : array of shape (n_outputs, M)
        Squared block norms alpha' K_m alpha.
    """

    def __init__(
        self, model: Model, alpha: np.ndarray, counted: np.ndarray, shares: np.ndarray
    ) -> None:
        self._model, self.alpha, self._counted, self._shares = model, alpha, counted, shares
        n_outputs, n = alpha.shape
        self.F, self.s = np.zeros((n_outputs, n)), np.zeros(model.weights.shape)
        self._means, self._squares = np.zeros_like(self.s), np.zeros_like(self.s)
        self._views = view_numbers(model.compiled.views)
        self._by_view = np.zeros((n, n_outputs, self._views.max() + 1))

    @classmethod
    def of(cls, model: Model, problems: list[Problem]) -> _Outputs:
        """Return an instance with the alphas of a model and with outputs of 0, to be added up."""
        costs = np.concatenate([problem.C.reshape(problem.n_outputs, -1) for problem in problems])
        alpha = np.zeros(costs.shape)
        alpha[:, model.support] = model.dual_coef
        return cls(model, alpha, np.any(costs > 0, axis=0), _shares(costs.sum(axis=0)))

    def add_all(self, X: Data, support: np.ndarray, n_jobs: int | None) -> None:
        """Evaluate all kernels on the training examples X."""
        last, n = 0, self.alpha.shape[1]
        with np.errstate(over="ignore", invalid="ignore"):
            for kernel in each_kernel(self._model.compiled):
                members = slice(last, last + kernel.n_kernels)
                last = members.stop
                for rows, K, columns in _blocks(kernel, X, support, n, n_jobs):
                    g = K @ self.alpha[:, columns].T  # (members, rows, n_outputs)
                    g[:, ~self._counted[rows]] = 0.0
                    self._add(members, rows, g)

    def _add(self, members: slice, rows: slice, g: np.ndarray) -> None:
        """Add the outputs g of some kernels for some examples, (members, rows, n_outputs)."""
        weights, shares = self._model.weights[:, members], self._shares[rows]
        self.s[:, members] += np.einsum("mro,or->om", g, self.alpha[:, rows])
        contributions = np.einsum("om,mro->mro", weights, g)
        self.F[:, rows] += contributions.sum(axis=0).T
        self._means[:, members] += np.einsum("r,mro->om", shares, contributions)
        self._squares[:, members] += np.einsum("r,mro->om", shares, contributions**2)
        for view in np.unique(self._views[members]):
            of_view = contributions[self._views[members] == view].sum(axis=0)
            self._by_view[rows, :, view] += of_view

    def statistics_agree(self) -> bool:
        """Return whether means and deviations of the model are those of the training examples.

        A fit on many examples uses a sample of them (`sample_size`). Then only means are
        compared, and allowed to differ by `STANDARD_ERRORS`.
        """
        model = self._model
        if model.means is None:
            return True
        with np.errstate(over="ignore", invalid="ignore"):
            deviations = np.sqrt(np.maximum(self._squares - self._means**2, 0.0))
            by_view = spread(self._by_view, self._shares)[1]
        size = float(np.nan_to_num(np.abs(model.means) + deviations).max())
        tolerance = STATISTICS_ROUNDING * size
        sampled = sample_size(model.weights, len(self._shares))
        if sampled < len(self._shares):
            errors = STANDARD_ERRORS * deviations / math.sqrt(sampled)
            return _within(self._means, model.means, tolerance + errors)
        agrees = _within(self._means, model.means, tolerance)
        if model.deviations is not None:
            agrees &= _within(deviations, model.deviations, tolerance)
        if model.view_deviations is not None:
            most = max(Counter(self._views.tolist()).values())
            agrees &= _within(by_view, model.view_deviations, most * tolerance)
        return agrees


def _within(found: np.ndarray, stated: np.ndarray, tolerance: object) -> bool:
    """Return whether values differ by at most a tolerance; overflow is not compared."""
    with np.errstate(over="ignore", invalid="ignore"):
        return bool(np.all((np.abs(found - stated) <= tolerance) | ~np.isfinite(found)))


def _support_vectors_agree(model: Model, X: Data, n_jobs: int | None) -> bool:
    """Return whether the support vectors of a model are the examples `support` of X.

    Tables must be equal, and the vectors of normalisations equal up to rounding.
    """
    support = np.empty(0, dtype=np.int64) if model.support is None else model.support
    reading = Reading(X, training=True, n_jobs=n_jobs)
    expected = model.compiled.read(reading).reference(support)
    merged_into = np.arange(model.examples.n) if model.merged_into is None else model.merged_into
    found = model.examples.take(merged_into)
    if expected.sources != found.sources or expected.vectors.shape != found.vectors.shape:
        return False
    (document, arrays), (other, others) = map(encoded, (expected.tables, found.tables))
    if document != other or not all(map(_equal, arrays, others)):
        return False
    unused = _unused_slots(model.compiled, reading)[:, support]
    vectors = np.where(unused, 0.0, expected.vectors), np.where(unused, 0.0, found.vectors)
    size = np.abs(np.nan_to_num(vectors[0])).max(initial=0.0)
    return np.allclose(*vectors, rtol=ROUNDING, atol=ROUNDING * size, equal_nan=True)


def _unused_slots(compiled: CompiledKernels, reading: Reading) -> np.ndarray:
    """Return a mask of the normalisation factors of absent views, shape (slots, n).

    A slot contains one factor for each example. Factors of examples without the view have no
    effect: `Extrapolated` multiplies the kernel by 0.
    """
    slots = [np.zeros((0, reading.n), dtype=bool)]
    for kernel in compiled.listing.layout.slotted:
        absent = np.zeros((kernel.n_kernels, reading.n), dtype=bool)
        if isinstance(kernel, FromMean):
            absent |= absent_of_members(kernel, reading)
        slots.append(absent)
    return np.concatenate(slots)


def _equal(one: np.ndarray, two: np.ndarray) -> bool:
    return np.array_equal(one, two, equal_nan=one.dtype.kind == two.dtype.kind == "f")


def _blocks(
    kernel: Kernel, X: Data, support: np.ndarray, n: int, n_jobs: int | None
) -> Iterator[tuple[slice, np.ndarray, Any]]:
    """Yield rows, kernel values of shape (M, rows, columns), and the examples of the columns."""
    if _is_given(kernel):  # X is the complete matrix; a repair needs all of it
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
