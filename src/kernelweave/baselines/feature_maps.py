"""Explicit features of kernels: by landmarks (Nystroem), or by random cosines (Fourier)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp

from ..common.core import _core, single_threaded_blas
from ..kernels import RBF, Kernel
from ..kernels.compile.examples import Examples
from ..kernels.compile.normalize import prepare
from ..kernels.compile.program import CompiledKernels
from ..kernels.compose.per_feature import Stack

RANK = 1e-10  # eigenvalues below this part of the largest one are dropped


@dataclass(frozen=True, eq=False)
class Nystroem:
    """Features k_m(x, landmarks) K_m^(-1/2) of each kernel.

    Attributes
    ----------
    roots : for each kernel an (s, rank) matrix
    """

    compiled: CompiledKernels
    landmarks: Examples
    roots: tuple[np.ndarray, ...]

    @classmethod
    def of(
        cls, kernels: Any, how: str | None, X: Any, count: int, random: Any, n_jobs: int
    ) -> Nystroem:
        """Choose landmarks among the training examples X."""
        with single_threaded_blas():
            compiled, examples = prepare(kernels, how, X, n_jobs=n_jobs)
            chosen = np.sort(random.permutation(examples.n)[:count])
            inside = examples.take(chosen).side
            squares = _core.evaluate(compiled.program, inside, inside, n_jobs)
            roots = tuple(_inverse_root(square) for square in squares)
        return cls(compiled, examples.reference(chosen), roots)

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the kernels."""
        return self.compiled.names

    @property
    def sizes(self) -> list[int]:
        """Number of features of each kernel."""
        return [root.shape[1] for root in self.roots]

    def __call__(self, X: Any, n_jobs: int) -> np.ndarray:
        """Return the features of new examples, shape (n, sum of sizes)."""
        new = self.compiled.examples(X, n_jobs=n_jobs).side
        values = _core.evaluate(self.compiled.program, self.landmarks.side, new, n_jobs)
        return np.hstack([v.T @ root for v, root in zip(values, self.roots, strict=True)])


def _inverse_root(square: np.ndarray) -> np.ndarray:
    """Return R, shape (s, rank), with R R' the pseudo-inverse of a matrix."""
    values, vectors = np.linalg.eigh(square)
    keep = values > RANK * values[-1]
    root: np.ndarray = vectors[:, keep] / np.sqrt(values[keep])
    return root


@dataclass(frozen=True, eq=False)
class Fourier:
    """Features sqrt(2 / D) cos(omega . x + phase) of each RBF kernel."""

    names: tuple[str, ...]
    columns: tuple[Any, ...]
    frequencies: tuple[np.ndarray, ...]
    phases: tuple[np.ndarray, ...]

    @classmethod
    def of(cls, kernels: Any, how: str | None, X: Any, count: int, random: Any) -> Fourier:
        """Draw frequencies from the spectrum of each kernel."""
        if how not in ("unit", None):
            raise ValueError(f"normalize must be 'unit' or None for Fourier features, got {how!r}")
        compiled, _ = prepare(kernels, None, X)
        members = [one for kernel in _flat(compiled.kernels) for one in _members(kernel)]
        columns = tuple(view for view, _ in members)
        widths = [(view.values(X).shape[1], gamma) for view, gamma in members]
        frequencies = tuple(
            np.sqrt(2 * gamma) * random.standard_normal((d, count)) for d, gamma in widths
        )
        phases = tuple(random.uniform(0, 2 * np.pi, size=count) for _ in members)
        return cls(compiled.names, columns, frequencies, phases)

    @property
    def sizes(self) -> list[int]:
        """Number of features of each kernel."""
        return [len(phase) for phase in self.phases]

    def __call__(self, X: Any, n_jobs: int) -> np.ndarray:
        """Return the features of new examples, shape (n, sum of sizes)."""
        parts = zip(self.columns, self.frequencies, self.phases, strict=True)
        return np.hstack([_cosines(view.values(X), omega, phase) for view, omega, phase in parts])


def _cosines(values: Any, omega: np.ndarray, phase: np.ndarray) -> np.ndarray:
    product = values @ omega if sp.issparse(values) else np.asarray(values) @ omega
    cosines: np.ndarray = np.sqrt(2.0 / len(phase)) * np.cos(product + phase)
    return cosines


def _flat(kernels: Sequence[Kernel]) -> list[Kernel]:
    return [
        part
        for kernel in kernels
        for part in (_flat(kernel.kernels) if isinstance(kernel, Stack) else [kernel])
    ]


def _members(kernel: Kernel) -> list[tuple[Any, float]]:
    """Return the columns and the gamma of each member of an RBF kernel or family."""
    if not isinstance(kernel, RBF):
        raise ValueError(
            f"features='fourier' needs RBF kernels, not {kernel.names[0]!r}; "
            "features='nystroem' takes all kernels"
        )
    return [(kernel.columns, member["gamma"]) for member in kernel.members]
