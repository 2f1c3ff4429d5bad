"""Kernels: what all of them share.

A kernel object describes a *family* of M >= 1 kernels over shared quantities. It is a frozen
dataclass: parameters in, numbers out, no hidden state. Whatever depends on data (columns, widths,
categories, means) becomes concrete in `resolve`, which returns another kernel of the same kind.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, field, fields, replace
from numbers import Real
from typing import Any

import numpy as np

from kernelweave.common.core import _core, single_threaded_blas
from kernelweave.kernels.compile.examples import Reading
from kernelweave.kernels.compile.program import CompiledKernels, Expression, Layout, unique
from kernelweave.kernels.compose.nested_parameters import Nested
from kernelweave.kernels.data.columns import Columns
from kernelweave.kernels.parameters import frozen, label


class Kernel(Nested, ABC):
    """A family of kernels.

    Kernels can be added, multiplied with each other, and multiplied by a positive number. Families
    of equal size are combined member by member, and a single kernel with each member of a family.

    Examples
    --------
    >>> import numpy as np
    >>> from kernelweave.kernels import RBF, Linear
    >>> kernel = RBF(0.5, columns=[0]) * Linear(columns=[1]) + 2.0 * Linear()
    >>> X = np.array([[0.0, 1.0], [1.0, 2.0]])
    >>> print(kernel(X).round(2))
    [[ 3.    5.21]
     [ 5.21 14.  ]]
    >>> print(kernel.diagonal(X).round(2))
    [ 3. 14.]
    >>> kernel(X[:1], X).shape
    (1, 2)
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
    def is_family(self) -> bool:
        """Whether values come as a stack, one matrix per member."""
        return False

    @abstractmethod
    def expressions(self, layout: Layout) -> list[Expression]:
        """Return an expression for each member; sources and slots are registered in `layout`."""

    @property
    @abstractmethod
    def views(self) -> tuple[str, ...]:
        """What part of the data each member stands for: its name, or the columns that it reads."""

    def named(self, name: str) -> Kernel:
        """Return the same kernel under a name."""
        from kernelweave.kernels.compose.algebra import Named

        return Named(self, name)

    def row_means(self, reading: Reading) -> np.ndarray:
        """Return the mean of each row of the kernel matrix of training examples, (M, n); kept."""
        from kernelweave.kernels.compile.normalized_kernels import Sample

        if self not in reading.slots:
            sample = Sample.of(self, reading)
            reading.slots[self] = sample.means_with(sample.compiled.read(reading))
        return reading.slots[self]

    def filled(self, present: Reading) -> Kernel | None:
        """Return the kernel with the mean of the present examples filled in where all is missing.

        None where that is not the mean in feature space.
        """
        return None

    def centred(self, present: Reading) -> Kernel | None:
        """Return the kernel of vectors from which the mean of the present examples is subtracted.

        None where that is not the mean in feature space.
        """
        return None

    def within(self, view: str) -> Kernel:
        """Return the kernel within a view: of all of it without ``columns=``, or found there."""
        return self

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
    def pairwise(self) -> bool:
        """Whether X is a matrix of similarities, which scikit-learn splits on both axes."""
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
        training = Reading(X if Y is None else Y, training=True, n_jobs=n_jobs)
        new = training if Y is None else Reading(X, training=False, n_jobs=n_jobs)
        with single_threaded_blas():
            compiled = self._compiled(training, new)
            reference = compiled.read(training)
            examples = reference if Y is None else compiled.read(new)
            values = _core.evaluate(
                compiled.program, reference.side, examples.side, training.n_jobs
            )
        return _stacked(compiled, np.swapaxes(values, 1, 2))

    def diagonal(self, X: Any) -> np.ndarray:
        """Return k(x, x) for the n examples of X: shape (n,), or (M, n) for a family."""
        training = Reading(X, training=True)
        compiled = self._compiled(training, training)
        return _stacked(compiled, _core.diagonal(compiled.program, compiled.read(training).side))

    def _compiled(self, training: Reading, new: Reading) -> CompiledKernels:
        """Return the kernel ready to be evaluated, absent examples too."""
        from kernelweave.kernels.data.absent import completed  # which is made of kernels

        return CompiledKernels((completed(self.resolve(training.X), training, new),))

    def __add__(self, other: Any) -> Kernel:
        from kernelweave.kernels.compose.algebra import Sum

        return Sum(self, other) if isinstance(other, Kernel) else NotImplemented

    def __mul__(self, other: Any) -> Kernel:
        from kernelweave.kernels.compose.algebra import Product, Scaled

        if isinstance(other, Real):
            return Scaled(self, float(other))
        return Product(self, other) if isinstance(other, Kernel) else NotImplemented

    __rmul__ = __mul__


@dataclass(frozen=True)
class OnColumns(Kernel):
    """A kernel that looks at a part of X, and may have a name.

    Parameters
    ----------
    columns : the part of X to use; all of it by default.
    name : what to call the kernel, and the view of the data that it stands for.
    """

    columns: Any = field(default=None, kw_only=True)
    name: str | None = field(default=None, kw_only=True)

    def __init_subclass__(cls) -> None:
        cls.__repr__ = OnColumns.__repr__  # type: ignore[method-assign]  # dataclasses keep it

    def __repr__(self) -> str:
        ordered = sorted(fields(self), key=lambda f: f.name in ("columns", "name"))
        written = {f.name: repr(getattr(self, f.name)) for f in ordered if f.repr}
        given = [f"{name}={value}" for name, value in written.items() if value != "None"]
        return f"{self.kind}({', '.join(given)})"

    def __post_init__(self) -> None:
        object.__setattr__(self, "columns", frozen(self.columns))
        if not isinstance(self.name, str | None):
            raise ValueError(f"{self.kind}: name must be a string, not {self.name!r}")

    @property
    def kind(self) -> str:
        """What messages call the kernel, and names where it has none of its own."""
        return type(self).__name__

    def label(self, parameters: dict[str, Any]) -> str:
        """Return how a member with some parameters is called."""
        where = None if self.name else self.columns
        return label(self.name or self.kind, parameters, where)

    @property
    def labels(self) -> tuple[str, ...]:
        return (self.label({}),)

    @property
    def views(self) -> tuple[str, ...]:
        where = self.columns.label if isinstance(self.columns, Columns) else ""
        return (self.name or where or "all columns",) * self.n_kernels

    def named(self, name: str) -> Kernel:
        return replace(self, name=name)

    def within(self, view: str) -> Kernel:
        if isinstance(self.columns, Columns):
            return replace(self, columns=replace(self.columns, view=view))
        return replace(self, columns=view) if self.columns is None else self

    @property
    def selection(self) -> Any:
        return self.columns

    def on(self, columns: Any) -> Kernel:
        return replace(self, columns=columns)


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
    def views(self) -> tuple[str, ...]:
        return self.kernel.views

    @property
    def is_family(self) -> bool:
        return self.kernel.is_family

    @property
    def may_vanish(self) -> bool:
        return self.kernel.may_vanish

    def within(self, view: str) -> Kernel:
        return replace(self, kernel=self.kernel.within(view))

    @property
    def selection(self) -> Any:
        return self.kernel.selection

    def on(self, columns: Any) -> Kernel:
        return replace(self, kernel=self.kernel.on(columns))


def _stacked(compiled: CompiledKernels, values: np.ndarray) -> np.ndarray:
    """Return values of all members, or of the only kernel."""
    return values if compiled.kernels[0].is_family else values[0]
