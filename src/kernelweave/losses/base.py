"""What all losses share: what is asked of them, dual terms, the best bias, and names.

A certificate is only as tight as its bias, so b is never guessed from a few support vectors: it
minimises phi(b) = sum_i C_i V(F_i + b, y_i) + tau b over all the examples.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar, Protocol, TypeGuard, TypeVar, runtime_checkable

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import xlogy

from ..common.roots import root

_TINY = 1e-14  # a share of a box that is nothing but rounding
EDGE = 1e-14  # how close to its bounds an alpha with an entropy may come, relative to the box
FEW = 10_000  # points that are sorted faster than halved
EPS = float(np.finfo(float).eps)

Parts = tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray, np.ndarray, np.ndarray]


@dataclass(frozen=True, eq=False)
class DualTerm:
    """The dual terms of n examples, on lo <= alpha <= hi and infinite elsewhere.

        conj(alpha) = lin alpha + eps |alpha| + curv alpha^2 / 2 + ent h((alpha - lo) / (hi - lo)),
        h(a) = a log a + (1 - a) log(1 - a).

    All fields have shape (n,). A part that a loss lacks is a read-only array of zeros that takes no
    memory; `take` always gives contiguous arrays. An example without weight has lo = hi = 0.

    Examples
    --------
    >>> import numpy as np
    >>> from kernelweave.losses import Hinge
    >>> term = Hinge().dual_term(np.array([1.0, -1.0]), np.array([10.0, 10.0]))
    >>> print(term.lo, term.hi)
    [  0. -10.] [10.  0.]
    >>> print(term.conjugate(np.array([2.0, -3.0])))
    [-2. -3.]
    """

    lin: np.ndarray
    eps: np.ndarray
    curv: np.ndarray
    ent: np.ndarray
    lo: np.ndarray
    hi: np.ndarray

    @property
    def is_quadratic(self) -> bool:
        """Whether they are polynomials of degree two between their bounds and 0."""
        return not self.ent.any()

    @property
    def is_free(self) -> bool:
        """Whether no alpha of an example with a weight has a bound."""
        bounds = self.lo[self.lo < self.hi], self.hi[self.lo < self.hi]
        return not np.isfinite(bounds).any()

    @property
    def is_entropy(self) -> bool:
        """Whether they are entropies, and lines: then losses have second derivatives."""
        return bool(self.ent.any()) and not (self.eps.any() or self.curv.any())

    @classmethod
    def of(
        cls,
        lo: np.ndarray,
        hi: np.ndarray,
        *,
        lin: ArrayLike = 0.0,
        eps: ArrayLike = 0.0,
        curv: ArrayLike = 0.0,
        ent: ArrayLike = 0.0,
    ) -> DualTerm:
        """Build the terms from their bounds and the parts that the loss has."""
        lin, eps, curv, ent = (np.broadcast_to(part, lo.shape) for part in (lin, eps, curv, ent))
        return cls(lin, eps, curv, ent, lo, hi)

    def take(self, index: np.ndarray) -> DualTerm:
        """Return the terms of the examples in `index`."""
        return DualTerm(*(part[index] for part in self.arrays))

    @property
    def arrays(self) -> Parts:
        """All fields, in the order in which the core takes them."""
        return self.lin, self.eps, self.curv, self.ent, self.lo, self.hi

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
        # One factor after the other: the square of a tiny width would be 0.
        bend = self.ent / self._width / self._width / np.maximum(a * rest, _TINY)
        return np.asarray(self.curv + bend)

    def _shares(self, alpha: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Parts of the box below and above alpha: a and 1 - a, both exact when they are tiny."""
        a = np.clip((alpha - self.lo) / self._width, 0.0, 1.0)
        return a, np.clip((self.hi - alpha) / self._width, 0.0, 1.0)

    @property
    def _width(self) -> np.ndarray:
        """Width of the box, and 1 for the point that an example without weight has."""
        width = self.hi - self.lo
        return np.where(width > 0, width, 1.0)


def half_inverse(C: np.ndarray) -> np.ndarray:
    """1 / (2 C), and 0 for an example without weight, whose alpha is 0 anyway."""
    inverse: np.ndarray = np.divide(0.5, C, out=np.zeros_like(C), where=C > 0)
    return inverse


def balance(points: np.ndarray, weights: np.ndarray, target: float) -> float:
    """Middle of the stretch below which the `weights` of the `points` add up to `target`.

    A piecewise linear function whose slope starts at -target and rises by weights_i at points_i has
    its minimum there. Halving the candidates costs O(n), half the time of sorting a million. Few of
    them are sorted.
    """
    points, weights = points[weights > 0], weights[weights > 0]
    while points.size > FEW:
        half = points.size // 2
        order = np.argpartition(points, half)
        left, right = order[:half], order[half:]
        mass = weights[left].sum()
        if mass == target:
            return float(0.5 * (points[left].max() + points[right].min()))
        keep, target = (left, target) if mass > target else (right, target - mass)
        points, weights = points[keep], weights[keep]
    if not points.size:
        return 0.0
    order = np.argsort(points)
    masses = np.cumsum(weights[order])
    rounding = EPS * len(points) * masses[-1]
    at = int(np.searchsorted(masses[:-1], target - rounding))
    here = float(points[order[at]])
    if at == len(points) - 1 or masses[at] > target + rounding:
        return here
    return 0.5 * (here + float(points[order[at + 1]]))


def newton(
    derivatives: Callable[[np.ndarray, np.ndarray], tuple[np.ndarray, np.ndarray]],
    F: np.ndarray,
    y: np.ndarray,
    C: np.ndarray,
    tau: float,
) -> float:
    """Minimiser in b of sum_i C_i V(F_i + b, y_i) + tau b for a differentiable V."""
    if not C.any():
        return 0.0

    def slope(b: float) -> tuple[float, float]:
        first, second = derivatives(F + b, y)
        return C @ first + tau, C @ second

    residual = (y - F)[C > 0]
    return root(slope, residual.min(), residual.max())


@runtime_checkable
class Loss(Protocol):
    """What a solver asks of a loss; `kind` is "classifier", "regressor" or "one-class".

    Examples
    --------
    >>> from kernelweave.losses import Hinge, Loss
    >>> isinstance(Hinge(), Loss)
    True
    >>> Hinge().kind
    'classifier'
    """

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


Class = TypeVar("Class", bound=type[Loss])

_NAMED: dict[tuple[str, str], type[Loss]] = {}


def named(cls: Class) -> Class:
    """Let users ask for a loss by its name: a decorator of classes."""
    _NAMED[cls.kind, cls.name] = cls
    return cls


def every() -> list[type[Loss]]:
    """Return the losses that have a name."""
    return list(_NAMED.values())


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

    Examples
    --------
    >>> from kernelweave import losses
    >>> losses.get("smooth_hinge", "classifier", sigma=5.0)
    SmoothHinge(sigma=5.0)
    """
    known = {name: cls for (of, name), cls in _NAMED.items() if of == kind}
    if isinstance(loss, str) and loss in known:
        return known[loss](**params)
    if _is_loss(loss) and loss.kind == kind and not params:
        return loss
    raise ValueError(
        f"loss must be one of {sorted(known)} or an object of kernelweave.losses for a {kind}, "
        f"got {loss!r}" + (f" with {params}" if params else "")
    )


def _is_loss(value: object) -> TypeGuard[Loss]:
    return isinstance(value, Loss) and not isinstance(value, type)
