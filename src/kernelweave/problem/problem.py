"""The optimisation problem, and the certificate of optimality of a model.

    P:  min over w, b, theta    sum_i C_i V(f_i, y_i) + tau b + 1/2 sum_m ||w_m||^2 / theta_m
                                with theta >= 0, ||theta|| <= 1, f_i = sum_m <w_m, psi_m(x_i)> + b

    D:  max over alpha          -sum_i C_i V*(-alpha_i / C_i, y_i) - 1/2 ||s||_dual
                                with sum_i alpha_i = tau and s_m = alpha' K_m alpha

V is the loss, V* its convex conjugate, psi_m the feature map of kernel k_m with matrix K_m, and
||s||_dual = max of theta . s over the weights in P. tau is 0 except for one class. Without an
intercept, b = 0 and the constraint on the sum of alpha is absent (tau is None).

A solver works on (alpha, theta), which represent the model w_m = theta_m sum_i alpha_i psi_m(x_i).
Its outputs are f_i = F_i + b with F_i = sum_m theta_m g_mi and g_mi = sum_j alpha_j k_m(x_j, x_i).
Its regularisation term is 1/2 theta . s (for an exception see `norms.Block`). We call s_m the
squared block norms.

Several outputs can share the weights (`risk`). P is then the sum of their problems under one theta,
and s in D is the sum of the squared block norms of all outputs.

Every value of P is at least every value of D. So the gap between the two values of (alpha, theta),
with the best b, certifies the model, no matter how it was found. The gap is divided by the smaller
of the objective value and the possible improvement over the constant model:

    gap = (P - D) / min(|P|, P0 - D),    P0 = min over b of sum_i C_i V(b, y_i) + tau b.

Both terms are needed. With a small C the objective of every model is nearly P0, so that P - D is
small relative to |P| even for a poor model. With a large C the optimum is far below P0, so that P -
D is small relative to P0 - D even for a poor model. No model improves on the constant model by more
than P0 - D. If that is within rounding, the constant model is optimal, and its certificate is used.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from ..common.cached_property import cached_property
from ..common.types import Numbers
from ..losses import DualTerm, Loss
from ..losses.risk import Risk
from ..norms import Fixed, Norm
from .certificate import Certificate

# Improvements over the constant model below this fraction of its value are rounding. With fixed
# weights only one combination of the M kernels is tested, so the threshold is divided by M, down to
# the second value, which is the rounding of a double.
NO_IMPROVEMENT, LEAST_NO_IMPROVEMENT = 1e-10, 1e-13


@dataclass(frozen=True, eq=False)
class Problem:
    """An empirical risk and a norm of the kernel weights.

    Parameters
    ----------
    risk : Risk
        Loss, targets and costs of the training examples.
    norm : Norm
        Norm of the kernel weights, which is at most 1.
    """

    risk: Risk
    norm: Norm

    @classmethod
    def of(
        cls,
        loss: Loss,
        norm: Norm,
        y: np.ndarray,
        C: np.ndarray,
        tau: float | None = 0.0,
        n_outputs: int = 1,
        centre: Numbers = 0.0,
    ) -> Problem:
        """Return the problem of a loss, a norm, targets and costs; see `Risk`."""
        return cls(Risk(loss, y, C, tau, n_outputs, centre), norm)

    @classmethod
    def sharing(cls, problems: Sequence[Problem]) -> Problem:
        """Return the sum of the problems of several outputs that share their kernel weights."""
        return replace(problems[0], risk=Risk.sharing([problem.risk for problem in problems]))

    @property
    def loss(self) -> Loss:
        return self.risk.loss

    @property
    def y(self) -> np.ndarray:
        return self.risk.y

    @property
    def C(self) -> np.ndarray:
        return self.risk.C

    @property
    def tau(self) -> float | None:
        return self.risk.tau

    @property
    def n_outputs(self) -> int:
        return self.risk.n_outputs

    @property
    def centre(self) -> Numbers:
        return self.risk.centre

    @property
    def term(self) -> DualTerm:
        return self.risk.term

    @property
    def output_slices(self) -> list[slice]:
        return self.risk.output_slices

    @property
    def per_output(self) -> list[Problem]:
        """The problem of each output, with separate kernel weights."""
        return [replace(self, risk=risk) for risk in self.risk.per_output]

    def restricted(self, idx: np.ndarray, tau: float | None, cost_factor: float = 1.0) -> Problem:
        """Return the problem of some examples of one output; see `Risk.restricted`."""
        return replace(self, risk=self.risk.restricted(idx, tau, cost_factor))

    def scaled(self, factor: float) -> Problem:
        """Return the problem with its costs multiplied by a factor."""
        return replace(self, risk=replace(self.risk, C=factor * self.C))

    def with_costs(self, C: np.ndarray) -> Problem:
        """Return the problem with other costs, shape (n,)."""
        return replace(self, risk=replace(self.risk, C=C))

    def with_weights(self, theta: np.ndarray) -> Problem:
        """Return the inner problem: the same risk with fixed kernel weights, shape (M,)."""
        return replace(self, norm=Fixed(theta))

    def primal(self, F: np.ndarray, s: np.ndarray, theta: np.ndarray, bias: Numbers) -> float:
        """Return the primal value of a model.

        Parameters
        ----------
        F : ndarray of shape (n,)
            Outputs of the model on the examples, without the bias.
        s : ndarray of shape (M,)
            Squared block norms.
        theta : ndarray of shape (M,)
            Kernel weights.
        bias : float, or ndarray of shape (n_outputs,)
            Intercept of each output.
        """
        return self.risk.value(F, bias) + 0.5 * self.norm.regularizer(theta, s)

    def dual(self, alpha: np.ndarray, s: np.ndarray, near: np.ndarray | None = None) -> float:
        """Return the dual value of alpha, shape (n,); -inf if alpha is infeasible.

        `s`, shape (M,), are its squared block norms. `near`, shape (n,), are outputs from which
        `Risk.conjugate` starts.
        """
        if not self.risk.is_feasible(alpha):
            return -np.inf
        return -self.risk.conjugate(alpha, near) - 0.5 * self.norm.dual(s)

    def best_bias(self, F: np.ndarray, alpha: np.ndarray | None = None) -> Numbers:
        """Return the bias that minimises the primal value of outputs F, shape (n,).

        Some risks compute it from `alpha`, shape (n,), the dual variables of the model.
        """
        return self.risk.best_bias(F, alpha)

    def certificate(
        self,
        alpha: np.ndarray,
        F: np.ndarray,
        s: np.ndarray,
        theta: np.ndarray,
        origin: np.ndarray | None = None,
    ) -> Certificate:
        """Return the certificate of the model (alpha, theta).

        Parameters
        ----------
        alpha : ndarray of shape (n,)
            Dual variables.
        F : ndarray of shape (n,)
            Combined outputs of the model, without the bias.
        s : ndarray of shape (M,)
            Squared block norms of alpha.
        theta : ndarray of shape (M,)
            Kernel weights.
        origin : ndarray of shape (n,), optional
            Outputs at which minus the gradient of the risk is alpha, if known. `Risk.conjugate`
            starts from them; by default from F.

        Returns
        -------
        Certificate
            If the dual value proves that the constant model is optimal, this is the certificate of
            that model, whose weights are 0.
        """
        dual = self.dual(alpha, s, F if origin is None else origin)
        if self.constant_is_optimal(dual):
            primal, bias = self.constant_model
        else:
            bias = self.risk.best_bias(F, alpha)
            primal = self.primal(F, s, theta, bias)
            dual -= self.risk.infeasibility_gain(alpha, bias)
        gap = self.gap(primal, dual)
        return Certificate(primal=primal, dual=dual, constant=self.constant, gap=gap, bias=bias)

    def certificates(self, alpha: np.ndarray, F: np.ndarray) -> list[Certificate]:
        """Return the certificate of each output as a separate problem with fixed kernel weights.

        With fixed weights, the squared norm of an output is the sum of alpha_i F_i over its
        examples.

        Parameters
        ----------
        alpha : ndarray of shape (n,)
            Dual variables.
        F : ndarray of shape (n,)
            Combined outputs of the model.

        Returns
        -------
        list of n_outputs Certificate
        """
        risk = self.risk
        squares = np.maximum(risk.sums(alpha * F), 0.0)
        dual = -risk.sums(risk.term.conjugate(alpha)) - 0.5 * squares
        dual[~risk.outputs_are_feasible(alpha)] = -np.inf
        constant, bias_of_constant = risk.constant_models
        negligible = np.maximum(self._negligible_part * constant, risk.zeros)
        optimal = (constant - dual <= negligible) & risk.allows_zero
        bias = np.where(optimal, bias_of_constant, risk.best_bias(F))
        primal = np.where(optimal, constant, risk.values(F, bias) + 0.5 * squares)
        dual -= np.where(optimal, 0.0, risk.infeasibility_gains(alpha, bias))
        gap = np.where(optimal, 0.0, relative_gap(primal, dual, constant, risk.zeros))
        columns = (part.tolist() for part in (primal, dual, constant, gap, bias))
        return [
            Certificate(primal=p, dual=d, constant=c, gap=g, bias=b)
            for p, d, c, g, b in zip(*columns, strict=True)
        ]

    def gap(self, primal: float, dual: float) -> float:
        """Return the relative gap (primal - dual) / min(|primal|, constant - dual).

        It is inf if the quotient is undefined (`relative_gap`). If the constant model is optimal,
        the gap is 0 for models whose primal value is not larger than its value, else inf.
        """
        if self.constant_is_optimal(dual):
            return 0.0 if primal <= self.constant + self._no_improvement else np.inf
        return float(relative_gap(primal, dual, self.constant, self._zero))

    @property
    def constant_model(self) -> tuple[float, Numbers]:
        """Primal value and bias of the constant model (intercept only)."""
        return self.risk.constant_model

    @property
    def constant(self) -> float:
        """Primal value of the constant model (intercept only)."""
        return self.constant_model[0]

    def constant_is_optimal(self, dual: float) -> bool:
        """Return whether a dual value proves that no model is better than the constant model.

        It is False for one class, where the constant model has no meaning.
        """
        return self.risk.allows_zero and self.constant - dual <= self._no_improvement

    @cached_property
    def _no_improvement(self) -> float:
        """Largest improvement over the constant model that is treated as a rounding error."""
        return max(self._negligible_part * self.constant, self._zero)

    @property
    def _negligible_part(self) -> float:
        """Fraction of the value of the constant model; smaller improvements are ignored."""
        if not isinstance(self.norm, Fixed):
            return NO_IMPROVEMENT
        return max(NO_IMPROVEMENT / len(self.norm.theta), LEAST_NO_IMPROVEMENT)

    @property
    def _zero(self) -> float:
        return self.risk.zero


def relative_gap(primal: Numbers, dual: Numbers, constant: Numbers, zero: Numbers) -> np.ndarray:
    """Return (primal - dual) / min(|primal|, constant - dual), or inf if that is undefined.

    A denominator below `zero`, the size of rounding errors, is replaced by `zero`. The gap is
    undefined if the denominator is not positive but the numerator is.
    """
    distance, scale = np.subtract(primal, dual), np.minimum(np.abs(primal), constant - dual)
    with np.errstate(over="ignore", invalid="ignore"):
        gap = distance / np.maximum(scale, zero)
    undefined = (scale <= 0) & (distance > 0)
    return np.where(undefined | ~(gap < np.inf), np.inf, gap)
