"""One kernel per column, and lists of kernels as one family."""

from __future__ import annotations

from dataclasses import dataclass, replace

from kernelweave.common.types import Data
from kernelweave.kernels.base import Kernel, Unresolved
from kernelweave.kernels.compile.program import Expression, Layout
from kernelweave.kernels.data.columns import choose
from kernelweave.model.files.registry import registered


def per_feature(kernel: Kernel) -> Kernel:
    """Return the family that applies a kernel to each column separately.

    Parameters
    ----------
    kernel : Kernel
        A kernel or family. All its parts must have the same ``columns=``, which selects the
        columns; all columns of X by default.

    Returns
    -------
    Kernel
        The members of `kernel` on the first column, then on the second, and so on. A column of
        categories counts as one column.

    Examples
    --------
    >>> import numpy as np
    >>> from kernelweave.kernels import RBF, per_feature
    >>> X = np.array([[0.0, 1.0], [1.0, 1.0], [2.0, 5.0]])
    >>> kernel = per_feature(RBF(gamma=[0.1, 1.0]))
    >>> kernel(X).shape
    (4, 3, 3)
    """
    return PerFeature(kernel)


@registered("PerFeature")
@dataclass(frozen=True)
class PerFeature(Unresolved):
    """A family that `resolve` makes by applying a kernel to each of its columns separately.

    Parameters
    ----------
    kernel : Kernel
        The kernel or family to apply.
    """

    kernel: Kernel

    def resolve(self, X: Data) -> Kernel:
        columns = choose(self.kernel.selection, X)
        view = columns.view
        each = [index if view is None else (view, index) for index in columns.indices]
        return Stack(tuple(self.kernel.on(one).resolve(X) for one in each))

    @property
    def size(self) -> int | None:
        return None

    @property
    def is_family(self) -> bool:
        return True

    def within(self, view: str) -> Kernel:
        return replace(self, kernel=self.kernel.within(view))


@registered("Stack")
@dataclass(frozen=True)
class Stack(Kernel):
    """A list of kernels and families as one family.

    Parameters
    ----------
    kernels : tuple of Kernel
        Their members, in this order, are the members of the result.
    """

    kernels: tuple[Kernel, ...]

    def resolve(self, X: Data) -> Kernel:
        return replace(self, kernels=tuple(kernel.resolve(X) for kernel in self.kernels))

    @property
    def is_family(self) -> bool:
        return True

    @property
    def labels(self) -> tuple[str, ...]:
        return tuple(label for kernel in self.kernels for label in kernel.labels)

    @property
    def views(self) -> tuple[str, ...]:
        return tuple(view for kernel in self.kernels for view in kernel.views)

    def expressions(self, layout: Layout) -> list[Expression]:
        return [e for kernel in self.kernels for e in kernel.expressions(layout)]

    @property
    def unit_diagonal(self) -> bool:
        return all(kernel.unit_diagonal for kernel in self.kernels)
