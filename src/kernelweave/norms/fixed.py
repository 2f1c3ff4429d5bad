"""Weights that are given: one machine on one combination of the kernels."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from .base import Norm


@dataclass(frozen=True, eq=False)
class Fixed(Norm):
    """The norm that leaves no choice: one machine on the combination with these weights, (M,)."""

    theta: np.ndarray

    @property
    def is_given(self) -> bool:
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
