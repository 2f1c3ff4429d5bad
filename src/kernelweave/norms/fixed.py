"""Fixed kernel weights, in place of a norm constraint on weights that are optimised."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from .base import Norm


@dataclass(frozen=True, eq=False)
class Fixed(Norm):
    """Fixed weights: the kernels are combined with the given theta, which is not optimised.

    Parameters
    ----------
    theta : array of shape (M,)
        Nonnegative weights.

    Examples
    --------
    >>> import numpy as np
    >>> from kernelweave import MKLClassifier, kernels
    >>> from kernelweave.norms import Fixed
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(40, 2))
    >>> each = kernels.per_feature(kernels.Linear())
    >>> model = MKLClassifier(each, norm=Fixed(np.array([0.9, 0.1]))).fit(X, X[:, 0] > 0)
    >>> print(model.weights_)
    [0.9 0.1]
    """

    theta: np.ndarray

    @property
    def is_fixed(self) -> bool:
        return True

    def among(self, kernels: np.ndarray) -> Fixed:
        return Fixed(self.theta[kernels])

    def value(self, theta: np.ndarray) -> float:
        return 1.0

    def dual(self, s: np.ndarray) -> float:
        return float(self.theta @ s)

    def best(self, s: np.ndarray) -> np.ndarray:
        return self.theta

    def analytic(self, theta: np.ndarray, s: np.ndarray) -> np.ndarray:
        return self.theta

    def regularizer(self, theta: np.ndarray, s: np.ndarray) -> float:
        return float(self.theta @ s)
