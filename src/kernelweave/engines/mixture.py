"""The engine for families: many kernels that are functions of a few shared quantities.

A weighted sum of such kernels is one function of each quantity. The core evaluates that function
as a piecewise polynomial, so that the cost of a pair does not depend on the number of kernels, and
only the combined outputs are kept. New weights cost one pass over the support examples; therefore
several working sets go by between two weight steps.
"""

from __future__ import annotations

import numpy as np

from ..core import _core
from .supplies import Supplies

MANY_KERNELS = 4  # of a shared quantity, from which on a family is worth it
MANY_EXAMPLES = 1000  # from which on a pass over them takes longer than tabulating a function

LEAST_TURNS = 4  # between two weight steps
WORKING_SET = 1000  # examples that a turn changes, about


class MixtureEngine:
    """All examples on this machine, their kernels combined.

    Parameters
    ----------
    core : the engine of the core that does the work; `of` makes it.
    """

    streams = False

    def __init__(self, core: _core.Mixture):
        self._core = core
        self._alpha = np.zeros(self.n)
        self._theta = np.full(self.n_kernels, np.nan)
        self._stale = True

    @classmethod
    def of(cls, supplies: Supplies) -> MixtureEngine:
        """Return an engine at alpha = 0."""
        return cls(supplies.core(_core.Mixture))

    @staticmethod
    def serves(supplies: Supplies) -> bool:
        """Return whether kernels are such families, and large ones, on many examples."""
        kernels, n = supplies.kernels, supplies.examples.n
        many = kernels.n_kernels >= MANY_KERNELS * kernels.n_sources and n >= MANY_EXAMPLES
        return many and _core.Mixture.serves(kernels.program)

    @property
    def n(self) -> int:
        """Number of examples."""
        return self._core.n

    @property
    def n_kernels(self) -> int:
        """Number of kernels."""
        return self._core.n_kernels

    @property
    def turns_per_step(self) -> int:
        """Working sets between two weight steps: as many as take the time of new outputs."""
        return max(LEAST_TURNS, int(np.count_nonzero(self._alpha)) // WORKING_SET)

    @property
    def outputs(self) -> np.ndarray:
        """The outputs of the current alpha, shape (M, n): computed anew at every call."""
        return self.outputs_of(np.arange(self.n_kernels))

    def outputs_of(self, kernels: np.ndarray) -> np.ndarray:
        """Return the outputs of some kernels, shape (len(kernels), n)."""
        support = np.flatnonzero(self._alpha)
        return self._core.outputs(support, self._alpha[support], kernels)

    def rough_outputs(self, idx: np.ndarray) -> np.ndarray:
        """Return the outputs of some examples to about six digits, shape (M, len(idx)).

        Kernels are taken as piecewise cubic functions of the shared quantities.
        """
        rough = np.empty((self.n_kernels, len(idx)))
        for family, alphas in enumerate(self._core.spread(self._alpha, idx)):
            kernels, values = self._core.family(family)
            used = alphas.any(axis=0)
            rough[kernels] = values[:, used] @ alphas[:, used].T
        return rough

    def combined(self, theta: np.ndarray) -> np.ndarray:
        """Return sum_m theta_m outputs[m], shape (n,): a view, not to be written to."""
        self._weigh(theta)
        if self._stale:
            support = np.flatnonzero(self._alpha)
            self._core.combined.fill(0.0)
            self._core.add(support, self._alpha[support])
            self._stale = False
        return self._core.combined

    def quadratic(self, alpha: np.ndarray) -> np.ndarray:
        """Return alpha' K_m alpha, shape (M,)."""
        support = np.flatnonzero(alpha)
        return self._core.quadratic(support, alpha[support])

    def block(self, idx: np.ndarray, weights: np.ndarray) -> np.ndarray:
        """Return sum_m weights_m k_m inside a working set of q examples, shape (q, q)."""
        self._weigh(weights)
        return self._core.block(idx)

    def blocks(self, idx: np.ndarray) -> np.ndarray:
        """Return every k_m inside a working set of q examples, shape (M, q, q)."""
        return self._core.blocks(idx)

    def add(self, idx: np.ndarray, delta: np.ndarray) -> None:
        """Change alpha[idx] by delta."""
        self._alpha[idx] += delta
        if not self._stale:
            self._core.add(idx, delta)

    def product(self) -> None:
        """Return nothing: a product would take as long as all rows."""

    def clear(self) -> None:
        """Start again at alpha = 0; the cache stays."""
        self.rebuild(np.zeros(self.n))

    def scale(self, factor: float) -> None:
        """Multiply alpha by a factor."""
        self._alpha *= factor
        self._core.combined[:] *= factor

    def keep(self) -> np.ndarray:
        """Return nothing: alpha is all that `restore` needs."""
        return np.empty(0)

    def restore(self, alpha: np.ndarray, kept: np.ndarray) -> None:
        """Change to alpha, shape (n,); its outputs are recomputed when they are asked for."""
        self.rebuild(alpha)

    def rebuild(self, alpha: np.ndarray) -> None:
        """Recompute the outputs of alpha, shape (n,), when they are asked for."""
        self._alpha = alpha.copy()
        self._stale = True

    def diagonal(self) -> np.ndarray:
        """Return k_m(x_i, x_i), shape (M, n)."""
        return self._core.diagonal()

    def subset(self, idx: np.ndarray) -> MixtureEngine:
        """Return an engine for some of the examples, the alphas of the others staying as they are.

        What is cached of them stays cached. Its weights may change only where those alphas are 0.
        """
        smaller = MixtureEngine(self._core.subset(idx))
        smaller._alpha, smaller._theta, smaller._stale = self._alpha[idx], self._theta, self._stale
        return smaller

    def _weigh(self, theta: np.ndarray) -> None:
        if not np.array_equal(theta, self._theta):
            self._core.weigh(theta)
            self._theta = theta.copy()
            self._stale = True
