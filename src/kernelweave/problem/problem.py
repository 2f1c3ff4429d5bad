"""The problem that every solver solves, and the certificate that judges what it returns.

    P:  min over w, b, theta    sum_i C_i V(f_i, y_i) + tau b + 1/2 sum_m ||w_m||^2 / theta_m
                                with theta >= 0, ||theta|| <= 1, f_i = sum_m <w_m, psi_m(x_i)> + b

    D:  max over alpha          -sum_i C_i V*(-alpha_i / C_i, y_i) - 1/2 ||s||_dual
                                with sum_i alpha_i = tau and s_m = alpha' K_m alpha

A solver works on (alpha, theta). They stand for the model w_m = theta_m sum_i alpha_i psi_m(x_i):
f_i = F_i + b with F_i = sum_m theta_m g_mi and g_mi = sum_j alpha_j k_m(x_j, x_i), and the
regularisation term is 1/2 theta . s (`norms` has the exception). tau is 0 except for one class.

Several outputs, such as one decision function per class, can share their weights: P is then the
sum of their problems under one theta, and in D s is the sum of their s. They are one problem over
the examples of the first output, then those of the second, and so on.

Every value of P bounds every value of D from above. So the gap between the two values of
(alpha, theta), with the best b for it, certifies the model, however it was found. It is relative to
what is lost or to what learning can gain, whichever is smaller:

    gap = (P - D) / min(|P|, P0 - D),    P0 = min over b of sum_i C_i V(b, y_i) + tau b,

P0 being the value of the best constant. At a small C all models cost nearly P0, and |P| alone would
call any of them good; at a large C they cost next to nothing of P0, and P0 - D alone would. No
model gains more than P0 - D over the best constant: where that is rounding there is nothing to
learn, and what is certified is the constant.
"""

from __future__ import annotations

from collections.abc import Sequence
from copy import copy
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ..common.cached_property import cached_property
from ..losses import DualTerm, Loss
from ..norms import Fixed, Norm

_ROUNDING = 1e-9  # how far a sum of alphas may drift, relative to the sum of their sizes
_TINY = np.finfo(float).tiny
NOTHING = 1e-10  # part of what the best constant costs that is nothing but rounding,
LEAST_NOTHING = 1e-13  # and below which there are no digits


@dataclass(frozen=True, kw_only=True)
class Certificate:
    """What is known of a model: the values of both problems, their relative gap, and its bias.

    `constant` is the primal value of the best constant. Outputs that share their weights have a
    bias each, shape (n_outputs,).
    """

    primal: float
    dual: float
    constant: float
    gap: float
    bias: Any

    @property
    def scale(self) -> float:
        """What the gap is relative to: what is lost, or what learning can gain."""
        return min(abs(self.primal), self.constant - self.dual)

    @property
    def finite(self) -> bool:
        """Whether the values are numbers; the dual value of an infeasible alpha is -inf."""
        return bool(np.isfinite(self.primal)) and self.dual < np.inf


