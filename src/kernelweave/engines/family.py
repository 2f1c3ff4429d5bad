"""The engine for families: many kernels that are functions of a few shared quantities.

A weighted sum of such kernels is one function of each quantity, such as a squared distance. The
core evaluates that function as a piecewise polynomial, so that the cost of a pair of examples does
not depend on the number of kernels. Only the combined outputs are cached, so that new weights cost
one pass over the support vectors.

On short vectors, passes in single precision take a third of the time, and one such pass computes
the outputs of all kernels.
"""

from __future__ import annotations

import numpy as np

from ..common.core import _core
from .base import LARGEST_BLOCK, Engine, TrainingSet
from .costs import EngineCosts
from .snapshot import Snapshot

MANY_KERNELS = 4  # number of kernels per shared quantity from which on this engine is faster
MANY_EXAMPLES = 1000  # examples above which a pass takes longer than tabulating a function
MOST_OUTPUTS = 5e7  # outputs of all kernels for which single precision is used: 400 MB


class FamilyEngine(Engine):
    """Engine for large kernel families on local examples; only combined outputs are cached.

    Parameters
    ----------
    core : _core.Mixture
        The engine of the compiled core that does the work; `of` creates it.
    """

    precision = 1e-12  # of piecewise cubic functions: core/engine/profile.h

    def __init__(self, core: _core.Mixture):
        super().__init__(core.n, core.n_kernels)
        self._core, self._combined = core, core.combined
        self._changes: list[tuple[np.ndarray, np.ndarray]] = []  # not yet in the combined outputs
        # Outputs of all kernels for the support vectors, in single precision, until alpha changes.
        self._of_support: np.ndarray | None = None

    @classmethod
    def of(cls, training_set: TrainingSet) -> FamilyEngine:
        """Return an engine at alpha = 0.

        Parameters
        ----------
        training_set : TrainingSet

        Returns
        -------
        FamilyEngine
        """
        return cls(training_set.core(_core.Mixture))

    @staticmethod
    def serves(training_set: TrainingSet) -> bool:
        """Return whether this engine suits: large families of kernels, and many examples.

        Parameters
        ----------
        training_set : TrainingSet

        Returns
        -------
        bool
        """
        kernels, n = training_set.kernels, training_set.examples.n
        many = kernels.n_kernels >= MANY_KERNELS * kernels.n_sources and n >= MANY_EXAMPLES
        return many and _core.Mixture.serves(kernels.program)

    @property
    def costs(self) -> EngineCosts:
        return EngineCosts(
            block=LARGEST_BLOCK,
            single_precision=self.has_single_precision,
            all_outputs=MANY_KERNELS,  # one pass over the support vectors
        )

    @property
    def has_single_precision(self) -> bool:
        return self._core.has_single_passes and self.n * self.n_kernels <= MOST_OUTPUTS

    def change(self, idx: np.ndarray, values: np.ndarray) -> None:
        delta = self._set(idx, values)
        if len(idx):
            self._of_support = None
        if not self._stale:  # applied when outputs are needed, since the weights may change first
            self._changes.append((idx, delta))

    def combined(self, theta: np.ndarray) -> np.ndarray:
        self._weigh(theta)
        if self._stale:
            self._combine(theta)
        self._apply_changes()
        return self._combined

    def quadratic(self) -> np.ndarray:
        """Return the squared block norms s_m = alpha' K_m alpha, shape (M,).

        If single precision is available but not used, the same pass also refreshes stale combined
        outputs.

        Returns
        -------
        ndarray of shape (M,)
        """
        support = np.flatnonzero(self._alpha)
        if self._single:
            return self._outputs_of_support(support) @ self._alpha[support]
        if self._stale and self.has_single_precision and not np.isnan(self._theta).any():
            with self.work.on("new weights", len(support) * (self.n - len(support) // 2)):
                s = self._core.combine(support, self._alpha[support])
            self._refreshed()
            return s
        with self.work.on("every kernel", len(support) ** 2 // 2):
            return self._core.quadratic(support, self._alpha[support])

    def outputs(self, kernels: np.ndarray | None = None) -> np.ndarray:
        kernels = np.arange(self.n_kernels) if kernels is None else kernels
        support = np.flatnonzero(self._alpha)
        return self._core.outputs(support, self._alpha[support], kernels)

    def outputs_at(self, idx: np.ndarray) -> np.ndarray:
        support = np.flatnonzero(self._alpha)
        if self.has_single_precision:
            return self._single_outputs_at(idx, support)
        # Kernels are evaluated as piecewise cubic functions of the shared quantities.
        outputs = np.empty((self.n_kernels, len(idx)))
        with self.work.on("every kernel", len(idx) * self.n):
            spread = self._core.spread(self._alpha, idx)
        for family, alphas in enumerate(spread):
            kernels, values = self._core.family(family)
            used = alphas.any(axis=0)
            outputs[kernels] = values[:, used] @ alphas[:, used].T
        return outputs

    def block(self, idx: np.ndarray, theta: np.ndarray, *, exact: bool = True) -> np.ndarray:
        self._weigh(theta)
        block = self._core.block if exact or not self._single else self._core.block_single
        with self.work.on("blocks", len(idx) ** 2 // 2):
            return block(idx)

    def blocks(self, idx: np.ndarray) -> np.ndarray:
        return self._core.blocks(idx)

    def diagonal(self) -> np.ndarray:
        return self._core.diagonal()

    def snapshot(self) -> Snapshot:
        self._apply_changes()
        found = super().snapshot()
        combined = None if found.outputs is None else found.outputs.copy()
        return found._replace(outputs=combined)

    def _subset(self, examples: np.ndarray) -> FamilyEngine:
        """Return an engine for some examples, which keeps their cached kernel rows.

        Its weights may change only if the alphas of the other examples are 0.
        """
        self._apply_changes()
        smaller = FamilyEngine(self._core.subset(examples))
        smaller._theta, smaller._stale, smaller._single = self._theta, self._stale, self._single
        return smaller

    def _follow(self, outputs: np.ndarray | None, theta: np.ndarray | None) -> None:
        self._stale, self._of_support = True, None
        self._changes.clear()
        if outputs is not None and theta is not None:
            self._weigh(theta)
            self._combined[:], self._stale = outputs, False

    def _weigh(self, theta: np.ndarray) -> None:
        """Pass the kernel weights, shape (M,), to the core; new weights make outputs stale."""
        if not np.array_equal(theta, self._theta):
            self._core.weigh(theta)
            self._theta, self._stale = theta.copy(), True

    def _combine(self, theta: np.ndarray) -> None:
        """Compute the combined outputs from scratch; theta are the weights set by `_weigh`."""
        support, combined = np.flatnonzero(self._alpha), self._combined
        combined.fill(0.0)
        if self._single and self._of_support is not None:
            combined[support] = theta @ self._of_support
            if len(others := np.flatnonzero(self._alpha == 0)):
                with self.work.on("new weights", len(support) * len(others)):
                    self._core.add_single_at(support, self._alpha[support], others)
        else:
            self._add("new weights", support, self._alpha[support])
        self._refreshed()

    def _refreshed(self) -> None:
        """Mark the combined outputs as computed from scratch."""
        self.accumulated_update[:] = np.abs(self._alpha)
        self._stale = False
        self._changes.clear()

    def _apply_changes(self) -> None:
        """Update the combined outputs by all changes of alpha since the last call."""
        changes, self._changes = self._changes, []
        if not self._stale:
            for idx, delta in changes:
                self._add("changed alphas", idx, delta)

    def _add(self, kind: str, idx: np.ndarray, delta: np.ndarray) -> None:
        """Update the combined outputs by a change of alpha[idx]; record the work under `kind`."""
        if self._single:
            add = self._core.add_single
        elif self.has_single_precision and kind == "new weights":  # rows are used once
            add = self._core.add_once
        else:
            add = self._core.add
        with self.work.on(kind, len(idx) * self.n):
            add(idx, delta)

    def _outputs_of_support(self, support: np.ndarray) -> np.ndarray:
        """Return the outputs of all kernels for the support vectors, in single precision."""
        if self._of_support is None:
            self._of_support = self._every_kernel(support, support)
        return self._of_support

    def _single_outputs_at(self, idx: np.ndarray, support: np.ndarray) -> np.ndarray:
        """Return the outputs of all kernels for q examples in single precision, shape (M, q)."""
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
