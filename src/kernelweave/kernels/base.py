"""The base classes of kernels.

A kernel object describes a *family* of M >= 1 kernels that share computations. It is a frozen
dataclass without hidden state. Parameters that depend on the data (columns, gamma, categories,
means) are determined by `resolve`, which returns a new kernel.

A subclass of `Kernel` defines `resolve`, `labels`, `views` and `expressions`; a subclass of
`OnColumns` only `resolve` and `expressions`, and `labels` if it is a family; a subclass of
`TableKernel` only `resolve` and `table`. All other methods have defaults.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, field, fields, replace
from numbers import Real
from typing import ClassVar

import numpy as np

from kernelweave.common.core import _core, single_threaded_blas
from kernelweave.common.types import Data, Tabular
from kernelweave.kernels.compile.examples import Reader, Reading, Table
from kernelweave.kernels.compile.program import CompiledKernels, Expression, Layout, unique
from kernelweave.kernels.compose.nested_parameters import Nested
from kernelweave.kernels.data.columns import Columns, found
from kernelweave.kernels.parameters import Parameter, Parameters, hashable, label


class Kernel(Nested, ABC):
    """A kernel, or a family of M kernels.

    A family has a sequence of values for a parameter, such as ``RBF([0.1, 1.0])``, and one kernel
    for each (a member). A kernel is resolved if no parameter, such as ``gamma="scale"``, remains to
    be determined from the training data.

    Kernels can be added, multiplied with each other, and multiplied by a positive number. Families
    of equal size are combined member by member. A single kernel is combined with each member of a
    family.

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

    __array_ufunc__ = None  # lets NumPy scalars defer ``number * kernel`` to the kernel

    @abstractmethod
    def resolve(self, X: Data) -> Kernel:
        """Return the kernel with all parameters that depend on data determined from X.

        Parameters
        ----------
        X : n training examples

        Returns
        -------
        Kernel
            A new kernel; a kernel that is resolved already is returned unchanged.
        """

    @property
    @abstractmethod
    def labels(self) -> tuple[str, ...]:
        """The name of each member; names may repeat."""

    @property
    def is_family(self) -> bool:
        """Whether kernel matrices have a leading axis of length M, the number of members."""
        return False

    @abstractmethod
    def expressions(self, layout: Layout) -> list[Expression]:
        """Return for each member its expression: the instructions that compute its values.

        Parameters
        ----------
        layout : Layout
            Numbers what instructions refer to: quantities of pairs of examples, such as squared
            distances (sources), and numbers of single examples, such as norms (slots). This method
            adds the quantities and numbers of the kernel.

        Returns
        -------
        list of M expressions
        """

    @property
    @abstractmethod
    def views(self) -> tuple[str, ...]:
        """For each member, the name of the view (part of X) that it reads, or of its columns."""

    def named(self, name: str) -> Kernel:
        """Return the kernel with another name.

        Parameters
        ----------
        name : str
            The new name; for a family, the first part of the names of its members.

        Returns
        -------
        Kernel
        """
        from kernelweave.kernels.compose.algebra import Named

        return Named(self, name)

    def row_means(self, reading: Reader) -> np.ndarray:
        """Return the weighted mean of each row of each member's training kernel matrix.

        The result is cached in `reading`.

        Parameters
        ----------
        reading : Reader
            The training examples.

        Returns
        -------
        array of shape (M, n)
        """
        from kernelweave.kernels.compile.normalized_kernels import Sample

        if self not in reading.vectors:
            sample = Sample.of(self, reading)
            reading.vectors[self] = sample.means_with(sample.compiled.read(reading))
        return reading.vectors[self]

    def filled(self, present: Reader) -> Kernel | None:
        """Return the kernel with the mean vector in place of examples without any value.

        Parameters
        ----------
        present : Reader
            The training examples that have values.

        Returns
        -------
        Kernel or None
            None for nonlinear kernels, because the image of the mean vector is not the mean in
            their feature space.
        """
        return None

    def centred(self, present: Reader) -> Kernel | None:
        """Return the kernel, centred in feature space by subtracting a mean vector from the inputs.

        Parameters
        ----------
        present : Reader
            The training examples that have values.

        Returns
        -------
        Kernel or None
            None for nonlinear kernels, and if the vectors are sparse or contain indicators of
            categories.
        """
        return None

    def within(self, view: str) -> Kernel:
        """Return the kernel that reads a view, one of the tables of `Views`.

        Parameters
        ----------
        view : str
            Name of the view.

        Returns
        -------
        Kernel
            It reads all columns of the view if it has no ``columns=``. If it is resolved, it reads
            the same columns of the view.
        """
        return self

    @property
    def selection(self) -> object:
        """The ``columns=`` of this kernel, which all its parts have in common."""
        raise ValueError(self._without_columns())

    def _without_columns(self) -> str:
        """Return the error message for kernels that have no ``columns=``."""
        return (
            f"kernel: {type(self).__name__} does not read single columns, so per_feature cannot "
            "apply it to each of them; pass a kernel of vectors, such as RBF()"
        )

    def on(self, columns: object) -> Kernel:
        """Return the kernel on other columns.

        Parameters
        ----------
        columns : as in ``columns=`` of a kernel

        Returns
        -------
        Kernel

        Raises
        ------
        ValueError
            If the kernel has no ``columns=``.
        """
        raise ValueError(self._without_columns())

    @property
    def unit_diagonal(self) -> bool:
        """Whether k(x, x) = 1 for all x and all members."""
        return False

    @property
    def pairwise(self) -> bool:
        """Whether X is itself a kernel matrix, so that scikit-learn must split both its axes."""
        return False

    @property
    def may_vanish(self) -> bool:
        """Whether examples with k(x, x) = 0 are valid, such as sequences shorter than the words."""
        return False

    @property
    def names(self) -> tuple[str, ...]:
        """Unique names of the M members."""
        return unique(self.labels)

    @property
    def n_kernels(self) -> int:
        """Number M of members."""
        return len(self.labels)

    @property
    def size(self) -> int | None:
        """Number of members, or None if it depends on the data and the kernel is not resolved."""
        return self.n_kernels

    def __call__(self, X: Data, Y: Data = None, *, n_jobs: int | None = None) -> np.ndarray:
        """Return the kernel matrix.

        Parameters that depend on data are determined from Y (from X if Y is None), unless the
        kernel is resolved.

        Parameters
        ----------
        X : n examples
        Y : m examples, optional
            X by default. For precomputed kernels these are the training examples.
        n_jobs : int or None
            Number of threads. None means 1, -1 all processors.

        Returns
        -------
        array of shape (n, m) for a single kernel, (M, n, m) for a family
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

    def diagonal(self, X: Data) -> np.ndarray:
        """Return k(x, x) of each example.

        Parameters
        ----------
        X : n examples

        Returns
        -------
        array of shape (n,) for a single kernel, (M, n) for a family
        """
        training = Reading(X, training=True)
        compiled = self._compiled(training, training)
        return _stacked(compiled, _core.diagonal(compiled.program, compiled.read(training).side))

    def _compiled(self, training: Reading, new: Reading) -> CompiledKernels:
        """Return the resolved and compiled kernel, defined also for examples without values."""
        from kernelweave.kernels.data.absent import completed  # imports this module

        return CompiledKernels((completed(self.resolve(training.X), training, new),))

    def __add__(self, other: object) -> Kernel:
        from kernelweave.kernels.compose.algebra import Sum

        return Sum(self, other) if isinstance(other, Kernel) else NotImplemented

    def __mul__(self, other: object) -> Kernel:
        from kernelweave.kernels.compose.algebra import Product, Scaled

        if isinstance(other, Real):
            return Scaled(self, float(other))
        return Product(self, other) if isinstance(other, Kernel) else NotImplemented

    __rmul__ = __mul__


@dataclass(frozen=True)
class OnColumns(Kernel):
    """A kernel that reads some columns of X.

    Parameters
    ----------
    columns : columns of X to use, as in `kernelweave.kernels.data.columns.choose`; all by default
    name : str, optional
        Name of the kernel and of the view that it reads.
    """

    columns: Parameter = field(default=None, kw_only=True)
    name: str | None = field(default=None, kw_only=True)

    def __init_subclass__(cls) -> None:
        # @dataclass generates a __repr__ unless the class has one.
        cls.__repr__ = OnColumns.__repr__  # type: ignore[method-assign]

    def __repr__(self) -> str:
        ordered = sorted(fields(self), key=lambda f: (f.kw_only, f.name in ("columns", "name")))
        written = {f.name: repr(getattr(self, f.name)) for f in ordered if f.repr}
        given = [f"{name}={value}" for name, value in written.items() if value != "None"]
        return f"{self.kind}({', '.join(given)})"

    def __post_init__(self) -> None:
        object.__setattr__(self, "columns", hashable(self.columns))
        if not isinstance(self.name, str | None):
            raise ValueError(f"{self.kind}: name must be a string or None, got {self.name!r}")

    @property
    def kind(self) -> str:
        """The name of the kernel in messages, and its default name."""
        return type(self).__name__

    def label(self, parameters: Parameters) -> str:
        """Return the name of a member.

        Parameters
        ----------
        parameters : dict
            The parameters that distinguish the member.

        Returns
        -------
        str
        """
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
    def selection(self) -> object:
        return self.columns

    def on(self, columns: object) -> Kernel:
        return replace(self, columns=columns)


@dataclass(frozen=True)
class TableKernel(OnColumns):
    """A single kernel whose values are a quantity of the compiled core, such as the dot product.

    The subclass computes the table of vectors or similarities that the core reads.
    """

    quantity: ClassVar[str]  # name of the quantity in the compiled core, such as "dot"

    @abstractmethod
    def table(self, X: Tabular, training: bool) -> Table:
        """Return the examples as a table that the compiled core reads.

        Parameters
        ----------
        X : n examples
        training : bool
            Whether X is the training data.

        Returns
        -------
        Table
        """

    def expressions(self, layout: Layout) -> list[Expression]:
        _ = found(self, Columns)  # raises if the kernel is not resolved
        return [(("copy", layout.source(self.quantity, self)),)]


class Unresolved(Kernel):
    """A kernel that `resolve` replaces by another one; until then it has no names or values."""

    def _refuse(self) -> ValueError:
        """Return the error of methods that need the resolved kernel."""
        return ValueError(f"{self!r} has no members yet; call resolve(X) first")

    @property
    def labels(self) -> tuple[str, ...]:
        raise self._refuse()

    @property
    def views(self) -> tuple[str, ...]:
        raise self._refuse()

    def expressions(self, layout: Layout) -> list[Expression]:
        raise self._refuse()


@dataclass(frozen=True)
class TransformedKernel(Kernel):
    """A kernel that transforms the values of another kernel or family.

    Parameters
    ----------
    kernel : Kernel
        The kernel or family that is transformed.
    """

    kernel: Kernel

    @property
    def size(self) -> int | None:
        return self.kernel.size

    def resolve(self, X: Data) -> Kernel:
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
    def selection(self) -> object:
        return self.kernel.selection

    def on(self, columns: object) -> Kernel:
        return replace(self, kernel=self.kernel.on(columns))


def _stacked(compiled: CompiledKernels, values: np.ndarray) -> np.ndarray:
    """Return values of shape (M, ...) for a family; drop the first axis for a single kernel."""
    return values if compiled.kernels[0].is_family else values[0]
