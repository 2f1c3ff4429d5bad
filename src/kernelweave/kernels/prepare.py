"""From what a user asks for to what an engine works with."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from kernelweave.kernels.absent import absent_of_all, all_at_mean, extrapolated
from kernelweave.kernels.base import Kernel
from kernelweave.kernels.examples import Examples, Reading
from kernelweave.kernels.function import Function
from kernelweave.kernels.inputs import as_input
from kernelweave.kernels.nested import by_name
from kernelweave.kernels.normalize import quietly_normalized, refuse_all_constant
from kernelweave.kernels.program import CompiledKernels

NAMED = 8  # constant kernels in a warning, at most
ACCEPTED = "a kernel or a list of kernels, or a dict of them by name"
Kernels = Kernel | Sequence[Kernel] | Mapping[str, Kernel]


def prepare(
    kernels: Kernels,
    how: str | None,
    X: Any,
    *,
    weights: np.ndarray | None = None,
    n_jobs: int | None = None,
    extrapolate: bool = True,
) -> tuple[CompiledKernels, Examples]:
    """Resolve, normalise and compile kernels on training data.

    Parameters
    ----------
    kernels : a kernel or several (a list, or a dict by name), each of which may be a family.
    how : {"variance", "unit", "trace", "center", None}, the normalisation.
    X : the training examples.
    weights : how much each example counts in normalisations, shape (n,); None: all the same.
    n_jobs : number of threads.
    extrapolate : whether views make up for those that are absent; otherwise these are at the mean.

    Returns
    -------
    The compiled kernels, and the training examples as they read them. Kernels that are constant on
    these are 0; a warning names them.

    Examples
    --------
    >>> import numpy as np
    >>> from kernelweave.kernels import RBF, Linear, prepare
    >>> X = np.random.default_rng(0).normal(size=(20, 3))
    >>> compiled, examples = prepare([Linear(), RBF()], "variance", X)
    >>> compiled.names
    ('Linear', 'RBF gamma=0.333333')
    """
    reading = Reading(X, training=True, n_jobs=n_jobs, weights=weights)
    normalized = []
    for kernel in listed(kernels):
        normalized.append(quietly_normalized(kernel, how, reading))
    compiled = CompiledKernels(tuple(normalized))
    refuse_all_constant(compiled)
    absent = None if reading.is_complete else absent_of_all(compiled, reading)
    if absent is not None and absent.any():
        compiled = (extrapolated if extrapolate else all_at_mean)(compiled, reading)
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


def resolve(kernels: Kernels, X: Any) -> list[Kernel]:
    """Return kernels with every parameter made concrete on training data X.

    Examples
    --------
    >>> import numpy as np
    >>> from kernelweave.kernels import RBF, resolve
    >>> X = np.random.default_rng(0).normal(size=(20, 4))
    >>> resolve(RBF(), X)[0].gamma
    0.25
    """
    X = as_input(X)
    return [kernel.resolve(X) for kernel in listed(kernels)]


def listed(kernels: Any) -> list[Kernel]:
    """Return what a user gave for `kernels` as a list; those of a dict have its keys for names."""
    if isinstance(kernels, Mapping):
        chosen = [as_kernel(kernel).named(name) for name, kernel in kernels.items()]
    elif isinstance(kernels, list | tuple):
        chosen = [as_kernel(kernel) for kernel in kernels]
    else:
        chosen = [as_kernel(kernels)]
    if not chosen:
        raise ValueError(f"kernels must be {ACCEPTED}, not an empty {type(kernels).__name__}")
    return chosen


def all_pairwise(kernels: Any) -> bool:
    """Return whether all of what a user gave for kernels read X as a matrix of similarities."""
    each = [kernels] if isinstance(kernels, Kernel) else list(by_name(kernels).values())
    return len(each) > 0 and all(isinstance(one, Kernel) and one.pairwise for one in each)


def as_kernel(kernel: Any) -> Kernel:
    """Return a kernel as it is, a function as one; refuse anything else in one line."""
    if isinstance(kernel, Kernel):
        return kernel
    if callable(kernel) and not isinstance(kernel, type):
        return Function(kernel)
    what = type(kernel).__name__
    if hasattr(kernel, "shape"):
        raise ValueError(
            f"kernels must be {ACCEPTED}, not an array of shape {tuple(kernel.shape)}; a given "
            "matrix K is the kernel Precomputed(K)"
        )
    shown = repr(kernel)
    shown = shown if len(shown) <= 60 else f"a {what}"
    raise ValueError(f"kernels must be {ACCEPTED}, not {shown}")
