"""Explicit feature maps that approximate kernels: Nystroem and random Fourier features."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp

from ..common.core import _core, single_threaded_blas
from ..common.types import Data
from ..kernels import RBF, Kernel
from ..kernels.compile.examples import Examples
from ..kernels.compile.normalize import Kernels, prepare
from ..kernels.compile.program import CompiledKernels
from ..kernels.compose.per_feature import Stack
from ..kernels.data.columns import found
from ..kernels.data.encoding import Encoded
from ..kernels.data.inputs import as_input

RANK = 1e-10  # smallest eigenvalue that is inverted, relative to the largest


@dataclass(frozen=True)
class Sampling:
    """Size and random source of a feature map.

    Attributes
    ----------
    count : int
        Largest number of features of a kernel.
    random : RandomState
        Draws landmarks or frequencies.
    n_jobs : int
        Number of threads.
    """

    count: int
    random: np.random.RandomState
    n_jobs: int


@dataclass(frozen=True, eq=False)
class Nystroem:
    """Nystroem features k_m(x, landmarks) K_m^(-1/2) of M kernels (Williams and Seeger, 2001).

    K_m is the matrix of kernel k_m on the landmarks.

    Attributes
    ----------
    compiled : CompiledKernels
        The M normalised kernels.
    landmarks : Examples
        s training examples.
    roots : tuple of M arrays of shape (s, rank_m)
        K_m^(-1/2), without directions of eigenvalues near 0.
    """

    compiled: CompiledKernels
    landmarks: Examples
    roots: tuple[np.ndarray, ...]

    @classmethod
    def of(
        cls,
        kernels: Kernels,
        how: str | None,
        X: Data,
        sampling: Sampling,
    ) -> Nystroem:
        """Return the feature map whose landmarks are drawn from the training examples.

        Parameters
        ----------
        kernels : kernel, or list or dict of kernels
        how : str or None
            Normalisation of the kernels.
        X : n training examples
        sampling : Sampling
        """
        n_jobs = sampling.n_jobs
        with single_threaded_blas():
            compiled, examples = prepare(kernels, how, X, n_jobs=n_jobs)
            chosen = np.sort(sampling.random.permutation(examples.n)[: sampling.count])
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

    def __call__(self, X: Data, n_jobs: int) -> np.ndarray:
        """Return the features of the n examples of X, shape (n, sum of sizes)."""
        new = self.compiled.examples(X, n_jobs=n_jobs).side
        values = _core.evaluate(self.compiled.program, self.landmarks.side, new, n_jobs)
        return np.hstack([v.T @ root for v, root in zip(values, self.roots, strict=True)])


def _inverse_root(square: np.ndarray) -> np.ndarray:
    """Return R of shape (s, rank) such that R R' is the pseudo-inverse of a matrix, (s, s)."""
    values, vectors = np.linalg.eigh(square)
    keep = values > RANK * values[-1]
    return vectors[:, keep] / np.sqrt(values[keep])


@dataclass(frozen=True, eq=False)
class Fourier:
    """Random Fourier features of M RBF kernels (Rahimi and Recht, 2007).

    The features are sqrt(2 / D) cos(omega . x + phase) for D random frequencies omega and phases;
    d_m is the number of columns that kernel m reads, after encoding.

    Attributes
    ----------
    names : tuple of M strings
        Names of the kernels.
    columns : tuple of M `Encoded` columns
    frequencies : tuple of M arrays of shape (d_m, D)
    phases : tuple of M arrays of shape (D,)
    """

    names: tuple[str, ...]
    columns: tuple[Encoded, ...]
    frequencies: tuple[np.ndarray, ...]
    phases: tuple[np.ndarray, ...]

    @classmethod
    def of(cls, kernels: Kernels, how: str | None, X: Data, sampling: Sampling) -> Fourier:
        """Return the feature map with frequencies drawn from the spectral density of each kernel.

        Parameters
        ----------
        kernels : RBF kernel or family, or list or dict of them
        how : {"unit", None}
            The normalisation, which does not change RBF kernels.
        X : n training examples
        sampling : Sampling
        """
        if how not in ("unit", None):
            raise ValueError(f"normalize must be 'unit' or None for Fourier features, got {how!r}")
        count, random = sampling.count, sampling.random
        compiled, _ = prepare(kernels, None, X)
        members = [one for kernel in _flat(compiled.kernels) for one in _members(kernel)]
        columns = tuple(view for view, _ in members)
        widths = [(view.values(as_input(X)).shape[1], gamma) for view, gamma in members]
        frequencies = tuple(
            np.sqrt(2 * gamma) * random.standard_normal((d, count)) for d, gamma in widths
        )
        phases = tuple(random.uniform(0, 2 * np.pi, size=count) for _ in members)
        return cls(compiled.names, columns, frequencies, phases)

    @property
    def sizes(self) -> list[int]:
        """Number of features of each kernel."""
        return [len(phase) for phase in self.phases]

    def __call__(self, X: Data, n_jobs: int) -> np.ndarray:
        """Return the features of the n examples of X, shape (n, sum of sizes)."""
        parts, X = zip(self.columns, self.frequencies, self.phases, strict=True), as_input(X)
        return np.hstack([_cosines(view.values(X), omega, phase) for view, omega, phase in parts])


def _cosines(values: np.ndarray | sp.csr_array, omega: np.ndarray, phase: np.ndarray) -> np.ndarray:
    product = values @ omega if sp.issparse(values) else np.asarray(values) @ omega
    return np.sqrt(2.0 / len(phase)) * np.cos(product + phase)


def _flat(kernels: Sequence[Kernel]) -> list[Kernel]:
    return [
        part
        for kernel in kernels
        for part in (_flat(kernel.kernels) if isinstance(kernel, Stack) else [kernel])
    ]


def _members(kernel: Kernel) -> list[tuple[Encoded, float]]:
    """Return the columns and the gamma of each member of an RBF kernel or family."""
    if not isinstance(kernel, RBF):
        raise ValueError(
            f"features='fourier' requires RBF kernels, got {kernel.names[0]!r}; "
            "features='nystroem' accepts all kernels"
        )
    return [(found(kernel, Encoded), member["gamma"]) for member in kernel.members]
