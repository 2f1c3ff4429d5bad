"""From a list of kernels to a program of the core.

Every kernel of a family is described by an *expression*: a tuple of instructions in postfix order
that leaves one value, such as ``(("exp", 0, 0.5), ("scale", 2.0))``. Sources (shared quantities of
a view) are registered once however many kernels use them. Consecutive expressions that start with
exponentials of the same source, each the square of the one before, become one exponential and then
squarings.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from kernelweave.common.cached_property import cached_property
from kernelweave.common.core import _core
from kernelweave.kernels.compile.examples import Examples, Reading, View
from kernelweave.model.files.registry import stored

if TYPE_CHECKING:
    from kernelweave.kernels.base import Kernel

Instruction = tuple[Any, ...]
Expression = tuple[Instruction, ...]

READING = ("copy", "power", "exp")  # instructions whose first argument is a plane
MUTED = ("scale", 0.0)  # is in the expression of a kernel without any values but 0
MAX_SQUARINGS = 8  # each squaring doubles the relative error: 2^8 roundings are about 1e-13


class Slotted(Protocol):
    """A kernel that needs numbers of each example, such as its norm."""

    @property
    def n_kernels(self) -> int:
        """Number M of members."""

    def slot_vectors(self, reading: Reading) -> np.ndarray:
        """Return the numbers of n examples for each member, shape (M, n)."""


class Quantity(Protocol):
    """A shared quantity with parameters of its own; equal ones are computed once."""

    def source(self) -> _core.Source:
        """Return the quantity for the core."""


class Layout:
    """The sources and slots that the expressions of some kernels refer to by number."""

    def __init__(self) -> None:
        self.sources: dict[tuple[str | Quantity, View], int] = {}
        self.slotted: list[Slotted] = []
        self.n_planes = 0
        self.n_slots = 0

    def source(self, kind: str | Quantity, view: View, planes: int = 1) -> int:
        """Return the number of a shared quantity of a view, the first of its `planes` values."""
        if (kind, view) not in self.sources:
            self.sources[kind, view] = self.n_planes
            self.n_planes += planes
        return self.sources[kind, view]

    def slots(self, kernel: Slotted) -> range:
        """Return a slot for each member of `kernel`, to be filled with its `slot_vectors`."""
        first = self.n_slots
        self.slotted.append(kernel)
        self.n_slots += kernel.n_kernels
        return range(first, self.n_slots)

    def part(self, planes: set[int]) -> tuple[Layout, dict[int, int]]:
        """Return the layout without the sources of which no plane is read, and the new numbers."""
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
    """The expressions of M kernels over the sources and slots of a layout."""

    layout: Layout
    expressions: list[Expression]

    @property
    def n_kernels(self) -> int:
        """Number M of kernels."""
        return len(self.expressions)

    @property
    def n_sources(self) -> int:
        """Number of shared quantities."""
        return len(self.layout.sources)

    @cached_property
    def program(self) -> _core.Program:
        """The program of the core."""
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
        """Whether outputs of all kernels are sums over vectors or words, with weights of these."""
        first = self.part(np.arange(1))  # often tells, and the program of all may be very large
        return all(_core.Engine.is_linear(kernels.program) for kernels in (first, self))

    def read_by(self, part: Listing) -> list[int]:
        """Return which of the sources a part of the kernels reads."""
        numbers = {source: number for number, source in enumerate(self.layout.sources)}
        return [numbers[source] for source in part.layout.sources]

    def alike(self, kernels: np.ndarray, most: int) -> Iterator[np.ndarray]:
        """Give those of some kernels, `most` at a time, that differ in numbers only."""
        found = defaultdict[Expression, list[int]](list)
        for m in kernels.tolist():
            found[tuple(step[: _kept(step)] for step in self.expressions[m])].append(m)
        for alike in found.values():
            for first in range(0, len(alike), most):
                yield np.array(alike[first : first + most])

    def part(self, chosen: np.ndarray) -> Listing:
        """Return some of the kernels, over the sources that they read."""
        expressions = [self.expressions[m] for m in chosen]
        planes = {step[1] for e in expressions for step in e if step[0] in READING}
        layout, numbers = self.layout.part(planes)
        return Listing(layout, [renumbered(e, numbers) for e in expressions])


@stored("CompiledKernels")
@dataclass(frozen=True)
class CompiledKernels:
    """Kernels, ready to be evaluated.

    Only the kernels are stored and pickled; the program of the core is built when it is needed.

    Attributes
    ----------
    kernels : the resolved (and perhaps normalised) kernels; each may be a family.

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
        """Unique names of all M kernels."""
        return unique(label for kernel in self.kernels for label in kernel.labels)

    @property
    def views(self) -> tuple[str, ...]:
        """What part of the data each of the M kernels stands for."""
        return tuple(view for kernel in self.kernels for view in kernel.views)

    @property
    def n_kernels(self) -> int:
        """Number M of kernels."""
        return self.listing.n_kernels

    @cached_property
    def listing(self) -> Listing:
        """The expressions of all M kernels."""
        layout, expressions = Layout(), []
        for kernel in self.kernels:
            expressions += kernel.expressions(layout)
        return Listing(layout, expressions)

    @cached_property
    def varying(self) -> np.ndarray:
        """Which kernels tell examples apart: all but those that a normalisation has made 0."""
        silent = [MUTED in expression for expression in self.listing.expressions]
        return np.flatnonzero(~np.array(silent))

    @property
    def program(self) -> _core.Program:
        """The program of the core."""
        return self.listing.program

    @property
    def kinds(self) -> set[str]:
        """The kinds of shared quantities that the kernels use, as far as they have names."""
        return {kind for kind, _ in self.listing.layout.sources if isinstance(kind, str)}

    def examples(self, X: Any, *, n_jobs: int = 1) -> Examples:
        """Return new examples X as the program reads them."""
        return self.read(Reading(X, training=False, n_jobs=n_jobs))

    def training(self, X: Any, *, n_jobs: int = 1) -> Examples:
        """Return the training examples X as the program reads them."""
        return self.read(Reading(X, training=True, n_jobs=n_jobs))

    def read(self, reading: Reading) -> Examples:
        """Return the examples of a data set that may have been read in part before."""
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

    def __getstate__(self) -> dict[str, Any]:
        return {"kernels": self.kernels}


