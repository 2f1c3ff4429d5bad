"""Kernels: what all of them share, and their algebra.

A kernel object describes a *family* of M >= 1 kernels over shared quantities. It is a frozen
dataclass: parameters in, numbers out, no hidden state. Whatever depends on data (columns, widths,
categories, means) becomes concrete in `resolve`, which returns another kernel of the same kind.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, replace
from numbers import Real
from typing import Any, ClassVar, TypeVar

import numpy as np

from kernelweave.core import _core, single_threaded_blas
from kernelweave.kernels.program import CompiledKernels, Expression, Layout, unique
from kernelweave.numeric import thread_count
from kernelweave.stored import stored

S = TypeVar("S")
T = TypeVar("T")


class Kernel(ABC):
    """A family of kernels.

    Kernels can be added, multiplied with each other, and multiplied by a positive number. Families
    of equal size are combined member by member, and a single kernel with each member of a family.
    """

    __array_ufunc__ = None  # so that NumPy numbers leave ``number * kernel`` to the kernel

    @abstractmethod
    def resolve(self, X: Any) -> Kernel:
        """Return the same kernel with all that depends on data taken from X; resolved ones stay."""

    @property
    @abstractmethod
    def labels(self) -> tuple[str, ...]:
        """What each member is called, before equal ones are told apart."""

    @property
    @abstractmethod
    def is_family(self) -> bool:
        """Whether values come as a stack, one matrix per member."""

    @abstractmethod
    def expressions(self, layout: Layout) -> list[Expression]:
        """Return an expression for each member; sources and slots are registered in `layout`."""

    @property
    def selection(self) -> Any:
        """The ``columns=`` that all parts of this kernel have in common."""
        raise ValueError(f"{type(self).__name__} cannot be repeated on every column")

    def on(self, columns: Any) -> Kernel:
        """Return the same kernel on other columns."""
        raise ValueError(f"{type(self).__name__} cannot be repeated on every column")

    @property
    def unit_diagonal(self) -> bool:
        """Whether k(x, x) = 1 for all x and all members."""
        return False

    @property
    def may_vanish(self) -> bool:
        """Whether examples that have nothing to compare, k(x, x) = 0, are no mistake."""
        return False

    @property
    def names(self) -> tuple[str, ...]:
        """Unique names of the members."""
        return unique(self.labels)

    @property
    def n_kernels(self) -> int:
        """Number M of members."""
        return len(self.labels)

    @property
    def size(self) -> int | None:
        """The number of members, or None where it depends on data that were not seen yet."""
        return self.n_kernels

    def __call__(self, X: Any, Y: Any = None, *, n_jobs: int | None = None) -> np.ndarray:
        """Return the kernel values of all pairs.

        What depends on data is taken from Y (from X without Y), unless the kernel is resolved.

        Parameters
        ----------
        X : n examples.
        Y : m examples; X where None. For precomputed kernels these are the training examples.
        n_jobs : number of threads; None is one, -1 all processors.

        Returns
        -------
        (n, m) array for a single kernel, (M, n, m) for a family.
        """
        with single_threaded_blas():
            compiled = CompiledKernels((self.resolve(X if Y is None else Y),))
            reference = compiled.training(X if Y is None else Y)
            examples = reference if Y is None else compiled.examples(X)
            threads = thread_count(n_jobs)
            values = _core.evaluate(compiled.program, reference.side, examples.side, threads)
        return self._stacked(np.swapaxes(values, 1, 2))

    def diagonal(self, X: Any) -> np.ndarray:
        """Return k(x, x) for the n examples of X: shape (n,), or (M, n) for a family."""
        compiled = CompiledKernels((self.resolve(X),))
        return self._stacked(_core.diagonal(compiled.program, compiled.training(X).side))

    def _stacked(self, values: np.ndarray) -> np.ndarray:
        return values if self.is_family else values[0]

    def __add__(self, other: Any) -> Kernel:
        return Sum(self, other) if isinstance(other, Kernel) else NotImplemented

    def __mul__(self, other: Any) -> Kernel:
        if isinstance(other, Real):
            return Scaled(self, float(other))
        return Product(self, other) if isinstance(other, Kernel) else NotImplemented

    __rmul__ = __mul__


class OnColumns(Kernel):
    """A kernel that has ``columns=`` of its own; its subclasses are dataclasses."""

    columns: Any

    @property
    def selection(self) -> Any:
        return self.columns

    def on(self, columns: Any) -> Kernel:
        return replace(self, columns=columns)  # type: ignore[type-var]  # a dataclass, see above


@dataclass(frozen=True)
class Pair(Kernel):
    """Two kernels or families, combined member by member."""

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
        if self.left.size is None or self.right.size is None:
            return None
        return max(self.left.size, self.right.size)

    def resolve(self, X: Any) -> Kernel:
        return replace(self, left=self.left.resolve(X), right=self.right.resolve(X))

    @property
    def labels(self) -> tuple[str, ...]:
        pairs = broadcast(self._labels_of(self.left), self._labels_of(self.right))
        return tuple(f"{left} {self.symbol} {right}" for left, right in pairs)

    def _labels_of(self, operand: Kernel) -> Sequence[str]:
        return operand.labels

    @property
    def is_family(self) -> bool:
        return self.left.is_family or self.right.is_family

    def expressions(self, layout: Layout) -> list[Expression]:
        pairs = broadcast(self.left.expressions(layout), self.right.expressions(layout))
        return [(*left, *right, (self.instruction,)) for left, right in pairs]

    @property
    def selection(self) -> Any:
        if self.left.selection != self.right.selection:
            raise ValueError("per_feature: all parts of a kernel must have the same columns")
        return self.left.selection

    def on(self, columns: Any) -> Kernel:
        return replace(self, left=self.left.on(columns), right=self.right.on(columns))


@stored("Sum")
class Sum(Pair):
    """The sum of two kernels, or of the members of two families."""

    symbol = "+"
    instruction = "add"


@stored("Product")
class Product(Pair):
    """The product of two kernels, or of the members of two families."""

    symbol = "*"
    instruction = "mul"

    def _labels_of(self, operand: Kernel) -> Sequence[str]:
        return _factors(operand)

    @property
    def unit_diagonal(self) -> bool:
        return self.left.unit_diagonal and self.right.unit_diagonal


@dataclass(frozen=True)
class Wrapper(Kernel):
    """A kernel or family whose values are changed after they were computed."""

    kernel: Kernel

    @property
    def size(self) -> int | None:
        return self.kernel.size

    def resolve(self, X: Any) -> Kernel:
        return replace(self, kernel=self.kernel.resolve(X))

    @property
    def labels(self) -> tuple[str, ...]:
        return self.kernel.labels

    @property
    def is_family(self) -> bool:
        return self.kernel.is_family

    @property
    def may_vanish(self) -> bool:
        return self.kernel.may_vanish

    @property
    def selection(self) -> Any:
        return self.kernel.selection

    def on(self, columns: Any) -> Kernel:
        return replace(self, kernel=self.kernel.on(columns))


@stored("Scaled")
@dataclass(frozen=True)
class Scaled(Wrapper):
    """A kernel or family times a positive number."""

    factor: float

    def __post_init__(self) -> None:
        if not 0 < self.factor < np.inf:
            raise ValueError(f"number * kernel: the number must be positive, not {self.factor}")

    @property
    def labels(self) -> tuple[str, ...]:
        return tuple(f"{self.factor:g} * {label}" for label in _factors(self.kernel))

    def expressions(self, layout: Layout) -> list[Expression]:
        return [(*e, ("scale", self.factor)) for e in self.kernel.expressions(layout)]


def _factors(kernel: Kernel) -> Sequence[str]:
    """Return the labels of a kernel as factors of a product."""
    return [f"({label})" for label in kernel.labels] if isinstance(kernel, Sum) else kernel.labels


def broadcast(first: Sequence[T], second: Sequence[S]) -> list[tuple[T, S]]:
    """Pair the members of two families; a single one goes with each member of the other."""
    size = max(len(first), len(second))
    return [(first[i % len(first)], second[i % len(second)]) for i in range(size)]
