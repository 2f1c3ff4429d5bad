"""A shard: a part of the training examples.

A shard returns its examples, and evaluates kernel expansions, sum_j alpha_j k_m(x_j, .), at its
examples. Its methods have no side effects. If a shard is lost, it can be loaded again on any
machine and the call repeated, with the same result.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from ..common.cached_property import cached_property
from ..common.core import _core, single_threaded_blas
from ..kernels.compile.examples import Examples
from ..kernels.compile.program import CompiledKernels, Listing
from ..kernels.data.joined import joined
from ..sequences import Sequences
from .base import TrainingSet
from .family import FamilyEngine


class Expansion(NamedTuple):
    """A kernel expansion: q examples and their alphas, or changes of alpha, shape (q,)."""

    examples: Examples
    alpha: np.ndarray


@dataclass(frozen=True, eq=False)
class VaryingKernels:
    """The M kernels of an engine: those that are not constant on the training examples.

    Attributes
    ----------
    compiled : CompiledKernels
        All kernels.
    family : bool
        Whether the M kernels are evaluated as functions of a few shared quantities (`family`).
    """

    compiled: CompiledKernels
    family: bool

    @cached_property
    def listing(self) -> Listing:
        """The expressions of the M kernels: instructions of the core that evaluate them."""
        every, chosen = self.compiled.listing, self.compiled.varying
        return every if len(chosen) == every.n_kernels else every.part(chosen)

    def encoded(self, examples: Examples) -> Examples:
        """Return examples encoded for the M kernels, from `examples` encoded for all kernels."""
        return examples.part(self.compiled.listing.read_by(self.listing))

    def __getstate__(self) -> dict[str, object]:
        return {"compiled": self.compiled, "family": self.family}


@dataclass(frozen=True, eq=False)
class Shard:
    """Some of the training examples.

    Attributes
    ----------
    kernels : VaryingKernels
        The M kernels.
    examples : Examples
        The n examples of this shard, encoded for all kernels.
    n_jobs : int
        Number of threads.
    """

    kernels: VaryingKernels
    examples: Examples
    n_jobs: int = 1

    @property
    def n(self) -> int:
        """Number of examples."""
        return self.examples.n

    @cached_property
    def _own(self) -> Examples:
        """The examples, encoded for the M kernels."""
        return self.kernels.encoded(self.examples)

    def __getstate__(self) -> dict[str, object]:
        return {name: value for name, value in self.__dict__.items() if name != "_own"}

    def __sizeof__(self) -> int:
        """Return the size of the examples in bytes: Dask uses it to place shards."""
        arrays = [array for table in self.examples.tables for array in _arrays(table)]
        return self.examples.vectors.nbytes + sum(array.nbytes for array in arrays)

    def take(self, idx: np.ndarray) -> Examples:
        """Return the examples at given indices, encoded for all kernels."""
        return self.examples.take(idx)

    def part(self, idx: np.ndarray) -> Shard:
        """Return a shard with the examples at given indices."""
        return replace(self, examples=self.examples.take(idx))

    def combined(self, expansion: Expansion, theta: np.ndarray, single: bool) -> np.ndarray:
        """Return the values of a weighted sum of kernel expansions at the examples.

        Parameters
        ----------
        expansion : Expansion
            Examples x_j and their alphas.
        theta : ndarray of shape (M,)
            Kernel weights.
        single : bool
            Whether to compute in single precision if that is faster.

        Returns
        -------
        ndarray of shape (n,)
            sum_m theta_m sum_j alpha_j k_m(x_j, x_i).
        """
        with single_threaded_blas():
            if not self.kernels.family:
                return self._decide(expansion, theta[None])[0]
            engine = self._engine(expansion)
            engine.single_precision = single and engine.has_single_precision
            return engine.combined(theta)[expansion.examples.n :].copy()

    def outputs(self, expansion: Expansion, kernels: np.ndarray) -> np.ndarray:
        """Return the values of a kernel expansion for each of k kernels, shape (k, n)."""
        with single_threaded_blas():
            if self.kernels.family:
                return self._engine(expansion).outputs(kernels)[:, expansion.examples.n :].copy()
            return self._decide(expansion, np.eye(self.kernels.listing.n_kernels)[kernels])

    def block_norms(self, expansion: Expansion, slices: Sequence[tuple[int, int]]) -> np.ndarray:
        """Return the contribution of some rows of K_m to alpha' K_m alpha, shape (M,).

        K_m is the matrix between the examples of the expansion. The examples of this shard are not
        used: shards only divide the work.

        Parameters
        ----------
        expansion : Expansion
            All examples with alpha != 0.
        slices : sequence of (first, last)
            Ranges of rows, without `last`. Over all shards, they contain every row once.
        """
        with single_threaded_blas():
            if self.kernels.family:
                return self._family_block_norms(expansion, slices)
            every = np.arange(self.kernels.listing.n_kernels)
            total = np.zeros(len(every))
            for first, last in slices:
                some = replace(self, examples=expansion.examples.take(np.arange(first, last)))
                total += some.outputs(expansion, every) @ expansion.alpha[first:last]
            return total

    def _family_block_norms(
        self, expansion: Expansion, slices: Sequence[tuple[int, int]]
    ) -> np.ndarray:
        examples = self.kernels.encoded(expansion.examples)
        family = TrainingSet(self.kernels.listing, examples, 0.0, self.n_jobs).core(_core.Mixture)
        parts = [
            family.quadratic_of_rows(
                np.arange(first, examples.n), last - first, expansion.alpha[first:]
            )
            for first, last in slices
        ]
        return np.sum(parts, axis=0)

    def diagonal(self) -> np.ndarray:
        """Return k_m(x_i, x_i), shape (M, n)."""
        return _core.diagonal(self.kernels.listing.program, self._own.side)

    def largest_values(self) -> np.ndarray:
        """Return the largest k_m(x_i, x_i), shape (M,)."""
        return TrainingSet(self.kernels.listing, self._own).largest_values()

    def is_faster_in_single_precision(self) -> bool:
        """Return whether a family is faster in single precision."""
        return FamilyEngine.of(TrainingSet(self.kernels.listing, self._own)).has_single_precision

    def _engine(self, expansion: Expansion) -> FamilyEngine:
        """Return an engine for the examples of an expansion, then those of the shard (alpha 0)."""
        both = joined([self.kernels.encoded(expansion.examples), self._own])
        engine = FamilyEngine.of(TrainingSet(self.kernels.listing, both, 0.0, self.n_jobs))
        engine.move_to(np.concatenate([expansion.alpha, np.zeros(self.n)]))
        return engine

    def _decide(self, expansion: Expansion, weights: np.ndarray) -> np.ndarray:
        """Return combined outputs, shape (k, n), for each of k weight vectors, shape (k, M)."""
        program, others = self.kernels.listing.program, self.kernels.encoded(expansion.examples)
        coef = np.repeat(expansion.alpha[None], len(weights), axis=0)
        return _core.decide(program, others.side, self._own.side, coef, weights, self.n_jobs)


def _arrays(table: object) -> Iterator[np.ndarray]:
    """Yield the NumPy arrays that a table consists of."""
    for value in vars(table).values():
        if isinstance(value, np.ndarray):
            yield value
        elif isinstance(value, Sequences):
            yield from _arrays(value)