@dataclass(frozen=True, eq=False)
class Problem:
    """A loss, a norm, and the targets and costs of n examples.

    Parameters
    ----------
    loss : Loss
    norm : Norm
    y : array of shape (n,)
        Targets: -1 and +1 for a classifier, any number for a regressor; not used for one class.
    C : array of shape (n,)
        The cost of each example, at least 0.
    tau : float
        What the alphas (of each output) add up to.
    n_outputs : int
        How many outputs share the weights, each with n / n_outputs examples and a bias of its own.
    centre : float, or an array with that of each output
        What has been subtracted from the targets, and is to be added to the bias. Since alphas add
        up to 0, both problems are the same for targets anywhere, but far from 0 targets, outputs
        and values have few digits left of what differs.
    """

    loss: Loss
    norm: Norm
    y: np.ndarray
    C: np.ndarray
    tau: float = 0.0
    n_outputs: int = 1
    centre: Any = 0.0

    def __post_init__(self) -> None:
        for name in ("y", "C"):
            object.__setattr__(self, name, np.ascontiguousarray(getattr(self, name), dtype=float))
        if self.y.ndim != 1 or self.y.shape != self.C.shape:
            raise ValueError(
                "y and C must be vectors of one length, "
                f"got arrays of shapes {self.y.shape} and {self.C.shape}"
            )
        if not np.all(np.isfinite(self.C) & (self.C >= 0)):
            raise ValueError("C must be finite and at least 0 for every example")
        if self.n_outputs < 1 or len(self.y) % self.n_outputs:
            raise ValueError(
                f"n_outputs must divide the number of examples, {len(self.y)}, "
                f"got {self.n_outputs!r}"
            )
        lowest, highest = self._sums(self.term.lo).max(), self._sums(self.term.hi).min()
        slack = _ROUNDING * abs(self.tau)
        if not lowest - slack <= self.tau <= highest + slack:
            raise ValueError(
                f"tau must lie between {lowest:g} and {highest:g}, which the alphas can add up to, "
                f"got {self.tau:g}"
            )

    @cached_property
    def term(self) -> DualTerm:
        """The dual terms of the loss."""
        return self.loss.dual_term(self.y, self.C)

    @classmethod
    def sharing(cls, problems: Sequence[Problem]) -> Problem:
        """Return the problem of outputs that share their weights, alike but for y and C."""
        y, C = (np.concatenate([getattr(problem, name) for problem in problems]) for name in "yC")
        centre = np.array([problem.centre for problem in problems])
        return replace(problems[0], y=y, C=C, n_outputs=len(problems), centre=centre)

    @cached_property
    def output_slices(self) -> list[slice]:
        """Where the examples of each output are."""
        size = len(self.y) // self.n_outputs
        return [slice(k * size, (k + 1) * size) for k in range(self.n_outputs)]

    @cached_property
    def per_output(self) -> list[Problem]:
        """The problem of each output, as if it had weights of its own."""
        if self.n_outputs == 1:
            return [self]
        centres = np.broadcast_to(self.centre, self.n_outputs)
        return [
            replace(self, y=self.y[part], C=self.C[part], n_outputs=1, centre=float(centre))
            for part, centre in zip(self.output_slices, centres, strict=True)
        ]

    def restricted(self, idx: np.ndarray, tau: float, cost_factor: float = 1.0) -> Problem:
        """Return the problem of some examples of one output.

        Parameters
        ----------
        tau : what their alphas add up to.
        cost_factor : multiplies their costs; above 1 where they stand for all examples.
        """
        return replace(self, y=self.y[idx], C=cost_factor * self.C[idx], tau=tau, n_outputs=1)

    def given(self, theta: np.ndarray) -> Problem:
        """Return the inner problem: the same with kernel weights that are given, shape (M,).

        What does not depend on the norm is not computed again. That there is nothing to learn takes
        small energies of all kernels; so the sum of them is to be smaller still.
        """
        inner = copy(self)
        object.__setattr__(inner, "norm", Fixed(theta))
        least = max(NOTHING / len(theta), LEAST_NOTHING)
        object.__setattr__(inner, "_rounding", max(least * self.constant, self._nothing))
        object.__setattr__(inner, "_last", vars(self).setdefault("_last", []))
        vars(inner).pop("per_output", None)
        return inner

    def primal(self, F: np.ndarray, s: np.ndarray, theta: np.ndarray, bias: Any) -> float:
        """Return the primal value of a model.

        Parameters
        ----------
        F : array of shape (n,)
            Outputs of the model on the examples, without the bias.
        s : array of shape (M,)
        theta : array of shape (M,)
        bias : float, or an array of shape (n_outputs,)
        """
        return self.cost(F, bias) + 0.5 * self.norm.regularizer(theta, s)

    def cost(self, F: np.ndarray, bias: Any) -> float:
        """Return what outputs F, shape (n,), cost with a bias."""
        f = (F.reshape(self.n_outputs, -1) + np.reshape(bias, (-1, 1))).ravel()
        constant = self.tau * np.sum(bias) if self.tau else 0.0
        return float(self.C @ self.loss.value(f, self.y) + constant)

    def dual(self, alpha: np.ndarray, s: np.ndarray) -> float:
        """Return the dual value of alpha, shape (n,), and its s, shape (M,); -inf if infeasible."""
        drift = np.abs(self._sums(alpha) - self.tau)
        if (drift > _ROUNDING * (self._sums(np.abs(alpha)) + abs(self.tau))).any():
            return -np.inf
        return float(-self.term.conjugate(alpha).sum() - 0.5 * self.norm.dual(s))

    def gained(self, alpha: np.ndarray, bias: Any) -> float:
        """Return what the dual value of alpha, shape (n,), gains by missing its sum by a little.

        That is the distance, which is rounding, times the multiplier of the constraint, the bias.
        """
        return float((bias * (self._sums(alpha) - self.tau)).sum())

    def certificate(
        self, alpha: np.ndarray, F: np.ndarray, s: np.ndarray, theta: np.ndarray
    ) -> Certificate:
        """Certify the model of (alpha, theta) with outputs F, shape (n,), and s, shape (M,).

        Where alpha shows that there is nothing to learn, it is the certificate of the constant
        model, whose weights are 0.
        """
        dual = self.dual(alpha, s)
        if self.nothing_to_learn(dual):
            primal, bias = self._best_constant
        else:
            bias = self._bias_for(F)
            primal = self.primal(F, s, theta, bias)
            dual -= self.gained(alpha, bias)
        gap = self.gap(primal, dual)
        return Certificate(primal=primal, dual=dual, constant=self.constant, gap=gap, bias=bias)

    def _bias_for(self, F: np.ndarray) -> Any:
        """Return the best bias for outputs F, shape (n,), which is kept for the next time."""
        last: list[Any] = vars(self).setdefault("_last", [])
        if not (last and np.array_equal(last[0], F)):
            last[:] = F.copy(), self.best_bias(F)
        return last[1]

    def best_bias(self, F: np.ndarray) -> Any:
        """Return the best bias for outputs F, shape (n,), or an array with that of each output.

        It is one that a number near the centre can hold: no more digits are left in a model.
        """
        if self.n_outputs > 1:
            pairs = zip(self.per_output, self.output_slices, strict=True)
            return np.array([one.best_bias(F[part]) for one, part in pairs])
        bias = self.loss.best_bias(F, self.y, self.C, self.tau)
        return (bias + self.centre) - self.centre

    def gap(self, primal: float, dual: float) -> float:
        """Return the relative gap (primal - dual) / min(|primal|, constant - dual).

        It is inf where that is no number. Where there is nothing to learn it is 0 for a model that
        costs no more than the best constant, and inf for any other.
        """
        if self.nothing_to_learn(dual):
            return 0.0 if primal <= self.constant + self._rounding else np.inf
        scale = min(abs(primal), self.constant - dual)
        if scale <= 0 and primal > dual:  # the difference is relative to nothing
            return np.inf
        gap = (primal - dual) / max(scale, self._nothing)
        return gap if gap < np.inf else np.inf

    @property
    def constant(self) -> float:
        """The primal value of the best constant: no w, and the best bias."""
        return self._best_constant[0]

    @cached_property
    def _best_constant(self) -> tuple[float, Any]:
        """The primal value of the best constant, and its bias or an array with those of outputs."""
        F = np.zeros_like(self.y)
        bias = self.best_bias(F)
        return self.cost(F, bias), bias

    def nothing_to_learn(self, dual: float) -> bool:
        """Return whether a dual value shows that no model is better than the best constant.

        It is never said of one class, of which a constant says nothing.
        """
        return self.tau == 0 and self.constant - dual <= self._rounding

    @cached_property
    def _rounding(self) -> float:
        """A difference of objective values that is nothing but rounding."""
        return max(NOTHING * self.constant, self._nothing)

    def _sums(self, values: np.ndarray) -> np.ndarray:
        """Add up the values, shape (n,), of each output's examples."""
        sums: np.ndarray = values.reshape(self.n_outputs, -1).sum(axis=1)
        return sums

    @cached_property
    def _nothing(self) -> float:
        """A primal value that is zero but for rounding: targets that a bias alone fits exactly."""
        return float(1e-24 * (self.C @ self.loss.value(np.zeros_like(self.y), self.y)) + _TINY)
