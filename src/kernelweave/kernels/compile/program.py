"""Compile a list of kernels to a program of the core.

Every kernel of a family is described by an *expression*: a tuple of instructions in postfix order
that leaves one value on a stack. For example, ``(("exp", 0, 0.5), ("scale", 2.0))`` is
2 exp(-0.5 d), where plane 0 contains the distance d. A *source* is a quantity of two examples that
several kernels share, such as the squared distance. It is computed once for each pair of examples.
Its values are stored in one or several *planes*, one number per pair each. A *slot* contains one
number per example, such as its norm.

Consecutive expressions that start with exponentials of the same source, each with twice the gamma
of the previous one, are compiled to one exponential followed by squarings.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from kernelweave.common.cached_property import cached_property
from kernelweave.common.core import _core
from kernelweave.common.types import Data
from kernelweave.kernels.compile.examples import Examples, Reader, Reading, View
from kernelweave.model.files.registry import registered

if TYPE_CHECKING:
    from kernelweave.kernels.base import Kernel

Instruction = tuple[Any, ...]
Expression = tuple[Instruction, ...]

READING = ("copy", "power", "exp")  # instructions whose first argument is the number of a plane
SET_TO_ZERO = ("scale", 0.0)  # instruction of kernels that normalisations set to 0
# Longest chain of squarings. Each one doubles the relative error: 2^8 roundings are about 6e-14.
MAX_SQUARINGS = 8


class Slotted(Protocol):
    """A kernel that needs one number per example (a slot), such as its norm."""

    @property
    def n_kernels(self) -> int:
        """Number M of members of the family; 1 for a single kernel."""

    def slot_vectors(self, reading: Reader) -> np.ndarray:
        """Return the slots of the members for n examples, shape (M, n)."""


class Quantity(Protocol):
    """A function of two examples, such as a squared distance, that several kernels share."""

    def source(self) -> _core.Source:
        """Return the compiled object that computes the quantity for a pair of examples."""


class Layout:
    """The numbers of the planes and slots that expressions refer to (see the module).

    Attributes
    ----------
    sources : dict from (quantity, view) to the number of its first plane
    slotted : the kernels that have slots, in the order of their slots
    n_planes, n_slots : int
        Numbers of planes and slots so far.
    """

    def __init__(self) -> None:
        self.sources: dict[tuple[str | Quantity, View], int] = {}
        self.slotted: list[Slotted] = []
        self.n_planes = 0
        self.n_slots = 0

    def source(self, kind: str | Quantity, view: View, planes: int = 1) -> int:
        """Return the number of the first plane of a quantity of a view; register it if new.

        Parameters
        ----------
        kind : name of a quantity that the core knows, such as "dot", or a `Quantity`
        view : the part of the data that the quantity reads
        planes : number of values of the quantity for a pair of examples
        """
        if (kind, view) not in self.sources:
            self.sources[kind, view] = self.n_planes
            self.n_planes += planes
        return self.sources[kind, view]

    def slots(self, kernel: Slotted) -> range:
        """Reserve a slot for each member of a kernel, and return the numbers of these slots.

        A slot contains one number per example, which `slot_vectors` of the kernel computes.
        """
        first = self.n_slots
        self.slotted.append(kernel)
        self.n_slots += kernel.n_kernels
        return range(first, self.n_slots)

    def part(self, planes: set[int]) -> tuple[Layout, dict[int, int]]:
        """Return a layout with only the sources to which the given planes belong.

        Planes are renumbered, slots are not.

        Returns
        -------
        layout : Layout
        numbers : dict from the old to the new numbers of planes
        """
        smaller, numbers = Layout(), {}
        smaller.slotted, smaller.n_slots = self.slotted, self.n_slots
        ends = [*self.sources.values(), self.n_planes][1:]
        for ((kind, view), first), end in zip(self.sources.items(), ends, strict=True):
            if not planes.isdisjoint(range(first, end)):
                at = smaller.source(kind, view, end - first)
                numbers.update({plane: at + plane - first for plane in range(first, end)})
        return smaller, numbers


@dataclass(frozen=True, eq=False)
class Listing:
    """The expressions of M kernels, and the layout that numbers their planes and slots.

    An expression is the sequence of instructions that computes a kernel from planes, such as
    squared distances (see the module).
    """

    layout: Layout
    expressions: list[Expression]

    @property
    def n_kernels(self) -> int:
        """Number M of kernels."""
        return len(self.expressions)

    @property
    def n_sources(self) -> int:
        """Number of sources: quantities of two examples that kernels share."""
        return len(self.layout.sources)

    @cached_property
    def program(self) -> _core.Program:
        """The program of the core that computes the values of all kernels."""
        program = _core.Program()
        for kind, _ in self.layout.sources:
            program.source(kind if isinstance(kind, str) else kind.source())
        for chain in chains(self.expressions):
            for name, *arguments in link(chain):
                getattr(program, name)(*arguments)
            program.end_group()
        return program

    @cached_property
    def is_linear(self) -> bool:
        """Whether all kernels are dot products of explicit features (vectors or k-mers)."""
        first = self.part(np.arange(1))  # tested first: the program of all may be very large
        return all(_core.Engine.is_linear(kernels.program) for kernels in (first, self))

    def read_by(self, part: Listing) -> list[int]:
        """Return the positions in this listing of the sources that its kernels in `part` use."""
        numbers = {source: number for number, source in enumerate(self.layout.sources)}
        return [numbers[source] for source in part.layout.sources]

    def alike(self, kernels: np.ndarray, most: int) -> Iterator[np.ndarray]:
        """Yield groups of kernels whose expressions differ in numeric constants only.

        Parameters
        ----------
        kernels : positions of the kernels to be grouped
        most : maximum number of kernels in a group
        """
        groups = defaultdict[Expression, list[int]](list)
        for m in kernels.tolist():
            groups[tuple(step[: _n_symbols(step)] for step in self.expressions[m])].append(m)
        for group in groups.values():
            for first in range(0, len(group), most):
                yield np.array(group[first : first + most])

    def part(self, chosen: np.ndarray) -> Listing:
        """Return the listing of some kernels, with only the sources that they use.

        Parameters
        ----------
        chosen : positions of k kernels
        """
        expressions = [self.expressions[m] for m in chosen]
        planes = {step[1] for e in expressions for step in e if step[0] in READING}
        layout, numbers = self.layout.part(planes)
        return Listing(layout, [renumbered(e, numbers) for e in expressions])


@registered("CompiledKernels")
@dataclass(frozen=True)
class CompiledKernels:
    """Kernels that are ready to be evaluated by the core.

    Only the kernels are saved and pickled. The program of the core is built on first use.

    Parameters
    ----------
    kernels : tuple of Kernel
        Kernels after `resolve`, possibly normalised. One object may describe a family of several
        kernels; M counts all of them.

    Examples
    --------
    >>> import numpy as np
    >>> from kernelweave.kernels import RBF, CompiledKernels, Linear, resolve
    >>> X = np.array([[0.0, 1.0], [1.0, 0.0]])
    >>> compiled = CompiledKernels(tuple(resolve([Linear(), RBF([0.1, 1.0])], X)))
    >>> compiled.names
    ('Linear', 'RBF gamma=0.1', 'RBF gamma=1')
    >>> compiled.n_kernels
    3
    """

    kernels: tuple[Kernel, ...]

    @cached_property
    def names(self) -> tuple[str, ...]:
        """Unique names of the M kernels."""
        return unique(label for kernel in self.kernels for label in kernel.labels)

    @property
    def views(self) -> tuple[str, ...]:
        """The view of the data that each of the M kernels reads."""
        return tuple(view for kernel in self.kernels for view in kernel.views)

    @property
    def n_kernels(self) -> int:
        """Number M of kernels."""
        return self.listing.n_kernels

    @cached_property
    def listing(self) -> Listing:
        """The expressions of the M kernels."""
        layout, expressions = Layout(), []
        for kernel in self.kernels:
            expressions += kernel.expressions(layout)
        return Listing(layout, expressions)

    @cached_property
    def varying(self) -> np.ndarray:
        """Positions of the kernels that are not constant on the training examples.

        Normalisations set constant kernels to 0.
        """
        constant = [SET_TO_ZERO in expression for expression in self.listing.expressions]
        return np.flatnonzero(~np.array(constant))

    @property
    def program(self) -> _core.Program:
        """The program of the core that computes the values of all kernels."""
        return self.listing.program

    @property
    def kinds(self) -> set[str]:
        """The names of the built-in quantities that the kernels use, such as "dot"."""
        return {kind for kind, _ in self.listing.layout.sources if isinstance(kind, str)}

    def examples(self, X: Data, *, n_jobs: int = 1) -> Examples:
        """Return new examples, encoded for the program.

        Parameters
        ----------
        X : n examples
        n_jobs : int
            Number of threads.

        Returns
        -------
        Examples
        """
        return self.read(Reading(X, training=False, n_jobs=n_jobs))

    def training(self, X: Data, *, n_jobs: int = 1) -> Examples:
        """Return the training examples, encoded for the program.

        Parameters
        ----------
        X : n examples
        n_jobs : int
            Number of threads.

        Returns
        -------
        Examples
        """
        return self.read(Reading(X, training=True, n_jobs=n_jobs))

    def read(self, reading: Reader) -> Examples:
        """Return the examples of a data set, encoded for the program.

        Parameters
        ----------
        reading : Reading
            A data set; tables that it has cached are not read again.

        Returns
        -------
        Examples
        """
        layout = self.listing.layout
        positions: dict[View, int] = {}
        for _, view in layout.sources:
            positions.setdefault(view, len(positions))
        vectors = [kernel.slot_vectors(reading) for kernel in layout.slotted]
        return Examples(
            n=reading.n,
            tables=tuple(map(reading.table, positions)),
            sources=tuple(positions[view] for _, view in layout.sources),
            vectors=np.concatenate([np.empty((0, reading.n)), *vectors]),
        )

    def __getstate__(self) -> dict[str, object]:
        return {"kernels": self.kernels}


def unique(labels: Iterable[str]) -> tuple[str, ...]:
    """Return unique names: ``("a", "a")`` becomes ``("a", "a #2")``."""
    seen: dict[str, int] = {}
    names = []
    for label in labels:
        seen[label] = seen.get(label, 0) + 1
        names.append(label if seen[label] == 1 else f"{label} #{seen[label]}")
    return tuple(names)


def renumbered(expression: Expression, numbers: dict[int, int]) -> Expression:
    """Return an expression with its planes renumbered; `numbers` maps old to new numbers."""
    return tuple(
        (step[0], numbers[step[1]], *step[2:]) if step[0] in READING else step
        for step in expression
    )


def stacked(expressions: Sequence[Expression]) -> Expression:
    """Return one expression for k expressions that differ in their constants only.

    Its constants are arrays of shape (k, 1), with the constants of all k expressions.
    """
    joined = []
    for steps in zip(*expressions, strict=True):
        symbols = _n_symbols(steps[0])
        numbers = zip(*(step[symbols:] for step in steps), strict=True)
        joined.append((*steps[0][:symbols], *(np.array(column)[:, None] for column in numbers)))
    return tuple(joined)


def _n_symbols(step: Instruction) -> int:
    """Return the number of items of an instruction before its numeric constants: 1 or 2."""
    return 2 if step[0] in READING else 1


def chains(expressions: Sequence[Expression]) -> Iterator[list[Expression]]:
    """Split expressions into runs in which each exponential is the square of the previous one."""
    run: list[Expression] = []
    for expression in expressions:
        if run and not (len(run) <= MAX_SQUARINGS and _squares(run[-1], expression)):
            yield run
            run = []
        run.append(expression)
    if run:
        yield run


def _squares(previous: Expression, current: Expression) -> bool:
    (name, *before), (other, *after) = previous[0], current[0]
    return bool(name == other == "exp" and before[0] == after[0] and after[1] == 2 * before[1])


def link(chain: list[Expression]) -> Iterator[Instruction]:
    """Yield the instructions of a chain: one exponential, then one squaring per further kernel.

    "dup" copies the exponential, which the rest of an expression changes; "out" ends a kernel.
    """
    yield chain[0][0]
    for position, expression in enumerate(chain):
        last = position == len(chain) - 1
        if position > 0:
            yield ("square",)
        if not last:
            yield ("dup",)
        yield from expression[1:]
        yield ("out",)
