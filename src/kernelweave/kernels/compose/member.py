"""A single kernel selected by its position from several."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from kernelweave.common.types import Data
from kernelweave.kernels.base import Kernel, TransformedKernel, Unresolved
from kernelweave.kernels.compile.normalize import all_pairwise, listed
from kernelweave.kernels.compile.program import Expression, Layout
from kernelweave.kernels.data.inputs import as_input
from kernelweave.kernels.default_of_views import default_of_views
from kernelweave.kernels.parameters import Parameter
from kernelweave.model.files.registry import registered


@registered("Member")
@dataclass(frozen=True)
class Member(Unresolved):
    """The kernel at a position among the M members of the argument ``kernels`` of an estimator.

    Parameters
    ----------
    kernels : Kernel, sequence or dict of kernels, or None for the default kernels
        All kernels; the members of families count one by one.
    index : int
        Position of the selected kernel, from 0 to M - 1.
    """

    kernels: Parameter
    index: int

    def __post_init__(self) -> None:
        if isinstance(self.kernels, list):
            object.__setattr__(self, "kernels", tuple(self.kernels))

    def resolve(self, X: Data) -> Kernel:
        index = self.index
        for kernel in self._listed(X):
            found = kernel.resolve(X) if kernel.size is None else kernel
            if index < found.n_kernels:
                return Chosen(found.resolve(X), index)
            index -= found.n_kernels
        raise ValueError(
            f"index must be less than the number of kernels, {self.index - index}, got {self.index}"
        )

    def _listed(self, X: Data) -> list[Kernel]:
        if self.kernels is not None:
            return listed(self.kernels)
        X = as_input(X)
        return default_of_views(X, np.ones(X.shape[0]))

    @property
    def pairwise(self) -> bool:
        return all_pairwise(self.kernels)

    @property
    def size(self) -> int:
        return 1


@registered("Chosen")
@dataclass(frozen=True)
class Chosen(TransformedKernel):
    """One member of a family whose parameters are all determined.

    Parameters
    ----------
    kernel : Kernel
        The family.
    index : int
        Position of the member.
    """

    index: int

    @property
    def size(self) -> int:
        return 1

    @property
    def labels(self) -> tuple[str, ...]:
        return (self.kernel.labels[self.index],)

    @property
    def views(self) -> tuple[str, ...]:
        return (self.kernel.views[self.index],)

    @property
    def is_family(self) -> bool:
        return False

    @property
    def unit_diagonal(self) -> bool:
        return self.kernel.unit_diagonal

    def expressions(self, layout: Layout) -> list[Expression]:
        return [self.kernel.expressions(layout)[self.index]]
