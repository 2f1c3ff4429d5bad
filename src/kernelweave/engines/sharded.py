"""The engine of shards: examples in several places, alpha and the combined outputs here.

A turn sends the examples whose alphas have changed, and by how much, to every shard, and brings
back what that adds to the combined outputs (Sonnenburg et al. 2006, algorithm 4). All else is done
with the examples that were worked on: they are fetched once, and ordinary engines evaluate kernels
between them. A part of the examples that is small is fetched as a whole, and has an ordinary
engine.

Shards remember nothing. So alpha, the combined outputs and the fetched examples, all of which are
here, are all that a fit consists of, whatever becomes of a shard.
"""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from ..common.cached_property import cached_property
from ..kernels.compile.examples import Examples
from .base import LARGEST_BLOCK, Engine, kernel_blocks
from .cached_block_norms import CachedBlockNorms
from .cached_outputs import CachedOutputs
from .costs import EngineCosts
from .family import FamilyEngine
from .fetched import Fetched, Near
from .shard import Shard, Summands
from .shards import NearShards, Shards
from .snapshot import Snapshot

NEAR = 100_000  # examples up to which a part of them is fetched and worked on here,
LIGHT = 10  # and so many times as many where they are light (`Near`)
MANY = 20_000  # support examples from which on shards share the pairs of them


