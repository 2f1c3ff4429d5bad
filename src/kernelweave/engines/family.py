"""The engine for families: many kernels that are functions of a few shared quantities.

A weighted sum of such kernels is one function of each quantity. The core evaluates that function
as a piecewise polynomial, so that the cost of a pair does not depend on the number of kernels. Only
the combined outputs are kept, so that new weights cost one pass over the support examples.

On short vectors passes in single precision take a third of the time, and one pass can tell the
outputs of all kernels. An engine that may be rough uses them for the support examples, which is
what s asks for. Then new weights cost a pass of the support over the other examples.
"""

from __future__ import annotations

import numpy as np

from ..common.core import _core
from .base import Engine, TrainingSet
from .snapshot import Snapshot

MANY_KERNELS = 4  # kernels of one shared quantity from which on this engine is faster
MANY_EXAMPLES = 1000  # examples from which on a pass takes longer than tabulating a function
MOST_OUTPUTS = 5e7  # outputs of all kernels that are kept, 400 MB


class FamilyEngine(Engine):
    """All examples in this process, their kernels combined.

    Parameters
    ----------
    core : the engine of the core that does the work; `of` makes it.
    """

    precision = 1e-12  # of piecewise cubic functions: core/engine/profile.h

    def __init__(self, core: _core.Mixture):
        super().__init__(core.n, core.n_kernels)
        self._core, self._combined = core, core.combined
        self._changes: list[tuple[np.ndarray, np.ndarray]] = []  # that outputs have yet to follow

    @classmethod
    def of(cls, training_set: TrainingSet) -> FamilyEngine:
        """Return an engine at alpha = 0."""
        return cls(training_set.core(_core.Mixture))

    @staticmethod
    def serves(training_set: TrainingSet) -> bool:
        """Return whether kernels are such families, and large ones, on many examples."""
        kernels, n = training_set.kernels, training_set.examples.n
        many = kernels.n_kernels >= MANY_KERNELS * kernels.n_sources and n >= MANY_EXAMPLES
        return many and _core.Mixture.serves(kernels.program)

    @property
    def has_rough_outputs(self) -> bool:
        return self._core.has_single_passes and self.n * self.n_kernels <= MOST_OUTPUTS

    def outputs(self, kernels: np.ndarray | None = None) -> np.ndarray:
        kernels = np.arange(self.n_kernels) if kernels is None else kernels
        support = np.flatnonzero(self._alpha)
        return self._core.outputs(support, self._alpha[support], kernels)

    def outputs_at(self, idx: np.ndarray) -> np.ndarray:
        if self._rough or self.knows_outputs or self._one_pass_pays(len(idx)):
            return self._rough_outputs_at(idx)
        # Kernels are taken as piecewise cubic functions of the shared quantities.
        outputs = np.empty((self.n_kernels, len(idx)))
        with self.work.on("every kernel", len(idx) * self.n):
            spread = self._core.spread(self._alpha, idx)
        for family, alphas in enumerate(spread):
            kernels, values = self._core.family(family)
            used = alphas.any(axis=0)
            outputs[kernels] = values[:, used] @ alphas[:, used].T
        return outputs

    def combined(self, theta: np.ndarray) -> np.ndarray:
        self._weigh(theta)
        if self._stale:
            self._combine(theta)
            self._have_combined()
        self._catch_up()
        return self._combined

    def quadratic(self) -> np.ndarray:
        support = np.flatnonzero(self._alpha)
        if self._rough:
            if self._of_support is None:
                self._of_support = self._every_kernel(support, support)
            return self._of_support @ self._alpha[support]
        if self._stale and self.has_rough_outputs and not np.isnan(self._theta).any():
            # As after the last rough pass: the same weights will be asked for next.
            with self.work.on("new weights", len(support) * (self.n - len(support) // 2)):
                s = self._core.combine(support, self._alpha[support])
            self._have_combined()
            return s
        with self.work.on("every kernel", len(support) ** 2 // 2):
            return self._core.quadratic(support, self._alpha[support])

    def block(self, idx: np.ndarray, theta: np.ndarray, *, exact: bool = True) -> np.ndarray:
        self._weigh(theta)
        block = self._core.block if exact or not self._rough else self._core.block_single
        with self.work.on("blocks", len(idx) ** 2 // 2):
            return block(idx)

    def blocks(self, idx: np.ndarray) -> np.ndarray:
        return self._core.blocks(idx)

    def diagonal(self) -> np.ndarray:
        return self._core.diagonal()

    def change(self, idx: np.ndarray, values: np.ndarray) -> None:
        delta = self._note(idx, values)
        if len(idx):
            self._of_support = None
        if not self._stale:  # other weights may come, for which they would be followed in vain
            self._changes.append((idx, delta))

    def _catch_up(self) -> None:
        """Update the combined outputs by all changes of alpha since the last call."""
        changes, self._changes = self._changes, []
        if not changes or self._stale:
            return
        for idx, delta in changes:
            self._add("changed alphas", idx, delta)

    def _follow(self, outputs: np.ndarray | None, theta: np.ndarray | None) -> None:
        self._stale = True  # without outputs they are computed when they are asked for
        self._changes.clear()
        if outputs is not None and theta is not None:
            self._weigh(theta)
            self._combined[:], self._stale = outputs, False

    def snapshot(self) -> Snapshot:
        self._catch_up()
        return super().snapshot()

    def _subset(self, examples: np.ndarray) -> FamilyEngine:
        """Return an engine for some examples; what is cached of them stays cached.

        Its weights may change only where the alphas of the others are 0.
        """
        self._catch_up()
        smaller = FamilyEngine(self._core.subset(examples))
        smaller._theta, smaller._stale = self._theta, self._stale
        smaller._rough = self._rough
        if self._of_support is not None:
            places = np.cumsum(self._alpha != 0) - 1  # of support examples among them
            smaller._of_support = self._of_support[:, places[examples[self._alpha[examples] != 0]]]
        return smaller

    def _combine(self, theta: np.ndarray) -> None:
        """Compute the combined outputs of alpha anew, under the weights of the core, theta."""
        support, combined = np.flatnonzero(self._alpha), self._combined
        combined.fill(0.0)
        if self._rough and self._of_support is not None:
            combined[support] = theta @ self._of_support
            if len(others := np.flatnonzero(self._alpha == 0)):
                with self.work.on("new weights", len(support) * len(others)):
                    self._core.add_single_at(support, self._alpha[support], others)
            return
        self._add("new weights", support, self._alpha[support])

    def _have_combined(self) -> None:
        """Note that the combined outputs have been computed anew."""
        self.travel[:] = np.abs(self._alpha)
        self._stale = False
        self._changes.clear()

    def _add(self, kind: str, idx: np.ndarray, delta: np.ndarray) -> None:
        """Let the combined outputs follow a change of alpha[idx] by delta; count it as a kind."""
        if self._rough:
            add = self._core.add_single
        elif self.has_rough_outputs and kind == "new weights":  # once, as a rule, at the end
            add = self._core.add_once
        else:
            add = self._core.add
        with self.work.on(kind, len(idx) * self.n):
            add(idx, delta)

    def _rough_outputs_at(self, idx: np.ndarray) -> np.ndarray:
        """Return the outputs of all kernels for q examples in single precision, shape (M, q)."""
        support = np.flatnonzero(self._alpha)
        if self._of_support is None:
            return self._every_kernel(support, idx)
        outputs = np.empty((self.n_kernels, len(idx)))
        known = self._alpha[idx] != 0
        outputs[:, known] = self._of_support[:, np.searchsorted(support, idx[known])]
        if not known.all():
            outputs[:, ~known] = self._every_kernel(support, idx[~known])
        return outputs

    def _every_kernel(self, support: np.ndarray, idx: np.ndarray) -> np.ndarray:
        """Compute the outputs of all kernels for q examples in single precision, shape (M, q)."""
        with self.work.on("every kernel", len(support) * len(idx)):
            return self._core.outputs_single(support, self._alpha[support], idx)

    def _one_pass_pays(self, count: int) -> bool:
        """Return whether a rough pass over the support is cheaper than rows of `count` examples."""
        return self.has_rough_outputs and count > int(np.count_nonzero(self._alpha))

    def _weigh(self, theta: np.ndarray) -> None:
        if not np.array_equal(theta, self._theta):
            self._core.weigh(theta)
            self._theta = theta.copy()
            self._stale = True
