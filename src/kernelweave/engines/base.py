"""What a solver may ask of the examples.

All algorithms touch the examples through these few operations (Sonnenburg, Rätsch and Rieck 2007
call them clear, add and lookup). An engine decides how they are computed; a solver decides what to
ask for.
"""

from __future__ import annotations

from typing import Protocol

import numpy as np

from ..core import _core


class Engine(Protocol):
    """n examples, M kernels, and the outputs of one alpha."""

    @property
    def n(self) -> int:
        """Number of examples."""

    @property
    def n_kernels(self) -> int:
        """Number of kernels."""

    @property
    def outputs(self) -> np.ndarray:
        """g[m, i] = sum_j alpha_j k_m(x_j, x_i), shape (M, n)."""

    @property
    def turns_per_step(self) -> int:
        """Working sets between two weight steps."""

    @property
    def streams(self) -> bool:
        """Whether it keeps no outputs, and gives engines for some of the kernels."""

    def combined(self, theta: np.ndarray) -> np.ndarray:
        """Return F_i = sum_m theta_m g[m, i], shape (n,)."""

    def quadratic(self, alpha: np.ndarray) -> np.ndarray:
        """Return s_m = alpha' K_m alpha, shape (M,), for the alpha whose outputs these are."""

    def outputs_of(self, kernels: np.ndarray) -> np.ndarray:
        """Return the outputs of some kernels, shape (len(kernels), n)."""

    def rough_outputs(self, idx: np.ndarray) -> np.ndarray:
        """Return the outputs of some examples, shape (M, len(idx)), to a few digits at least."""

    def block(self, idx: np.ndarray, weights: np.ndarray) -> np.ndarray:
        """Return sum_m weights_m k_m inside a working set of q examples, shape (q, q)."""

    def blocks(self, idx: np.ndarray) -> np.ndarray:
        """Return every k_m inside a working set of q examples, shape (M, q, q)."""

    def add(self, idx: np.ndarray, delta: np.ndarray) -> None:
        """Change alpha[idx] by delta: outputs[m, i] += sum_q delta_q k_m(x_q, x_i)."""

    def product(self) -> _core.Product | None:
        """Return the matrix of the only kernel, `matrix @ v`, where products cost little.

        None where they would take about as long as all rows.
        """

    def scale(self, factor: float) -> None:
        """Multiply alpha, and so the outputs, by a factor."""

    def keep(self) -> np.ndarray:
        """Return what `restore` needs to come back to the current alpha without computing."""

    def restore(self, alpha: np.ndarray, kept: np.ndarray) -> None:
        """Change to alpha, shape (n,); `kept` is what `keep` returns there."""

    def clear(self) -> None:
        """Start again at alpha = 0."""

    def rebuild(self, alpha: np.ndarray) -> None:
        """Recompute the outputs of alpha, shape (n,)."""

    def diagonal(self) -> np.ndarray:
        """Return k_m(x_i, x_i), shape (M, n)."""

    def subset(self, idx: np.ndarray) -> Engine:
        """Return an engine for some of the examples, with their outputs as they are now."""
