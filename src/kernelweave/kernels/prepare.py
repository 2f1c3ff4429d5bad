"""From what a user asks for to what an engine works with."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np

from kernelweave.kernels.base import Kernel
from kernelweave.kernels.examples import Examples, Reading
from kernelweave.kernels.inputs import as_input
from kernelweave.kernels.normalize import quietly_normalized, refuse_all_constant
from kernelweave.kernels.program import CompiledKernels

NAMED = 8  # constant kernels in a warning, at most


def prepare(
    kernels: Kernel | Sequence[Kernel],
    how: str | None,
    X: Any,
    *,
    weights: np.ndarray | None = None,
    n_jobs: int = 1,
) -> tuple[CompiledKernels, Examples]:
    """Resolve, normalise and compile kernels on training data.

    Parameters
    ----------
    kernels : a kernel or several, each of which may be a family.
    how : {"variance", "unit", "trace", "center", None}, the normalisation.
    X : the training examples.
    weights : how much each example counts in normalisations, shape (n,); None: all the same.
    n_jobs : number of threads.

    Returns
    -------
    The compiled kernels, and the training examples as they read them. Kernels that are constant on
    these are 0; a warning names them.
    """
    reading = Reading(X, training=True, n_jobs=n_jobs, weights=weights)
    normalized = []
    for kernel in listed(kernels):
        normalized.append(quietly_normalized(kernel, how, reading))
    compiled = CompiledKernels(tuple(normalized))
    refuse_all_constant(compiled)
    _warn_of_constant(compiled)
    return compiled, compiled.read(reading)


def _warn_of_constant(compiled: CompiledKernels) -> None:
    if len(compiled.varying) == compiled.n_kernels:
        return
    constant = np.setdiff1d(np.arange(compiled.n_kernels), compiled.varying)
    named = [repr(compiled.names[m]) for m in constant[:NAMED]]
    more = f" and {len(constant) - NAMED} more" if len(constant) > NAMED else ""
    warnings.warn(
        f"{len(constant)} of {compiled.n_kernels} kernels get weight 0, being constant on the "
        f"training data: {', '.join(named)}{more}",
        UserWarning,
        stacklevel=5,
    )


def resolve(kernels: Kernel | Sequence[Kernel], X: Any) -> list[Kernel]:
    """Return kernels with every parameter made concrete on training data X."""
    X = as_input(X)
    return [kernel.resolve(X) for kernel in listed(kernels)]


def listed(kernels: Kernel | Sequence[Kernel]) -> list[Kernel]:
    """Return what a user gave for `kernels` as a list."""
    chosen: list[Any] = list(kernels) if isinstance(kernels, list | tuple) else [kernels]
    if not chosen or not all(isinstance(kernel, Kernel) for kernel in chosen):
        raise ValueError(f"kernels must be a kernel or a list of kernels, not {kernels!r}")
    return chosen