class ShardedEngine(CachedBlockNorms):
    """Examples in shards, one after the other, their kernels combined.

    Parameters
    ----------
    shards : where the examples are; at least one shard.
    near : makes engines for those that are fetched.
    """

    @property
    def costs(self) -> EngineCosts:
        return EngineCosts(
            block=LARGEST_BLOCK, single_precision=self.has_single_precision, remote=True
        )

    def __init__(self, shards: Shards, near: Near):
        super().__init__(int(shards.sizes.sum()), near.kernels.listing.n_kernels)
        self._shards, self._near = shards, near
        self.fetched = Fetched(shards)
        self._told = np.zeros(self.n)  # the alpha that the combined outputs belong to
        if near.kernels.family:
            self.precision = FamilyEngine.precision

    @cached_property
    def has_single_precision(self) -> bool:
        return self._near.kernels.family and all(
            self._shards.ask(Shard.is_faster_in_single_precision)
        )

    def change(self, idx: np.ndarray, values: np.ndarray) -> None:
        self._set(idx, values)  # shards are told when outputs are asked for

    def combined(self, theta: np.ndarray) -> np.ndarray:
        support = np.flatnonzero(self._alpha)
        changed = np.flatnonzero(self._alpha != self._told)
        if self._stale or not np.array_equal(theta, self._theta) or len(changed) > len(support):
            self._cache(self._sums(support, self._alpha[support], theta), theta)
            self.accumulated_update[:] = np.abs(self._alpha)
        elif len(changed):
            delta = self._alpha[changed] - self._told[changed]
            self._combined = self._combined + self._sums(changed, delta, theta)
        self._told[changed] = self._alpha[changed]
        return self._combined

    def _sums(self, idx: np.ndarray, alpha: np.ndarray, theta: np.ndarray) -> np.ndarray:
        """Return sum_m theta_m sum_j alpha_j k_m(x_j, x_i) over some examples j, shape (n,)."""
        if not len(idx):
            return np.zeros(self.n)
        given = Summands(self._fetch(idx), alpha)
        parts = self._shards.ask(Shard.combined, (given, theta, self._single))
        return np.concatenate(parts)

    def _quadratic(self) -> np.ndarray:
        support = np.flatnonzero(self._alpha)
        if not len(support):
            return np.zeros(self.n_kernels)
        if self.n_kernels == 1 and not self._single:  # its outputs will be asked for in any case
            theta = self._theta if self._theta[0] > 0 else np.ones(1)
            energies: np.ndarray = self._alpha @ self.combined(theta) / theta
            return energies
        if len(support) > MANY and not self._near.linear:  # which needs no pairs
            return self._far_quadratic(support)
        engine = self._near.engine(self._fetch(support))
        engine.move_to(self._alpha[support])
        return engine.quadratic()

    def _far_quadratic(self, support: np.ndarray) -> np.ndarray:
        """Return the same from all shards: each has rows from both ends, long and short ones."""
        count = len(self._shards.sizes)
        ends = np.linspace(0, len(support), 2 * count + 1).astype(int).tolist()
        rows = list(pairwise(ends))
        each = [([rows[k], rows[-1 - k]],) for k in range(count)]
        given = Summands(self._fetch(support), self._alpha[support])
        energies: np.ndarray = np.sum(self._shards.ask(Shard.energies, (given,), each), axis=0)
        return energies

    def outputs(self, kernels: np.ndarray | None = None) -> np.ndarray:
        """Return the outputs of all kernels, or of k of them, shape (k, n), anew at each call."""
        kernels = np.arange(self.n_kernels) if kernels is None else kernels
        support = np.flatnonzero(self._alpha)
        if not len(support):
            return np.zeros((len(kernels), self.n))
        given = Summands(self._fetch(support), self._alpha[support])
        return np.concatenate(self._shards.ask(Shard.outputs, (given, kernels)), axis=1)

    def outputs_at(self, idx: np.ndarray) -> np.ndarray:
        needed = np.union1d(np.flatnonzero(self._alpha), idx)
        engine = self._near.engine(self._fetch(needed))
        engine.move_to(self._alpha[needed])
        return kernel_blocks(engine).outputs_at(np.searchsorted(needed, idx))

    def block(self, idx: np.ndarray, theta: np.ndarray, *, exact: bool = True) -> np.ndarray:
        return self._near.engine(self._fetch(idx)).block(np.arange(len(idx)), theta)

    def blocks(self, idx: np.ndarray) -> np.ndarray:
        return kernel_blocks(self._near.engine(self._fetch(idx))).blocks(np.arange(len(idx)))

    def diagonal(self) -> np.ndarray:
        return np.concatenate(self._shards.ask(Shard.diagonal), axis=1)

    @cached_property
    def largest_values(self) -> np.ndarray:
        largest: np.ndarray = np.max(self._shards.ask(Shard.largest_values), axis=0)
        return largest

    def _fetch(self, idx: np.ndarray) -> Examples:
        """Return some examples, as all kernels read them."""
        return self.fetched.take(idx, np.flatnonzero(self._alpha))

    def _follow(self, outputs: np.ndarray | None, theta: np.ndarray | None) -> None:
        super()._follow(outputs, theta)
        self._told[:] = self._alpha

    def snapshot(self) -> Snapshot:
        followed = np.array_equal(self._told, self._alpha)
        return super().snapshot() if followed else Snapshot(self._alpha.copy())

    def _subset(self, examples: np.ndarray) -> Engine:
        """Return an engine for some of the examples, near where they are few.

        Its weights may change only where the alphas of the others are 0.
        """
        alpha = self._alpha[examples]
        alone = np.count_nonzero(alpha) == np.count_nonzero(self._alpha)
        if not alone and not self._stale:
            self.combined(self._theta)  # in which the alphas of the others are contained
        smaller = self._smaller(examples, alone)
        if smaller.has_single_precision:
            smaller.single_precision = self._single
        known = not (self._stale or alone)
        smaller.move_to(alpha, *((self._combined[examples], self._theta) if known else ()))
        return smaller

    def _smaller(self, examples: np.ndarray, alone: bool) -> Engine:
        """Return an engine for some examples, at any alpha."""
        if len(examples) <= (LIGHT * NEAR if self._near.light else NEAR):
            taken = self._fetch(examples)
            engine = self._near.engine(taken)
            # One that keeps the outputs of every kernel has no place for a sum that is given.
            if alone or self.n_kernels == 1 or not isinstance(engine, CachedOutputs):
                return engine
            shard = Shard(self._near.kernels, taken, self._near.n_jobs)
            return ShardedEngine(NearShards([shard]), self._near)
        if np.any(np.diff(examples) <= 0):
            raise ValueError("examples of shards must be sorted, and none may occur twice")
        parts = self._shards.parts(self.fetched.split(examples))
        far = ShardedEngine(parts, self._near)
        far.fetched = self.fetched.part(parts, examples)
        far.has_single_precision = self.has_single_precision
        return far