def unique(labels: Any) -> tuple[str, ...]:
    """Number the labels that occur again: ``("a", "a")`` becomes ``("a", "a #2")``."""
    seen: dict[str, int] = {}
    names = []
    for label in labels:
        seen[label] = seen.get(label, 0) + 1
        names.append(label if seen[label] == 1 else f"{label} #{seen[label]}")
    return tuple(names)


def renumbered(expression: Expression, numbers: dict[int, int]) -> Expression:
    """Return an expression over planes with other numbers."""
    return tuple(
        (step[0], numbers[step[1]], *step[2:]) if step[0] in READING else step
        for step in expression
    )


def stacked(expressions: Sequence[Expression]) -> Expression:
    """Return k expressions that differ in numbers only as one: its numbers have shape (k, 1)."""
    joined = []
    for steps in zip(*expressions, strict=True):
        kept = _kept(steps[0])
        numbers = zip(*(step[kept:] for step in steps), strict=True)
        joined.append((*steps[0][:kept], *(np.array(column)[:, None] for column in numbers)))
    return tuple(joined)


def _kept(step: Instruction) -> int:
    """Return how many parts of an instruction are no numbers: its name, and a plane."""
    return 2 if step[0] in READING else 1


def chains(expressions: Sequence[Expression]) -> Iterator[list[Expression]]:
    """Split expressions into runs in which every exponential is the square of the one before."""
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
    """Give the instructions of a chain: the first exponential, and before each other a square."""
    yield chain[0][0]
    for position, expression in enumerate(chain):
        last = position == len(chain) - 1
        if position > 0:
            yield ("square",)
        if not last:
            yield ("dup",)
        yield from expression[1:]
        yield ("out",)
