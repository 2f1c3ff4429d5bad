"""The engine for more kernels than outputs can be kept of: some of them at a time.

The outputs of M kernels take 8 M n bytes. A solver that gives most kernels no weight needs outputs
of few of them (`subset`), and of all the others only s_m = alpha' K_m alpha, once in a while. These
are computed block after block of kernels, and nothing of size M n is ever held.
"""

from __future__ import annotations

from dataclasses import replace
from typing import ClassVar

import numpy as np
from joblib import Parallel, delayed

from ..common.cached_property import cached_property
from ..common.core import _core
from .base import Engine, TrainingSet
from .dense import DenseEngine
from .kept_energies import KeptEnergies

BLOCK = 20_000  # kernels evaluated at a time


class StreamedEngine(KeptEnergies):
    """All examples in this process, and engines for some of the kernels.

    It notes alpha, and computes what is asked for.

    Parameters
    ----------
    training_set : the kernels and examples.
    """

    streams: ClassVar[bool] = True

    def __init__(self, training_set: TrainingSet):
        super().__init__(training_set.examples.n, training_set.kernels.n_kernels)
        self._training_set = training_set

    def subset(
        self, examples: np.ndarray | None = None, kernels: np.ndarray | None = None
    ) -> Engine:
        """Return an engine for some of the examples, or one that keeps outputs for some kernels.

        The outputs of some examples are those of their own alphas: no others are kept.
        """
        if examples is not None:
            training_set = self._training_set
            taken = replace(training_set, examples=training_set.examples.take(examples))
            smaller = StreamedEngine(taken)
            smaller.move_to(self._alpha[examples])
            return smaller if kernels is None else smaller.subset(kernels=kernels)
        if kernels is None:
            return self
        part = DenseEngine.of(self._training_set.part(kernels))
        part.move_to(self._alpha)
        return part

    def change(self, idx: np.ndarray, values: np.ndarray) -> None:
        self._note(idx, values)
        self.travel[idx] = np.abs(values)
        self._stale = True

    def outputs(self, kernels: np.ndarray | None = None) -> np.ndarray:
        kernels = np.arange(self.n_kernels) if kernels is None else kernels
        return self.subset(kernels=kernels).outputs() if len(kernels) else np.zeros((0, self.n))

    def combined(self, theta: np.ndarray) -> np.ndarray:
        if self._stale or not np.array_equal(theta, self._theta):
            weighted = np.flatnonzero(theta)
            self._keep(theta[weighted] @ self.outputs(weighted), theta)
            self.travel[:] = np.abs(self._alpha)
        return self._combined

    def _quadratic(self) -> np.ndarray:
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
