"""A part of the examples, and what may be asked of it.

A shard answers questions about its own examples: what they are, and what given examples with given
alphas add to their outputs. It remembers nothing between two questions, so that an answer depends
on the shard and on the question alone: one that was lost can be loaded again anywhere, and asked
again.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from ..common.cached_property import cached_property
from ..common.core import _core, single_threaded_blas
from ..kernels.compile.examples import Examples
from ..kernels.compile.program import CompiledKernels, Listing
from ..kernels.data.joined import joined
from ..sequences import Sequences
from .base import TrainingSet
from .family import FamilyEngine


class Summands(NamedTuple):
    """Examples that outputs are sums over, and their alphas or the changes of these, shape (q,)."""

    examples: Examples
    alpha: np.ndarray


@dataclass(frozen=True, eq=False)
class Varying:
    """Those of some kernels that vary on the training examples: the M kernels of an engine.

    Attributes
    ----------
    compiled : all kernels.
    family : whether those that vary are taken as functions of a few shared quantities.
    """

    compiled: CompiledKernels
    family: bool

    @cached_property
    def listing(self) -> Listing:
        """The M kernels."""
        every, chosen = self.compiled.listing, self.compiled.varying
        return every if len(chosen) == every.n_kernels else every.part(chosen)

    def seen(self, examples: Examples) -> Examples:
        """Return examples that all kernels have read, as these ones see them."""
        return examples.part(self.compiled.listing.read_by(self.listing))

    def __getstate__(self) -> dict[str, Any]:
        return {"compiled": self.compiled, "family": self.family}


@dataclass(frozen=True, eq=False)
class Shard:
    """Some of the training examples.

    Attributes
    ----------
    kernels : the M kernels.
    examples : the n examples of this shard, as all kernels read them.
    n_jobs : number of threads.
    """

    kernels: Varying
    examples: Examples
    n_jobs: int = 1

    @property
    def n(self) -> int:
        """Number of examples."""
        return self.examples.n

    @cached_property
    def _own(self) -> Examples:
        """The examples, as the M kernels see them."""
        return self.kernels.seen(self.examples)

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in self.__dict__.items() if name != "_own"}

    def __sizeof__(self) -> int:
        """The bytes of its examples: who places shards has to know what it costs to move one."""
        arrays = [array for table in self.examples.tables for array in _arrays(table)]
        return self.examples.vectors.nbytes + sum(array.nbytes for array in arrays)

    def take(self, idx: np.ndarray) -> Examples:
        """Return some of its examples, as all kernels read them."""
        return self.examples.take(idx)

    def part(self, idx: np.ndarray) -> Shard:
        """Return a shard of some of its examples."""
        return replace(self, examples=self.examples.take(idx))

    def combined(self, given: Summands, theta: np.ndarray, rough: bool) -> np.ndarray:
        """Return sum_m theta_m sum_j alpha_j k_m(x_j, x_i) over the given examples j, shape (n,).

        `rough`: to about six digits, where that is quicker.
        """
        with single_threaded_blas():
            if not self.kernels.family:
                row: np.ndarray = self._decide(given, theta[None])[0]
                return row
            engine = self._engine(given)
            engine.single_precision = rough and engine.has_single_precision
            return engine.combined(theta)[given.examples.n :].copy()

    def outputs(self, given: Summands, kernels: np.ndarray) -> np.ndarray:
        """Return the same for each of k kernels, shape (k, n)."""
        with single_threaded_blas():
            if self.kernels.family:
                return self._engine(given).outputs(kernels)[:, given.examples.n :].copy()
            return self._decide(given, np.eye(self.kernels.listing.n_kernels)[kernels])

    def energies(self, given: Summands, slices: Sequence[tuple[int, int]]) -> np.ndarray:
        """Return what some of the given examples add to s = alpha' K_m alpha, shape (M,).

        Any shard can say so of any examples. `slices` are theirs: those of all shards together are
        all examples.
        """
        with single_threaded_blas():
            if self.kernels.family:
                return self._family_energies(given, slices)
            every = np.arange(self.kernels.listing.n_kernels)
            total = np.zeros(len(every))
            for first, last in slices:
                some = replace(self, examples=given.examples.take(np.arange(first, last)))
                total += some.outputs(given, every) @ given.alpha[first:last]
            return total

    def _family_energies(self, given: Summands, slices: Sequence[tuple[int, int]]) -> np.ndarray:
        seen = self.kernels.seen(given.examples)
        family = TrainingSet(self.kernels.listing, seen, 0.0, self.n_jobs).core(_core.Mixture)
        parts = [
            family.quadratic_of_rows(np.arange(first, seen.n), last - first, given.alpha[first:])
            for first, last in slices
        ]
        total: np.ndarray = np.sum(parts, axis=0)
        return total

    def diagonal(self) -> np.ndarray:
        """Return k_m(x_i, x_i), shape (M, n)."""
        return _core.diagonal(self.kernels.listing.program, self._own.side)

    def largest_values(self) -> np.ndarray:
        """Return the largest k_m(x_i, x_i), shape (M,)."""
        return TrainingSet(self.kernels.listing, self._own).largest_values()

    def is_faster_in_single_precision(self) -> bool:
        """Return whether a family gives outputs of about six digits in less time."""
        return FamilyEngine.of(TrainingSet(self.kernels.listing, self._own)).has_single_precision

    def _engine(self, given: Summands) -> FamilyEngine:
        """Return an engine of the given examples, then of its own, at the given alphas."""
        both = joined([self.kernels.seen(given.examples), self._own])
        engine = FamilyEngine.of(TrainingSet(self.kernels.listing, both, 0.0, self.n_jobs))
        engine.move_to(np.concatenate([given.alpha, np.zeros(self.n)]))
        return engine

    def _decide(self, given: Summands, weights: np.ndarray) -> np.ndarray:
        """Return combined outputs under each of k weights, shape (k, M): shape (k, n)."""
        program, others = self.kernels.listing.program, self.kernels.seen(given.examples)
        coef = np.repeat(given.alpha[None], len(weights), axis=0)
        return _core.decide(program, others.side, self._own.side, coef, weights, self.n_jobs)


def _arrays(table: Any) -> Iterator[np.ndarray]:
    """Give the arrays that a table consists of."""
    for value in vars(table).values():
        if isinstance(value, np.ndarray):
            yield value
        elif isinstance(value, Sequences):
            yield from _arrays(value)
