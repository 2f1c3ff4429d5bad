"""One kernel for every column."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from kernelweave.kernels.base import Kernel
from kernelweave.kernels.compile.program import Expression, Layout
from kernelweave.kernels.data.columns import choose
from kernelweave.model.files.registry import stored


def per_feature(kernel: Kernel) -> Kernel:
    """Repeat a kernel or family on every column of X, or on every one of its ``columns=``.

    Parameters
    ----------
    kernel : a kernel whose parts all have the same ``columns=``.

    Returns
    -------
    A family: all members of `kernel` on the first column, then on the second, and so on. A column
    of categories stays one column.

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


@stored("PerFeature")
@dataclass(frozen=True)
class PerFeature(Kernel):
    """A kernel to be repeated on every column; `resolve` finds the columns."""

    kernel: Kernel

    def resolve(self, X: Any) -> Kernel:
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

    @property
    def labels(self) -> tuple[str, ...]:
        raise ValueError("per_feature(kernel) has members and names only after resolve(X)")

    @property
    def views(self) -> tuple[str, ...]:
        return self.labels

    def within(self, view: str) -> Kernel:
        return replace(self, kernel=self.kernel.within(view))

    def expressions(self, layout: Layout) -> list[Expression]:
        raise ValueError("per_feature(kernel) can be compiled only after resolve(X)")


@stored("Stack")
@dataclass(frozen=True)
class Stack(Kernel):
    """Kernels and families one after the other, as one family."""

    kernels: tuple[Kernel, ...]

    def resolve(self, X: Any) -> Kernel:
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
