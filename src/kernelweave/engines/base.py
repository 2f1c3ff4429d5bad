"""What a solver may ask of the examples.

All algorithms touch the examples through these operations (Sonnenburg, Rätsch and Rieck 2007 call
their like clear, add and lookup). An engine decides how they are computed; a solver decides what to
ask for. An engine owns alpha. What it returns always belongs to its present alpha.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np

from ..common.cached_property import cached_property
from ..common.core import Work, _core
from ..kernels.compile.examples import Examples
from ..kernels.compile.program import Listing
from .costs import EngineCosts
from .seen_products import SeenProducts
from .snapshot import Snapshot

LOOKED_AT = 1000  # kernels whose diagonals are held at a time
LARGEST_BLOCK = 1000
COSTLY_PAIR = 300.0  # cost of a kernel evaluation, in cached values read, from which on it is high


@dataclass(frozen=True, eq=False)
class TrainingSet:
    """Kernels on examples, and what their evaluation may use.

    Attributes
    ----------
    kernels : the M kernels.
    examples : the n training examples as the kernels read them.
    cache_mb : memory for rows of shared quantities.
    n_jobs : number of threads.
    """

    kernels: Listing
    examples: Examples
    cache_mb: float = 1024.0
    n_jobs: int = 1

    def part(self, chosen: np.ndarray) -> TrainingSet:
        """Return the same with some of the kernels."""
        if not len(chosen):
            raise ValueError("chosen must hold at least one kernel, got none")
        kernels = self.kernels.part(chosen)
        examples = self.examples.part(self.kernels.read_by(kernels))
        return replace(self, kernels=kernels, examples=examples)

    def parts(self, size: int) -> Iterator[TrainingSet]:
        """Give the same with so many of the kernels at a time."""
        every = np.arange(self.kernels.n_kernels)
        return (self.part(every[k : k + size]) for k in range(0, len(every), size))

    def largest_values(self) -> np.ndarray:
        """Return the largest k_m(x, x) of each kernel, shape (M,)."""
        sides = ((part.kernels.program, part.examples.side) for part in self.parts(LOOKED_AT))
        return np.concatenate([_core.diagonal(*side).max(axis=1) for side in sides])

    def core(self, kind: Callable[..., Any]) -> Any:
        """Return an engine of the core, of a kind such as `_core.Engine`."""
        cache_bytes = int(min(self.cache_mb, 2.0**40) * 2**20)
        return kind(self.kernels.program, self.examples.side, cache_bytes, self.n_jobs)


class Engine(ABC):
    """n examples, M kernels, one alpha and its outputs g[m, i] = sum_j alpha_j k_m(x_j, x_i).

    Attributes
    ----------
    n, n_kernels : int
        Numbers of examples and kernels.
    keeps_outputs : bool
        Whether the outputs of all kernels are at hand. Then new weights cost no kernel evaluation.
    streams : bool
        Whether it gives engines for some of the kernels (`subset`), and evaluates the others block
        by block when it is asked for them.
    keeps_values : bool
        Whether the values of all kernels are at hand. Then blocks cost no kernel evaluation.
    far : bool
        Whether examples are elsewhere: what is asked of all of them is a message and an answer.
    precision : float
        How exactly kernels are evaluated, relative to their largest values.
    travel : array of shape (n,)
        The way of each alpha, whose every step adds rounding, since outputs were computed anew.
    work : Work
        What it has evaluated, as far as it is counted.
    """

    keeps_outputs: ClassVar[bool] = False
    streams: ClassVar[bool] = False
    keeps_values: ClassVar[bool] = False
    far: ClassVar[bool] = False
    precision: float = float(np.finfo(float).eps)

    def __init__(self, n: int, n_kernels: int):
        self.n, self.n_kernels = n, n_kernels
        self._alpha, self.travel = np.zeros(n), np.zeros(n)
        self._shown = self._alpha.view()
        self._shown.flags.writeable = False
        self._rough = False
        # Engines that do not keep the outputs of every kernel keep combined ones: these, their
        # weights, and whether they have to be computed anew.
        self._combined, self._theta, self._stale = np.zeros(n), np.full(n_kernels, np.nan), True
        self._of_support: np.ndarray | None = None  # see `Snapshot`; known to some engines
        self.work = Work()

    @cached_property
    def seen(self) -> SeenProducts:
        """Moves of alpha, and their products."""
        return SeenProducts()

    @property
    def alpha(self) -> np.ndarray:
        """The present alpha, shape (n,): a view that cannot be written to."""
        return self._shown

    @property
    def knows_outputs(self) -> bool:
        """Whether the outputs of all kernels are at hand for the present alpha, in six digits."""
        return self.keeps_outputs or self._of_support is not None

    @property
    def has_rough_outputs(self) -> bool:
        """Whether it can be quicker with outputs of about six digits."""
        return False

    @property
    def rough(self) -> bool:
        """Whether outputs have about six digits at present; some engines may be set to that."""
        return self._rough

    @rough.setter
    def rough(self, rough: bool) -> None:
        rough = rough and self.has_rough_outputs
        self._stale = self._stale or rough < self._rough
        self._rough = rough

    @abstractmethod
    def change(self, idx: np.ndarray, values: np.ndarray) -> None:
        """Set alpha[idx] to values, both of shape (q,); no example occurs twice."""

    def move_to(
        self,
        alpha: np.ndarray,
        outputs: np.ndarray | None = None,
        theta: np.ndarray | None = None,
        of_support: np.ndarray | None = None,
    ) -> None:
        """Replace alpha, shape (n,).

        With its outputs, as a `Snapshot` has them, nothing is evaluated. Where an engine
        `separates` they may be those of the kernels with a weight in theta, shape (k, n).
        `of_support` is of use to engines whose snapshots have it.
        """
        size, before = np.abs(alpha), float(np.abs(self._alpha).sum())
        if outputs is None:
            self.travel[:] = size
        else:  # they may be those of the last alpha times a factor, and so may their rounding
            self.travel *= max(1.0, float(size.sum()) / before) if before > 0 else 1.0
            self.travel += np.abs(alpha - self._alpha)
        self._alpha[:], self._of_support = alpha, of_support
        self._follow(outputs, theta)

    @abstractmethod
    def combined(self, theta: np.ndarray) -> np.ndarray:
        """Return F_i = sum_m theta_m g[m, i], shape (n,): not to be written to."""

    @abstractmethod
    def quadratic(self) -> np.ndarray:
        """Return s_m = alpha' K_m alpha, shape (M,)."""

    @abstractmethod
    def outputs(self, kernels: np.ndarray | None = None) -> np.ndarray:
        """Return the outputs of all kernels, or of k of them, shape (k, n): read-only."""

    def subset(
        self, examples: np.ndarray | None = None, kernels: np.ndarray | None = None
    ) -> Engine:
        """Return an engine for some of the examples, or of the kernels.

        Examples keep their alphas and their outputs, in which the alphas of the others are
        contained; those stay as they are. An engine for some kernels has the same alpha. Only
        engines that stream choose kernels.
        """
        if examples is None or kernels is not None:
            raise self._cannot("choose among its kernels")
        smaller = self._subset(examples)
        smaller.work = self.work
        smaller._alpha[:], smaller.travel[:] = self._alpha[examples], self.travel[examples]
        return smaller

    def snapshot(self) -> Snapshot:
        """Return what `move_to` needs to come back to the present alpha."""
        alpha, known = self._alpha.copy(), self._of_support
        if self._stale:
            return Snapshot(alpha, of_support=known)
        return Snapshot(alpha, self._combined.copy(), self._theta, known)

    def outputs_at(self, idx: np.ndarray) -> np.ndarray:
        """Return the outputs of q examples, shape (M, q), to about six digits at least."""
        raise self._cannot("give the outputs of single examples")

    def block(self, idx: np.ndarray, theta: np.ndarray, *, exact: bool = True) -> np.ndarray:
        """Return sum_m theta_m k_m between q examples, (q, q): if not exact, to outputs' digits."""
        raise self._cannot("evaluate kernels between examples")

    def blocks(self, idx: np.ndarray) -> np.ndarray:
        """Return every k_m between q examples, shape (M, q, q)."""
        raise self._cannot("evaluate kernels between examples")

    def diagonal(self) -> np.ndarray:
        """Return k_m(x_i, x_i), shape (M, n)."""
        raise self._cannot("evaluate kernels between examples")

    @cached_property
    def largest_values(self) -> np.ndarray:
        """The largest k_m(x_i, x_i) of each kernel, shape (M,)."""
        return np.asarray(self.diagonal().max(axis=1))

    @property
    def pairs_are_costly(self) -> bool:
        """Whether products with all examples cost no more than the pairs of a few."""
        return self._reads > COSTLY_PAIR and self.multiplies

    @property
    def _reads(self) -> float:
        """How many values the evaluation of a pair takes as long as reading, as far as is known."""
        return 0.0

    @property
    def multiplies(self) -> bool:
        """Whether `matvec` costs far less than all rows of the kernels."""
        return False

    @property
    def multiplies_linearly(self) -> bool:
        """Whether `matvec` takes a time that is linear in the number of examples."""
        return self.multiplies

    def matvec(self, v: np.ndarray, theta: np.ndarray, *, each: bool = False) -> np.ndarray:
        """Return sum_m theta_m K_m v, shape (n,), for any v, shape (n,).

        `each`, where an engine `separates`: K_m v of the k kernels with a weight, shape (k, n).
        """
        raise self._cannot("multiply with its kernel matrix cheaply")

    @property
    def products_are_fixed(self) -> bool:
        """Whether most of the time of `matvec` does not depend on the number of examples."""
        return False

    @property
    def separates(self) -> bool:
        """Whether the products of single kernels cost no more than that of their sum."""
        return False

    @property
    def costs(self) -> EngineCosts:
        """Costs of the operations, for the plan."""
        part = self.subset(np.arange(min(2, self.n))) if self._products_cost != "cheap" else self
        return EngineCosts(
            block=LARGEST_BLOCK,
            costly_pairs=self.pairs_are_costly,
            products=self._products_cost,
            part_products=part._products_cost,
            fixed_products=self.products_are_fixed,
            separate_products=self.separates,
            free_weights=self.keeps_outputs,
            cached_values=self.keeps_values,
            single_precision=self.has_rough_outputs,
            streamed=self.streams,
            remote=self.far,
        )

    @property
    def _products_cost(self) -> str:
        if self.multiplies:
            return "cheap"
        return "linear" if self.multiplies_linearly else "none"

    def _follow(self, outputs: np.ndarray | None, theta: np.ndarray | None) -> None:
        """Bring what is kept of the outputs up to date after `move_to`."""
        self._stale = True  # without outputs they are computed when they are asked for
        if outputs is not None and theta is not None:
            self._keep(outputs.copy(), theta)

    def _keep(self, combined: np.ndarray, theta: np.ndarray) -> None:
        """Keep combined outputs of the present alpha, shape (n,), under weights, shape (M,)."""
        self._combined, self._theta, self._stale = combined, theta.copy(), False

    def _subset(self, examples: np.ndarray) -> Engine:
        """Return an engine for some examples whose alphas are not yet set."""
        raise self._cannot("choose among its examples")

    def _cannot(self, what: str) -> TypeError:
        return TypeError(f"{type(self).__name__} cannot {what}; plan.py chooses engines that can")

    def _note(self, idx: np.ndarray, values: np.ndarray) -> np.ndarray:
        """Note new alphas; return by how much they change, shape (q,)."""
        if len(idx) != len(values):
            raise ValueError("idx and values differ in length")
        if len(idx) and not 0 <= idx.min() <= idx.max() < self.n:
            raise ValueError("an example index is out of range")
        delta: np.ndarray = values - self._alpha[idx]
        self._alpha[idx] = values
        self.travel[idx] += np.abs(delta)
        return delta
