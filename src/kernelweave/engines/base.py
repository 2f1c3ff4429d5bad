"""Engines: they keep the examples and alpha, and evaluate kernels for the solvers.

All algorithms access the examples through the operations of `Engine` (Sonnenburg, Raetsch and
Rieck, 2007, call similar ones clear, add and lookup). An engine decides how they are computed; a
solver decides which to call. An engine owns alpha. All returned values refer to the present alpha.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Protocol, TypeVar, runtime_checkable

import numpy as np

from ..common.cached_property import cached_property
from ..common.core import Work, _core
from ..kernels.compile.examples import Examples
from ..kernels.compile.program import Listing
from .costs import EngineCosts
from .kernel_matrix import KernelMatrix
from .recorded_products import RecordedProducts
from .snapshot import Snapshot

CoreEngine = TypeVar("CoreEngine")

DIAGONALS = 1000  # number of kernels whose diagonals are in memory at a time
LARGEST_BLOCK = 1000  # examples in the largest kernel block: 8 MB
COSTLY_PAIR = 300.0  # evaluations that take longer than reading this many cached values are costly


@dataclass(frozen=True, eq=False)
class TrainingSet:
    """Kernels, examples, and the resources for their evaluation.

    Attributes
    ----------
    kernels : Listing
        The M kernels.
    examples : Examples
        The n training examples, encoded for the kernels.
    cache_mb : float
        Memory of the row cache, in megabytes.
    n_jobs : int
        Number of threads.
    """

    kernels: Listing
    examples: Examples
    cache_mb: float = 1024.0
    n_jobs: int = 1

    def part(self, chosen: np.ndarray) -> TrainingSet:
        """Return the training set with some of the kernels.

        Parameters
        ----------
        chosen : ndarray of shape (k,)
            Indices of kernels.

        Returns
        -------
        TrainingSet

        Raises
        ------
        ValueError
            If `chosen` is empty.
        """
        if not len(chosen):
            raise ValueError("chosen must contain at least one kernel, got none")
        kernels = self.kernels.part(chosen)
        examples = self.examples.part(self.kernels.read_by(kernels))
        return replace(self, kernels=kernels, examples=examples)

    def parts(self, size: int) -> Iterator[TrainingSet]:
        """Yield training sets with blocks of kernels.

        Parameters
        ----------
        size : int
            Number of kernels in a block.

        Returns
        -------
        iterator of TrainingSet
        """
        every = np.arange(self.kernels.n_kernels)
        return (self.part(every[k : k + size]) for k in range(0, len(every), size))

    def largest_values(self) -> np.ndarray:
        """Return the largest k_m(x, x) of each kernel.

        Returns
        -------
        ndarray of shape (M,)
        """
        sides = ((part.kernels.program, part.examples.side) for part in self.parts(DIAGONALS))
        return np.concatenate([_core.diagonal(*side).max(axis=1) for side in sides])

    def core(self, kind: Callable[[_core.Program, _core.Side, int, int], CoreEngine]) -> CoreEngine:
        """Return an engine of the compiled core for these kernels and examples.

        Parameters
        ----------
        kind : callable
            A class of `_core`, such as `_core.Engine`.

        Returns
        -------
        object of that class
        """
        cache_bytes = int(min(self.cache_mb, 2.0**40) * 2**20)
        return kind(self.kernels.program, self.examples.side, cache_bytes, self.n_jobs)


class Engine(ABC):
    """n examples, M kernels, one alpha, and its outputs g[m, i] = sum_j alpha_j k_m(x_j, x_i).

    Operations: `change`, `move_to` and `snapshot` (alpha), `combined` and `quadratic` (outputs and
    squared block norms of alpha), `block` and `diagonal` (kernel values), `subset`. Engines that
    are `KernelBlocks` or `MatVec` offer more.

    Attributes
    ----------
    n, n_kernels : int
        Numbers of examples and kernels.
    precision : float
        Relative accuracy of kernel evaluations.
    accumulated_update : ndarray of shape (n,)
        Sum of |changes| of each alpha since outputs were computed from scratch. Every change adds
        rounding.
    work : Work
        Counts the pairs of examples that were evaluated.
    origin : ndarray of shape (n,) or None
        Outputs F at which the gradient of the risk is -alpha; None unless a solver has passed them
        to `move_to` together with the present alpha.
    """

    precision: float = float(np.finfo(float).eps)

    def __init__(self, n: int, n_kernels: int):
        self.n, self.n_kernels = n, n_kernels
        self._alpha, self.accumulated_update = np.zeros(n), np.zeros(n)
        self._read_only = self._alpha.view()
        self._read_only.flags.writeable = False
        self._single = False
        self.origin: np.ndarray | None = None
        # Combined outputs, their weights, and whether they are out of date.
        # Engines that cache the outputs of every kernel do not use them.
        self._combined, self._theta, self._stale = np.zeros(n), np.full(n_kernels, np.nan), True
        self.work = Work()

    @cached_property
    def kernel_matrix(self) -> KernelMatrix:
        """The weighted kernel matrix of all examples; the matrix of the last weights is cached."""
        return KernelMatrix(self)

    @property
    @abstractmethod
    def costs(self) -> EngineCosts:
        """Costs of the operations, from which the plan chooses solvers."""

    @property
    def alpha(self) -> np.ndarray:
        """The present alpha, shape (n,), read-only."""
        return self._read_only

    @property
    def has_single_precision(self) -> bool:
        """Whether outputs can be computed in single precision, which is then faster."""
        return False

    @property
    def single_precision(self) -> bool:
        """Whether outputs are computed in single precision; ignored by engines without it."""
        return self._single

    @single_precision.setter
    def single_precision(self, single: bool) -> None:
        single = single and self.has_single_precision
        self._stale = self._stale or single < self._single
        self._single = single

    @abstractmethod
    def change(self, idx: np.ndarray, values: np.ndarray) -> None:
        """Set alpha[idx] to values.

        Parameters
        ----------
        idx : ndarray of shape (q,)
            Distinct indices of examples.
        values : ndarray of shape (q,)
            Their new alphas.
        """

    def move_to(
        self,
        alpha: np.ndarray,
        outputs: np.ndarray | None = None,
        theta: np.ndarray | None = None,
        origin: np.ndarray | None = None,
    ) -> None:
        """Replace alpha.

        Parameters
        ----------
        alpha : ndarray of shape (n,)
            The new alpha.
        outputs : ndarray of shape (n,), (M, n) or (k, n), optional
            Outputs of the new alpha, to avoid kernel evaluations. Shape (n,): combined under theta;
            (M, n): of all kernels; (k, n): of the k kernels with nonzero weight in theta.
        theta : ndarray of shape (M,), optional
            Kernel weights of `outputs`.
        origin : ndarray of shape (n,), optional
            For smooth risks: outputs at which minus the gradient of the risk is alpha.
        """
        size, before = np.abs(alpha), float(np.abs(self._alpha).sum())
        if outputs is None:
            self.accumulated_update[:] = size
        else:  # rescaled outputs have rescaled rounding errors
            factor = max(1.0, float(size.sum()) / before) if before > 0 else 1.0
            self.accumulated_update *= factor
            self.accumulated_update += np.abs(alpha - self._alpha)
        self._alpha[:], self.origin = alpha, origin
        self._follow(outputs, theta)

    def snapshot(self) -> Snapshot:
        """Return the arguments with which `move_to` restores the present alpha.

        Returns
        -------
        Snapshot
        """
        alpha = self._alpha.copy()
        if self._stale:
            return Snapshot(alpha, origin=self.origin)
        return Snapshot(alpha, self._combined, self._theta, self.origin)

    @abstractmethod
    def combined(self, theta: np.ndarray) -> np.ndarray:
        """Return the combined outputs F_i = sum_m theta_m g[m, i].

        Parameters
        ----------
        theta : ndarray of shape (M,)
            Kernel weights.

        Returns
        -------
        ndarray of shape (n,), read-only
        """

    @abstractmethod
    def quadratic(self) -> np.ndarray:
        """Return the squared block norms s_m = alpha' K_m alpha.

        Returns
        -------
        ndarray of shape (M,)
        """

    def block(self, idx: np.ndarray, theta: np.ndarray, *, exact: bool = True) -> np.ndarray:
        """Return the weighted sum of kernels, sum_m theta_m k_m, between q examples.

        Parameters
        ----------
        idx : ndarray of shape (q,)
            Indices of the examples.
        theta : ndarray of shape (M,)
            Kernel weights.
        exact : bool
            Whether to use double precision even if `single_precision` is set.

        Returns
        -------
        ndarray of shape (q, q)
        """
        raise self._cannot("evaluate kernels between examples")

    def diagonal(self) -> np.ndarray:
        """Return k_m(x_i, x_i) of all kernels and examples.

        Returns
        -------
        ndarray of shape (M, n)
        """
        raise self._cannot("evaluate kernels between examples")

    @cached_property
    def largest_values(self) -> np.ndarray:
        """The largest k_m(x_i, x_i) of each kernel, shape (M,)."""
        return np.asarray(self.diagonal().max(axis=1))

    def subset(self, examples: np.ndarray) -> Engine:
        """Return an engine for some of the examples, with their alphas.

        The alphas of the other examples stay fixed, and contribute to the outputs.

        Parameters
        ----------
        examples : ndarray of shape (q,)
            Indices of the examples.

        Returns
        -------
        Engine
        """
        smaller = self._subset(examples)
        smaller.work = self.work
        smaller._alpha[:] = self._alpha[examples]
        smaller.accumulated_update[:] = self.accumulated_update[examples]
        return smaller

    def _subset(self, examples: np.ndarray) -> Engine:
        """Return an engine for some examples; the caller, `subset`, sets its alpha."""
        raise self._cannot("choose among its examples")

    def _follow(self, outputs: np.ndarray | None, theta: np.ndarray | None) -> None:
        """Recompute, replace or invalidate cached outputs for the alpha set by `move_to`."""
        self._stale = True
        if outputs is not None and theta is not None:
            self._cache(outputs.copy(), theta)

    def _cache(self, combined: np.ndarray, theta: np.ndarray) -> None:
        """Cache `combined`, shape (n,): outputs of the present alpha under weights theta, (M,)."""
        self._combined, self._theta, self._stale = combined, theta.copy(), False

    def _set(self, idx: np.ndarray, values: np.ndarray) -> np.ndarray:
        """Set alpha[idx] to values; return the changes, shape (q,)."""
        if len(idx) != len(values):
            raise ValueError(
                f"idx and values must have the same length, got {len(idx)} and {len(values)}"
            )
        if len(idx) and not 0 <= idx.min() <= idx.max() < self.n:
            raise ValueError(
                f"idx must be from 0 to {self.n - 1}, got {int(idx.min())} to {int(idx.max())}"
            )
        delta: np.ndarray = values - self._alpha[idx]
        self._alpha[idx], self.origin = values, None
        self.accumulated_update[idx] += np.abs(delta)
        return delta

    def _cannot(self, what: str) -> TypeError:
        return TypeError(f"{type(self).__name__} cannot {what}; the plan needs another engine")


@runtime_checkable
class KernelBlocks(Protocol):
    """Engines that evaluate single kernels: Newton steps and exact solvers need them."""

    def outputs(self, kernels: np.ndarray | None = None) -> np.ndarray:
        """Return the outputs of all kernels, or of k of them.

        Parameters
        ----------
        kernels : ndarray of shape (k,), optional
            Indices of these kernels; all by default.

        Returns
        -------
        ndarray of shape (k, n), read-only
        """
        ...

    def outputs_at(self, idx: np.ndarray) -> np.ndarray:
        """Return the outputs of all kernels for q examples, in single or double precision.

        Parameters
        ----------
        idx : ndarray of shape (q,)
            Indices of the examples.

        Returns
        -------
        ndarray of shape (M, q)
        """
        ...

    def blocks(self, idx: np.ndarray) -> np.ndarray:
        """Return the matrix of every kernel between q examples.

        Parameters
        ----------
        idx : ndarray of shape (q,)
            Indices of the examples.

        Returns
        -------
        ndarray of shape (M, q, q)
        """
        ...


@runtime_checkable
class MatVec(Protocol):
    """Engines with cheap matrix-vector products: Newton-CG needs them."""

    def matvec(self, v: np.ndarray, theta: np.ndarray, *, each: bool = False) -> np.ndarray:
        """Return the matrix-vector product sum_m theta_m K_m v.

        Parameters
        ----------
        v : ndarray of shape (n,)
        theta : ndarray of shape (M,)
            Kernel weights.
        each : bool
            Whether to return the products K_m v of the k kernels with theta_m != 0 separately.

        Returns
        -------
        ndarray of shape (n,), or (k, n) with `each`
        """
        ...


def kernel_blocks(engine: Engine) -> KernelBlocks:
    """Return the engine, typed as `KernelBlocks`; raise TypeError if it lacks single kernels."""
    if not isinstance(engine, KernelBlocks):
        raise engine._cannot("evaluate single kernels")
    return engine


@runtime_checkable
class RecordsProducts(MatVec, Protocol):
    """Engines that record the matrix-vector products computed by conjugate gradients.

    Attributes
    ----------
    recorded : RecordedProducts
        The recorded products; they last as long as the engine, so that later fits use them, too.
    """

    @property
    def recorded(self) -> RecordedProducts: ...


def recorded_products(engine: Engine) -> RecordedProducts:
    """Return the recorded products of an engine; raise TypeError if it has none."""
    if not isinstance(engine, RecordsProducts):
        raise engine._cannot("record matrix-vector products")
    return engine.recorded


def mat_vec(engine: Engine) -> MatVec:
    """Return the engine, typed as `MatVec`; raise TypeError if it lacks matrix-vector products."""
    if not isinstance(engine, MatVec):
        raise engine._cannot("multiply with its kernel matrix cheaply")
    return engine
