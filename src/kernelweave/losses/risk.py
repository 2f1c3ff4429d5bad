"""The empirical risk: the loss of all examples, its conjugate, and the best intercept.

    R(f, b) = sum_i C_i V(f_i + b, y_i) + tau b

V is the loss, C_i the cost of example i, f_i its decision value without the intercept b. tau is 0
except for one-class problems; without an intercept b is 0 and tau is None. A problem
(`problem.problem`) is a risk and a norm. Several outputs, such as one decision function per class,
can share the kernel weights. The sum of their risks is one risk, whose examples are those of the
first output, then those of the second, and so on.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np
from scipy.special import expit

from ..common.cached_property import cached_property
from ..common.types import Numbers
from .base import EDGE, DualTerm, Loss

SUM_ROUNDING = 1e-9  # tolerated error of sum_i alpha_i = tau, relative to sum_i |alpha_i|
TINY = np.finfo(float).tiny


@dataclass(frozen=True, eq=False)
class Risk:
    """A loss, and the targets and costs of n examples.

    Parameters
    ----------
    loss : Loss
        The loss V of one example.
    y : ndarray of shape (n,)
        Targets: -1 and +1 for a classifier, numbers for a regressor, not used for one class.
    C : ndarray of shape (n,)
        Cost of each example, at least 0.
    tau : float or None
        Required value of sum_i alpha_i (for each output). None if there is no intercept: the bias
        is 0, and nothing constrains the sum.
    n_outputs : int
        Number of outputs that share the weights, each with its own examples and its own bias.
    centre : float, or ndarray of shape (n_outputs,)
        Number that was subtracted from the targets, since rounding errors are smaller for targets
        near 0. It is added to the bias of the model. The decision functions stay the same, since
        the alphas add up to 0.
    sizes : tuple of ints, optional
        Number of examples of each output; by default n / n_outputs.
    """

    loss: Loss
    y: np.ndarray
    C: np.ndarray
    tau: float | None = 0.0
    n_outputs: int = 1
    centre: Numbers = 0.0
    sizes: tuple[int, ...] | None = None

    def __post_init__(self) -> None:
        for name in ("y", "C"):
            object.__setattr__(self, name, np.ascontiguousarray(getattr(self, name), dtype=float))
        if self.y.ndim != 1 or self.y.shape != self.C.shape:
            raise ValueError(
                "y and C must be vectors of one length, "
                f"got arrays of shapes {self.y.shape} and {self.C.shape}"
            )
        if not np.all(np.isfinite(self.C) & (self.C >= 0)):
            raise ValueError(
                "C must be finite and at least 0 for every example, got values from "
                f"{self.C.min():g} to {self.C.max():g}"
            )
        if self.n_outputs < 1 or (self.sizes is None and len(self.y) % self.n_outputs):
            raise ValueError(
                f"n_outputs must divide the number of examples, {len(self.y)}, "
                f"got {self.n_outputs!r}"
            )
        if self.sizes is not None and (
            len(self.sizes) != self.n_outputs or sum(self.sizes) != len(self.y)
        ):
            raise ValueError(
                f"sizes must be {self.n_outputs} numbers that add up to {len(self.y)}, "
                f"got {self.sizes!r}"
            )
        if self.tau is None:
            if np.any(self.centre):
                raise ValueError(f"centre must be 0 without an intercept, got {self.centre!r}")
            return
        lowest, highest = self.sums(self.term.lo).max(), self.sums(self.term.hi).min()
        slack = SUM_ROUNDING * abs(self.tau)
        if not lowest - slack <= self.tau <= highest + slack:
            raise ValueError(
                f"tau must lie between {lowest:g} and {highest:g}, which the alphas can add up to, "
                f"got {self.tau:g}"
            )

    @classmethod
    def sharing(cls, risks: Sequence[Risk]) -> Risk:
        """Return the sum of the risks of several outputs, which differ in y and C only."""
        y, C = (np.concatenate([getattr(risk, name) for risk in risks]) for name in "yC")
        centre = np.array([risk.centre for risk in risks])
        lengths = tuple(len(risk.y) for risk in risks)
        sizes = lengths if len(set(lengths)) > 1 else None
        return replace(risks[0], y=y, C=C, n_outputs=len(risks), centre=centre, sizes=sizes)

    @cached_property
    def term(self) -> DualTerm:
        """Conjugate of the loss of each example, as a function of alpha."""
        return self.loss.dual_term(self.y, self.C)

    @property
    def bounds(self) -> tuple[np.ndarray, np.ndarray]:
        """Lower and upper bounds of alpha, both of shape (n,)."""
        return self.term.lo, self.term.hi

    @property
    def further_targets(self) -> tuple[np.ndarray, ...]:
        """Arrays of shape (n,) that the risk depends on besides y and C."""
        return ()

    @property
    def responses(self) -> np.ndarray:
        """Values that good decision values correlate with, shape (n,): here the targets."""
        return self.y

    @cached_property
    def output_slices(self) -> list[slice]:
        """Positions of the examples of each output."""
        ends = np.cumsum(self._lengths).tolist()
        return [slice(*ends) for ends in zip([0, *ends], ends, strict=False)]

    @property
    def _lengths(self) -> tuple[int, ...]:
        """Number of examples of each output."""
        return self.sizes or (len(self.y) // self.n_outputs,) * self.n_outputs

    def per_example(self, values: Numbers) -> np.ndarray:
        """Repeat numbers of the outputs, such as biases, for their examples; shape (n,)."""
        if np.ndim(values) == 0 or self.n_outputs == 1:
            return np.full(len(self.y), np.ravel(values)[0], dtype=float)
        return np.repeat(np.asarray(values, dtype=float), self._lengths)

    @cached_property
    def per_output(self) -> list[Risk]:
        """The risk of each output."""
        if self.n_outputs == 1:
            return [self]
        centres = np.broadcast_to(self.centre, self.n_outputs)
        return [
            replace(
                self, y=self.y[part], C=self.C[part], n_outputs=1, centre=float(centre), sizes=None
            )
            for part, centre in zip(self.output_slices, centres, strict=True)
        ]

    def restricted(self, idx: np.ndarray, tau: float | None, cost_factor: float = 1.0) -> Risk:
        """Return the risk of some examples of one output.

        Parameters
        ----------
        idx : ndarray of shape (q,)
            Positions of the examples.
        tau : float or None
            Required sum of their alphas; None without an intercept.
        cost_factor : float
            Multiplies their costs; above 1 for a sample, so that the total cost is preserved.
        """
        risk = self.taken(idx, cost_factor * self.C[idx])
        return replace(risk, tau=tau, n_outputs=1, sizes=None)

    def taken(self, idx: np.ndarray, C: np.ndarray) -> Risk:
        """Return the risk of the examples idx, shape (q,), with costs C, shape (q,)."""
        return replace(self, y=self.y[idx], C=C)

    def value(self, F: np.ndarray, bias: Numbers) -> float:
        """Return the risk of outputs F, shape (n,), with a bias (one for each output)."""
        f = F + (self.per_example(bias) if self.n_outputs > 1 else bias)
        constant = self.tau * np.sum(bias) if self.tau else 0.0
        return float(self.C @ self.losses(f) + constant)

    def values(self, F: np.ndarray, bias: Numbers) -> np.ndarray:
        """Return the risk of each output, shape (n_outputs,); they add up to `value`."""
        values = self.sums(self.C * self.losses(F + self.per_example(bias)))
        return values + self.tau * np.asarray(bias) if self.tau else values

    def losses(self, f: np.ndarray) -> np.ndarray:
        """Return the loss of each example with decision values f, shape (n,)."""
        return self.loss.value(f, self.y)

    def conjugate(self, alpha: np.ndarray, near: np.ndarray | None = None) -> float:
        """Return the convex conjugate R* of the risk at -alpha, shape (n,), for feasible alphas.

        `near` are outputs, shape (n,), at which the gradient of the risk is about -alpha. Risks
        whose conjugate has no formula start their iterations there; others ignore it.
        """
        return float(self.term.conjugate(alpha).sum())

    def is_feasible(self, alpha: np.ndarray) -> bool:
        """Return whether alphas, shape (n,), add up to tau for every output, up to rounding."""
        return bool(self.outputs_are_feasible(alpha).all())

    def outputs_are_feasible(self, alpha: np.ndarray) -> np.ndarray:
        """Return for each output, shape (n_outputs,), whether its alphas add up to tau."""
        if self.tau is None:
            return np.ones(self.n_outputs, dtype=bool)
        drift = np.abs(self.sums(alpha) - self.tau)
        rounding = SUM_ROUNDING * (self.sums(np.abs(alpha)) + abs(self.tau))
        return np.asarray(drift <= rounding)

    def feasible_alpha(self) -> np.ndarray:
        """Return a feasible alpha, shape (n,), at which the conjugate has finite derivatives.

        It is 0, with two exceptions. The derivatives of the logistic and the smooth hinge loss are
        finite only strictly between the bounds. For one class the alphas have a positive sum.
        """
        if self.n_outputs > 1:
            return np.concatenate([risk.feasible_alpha() for risk in self.per_output])
        term = self.term
        if self.allows_zero and not term.ent.any():
            return np.zeros_like(self.y)
        if self.tau is None:
            return np.asarray(0.5 * (term.lo + term.hi))
        if self.tau == 0:
            return _balanced(term.lo, term.hi)
        return np.minimum(self.tau / term.hi.sum() * term.hi, term.hi)

    @property
    def has_intercept(self) -> bool:
        """Whether the model has a bias."""
        return self.tau is not None

    @property
    def allows_zero(self) -> bool:
        """Whether alphas may add up to 0: all risks except that of one class."""
        return self.tau is None or self.tau == 0

    @property
    def separates(self) -> bool:
        """Whether the risk is a sum over examples, so that `term` exists (for working sets)."""
        return True

    @property
    def is_smooth(self) -> bool:
        """Whether the risk has a Hessian everywhere, so that `response` exists."""
        return self.term.is_entropy

    def response(self, F: np.ndarray) -> Response:
        """Return the value, gradient and Hessian of a smooth risk at outputs F, shape (n,)."""
        term, bias = self.term, self.best_bias(F)
        width = term.hi - term.lo
        rate = np.divide(width, term.ent, out=np.zeros_like(width), where=width > 0)
        share = np.clip(expit(-rate * (F + bias + term.lin)), EDGE, 1 - EDGE)
        d = rate * width * share * (1 - share)

        def hessian(change: np.ndarray) -> np.ndarray:
            adapted = (d @ change) / max(float(d.sum()), TINY) if self.has_intercept else 0.0
            return np.asarray(d * (change - adapted))

        return Response(term.lo + width * share, self.value(F, bias), hessian)

    def infeasibility_gain(self, alpha: np.ndarray, bias: Numbers) -> float:
        """Return the amount by which rounding of sum_i alpha_i has raised the dual value.

        It is the violation of sum_i alpha_i = tau times its multiplier, the bias.
        """
        return float(np.sum(self.infeasibility_gains(alpha, bias)))

    def infeasibility_gains(self, alpha: np.ndarray, bias: Numbers) -> Numbers:
        """Return `infeasibility_gain` of each output, shape (n_outputs,)."""
        return 0.0 if self.tau is None else bias * (self.sums(alpha) - self.tau)

    def best_bias(self, F: np.ndarray, alpha: np.ndarray | None = None) -> Numbers:
        """Return the bias that minimises the risk of outputs F, shape (n,), one for each output.

        Some risks compute it from `alpha`, shape (n,), the dual variables of the model. The bias is
        rounded such that `bias + centre` has no rounding error. Without an intercept it is 0.
        """
        if self.tau is None:
            return np.zeros(self.n_outputs) if self.n_outputs > 1 else 0.0
        return (self._bias_of(F, self.tau) + self.centre) - self.centre

    def _bias_of(self, F: np.ndarray, tau: float) -> Numbers:
        """Return the minimiser b of sum_i C_i V(F_i + b, y_i) + tau b, one for each output."""
        if self.n_outputs == 1:
            return self.loss.best_bias(F, self.y, self.C, tau)
        best, y, C = self.loss.best_bias, self.y, self.C
        return np.array([best(F[part], y[part], C[part], tau) for part in self.output_slices])

    @cached_property
    def constant_model(self) -> tuple[float, Numbers]:
        """Value and bias of the constant model: intercept only, or 0 without an intercept."""
        F = np.zeros_like(self.y)
        bias = self.best_bias(F)
        return self.value(F, bias), bias

    @cached_property
    def constant_models(self) -> tuple[np.ndarray, np.ndarray]:
        """Value and bias of the constant model of each output, both of shape (n_outputs,)."""
        F = np.zeros_like(self.y)
        bias = np.atleast_1d(self.best_bias(F))
        return self.values(F, bias), bias

    @cached_property
    def zero(self) -> float:
        """Threshold below which the risk is treated as 0, since it is due to rounding."""
        return float(_zero(self.C @ self.losses(np.zeros_like(self.y))))

    @cached_property
    def zeros(self) -> np.ndarray:
        """The threshold `zero` of each output, shape (n_outputs,)."""
        return np.asarray(_zero(self.sums(self.C * self.losses(np.zeros_like(self.y)))))

    def sums(self, values: np.ndarray) -> np.ndarray:
        """Return the sum of values, shape (n,), over the examples of each output."""
        if self.sizes is None:
            return np.asarray(values.reshape(self.n_outputs, -1).sum(axis=1))
        starts = np.append(0, np.cumsum(self.sizes)[:-1])
        return np.asarray(np.add.reduceat(values, starts))


@dataclass(frozen=True, eq=False)
class Response:
    """Value and derivatives at F of a smooth risk that is minimised over the bias.

    Attributes
    ----------
    alpha : ndarray of shape (n,)
        Minus the gradient, which is feasible in the dual problem.
    value : float
        The risk.
    hessian : callable
        Returns the product of the Hessian with a vector, both of shape (n,). The Hessian is that
        of the minimum over the bias, if there is a bias.
    """

    alpha: np.ndarray
    value: float
    hessian: Callable[[np.ndarray], np.ndarray]


def _zero(risk: Numbers) -> Numbers:
    """Return the threshold below which risks are treated as 0, given the risk of outputs 0."""
    return 1e-24 * risk + TINY


def sum_constraint(fit_intercept: bool) -> float | None:
    """Return the required sum of alpha of classifiers and regressors: 0; None without intercept."""
    return 0.0 if fit_intercept else None


def _balanced(lo: np.ndarray, hi: np.ndarray) -> np.ndarray:
    """Return alphas with sum 0, shape (n,).

    Each alpha is a fraction of its positive bound, or of its negative bound if the former is 0. The
    fraction is the same for all bounds of one sign, and at most 1/2.
    """
    above, below = hi.sum(), -lo.sum()
    less = 0.5 * min(above, below)
    if less == 0:  # all bounds of one sign are 0: only alpha = 0 has sum 0
        return np.zeros_like(lo)
    return np.where(hi > 0, hi * (less / above), lo * (less / below))
