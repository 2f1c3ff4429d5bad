"""What a value of `solver=` can do: the plan asks before it chooses."""

from __future__ import annotations

from abc import ABC, abstractmethod

from ...losses import Loss
from ...norms import Norm


class Method(ABC):
    """A way to solve problems. Algorithms with a loop of their own also have `solve`."""

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

    @property
    def when_stopped(self) -> str:
        """What to do where it stopped by a rule of its own; empty where it has none."""
        return ""

    @abstractmethod
    def serves(self, norm: Norm) -> bool:
        """Return whether it can solve problems with this norm."""

    def serves_loss(self, loss: Loss) -> bool:
        """Return whether it can solve problems with this loss."""
        return True

    def streams(self, M: int, n: int) -> bool:
        """Return whether it wants M kernels on n examples to be streamed."""
        return False
