"""The smooth hinge loss."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from scipy.special import expit

from ..common.numbers import as_number
from ..model.files.registry import registered
from .base import DualTerm, Loss, selectable
from .bias import newton
from .hinge import signed_box


@selectable
@registered("SmoothHinge")
@dataclass(frozen=True)
class SmoothHinge(Loss):
    """Smooth hinge loss (1/sigma) log(1 + exp(sigma (1 - y f))) for y = -1 or +1.

    It exceeds the hinge loss by at most log(2) / sigma. Sonnenburg et al. (2006) use it as an
    approximation of the soft margin loss.

    Parameters
    ----------
    sigma : float > 0
        Sharpness: the loss converges to the hinge loss as sigma grows.

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
        return np.logaddexp(0.0, self.sigma * (1.0 - y * f)) / self.sigma

    def derivatives(self, f: np.ndarray, y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return the first and second derivatives of the loss with respect to f.

        Parameters
        ----------
        f, y : arrays of shape (n,)
            Decision values, and targets -1 or +1.

        Returns
        -------
        first, second : arrays of shape (n,)
        """
        p = expit(self.sigma * (1.0 - y * f))
        return -y * p, self.sigma * p * (1.0 - p)

    def dual_term(self, y: np.ndarray, C: np.ndarray) -> DualTerm:
        return DualTerm.of(*signed_box(y, C), lin=-y, ent=C / self.sigma)

    def best_bias(self, F: np.ndarray, y: np.ndarray, C: np.ndarray, tau: float = 0.0) -> float:
        return newton(self.derivatives, F, y, C, tau)
