"""From what a user asks for to what an engine works with."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from kernelweave.kernels.base import Kernel
from kernelweave.kernels.examples import Examples, Reading
from kernelweave.kernels.normalize import normalize
from kernelweave.kernels.program import CompiledKernels


def prepare(
    kernels: Kernel | Sequence[Kernel], how: str | None, X: Any, *, n_jobs: int = 1
) -> tuple[CompiledKernels, Examples]:
    """Resolve, normalise and compile kernels on training data.

    Parameters
    ----------
    kernels : a kernel or several, each of which may be a family.
    how : {"variance", "unit", "trace", "center", None}, the normalisation.
    X : the training examples.
    n_jobs : number of threads.

    Returns
    -------
    The compiled kernels, and the training examples as they read them.
    """
    chosen: list[Any] = list(kernels) if isinstance(kernels, list | tuple) else [kernels]
    if not chosen or not all(isinstance(kernel, Kernel) for kernel in chosen):
        raise ValueError(f"kernels must be a kernel or a list of kernels, not {kernels!r}")
    reading = Reading(X, training=True, n_jobs=n_jobs)
    compiled = CompiledKernels(tuple(normalize(kernel, how, reading) for kernel in chosen))
    return compiled, compiled.read(reading)
