"""Sums, products and multiples of kernels, and kernels with a name."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import ClassVar, TypeVar

import numpy as np

from kernelweave.common.types import Data
from kernelweave.kernels.base import Kernel, TransformedKernel
from kernelweave.kernels.compile.examples import Reader
from kernelweave.kernels.compile.program import Expression, Layout
from kernelweave.kernels.data.columns import is_view_of
from kernelweave.model.files.registry import registered

S = TypeVar("S")
T = TypeVar("T")


@dataclass(frozen=True)
class Pair(Kernel):
    """The base class of sums and products of two kernels, or of the members of two families.

    Parameters
    ----------
    left, right : Kernel
        Single kernels, or families of equal size.

    Raises
    ------
    ValueError
        If both are families of different sizes.
    """

    left: Kernel
    right: Kernel

    symbol: ClassVar[str]
    instruction: ClassVar[str]

    def __post_init__(self) -> None:
        sizes = {self.left.size, self.right.size} - {1, None}
        if len(sizes) > 1:
            raise ValueError(
                f"kernel {self.symbol} kernel: families of {self.left.size} and {self.right.size} "
                "kernels cannot be combined; their sizes must be equal, or one of them 1"
            )

    @property
    def size(self) -> int | None:
        left, right = self.left.size, self.right.size  # once each: sums may be deeply nested
        return None if left is None or right is None else max(left, right)

    def resolve(self, X: Data) -> Kernel:
        return replace(self, left=self.left.resolve(X), right=self.right.resolve(X))

    @property
    def labels(self) -> tuple[str, ...]:
        pairs = broadcast(self._labels_of(self.left), self._labels_of(self.right))
        return tuple(f"{left} {self.symbol} {right}" for left, right in pairs)

    def _labels_of(self, operand: Kernel) -> Sequence[str]:
        return operand.labels

    @property
    def views(self) -> tuple[str, ...]:
        pairs = broadcast(self.left.views, self.right.views)
        return tuple(a if a == b else f"{a} {self.symbol} {b}" for a, b in pairs)

    @property
    def is_family(self) -> bool:
        return self.left.is_family or self.right.is_family

    def within(self, view: str) -> Kernel:
        return replace(self, left=self.left.within(view), right=self.right.within(view))

    def expressions(self, layout: Layout) -> list[Expression]:
        pairs = broadcast(self.left.expressions(layout), self.right.expressions(layout))
        return [(*left, *right, (self.instruction,)) for left, right in pairs]

    @property
    def selection(self) -> object:
        left = self.left.selection
        if left != self.right.selection:
            raise ValueError(
                "per_feature: all parts of a kernel must have the same columns, got "
                f"{left!r} and {self.right.selection!r}"
            )
        return left

    def on(self, columns: object) -> Kernel:
        return replace(self, left=self.left.on(columns), right=self.right.on(columns))


@registered("Sum")
class Sum(Pair):
    """Sum of two kernels, or of the members of two families; the result of ``k1 + k2``.

    Parameters
    ----------
    left, right : Kernel
        Single kernels, or families of equal size.

    Examples
    --------
    >>> import numpy as np
    >>> from kernelweave.kernels import RBF, Linear
    >>> X = np.array([[1.0, 0.0], [2.0, 1.0]])
    >>> kernel = Linear(columns=[0]) + RBF(1.0, columns=[1])
    >>> type(kernel).__name__
    'Sum'
    >>> print(kernel(X).round(2))
    [[2.   2.37]
     [2.37 5.  ]]
    """

    symbol = "+"
    instruction = "add"


@registered("Product")
class Product(Pair):
    """Product of two kernels, or of the members of two families; the result of ``k1 * k2``.

    Parameters
    ----------
    left, right : Kernel
        Single kernels, or families of equal size.

    Examples
    --------
    >>> import numpy as np
    >>> from kernelweave.kernels import RBF, Linear
    >>> X = np.array([[1.0, 0.0], [2.0, 1.0]])
    >>> kernel = Linear(columns=[0]) * RBF(1.0, columns=[1])
    >>> type(kernel).__name__
    'Product'
    >>> print(kernel(X).round(2))
    [[1.   0.74]
     [0.74 4.  ]]
    """

    symbol = "*"
    instruction = "mul"

    def _labels_of(self, operand: Kernel) -> Sequence[str]:
        return _factors(operand)

    @property
    def unit_diagonal(self) -> bool:
        return self.left.unit_diagonal and self.right.unit_diagonal


@dataclass(frozen=True)
class Multiple(TransformedKernel):
    """A kernel or family times positive numbers.

    `filled` and `centred` apply to the kernel inside, since they commute with such factors.
    """

    def filled(self, present: Reader) -> Kernel | None:
        inner = self.kernel.filled(present)
        return None if inner is None else replace(self, kernel=inner)

    def centred(self, present: Reader) -> Kernel | None:
        inner = self.kernel.centred(present)
        return None if inner is None else replace(self, kernel=inner)


@registered("Scaled")
@dataclass(frozen=True)
class Scaled(Multiple):
    """Kernel or family times a positive number; the result of ``number * kernel``.

    Parameters
    ----------
    kernel : Kernel
        The kernel or family that is multiplied.
    factor : float > 0
        The number.

    Examples
    --------
    >>> import numpy as np
    >>> from kernelweave.kernels import Linear
    >>> kernel = 0.5 * Linear()
    >>> type(kernel).__name__
    'Scaled'
    >>> print(kernel(np.array([[1.0], [2.0]])))
    [[0.5 1. ]
     [1.  2. ]]
    """

    factor: float

    def __post_init__(self) -> None:
        if not 0 < self.factor < np.inf:
            raise ValueError(
                f"number * kernel: the number must be positive and finite, got {self.factor}"
            )

    @property
    def labels(self) -> tuple[str, ...]:
        return tuple(f"{self.factor:g} * {label}" for label in _factors(self.kernel))

    def expressions(self, layout: Layout) -> list[Expression]:
        return [(*e, ("scale", self.factor)) for e in self.kernel.expressions(layout)]


@registered("Named")
@dataclass(frozen=True)
class Named(TransformedKernel):
    """A combination or family of kernels with a name.

    Parameters
    ----------
    kernel : Kernel
        The kernel without the name.
    name : str
        Name of the kernel, or prefix of the names of a family.
    """

    name: str

    def __post_init__(self) -> None:
        if not isinstance(self.name, str):
            raise ValueError(f"kernels: names must be strings, got {self.name!r}")

    @property
    def labels(self) -> tuple[str, ...]:
        inner = self.kernel.labels
        return tuple(f"{self.name} {one}" for one in inner) if len(inner) > 1 else (self.name,)

    @property
    def views(self) -> tuple[str, ...]:
        return (self.name,) * self.n_kernels

    def named(self, name: str) -> Kernel:
        return replace(self, name=name)

    def resolve(self, X: Data) -> Kernel:
        kernel = self.kernel.within(self.name) if is_view_of(self.name, X) else self.kernel
        return replace(self, kernel=kernel.resolve(X))

    @property
    def unit_diagonal(self) -> bool:
        return self.kernel.unit_diagonal

    def expressions(self, layout: Layout) -> list[Expression]:
        return self.kernel.expressions(layout)


def _factors(kernel: Kernel) -> Sequence[str]:
    """Return the names of a kernel as factors of a product, with sums in parentheses."""
    return [f"({label})" for label in kernel.labels] if isinstance(kernel, Sum) else kernel.labels


def broadcast(first: Sequence[T], second: Sequence[S]) -> list[tuple[T, S]]:
    """Return the pairs of members of two families; a single kernel is paired with all members."""
    size = max(len(first), len(second))
    return [(first[i % len(first)], second[i % len(second)]) for i in range(size)]
