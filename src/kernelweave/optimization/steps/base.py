"""The interface of weight steps."""

from __future__ import annotations

from abc import ABC, abstractmethod

from ...engines.base import Engine
from ...norms import Norm
from ...problem.problem import Problem
from ..iterate import Step

MOST_WEIGHTS = 5000  # largest M with M x M matrices: several fit in memory, and take minutes


class WeightStep(ABC):
    """A rule that updates the kernel weights; a component of a `Plan`."""

    @abstractmethod
    def begin(self, problem: Problem, engine: Engine) -> Step:
        """Return the update of one fit: a callable that maps an `Iterate` to new weights.

        It keeps state between calls, such as cuts or a trust region. Only Newton steps use the
        engine; an `Iterate` has all that the other steps need.
        """

    def needs_matrices(self, norm: Norm) -> bool:
        """Return whether a step under a norm needs matrices of shape (M, M)."""
        return False

    def refuse_many(self, norm: Norm, M: int) -> None:
        """Raise ValueError if the step needs M x M matrices for too many kernels."""
        if M > MOST_WEIGHTS and self.needs_matrices(norm):
            raise ValueError(
                f"solver: {type(self).__name__} steps need matrices of {M:,} x {M:,} numbers for "
                f"{M:,} kernels, but at most {MOST_WEIGHTS:,} kernels are supported; use "
                'solver="auto"'
            )
