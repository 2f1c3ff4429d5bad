"""The interface of weight steps."""

from __future__ import annotations

from abc import ABC, abstractmethod

import numpy as np

from ...engines.base import Engine
from ...norms import Norm
from ...problem.problem import Problem
from ..iterate import Step


class WeightStep(ABC):
    """A rule that updates the kernel weights; a component of a `Plan`."""

    @abstractmethod
    def begin(self, norm: Norm) -> Step:
        """Return the steps of one fit: a callable with state, from iterates to weights."""

    def hessian(self, problem: Problem, engine: Engine, weights: np.ndarray) -> np.ndarray:
        """Return the Hessian of J, shape (M, M), at weights of shape (M,).

        Raises
        ------
        TypeError
            If these steps use no Hessian.
        """
        raise TypeError(f"{type(self).__name__} steps use no Hessian")
