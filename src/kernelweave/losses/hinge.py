"""Losses of the margin y f, for targets -1 and +1."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from scipy.special import expit

from ..common.numbers import as_number
from ..model.files.registry import stored
from .base import DualTerm, balance, half_inverse, named, newton


@named
@stored("Hinge")
@dataclass(frozen=True)
class Hinge:
    """max(0, 1 - y f) for y = -1 or +1.

    Examples
    --------
    >>> import numpy as np
    >>> from kernelweave.losses import Hinge
    >>> margins = np.array([-1.0, 0.0, 1.0, 2.0])
    >>> print(Hinge().value(margins, np.ones(4)))
    [2. 1. 0. 0.]
    """

    name: ClassVar[str] = "hinge"
    kind: ClassVar[str] = "classifier"

    def value(self, f: np.ndarray, y: np.ndarray) -> np.ndarray:
        value: np.ndarray = np.maximum(0.0, 1.0 - y * f)
        return value

    def dual_term(self, y: np.ndarray, C: np.ndarray) -> DualTerm:
        return DualTerm.of(*_signed_box(y, C), lin=-y)

    def best_bias(self, F: np.ndarray, y: np.ndarray, C: np.ndarray, tau: float = 0.0) -> float:
        return balance(y - F, C, C[y > 0].sum() - tau)


@named
@stored("SquaredHinge")
@dataclass(frozen=True)
class SquaredHinge:
    """max(0, 1 - y f)^2 for y = -1 or +1.

    Examples
    --------
    >>> import numpy as np
    >>> from kernelweave.losses import SquaredHinge
    >>> margins = np.array([-1.0, 0.0, 1.0, 2.0])
    >>> print(SquaredHinge().value(margins, np.ones(4)))
    [4. 1. 0. 0.]
    """

    name: ClassVar[str] = "squared_hinge"
    kind: ClassVar[str] = "classifier"

    def value(self, f: np.ndarray, y: np.ndarray) -> np.ndarray:
        value: np.ndarray = np.maximum(0.0, 1.0 - y * f) ** 2
        return value

    def derivatives(self, f: np.ndarray, y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return the first and the second derivative of V in f, each of shape (n,)."""
        slack = np.maximum(0.0, 1.0 - y * f)
        return -2.0 * y * slack, 2.0 * (slack > 0)

    def dual_term(self, y: np.ndarray, C: np.ndarray) -> DualTerm:
        lo, hi = _signed_box(y, np.where(C > 0, np.inf, 0.0))
        return DualTerm.of(lo, hi, lin=-y, curv=half_inverse(C))

    def best_bias(self, F: np.ndarray, y: np.ndarray, C: np.ndarray, tau: float = 0.0) -> float:
        return newton(self.derivatives, F, y, C, tau)


@named
@stored("Logistic")
@dataclass(frozen=True)
class Logistic:
    """log(1 + exp(-y f)) for y = -1 or +1.

    Examples
    --------
    >>> import numpy as np
    >>> from kernelweave.losses import Logistic
    >>> margins = np.array([-1.0, 0.0, 1.0, 2.0])
    >>> print(Logistic().value(margins, np.ones(4)).round(2))
    [1.31 0.69 0.31 0.13]
    """

    name: ClassVar[str] = "logistic"
    kind: ClassVar[str] = "classifier"

    def value(self, f: np.ndarray, y: np.ndarray) -> np.ndarray:
        value: np.ndarray = np.logaddexp(0.0, -y * f)
        return value

    def derivatives(self, f: np.ndarray, y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return the first and the second derivative of V in f, each of shape (n,)."""
        p = expit(-y * f)
        return -y * p, p * (1.0 - p)

    def dual_term(self, y: np.ndarray, C: np.ndarray) -> DualTerm:
        return DualTerm.of(*_signed_box(y, C), ent=C)

    def best_bias(self, F: np.ndarray, y: np.ndarray, C: np.ndarray, tau: float = 0.0) -> float:
        return newton(self.derivatives, F, y, C, tau)


@named
@stored("SmoothHinge")
@dataclass(frozen=True)
class SmoothHinge:
    """(1/sigma) log(1 + exp(sigma (1 - y f))) for y = -1 or +1; the hinge as sigma grows.

    Sonnenburg et al. (2006) use it to approximate the soft margin loss. It exceeds the hinge by at
    most log(2) / sigma.

    Parameters
    ----------
    sigma : how sharp the bend is, above 0.

    Examples
    --------
    >>> import numpy as np
    >>> from kernelweave.losses import SmoothHinge
    >>> margins = np.array([-1.0, 0.0, 1.0, 2.0])
    >>> print(SmoothHinge(sigma=3.0).value(margins, np.ones(4)).round(2))
    [2.   1.02 0.23 0.02]
    """

    sigma: float = 10.0
    name: ClassVar[str] = "smooth_hinge"
    kind: ClassVar[str] = "classifier"

    def __post_init__(self) -> None:
        if not 0 < as_number(self.sigma) < np.inf:
            raise ValueError(f"sigma must be a positive finite number, got {self.sigma!r}")

    def value(self, f: np.ndarray, y: np.ndarray) -> np.ndarray:
        value: np.ndarray = np.logaddexp(0.0, self.sigma * (1.0 - y * f)) / self.sigma
        return value

    def derivatives(self, f: np.ndarray, y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return the first and the second derivative of V in f, each of shape (n,)."""
        p = expit(self.sigma * (1.0 - y * f))
        return -y * p, self.sigma * p * (1.0 - p)

    def dual_term(self, y: np.ndarray, C: np.ndarray) -> DualTerm:
        return DualTerm.of(*_signed_box(y, C), lin=-y, ent=C / self.sigma)

    def best_bias(self, F: np.ndarray, y: np.ndarray, C: np.ndarray, tau: float = 0.0) -> float:
        return newton(self.derivatives, F, y, C, tau)


@stored("HardMargin")
@dataclass(frozen=True)
class HardMargin:
    """0 for y f >= 1 and infinite elsewhere, for y = -1 or +1: what C = inf makes of the hinge.

    Costs only say which examples count, those above 0.

    Examples
    --------
    >>> import numpy as np
    >>> from kernelweave.losses import HardMargin
    >>> margins = np.array([-1.0, 0.0, 1.0, 2.0])
    >>> print(HardMargin().value(margins, np.ones(4)))
    [inf inf  0.  0.]
    """

    name: ClassVar[str] = "hard_margin"
    kind: ClassVar[str] = "classifier"

    def value(self, f: np.ndarray, y: np.ndarray) -> np.ndarray:
        return np.where(y * f >= 1.0, 0.0, np.inf)

    def dual_term(self, y: np.ndarray, C: np.ndarray) -> DualTerm:
        return DualTerm.of(*_signed_box(y, np.where(C > 0, np.inf, 0.0)), lin=-y)

    def best_bias(self, F: np.ndarray, y: np.ndarray, C: np.ndarray, tau: float = 0.0) -> float:
        """Return the b that leaves both classes the same margin."""
        low, high = F[(C > 0) & (y > 0)], F[(C > 0) & (y < 0)]
        if low.size and high.size:
            return -0.5 * float(low.min() + high.max())
        return 1.0 - float(low.min()) if low.size else -1.0 - float(high.max(initial=-1.0))


def _signed_box(y: np.ndarray, reach: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Bounds of alpha when y alpha lies between 0 and `reach`."""
    return np.where(y > 0, 0.0, -reach), np.where(y > 0, reach, 0.0)
