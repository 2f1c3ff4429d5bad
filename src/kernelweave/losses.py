"""Losses: what a wrong output costs, and what the dual problem sees of it.

A loss V(f, y) is convex in the output f. Example i is charged C_i V(f_i, y_i), and its share of the
dual problem is, for a signed alpha_i,

    conj_i(alpha) = C_i V*(-alpha / C_i, y_i) = sup over f of  -alpha f - C_i V(f, y_i).

For every loss here that has one form (`DualTerm`), so a solver handles all of them alike.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any, ClassVar, Protocol, TypeGuard, runtime_checkable

import numpy as np
from scipy.special import expit, xlogy

from .bias import balance, newton

_TINY = 1e-14  # a share of a box that is nothing but rounding

EDGE = 1e-14  # how close to its bounds an alpha with an entropy may come, relative to the box


@dataclass(frozen=True, eq=False)
class DualTerm:
    """The dual terms of n examples, on lo <= alpha <= hi and infinite elsewhere.

        conj(alpha) = lin alpha + eps |alpha| + curv alpha^2 / 2 + ent h((alpha - lo) / (hi - lo)),
        h(a) = a log a + (1 - a) log(1 - a).

    All fields have shape (n,). A part that a loss lacks is a read-only array of zeros that takes no
    memory; `take` always gives contiguous arrays. An example without weight has lo = hi = 0.
    """

    lin: np.ndarray
    eps: np.ndarray
    curv: np.ndarray
    ent: np.ndarray
    lo: np.ndarray
    hi: np.ndarray

    @classmethod
    def of(cls, lo: np.ndarray, hi: np.ndarray, *, lin=0.0, eps=0.0, curv=0.0, ent=0.0) -> DualTerm:
        """Build the terms from their bounds and the parts that the loss has."""
        lin, eps, curv, ent = (np.broadcast_to(part, lo.shape) for part in (lin, eps, curv, ent))
        return cls(lin, eps, curv, ent, lo, hi)

    def take(self, index: np.ndarray) -> DualTerm:
        """Return the terms of the examples in `index`."""
        return DualTerm(*(getattr(self, field.name)[index] for field in fields(self)))

    def conjugate(self, alpha: np.ndarray) -> np.ndarray:
        """Return conj(alpha), shape (n,): infinite outside the bounds."""
        value = (self.lin + 0.5 * self.curv * alpha) * alpha + self.eps * np.abs(alpha)
        if self.ent.any():
            a, rest = self._shares(alpha)
            value = value + self.ent * (xlogy(a, a) + xlogy(rest, rest))
        return np.where((alpha >= self.lo) & (alpha <= self.hi), value, np.inf)

    def slopes(self, alpha: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return the derivatives of conj to the left and to the right of alpha, each (n,).

        They are -inf to the left of lo and inf to the right of hi. The slope of an entropy has no
        end at a bound, and the best alpha may be nearer to it than numbers can tell: there an alpha
        closer than `EDGE` (relative to the box) counts as being at the bound.
        """
        slope, margin = self.lin + self.curv * alpha, np.zeros(())
        if self.ent.any():
            a, rest = (np.maximum(share, EDGE) for share in self._shares(alpha))
            slope = slope + self.ent / self._width * (np.log(a) - np.log(rest))
            margin = EDGE * self._width * (self.ent > 0)
        inner = self.eps * np.sign(alpha)
        down = np.where(
            alpha > self.lo + margin, slope + np.where(alpha == 0, -self.eps, inner), -np.inf
        )
        up = np.where(
            alpha < self.hi - margin, slope + np.where(alpha == 0, self.eps, inner), np.inf
        )
        return down, up

    def curvature(self, alpha: np.ndarray) -> np.ndarray:
        """Return the second derivative of conj at alpha, (n,), apart from kinks and bounds."""
        if not self.ent.any():
            return self.curv
        a, rest = self._shares(alpha)
        return self.curv + self.ent / (self._width**2 * np.maximum(a * rest, _TINY))

    def _shares(self, alpha: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Parts of the box below and above alpha: a and 1 - a, both exact when they are tiny."""
        a = np.clip((alpha - self.lo) / self._width, 0.0, 1.0)
        return a, np.clip((self.hi - alpha) / self._width, 0.0, 1.0)

    @property
    def _width(self) -> np.ndarray:
        """Width of the box, and 1 for the point that an example without weight has."""
        width = self.hi - self.lo
        return np.where(width > 0, width, 1.0)


@runtime_checkable
class Loss(Protocol):
    """What a solver asks of a loss; `kind` is "classifier", "regressor" or "one-class"."""

    name: ClassVar[str]
    kind: ClassVar[str]

    def value(self, f: np.ndarray, y: np.ndarray) -> np.ndarray:
        """Return V(f, y), shape (n,), of outputs f and targets y, shape (n,)."""

    def dual_term(self, y: np.ndarray, C: np.ndarray) -> DualTerm:
        """Return the dual terms of targets y under costs C >= 0, both of shape (n,)."""

    def best_bias(self, F: np.ndarray, y: np.ndarray, C: np.ndarray, tau: float = 0.0) -> float:
        """Return the b that minimises sum_i C_i V(F_i + b, y_i) + tau b.

        Where the minimisers form an interval it is the middle, or the finite end of a half line.
        """


@dataclass(frozen=True)
class Hinge:
    """max(0, 1 - y f) for y = -1 or +1."""

    name: ClassVar[str] = "hinge"
    kind: ClassVar[str] = "classifier"

    def value(self, f: np.ndarray, y: np.ndarray) -> np.ndarray:
        return np.maximum(0.0, 1.0 - y * f)

    def dual_term(self, y: np.ndarray, C: np.ndarray) -> DualTerm:
        return DualTerm.of(*_signed_box(y, C), lin=-y)

    def best_bias(self, F: np.ndarray, y: np.ndarray, C: np.ndarray, tau: float = 0.0) -> float:
        return balance(y - F, C, C[y > 0].sum() - tau)


@dataclass(frozen=True)
class SquaredHinge:
    """max(0, 1 - y f)^2 for y = -1 or +1."""

    name: ClassVar[str] = "squared_hinge"
    kind: ClassVar[str] = "classifier"

    def value(self, f: np.ndarray, y: np.ndarray) -> np.ndarray:
        return np.maximum(0.0, 1.0 - y * f) ** 2

    def derivatives(self, f: np.ndarray, y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return the first and the second derivative of V in f, each of shape (n,)."""
        slack = np.maximum(0.0, 1.0 - y * f)
        return -2.0 * y * slack, 2.0 * (slack > 0)

    def dual_term(self, y: np.ndarray, C: np.ndarray) -> DualTerm:
        lo, hi = _signed_box(y, np.where(C > 0, np.inf, 0.0))
        return DualTerm.of(lo, hi, lin=-y, curv=_half_inverse(C))

    def best_bias(self, F: np.ndarray, y: np.ndarray, C: np.ndarray, tau: float = 0.0) -> float:
        return newton(self.derivatives, F, y, C, tau)


@dataclass(frozen=True)
class Logistic:
    """log(1 + exp(-y f)) for y = -1 or +1."""

    name: ClassVar[str] = "logistic"
    kind: ClassVar[str] = "classifier"

    def value(self, f: np.ndarray, y: np.ndarray) -> np.ndarray:
        return np.logaddexp(0.0, -y * f)

    def derivatives(self, f: np.ndarray, y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return the first and the second derivative of V in f, each of shape (n,)."""
        p = expit(-y * f)
        return -y * p, p * (1.0 - p)

    def dual_term(self, y: np.ndarray, C: np.ndarray) -> DualTerm:
        return DualTerm.of(*_signed_box(y, C), ent=C)

    def best_bias(self, F: np.ndarray, y: np.ndarray, C: np.ndarray, tau: float = 0.0) -> float:
        return newton(self.derivatives, F, y, C, tau)


@dataclass(frozen=True)
class SmoothHinge:
    """(1/sigma) log(1 + exp(sigma (1 - y f))) for y = -1 or +1; the hinge as sigma grows.

    Sonnenburg et al. (2006) use it to approximate the soft margin loss. It exceeds the hinge by at
    most log(2) / sigma.
    """

    sigma: float = 10.0
    name: ClassVar[str] = "smooth_hinge"
    kind: ClassVar[str] = "classifier"

    def __post_init__(self):
        if not 0 < self.sigma < np.inf:
            raise ValueError(f"sigma must be a positive finite number, got {self.sigma!r}")

    def value(self, f: np.ndarray, y: np.ndarray) -> np.ndarray:
        return np.logaddexp(0.0, self.sigma * (1.0 - y * f)) / self.sigma

    def derivatives(self, f: np.ndarray, y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return the first and the second derivative of V in f, each of shape (n,)."""
        p = expit(self.sigma * (1.0 - y * f))
        return -y * p, self.sigma * p * (1.0 - p)

    def dual_term(self, y: np.ndarray, C: np.ndarray) -> DualTerm:
        return DualTerm.of(*_signed_box(y, C), lin=-y, ent=C / self.sigma)

    def best_bias(self, F: np.ndarray, y: np.ndarray, C: np.ndarray, tau: float = 0.0) -> float:
        return newton(self.derivatives, F, y, C, tau)


@dataclass(frozen=True)
class EpsilonInsensitive:
    """max(0, |y - f| - epsilon) for real y."""

    epsilon: float = 0.1
    name: ClassVar[str] = "epsilon_insensitive"
    kind: ClassVar[str] = "regressor"

    def __post_init__(self):
        if not 0 <= self.epsilon < np.inf:
            raise ValueError(f"epsilon must be a finite number >= 0, got {self.epsilon!r}")

    def value(self, f: np.ndarray, y: np.ndarray) -> np.ndarray:
        return np.maximum(0.0, np.abs(y - f) - self.epsilon)

    def dual_term(self, y: np.ndarray, C: np.ndarray) -> DualTerm:
        return DualTerm.of(-C, C, lin=-y, eps=self.epsilon)

    def best_bias(self, F: np.ndarray, y: np.ndarray, C: np.ndarray, tau: float = 0.0) -> float:
        residual = y - F
        ends = np.concatenate([residual - self.epsilon, residual + self.epsilon])
        return balance(ends, np.concatenate([C, C]), C.sum() - tau)


@dataclass(frozen=True)
class Squared:
    """(y - f)^2 for real y."""

    name: ClassVar[str] = "squared"
    kind: ClassVar[str] = "regressor"

    def value(self, f: np.ndarray, y: np.ndarray) -> np.ndarray:
        return (y - f) ** 2

    def dual_term(self, y: np.ndarray, C: np.ndarray) -> DualTerm:
        reach = np.where(C > 0, np.inf, 0.0)
        return DualTerm.of(-reach, reach, lin=-y, curv=_half_inverse(C))

    def best_bias(self, F: np.ndarray, y: np.ndarray, C: np.ndarray, tau: float = 0.0) -> float:
        total = C.sum()
        return float((C @ (y - F) - 0.5 * tau) / total) if total > 0 else 0.0


@dataclass(frozen=True)
class OneClass:
    """max(0, -f): every example should lie where the output is positive; targets are ignored.

    With tau = nu n and C = 1 it is the one-class machine of Schölkopf et al. (2001) with the
    threshold rho = -b, in the scale of LIBSVM: 0 <= alpha <= 1 and sum alpha = nu n.
    """

    name: ClassVar[str] = "one_class"
    kind: ClassVar[str] = "one-class"

    def value(self, f: np.ndarray, y: np.ndarray) -> np.ndarray:
        return np.maximum(0.0, -f)

    def dual_term(self, y: np.ndarray, C: np.ndarray) -> DualTerm:
        return DualTerm.of(np.zeros_like(C), C)

    def best_bias(self, F: np.ndarray, y: np.ndarray, C: np.ndarray, tau: float = 0.0) -> float:
        return balance(-F, C, C.sum() - tau)


_LOSSES = (Hinge, SquaredHinge, Logistic, SmoothHinge, EpsilonInsensitive, Squared, OneClass)


def get(loss: str | Loss, kind: str, **params: Any) -> Loss:
    """Return the loss that a name stands for, or the loss object itself.

    Parameters
    ----------
    loss : str or Loss
        A name such as "hinge", or an object of this module.
    kind : {"classifier", "regressor", "one-class"}
        What the loss has to serve.
    **params
        Parameters of a loss given by name.
    """
    named = {cls.name: cls for cls in _LOSSES if cls.kind == kind}
    if isinstance(loss, str) and loss in named:
        return named[loss](**params)
    if _is_loss(loss) and loss.kind == kind and not params:
        return loss
    raise ValueError(
        f"loss must be one of {sorted(named)} or an object of kernelweave.losses for a {kind}, "
        f"got {loss!r}" + (f" with {params}" if params else "")
    )


def _is_loss(value: object) -> TypeGuard[Loss]:
    return isinstance(value, Loss) and not isinstance(value, type)


def _signed_box(y: np.ndarray, reach: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Bounds of alpha when y alpha lies between 0 and `reach`."""
    return np.where(y > 0, 0.0, -reach), np.where(y > 0, reach, 0.0)


def _half_inverse(C: np.ndarray) -> np.ndarray:
    """1 / (2 C), and 0 for an example without weight, whose alpha is 0 anyway."""
    return np.divide(0.5, C, out=np.zeros_like(C), where=C > 0)
