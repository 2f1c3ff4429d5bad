"""The engine for examples in shards: examples are remote, alpha and combined outputs are local.

In each iteration the examples whose alphas have changed are sent to every shard. Each shard returns
the change of its combined outputs (Sonnenburg et al. 2006, algorithm 4). The examples of working
sets are fetched once and cached, and local engines evaluate kernels between them. Small subsets of
the examples are fetched as a whole, and get a local engine.

Shards have no state. The state of a fit is alpha, the combined outputs and the fetched examples,
which are all local, so that lost shards can be replaced.
"""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from ..common.cached_property import cached_property
from ..kernels.compile.examples import Examples
from .base import LARGEST_BLOCK, Engine, kernel_blocks
from .cached_outputs import CachedOutputs
from .costs import EngineCosts
from .family import FamilyEngine
from .fetched import Fetched, LocalEngines
from .shard import Expansion, Shard
from .shards import LocalShards, Shards
from .snapshot import Snapshot

MOST_LOCAL = 100_000  # largest subset of the examples that is fetched as a whole,
LIGHT_FACTOR = 10  # multiplied by this if examples are light (`LocalEngines`)
MANY_SUPPORT_VECTORS = 20_000  # number above which all shards compute the squared block norms


class ShardedEngine(Engine):
    """Engine for examples in shards; only the combined outputs are cached.

    Parameters
    ----------
    shards : Shards
        At least one shard. Examples are numbered in the order of the shards.
    local : LocalEngines
        Creates engines for fetched examples.
    """

    @property
    def costs(self) -> EngineCosts:
        return EngineCosts(
            block=LARGEST_BLOCK, single_precision=self.has_single_precision, access="remote"
        )

    def __init__(self, shards: Shards, local: LocalEngines):
        super().__init__(int(shards.sizes.sum()), local.kernels.listing.n_kernels)
        self._shards, self._local = shards, local
        self.fetched = Fetched(shards)
        self._sent = np.zeros(self.n)  # the alpha of the cached combined outputs
        if local.kernels.family:
            self.precision = FamilyEngine.precision

    @cached_property
    def has_single_precision(self) -> bool:
        return self._local.kernels.family and all(
            self._shards.call(Shard.is_faster_in_single_precision)
        )

    def change(self, idx: np.ndarray, values: np.ndarray) -> None:
        self._set(idx, values)  # sent to the shards when outputs are needed

    def combined(self, theta: np.ndarray) -> np.ndarray:
        support = np.flatnonzero(self._alpha)
        changed = np.flatnonzero(self._alpha != self._sent)
        if self._stale or not np.array_equal(theta, self._theta) or len(changed) > len(support):
            self._cache(self._sums(support, self._alpha[support], theta), theta)
            self.accumulated_update[:] = np.abs(self._alpha)
        elif len(changed):
            delta = self._alpha[changed] - self._sent[changed]
            self._combined = self._combined + self._sums(changed, delta, theta)
        self._sent[changed] = self._alpha[changed]
        return self._combined

    def _sums(self, idx: np.ndarray, alpha: np.ndarray, theta: np.ndarray) -> np.ndarray:
        """Return sum_m theta_m sum_j alpha_j k_m(x_j, x_i) over some examples j, shape (n,)."""
        if not len(idx):
            return np.zeros(self.n)
        expansion = Expansion(self._fetch(idx), alpha)
        parts = self._shards.call(Shard.combined, (expansion, theta, self._single))
        return np.concatenate(parts)

    def quadratic(self) -> np.ndarray:
        support = np.flatnonzero(self._alpha)
        if not len(support):
            return np.zeros(self.n_kernels)
        if self.n_kernels == 1 and not self._single:  # solvers need its outputs in any case
            theta = self._theta if self._theta[0] > 0 else np.ones(1)
            return self._alpha @ self.combined(theta) / theta
        if len(support) > MANY_SUPPORT_VECTORS and not self._local.linear:
            return self._remote_quadratic(support)
        engine = self._local.engine(self._fetch(support))
        engine.move_to(self._alpha[support])
        return engine.quadratic()

    def _remote_quadratic(self, support: np.ndarray) -> np.ndarray:
        """Return the squared block norms, shape (M,), as a sum over shards.

        Kernel matrices are symmetric, so that row i is evaluated from column i on. Each shard gets
        a range of long and one of short rows, so that all have the same work.
        """
        count = len(self._shards.sizes)
        ends = np.linspace(0, len(support), 2 * count + 1).astype(int).tolist()
        rows = list(pairwise(ends))
        each = [([rows[k], rows[-1 - k]],) for k in range(count)]
        expansion = Expansion(self._fetch(support), self._alpha[support])
        return np.sum(self._shards.call(Shard.block_norms, (expansion,), each), axis=0)

    def outputs(self, kernels: np.ndarray | None = None) -> np.ndarray:
        """Return the outputs of all kernels, or of k of them, shape (k, n); they are not cached."""
        kernels = np.arange(self.n_kernels) if kernels is None else kernels
        support = np.flatnonzero(self._alpha)
        if not len(support):
            return np.zeros((len(kernels), self.n))
        expansion = Expansion(self._fetch(support), self._alpha[support])
        return np.concatenate(self._shards.call(Shard.outputs, (expansion, kernels)), axis=1)

    def outputs_at(self, idx: np.ndarray) -> np.ndarray:
        needed = np.union1d(np.flatnonzero(self._alpha), idx)
        engine = self._local.engine(self._fetch(needed))
        engine.move_to(self._alpha[needed])
        return kernel_blocks(engine).outputs_at(np.searchsorted(needed, idx))

    def block(self, idx: np.ndarray, theta: np.ndarray, *, exact: bool = True) -> np.ndarray:
        return self._local.engine(self._fetch(idx)).block(np.arange(len(idx)), theta)

    def blocks(self, idx: np.ndarray) -> np.ndarray:
        return kernel_blocks(self._local.engine(self._fetch(idx))).blocks(np.arange(len(idx)))

    def diagonal(self) -> np.ndarray:
        return np.concatenate(self._shards.call(Shard.diagonal), axis=1)

    @cached_property
    def largest_values(self) -> np.ndarray:
        return np.max(self._shards.call(Shard.largest_values), axis=0)

    def _fetch(self, idx: np.ndarray) -> Examples:
        """Return the examples at given indices, encoded for all kernels."""
        return self.fetched.take(idx, np.flatnonzero(self._alpha))

    def _follow(self, outputs: np.ndarray | None, theta: np.ndarray | None) -> None:
        super()._follow(outputs, theta)
        self._sent[:] = self._alpha

    def snapshot(self) -> Snapshot:
        followed = np.array_equal(self._sent, self._alpha)
        return super().snapshot() if followed else Snapshot(self._alpha.copy(), origin=self.origin)

    def _subset(self, examples: np.ndarray) -> Engine:
        """Return an engine for some of the examples, a local one if they are few.

        Its weights may change only if the alphas of the other examples are 0.
        """
        alpha = self._alpha[examples]
        alone = np.count_nonzero(alpha) == np.count_nonzero(self._alpha)
        if not alone and not self._stale:
            self.combined(self._theta)  # includes the contributions of the other examples
        smaller = self._smaller(examples, alone)
        if smaller.has_single_precision:
            smaller.single_precision = self._single
        known = not (self._stale or alone)
        smaller.move_to(alpha, *((self._combined[examples], self._theta) if known else ()))
        return smaller

    def _smaller(self, examples: np.ndarray, alone: bool) -> Engine:
        """Return an engine for some examples, whose alpha the caller sets.

        `alone`: whether the alphas of all other examples are 0.
        """
        if len(examples) <= (LIGHT_FACTOR * MOST_LOCAL if self._local.light else MOST_LOCAL):
            taken = self._fetch(examples)
            engine = self._local.engine(taken)
            # Engines that cache the outputs of every kernel cannot start from combined outputs.
            if alone or self.n_kernels == 1 or not isinstance(engine, CachedOutputs):
                return engine
            shard = Shard(self._local.kernels, taken, self._local.n_jobs)
            return ShardedEngine(LocalShards([shard]), self._local)
        if np.any(np.diff(examples) <= 0):
            raise ValueError(
                f"examples must be sorted and distinct for subsets above {MOST_LOCAL:,} examples "
                "of shards; pass np.unique(examples)"
            )
        parts = self._shards.parts(self.fetched.split(examples))
        remote = ShardedEngine(parts, self._local)
        remote.fetched = self.fetched.part(parts, examples)
        remote.has_single_precision = self.has_single_precision
        return remote
