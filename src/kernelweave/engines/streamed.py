"""The engine for very many kernels: they are evaluated block by block.

The outputs of M kernels for n examples take 8 M n bytes. Solvers with sparse weights need the
outputs of a few kernels only (`of_kernels`). Occasionally they need the squared block norms
alpha' K_m alpha of all kernels. These are computed for blocks of kernels, so that no array of size
M n is allocated.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from joblib import Parallel, delayed

from ..common.cached_property import cached_property
from ..common.core import _core
from .base import LARGEST_BLOCK, Engine, TrainingSet
from .costs import EngineCosts
from .dense import DenseEngine

BLOCK = 20_000  # kernels evaluated at a time


class StreamedEngine(Engine):
    """Engine for very many kernels on local examples; only combined outputs are cached.

    Parameters
    ----------
    training_set : TrainingSet
        The kernels and examples.
    """

    def __init__(self, training_set: TrainingSet):
        super().__init__(training_set.examples.n, training_set.kernels.n_kernels)
        self._training_set = training_set

    @property
    def costs(self) -> EngineCosts:
        return EngineCosts(block=LARGEST_BLOCK, access="streamed")

    def subset(self, examples: np.ndarray) -> StreamedEngine:
        """Return an engine for some of the examples; the alphas of the others are set to 0.

        Parameters
        ----------
        examples : ndarray of shape (q,)
            Indices of the examples.

        Returns
        -------
        StreamedEngine
        """
        training_set = self._training_set
        smaller = StreamedEngine(
            replace(training_set, examples=training_set.examples.take(examples))
        )
        smaller.move_to(self._alpha[examples])
        return smaller

    def among(self, kernels: np.ndarray) -> StreamedEngine:
        """Return an engine for some of the kernels that caches only combined outputs.

        Parameters
        ----------
        kernels : ndarray of shape (k,)
            Indices of these kernels.

        Returns
        -------
        StreamedEngine
        """
        part = StreamedEngine(self._training_set.part(kernels))
        part.move_to(self._alpha)
        return part

    def of_kernels(self, kernels: np.ndarray) -> DenseEngine:
        """Return an engine for some of the kernels that caches the outputs of each of them.

        Parameters
        ----------
        kernels : ndarray of shape (k,)
            Indices of these kernels.

        Returns
        -------
        DenseEngine
        """
        part = DenseEngine.of(self._training_set.part(kernels))
        part.move_to(self._alpha)
        return part

    def change(self, idx: np.ndarray, values: np.ndarray) -> None:
        self._set(idx, values)
        self.accumulated_update[idx] = np.abs(values)
        self._stale = True

    def outputs(self, kernels: np.ndarray | None = None) -> np.ndarray:
        kernels = np.arange(self.n_kernels) if kernels is None else kernels
        return self.of_kernels(kernels).outputs() if len(kernels) else np.zeros((0, self.n))

    def outputs_at(self, idx: np.ndarray) -> np.ndarray:
        return self.outputs()[:, idx]

    def blocks(self, idx: np.ndarray) -> np.ndarray:
        return self.of_kernels(np.arange(self.n_kernels)).blocks(idx)

    def diagonal(self) -> np.ndarray:
        sides = [(part.kernels.program, part.examples.side) for part in self._parts]
        return np.concatenate([_core.diagonal(*side) for side in sides])

    @cached_property
    def largest_values(self) -> np.ndarray:
        return self._training_set.largest_values()

    def combined(self, theta: np.ndarray) -> np.ndarray:
        if self._stale or not np.array_equal(theta, self._theta):
            weighted = np.flatnonzero(theta)
            self._cache(theta[weighted] @ self.outputs(weighted), theta)
            self.accumulated_update[:] = np.abs(self._alpha)
        return self._combined

    def quadratic(self) -> np.ndarray:
        support = np.flatnonzero(self._alpha)
        sides = [part.examples.take(support).side for part in self._parts]
        blocks = Parallel(n_jobs=self._training_set.n_jobs, prefer="threads")(
            delayed(_core.quadratic)(part.kernels.program, side, self._alpha[support])
            for part, side in zip(self._parts, sides, strict=True)
        )
        return np.concatenate(blocks)

    @cached_property
    def _parts(self) -> list[TrainingSet]:
        return list(self._training_set.parts(BLOCK))
