"""The interface of the methods that the parameter `solver=` selects."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING

from ...engines.costs import EngineCosts
from ...losses import Loss
from ...norms import Norm
from ..solver import Solver

if TYPE_CHECKING:
    from ..start import Start


class Method(ABC):
    """A method that `solver=` selects, and the problems that it can solve."""

    @property
    def shares(self) -> bool:
        """Whether several outputs with shared kernel weights are supported."""
        return False

    @property
    def combines(self) -> bool:
        """Whether the method mostly needs outputs of the weighted sum of the kernels.

        Engines that compute a family of kernels at once are then efficient.
        """
        return False

    @property
    def remote(self) -> bool:
        """Whether remote examples (`kernelweave.dask`) are supported."""
        return self.combines

    @property
    def first_stage(self) -> Start | None:
        """Rule that fixes the weights before training, or None."""
        return None

    @property
    def solves_hard_margins(self) -> bool:
        """Whether the method solves hard margins directly, not by a sequence of soft margins."""
        return False

    @abstractmethod
    def serves(self, norm: Norm) -> bool:
        """Return whether the method supports a norm.

        Parameters
        ----------
        norm : Norm

        Returns
        -------
        bool
        """

    def solver(self, costs: EngineCosts) -> Solver:
        """Return the solver of a method that has its own training loop.

        Parameters
        ----------
        costs : EngineCosts
            Costs of the operations of the engine that computes the kernels.

        Returns
        -------
        Solver

        Raises
        ------
        TypeError
            If the method is a weight step of the general training loop.
        """
        raise TypeError(f"{type(self).__name__} has no training loop of its own")

    def serves_loss(self, loss: Loss) -> bool:
        """Return whether the method supports a loss.

        Parameters
        ----------
        loss : Loss

        Returns
        -------
        bool
        """
        return loss.kind != "survival"

    def streams(self, M: int, n: int) -> bool:
        """Return whether M kernels on n examples are evaluated in blocks instead of cached.

        Parameters
        ----------
        M : int
            Number of kernels.
        n : int
            Number of examples.

        Returns
        -------
        bool
        """
        return False
