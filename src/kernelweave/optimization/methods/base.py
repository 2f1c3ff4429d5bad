"""What a value of `solver=` can do: the plan asks before it chooses."""

from __future__ import annotations

from abc import ABC, abstractmethod

from ...engines.costs import EngineCosts
from ...losses import Loss
from ...norms import Norm
from ..solver import Solver


class Method(ABC):
    """A value of `solver=`."""

    @property
    def shares(self) -> bool:
        """Whether it serves outputs that share their weights."""
        return False

    @property
    def combines(self) -> bool:
        """Whether it asks little of single kernels, so that a family engine suits it."""
        return False

    @property
    def far(self) -> bool:
        """Whether it serves examples that are elsewhere."""
        return self.combines

    @abstractmethod
    def serves(self, norm: Norm) -> bool:
        """Return whether it can solve problems with this norm."""

    def solver(self, costs: EngineCosts) -> Solver:
        """Return the solver for an engine with these costs, of a method with its own loop."""
        raise TypeError(f"{type(self).__name__} has no loop of its own")

    def serves_loss(self, loss: Loss) -> bool:
        """Return whether it can solve problems with this loss."""
        return loss.kind != "survival"

    def streams(self, M: int, n: int) -> bool:
        """Return whether it wants M kernels on n examples to be streamed."""
        return False
