"""Normalisations: kernels on a common scale, so that their weights can be compared.

From what a user asks for to what an engine works with: `prepare`. Whatever a normalisation takes
from data it takes from the training data, and applies to all data.

* "variance" (multiplicative; Kloft et al. 2011, formula 27): k / (mean_i k(x_i, x_i) - mean_ij
  k(x_i, x_j)). The examples then have variance 1 in feature space.
* "unit" (spherical; formula 28): k(x, y) / sqrt(k(x, x) k(y, y)).
* "trace": k / (trace(K) / n), so that the mean of the diagonal is 1. Matrices of trace 1, as in
  Moeller et al. (2018), would give C another meaning at every n.
* "center": the training examples have mean zero in feature space.

Means over pairs are exact up to 5,000 examples. Beyond, they are taken over so many examples,
evenly spaced. A kernel whose columns are absent for some examples is normalised on the others. One
that is constant on the training data tells no examples apart: its values become 0, and estimators
give it weight 0.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from kernelweave.common.core import single_threaded_blas
from kernelweave.common.warnings import warn
from kernelweave.kernels.base import Kernel
from kernelweave.kernels.compile.examples import Examples, Reading
from kernelweave.kernels.compile.normalized_kernels import (
    Centered,
    Rescaled,
    Unit,
    diagonal,
    is_constant,
    muted,
    variances,
)
from kernelweave.kernels.compile.program import CompiledKernels
from kernelweave.kernels.compose.algebra import Named
from kernelweave.kernels.compose.nested_parameters import by_name
from kernelweave.kernels.compose.per_feature import Stack
from kernelweave.kernels.data.absent import (
    absent_of_all,
    absent_of_one,
    all_at_mean,
    completed,
    extrapolated,
    present_part,
)
from kernelweave.kernels.data.inputs import as_input
from kernelweave.kernels.vector.function import Function

NAMED = 8  # constant kernels in a warning, at most
ACCEPTED = "a kernel or a list of kernels, or a dict of them by name"
Kernels = Kernel | Sequence[Kernel] | Mapping[str, Kernel]


def normalize(kernel: Kernel, how: str | None, X: Any, *, n_jobs: int | None = None) -> Kernel:
    """Return a kernel normalised on training data.

    Members of a family that are constant on the training data, or would be once normalised, have
    values of 0 instead.

    Parameters
    ----------
    kernel : kernel or family; it is resolved on X if it was not before.
    how : {"variance", "unit", "trace", "center", None}
    X : the training examples (a `Reading` of them will do).
    n_jobs : number of threads.

    Raises
    ------
    ValueError : where all members are constant, and where values are beyond what numbers can hold.

    Examples
    --------
    >>> import numpy as np
    >>> from kernelweave.kernels import Linear, normalize
    >>> X = np.array([[1.0, 0.0], [3.0, 4.0], [0.0, 2.0]])
    >>> unit = normalize(Linear(), "unit", X)
    >>> print(unit(X).round(2))
    [[1.  0.6 0. ]
     [0.6 1.  0.8]
     [0.  0.8 1. ]]
    >>> centred = normalize(Linear(), "center", X)
    >>> print(abs(centred(X).sum(axis=1)).max().round(6))
    0.0
    """
    reading = X if isinstance(X, Reading) else Reading(X, training=True, n_jobs=n_jobs)
    with single_threaded_blas():
        normal = completed(quietly_normalized(kernel, how, reading), reading, reading)
    refuse_all_constant(CompiledKernels((normal,)))
    return normal


def quietly_normalized(kernel: Kernel, how: str | None, reading: Reading) -> Kernel:
    """Return a kernel normalised on the examples for which it is present.

    All its members may be constant.
    """
    if how not in NORMALISATIONS:
        raise ValueError(f"normalize must be one of {[*NORMALISATIONS]}, not {how!r}")
    kernel = kernel.resolve(reading.X)
    if isinstance(kernel, Stack):  # one by one, so that memory does not grow with the columns
        parts = tuple(quietly_normalized(part, how, reading) for part in kernel.kernels)
        return replace(kernel, kernels=parts)
    if isinstance(kernel, Named):
        return replace(kernel, kernel=quietly_normalized(kernel.kernel, how, reading))
    with single_threaded_blas():
        some = not reading.is_complete and absent_of_one(kernel, reading) is not None
        return NORMALISATIONS[how](kernel, present_part(kernel, reading) if some else reading)


def refuse_all_constant(compiled: CompiledKernels) -> None:
    """Raise where no kernel tells any examples apart."""
    if not len(compiled.varying):
        all_of = "" if compiled.n_kernels == 1 else f", as are all {compiled.n_kernels}"
        raise ValueError(
            f"kernel {compiled.names[0]!r} is constant on the training data{all_of}, so that it "
            "tells no examples apart: take another one"
        )


def _as_it_is(kernel: Kernel, reading: Reading) -> Kernel:
    diagonal(kernel, reading)
    return kernel


def _variance(kernel: Kernel, reading: Reading) -> Kernel:
    constant, scales = is_constant(kernel, reading), variances(kernel, reading)
    return _divided(kernel, scales, constant | (scales <= 0))  # rounding may take it below


def _unit(kernel: Kernel, reading: Reading) -> Kernel:
    if kernel.unit_diagonal:
        return muted(kernel, is_constant(kernel, reading))
    squares = diagonal(kernel, reading)
    zero = ~squares.any(axis=1)
    for name, row in zip(kernel.names, squares, strict=True):
        vanishes = row.any() and (row < np.finfo(float).tiny).any()
        if vanishes and not kernel.may_vanish:
            raise ValueError(
                f"kernel {name!r}: example {int(np.argmin(row))} has zero self-similarity "
                f"k(x, x) = {row.min():g}, which normalize='unit' cannot make 1"
            )
    if "given" in CompiledKernels((kernel,)).kinds:
        if not np.allclose(squares, 1.0, rtol=0.0, atol=1e-9):
            raise ValueError(
                f"kernel {kernel.names[0]!r}: normalize='unit' needs k(x, x) of new examples, "
                "which a precomputed matrix does not hold; give matrices with a unit diagonal"
            )
        return muted(kernel, is_constant(kernel, reading))
    return muted(Unit(kernel), zero | is_constant(Unit(kernel), reading))


def _trace(kernel: Kernel, reading: Reading) -> Kernel:
    constant, scales = is_constant(kernel, reading), diagonal(kernel, reading) @ reading.shares
    return _divided(kernel, scales, constant | (scales <= 0))


def _center(kernel: Kernel, reading: Reading) -> Kernel:
    constant = is_constant(kernel, reading)
    return muted(Centered.of(kernel, reading), constant)


NORMALISATIONS: dict[str | None, Callable[[Kernel, Reading], Kernel]] = {
    "variance": _variance,
    "unit": _unit,
    "trace": _trace,
    "center": _center,
    None: _as_it_is,
}


def _divided(kernel: Kernel, scales: np.ndarray, constant: np.ndarray) -> Kernel:
    """Return each member divided by its scale, but 0 where it is constant."""
    scales = np.broadcast_to(scales, constant.shape)  # some have one for all
    with np.errstate(over="ignore"):
        factors = np.divide(1.0, scales, out=np.zeros(len(scales)), where=~constant)
    bad = np.flatnonzero(~np.isfinite(factors))
    if len(bad):
        raise ValueError(
            f"kernel {kernel.names[bad[0]]!r} has values of about {scales[bad[0]]:.3g} on the "
            "training data, which are too small to be normalised: scale X up"
        )
    return Rescaled(kernel, tuple(factors.tolist()))


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
    warn(
        f"{len(constant)} of {compiled.n_kernels} kernels get weight 0, being constant on the "
        f"training data: {', '.join(named)}{more}",
        UserWarning,
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
