"""Resolve, normalise and compile kernels.

Normalisations put kernels on a common scale, so that their weights can be compared. Their constants
are computed from the training data and applied to all data.

* "variance" (multiplicative; Kloft et al. 2011, eq. 27): k / (mean_i k(x_i, x_i) - mean_ij
  k(x_i, x_j)). The training examples have variance 1 in feature space.
* "unit" (spherical; eq. 28): k(x, y) / sqrt(k(x, x) k(y, y)).
* "trace": k / (trace(K) / n), so that the mean of the diagonal is 1. Kernel matrices of trace 1, as
  in Moeller et al. (2018), would change the meaning of C with n.
* "center": the training examples have mean 0 in feature space.

Means over pairs are exact for up to 5,000 examples; for more, they are taken over 5,000 evenly
spaced ones. If some examples have no value in the data that a kernel reads, the kernel is
normalised on the others. A kernel that is constant on the training data is set to 0, and estimators
give it weight 0.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

import numpy as np

from kernelweave.common.core import single_threaded_blas
from kernelweave.common.types import Data
from kernelweave.common.warnings import warn
from kernelweave.kernels.base import Kernel
from kernelweave.kernels.compile.examples import Examples, Reader, Reading
from kernelweave.kernels.compile.normalized_kernels import (
    Centered,
    Rescaled,
    Unit,
    diagonal,
    is_constant,
    set_to_zero,
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
    present_subset,
)
from kernelweave.kernels.data.inputs import as_input
from kernelweave.kernels.vector.function import Function

NAMED = 8  # largest number of constant kernels that a warning names
ACCEPTED = "a kernel or a list of kernels, or a dict of them by name"
Kernels = Kernel | Sequence[Kernel] | Mapping[str, Kernel]


def normalize(kernel: Kernel, how: str | None, X: Data, *, n_jobs: int | None = None) -> Kernel:
    """Return a kernel that is normalised on training data.

    Members of a family that are constant on the training data, before or after normalisation, are
    set to 0.

    Parameters
    ----------
    kernel : Kernel
        A kernel, or a family such as ``RBF([0.1, 1.0])``. Its parameters that depend on data are
        determined from X.
    how : {"variance", "unit", "trace", "center", None}
        The normalisation; None for none.
    X : n training examples, or a `Reading` of them
    n_jobs : int or None
        Number of threads. None means 1, -1 all processors.

    Returns
    -------
    Kernel

    Raises
    ------
    ValueError
        If all members are constant, or if values overflow.

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
        normal = completed(_normalized(kernel, how, reading), reading, reading)
    refuse_all_constant(CompiledKernels((normal,)))
    return normal


def _normalized(kernel: Kernel, how: str | None, reading: Reading) -> Kernel:
    """Return a kernel normalised on the examples that have a value in the data that it reads.

    Unlike `normalize` it accepts a kernel all of whose members are constant.
    """
    if how not in NORMALISATIONS:
        raise ValueError(f"normalize must be one of {[*NORMALISATIONS]}, got {how!r}")
    kernel = kernel.resolve(reading.X)
    if isinstance(kernel, Stack):  # one by one, so that memory use is that of one column
        parts = tuple(_normalized(part, how, reading) for part in kernel.kernels)
        return replace(kernel, kernels=parts)
    if isinstance(kernel, Named):
        return replace(kernel, kernel=_normalized(kernel.kernel, how, reading))
    with single_threaded_blas():
        some = not reading.is_complete and absent_of_one(kernel, reading) is not None
        return NORMALISATIONS[how](kernel, present_subset(kernel, reading) if some else reading)


def refuse_all_constant(compiled: CompiledKernels) -> None:
    """Raise ValueError if all kernels are constant on the training data."""
    if not len(compiled.varying):
        all_of = "" if compiled.n_kernels == 1 else f", as are all {compiled.n_kernels}"
        raise ValueError(
            f"kernels: kernel {compiled.names[0]!r} is constant on the training data{all_of}; pass "
            "a kernel that takes different values on the training examples"
        )


def _unchanged(kernel: Kernel, reading: Reader) -> Kernel:
    diagonal(kernel, reading)  # raises if values overflow
    return kernel


def _variance(kernel: Kernel, reading: Reader) -> Kernel:
    constant, scales = is_constant(kernel, reading), variances(kernel, reading)
    return _divided(kernel, scales, constant | (scales <= 0))  # negative by rounding


def _unit(kernel: Kernel, reading: Reader) -> Kernel:
    if kernel.unit_diagonal:
        return set_to_zero(kernel, is_constant(kernel, reading))
    squares = diagonal(kernel, reading)
    zero = ~squares.any(axis=1)
    for name, row in zip(kernel.names, squares, strict=True):
        vanishes = row.any() and (row < np.finfo(float).tiny).any()
        if vanishes and not kernel.may_vanish:
            raise ValueError(
                f"normalize='unit' requires k(x, x) > 0, but kernel {name!r} has k(x, x) = "
                f"{row.min():g} for example {int(np.argmin(row))}; remove the example or take "
                "normalize='variance'"
            )
    if "given" in CompiledKernels((kernel,)).kinds:
        if not np.allclose(squares, 1.0, rtol=0.0, atol=1e-9):
            raise ValueError(
                f"kernel {kernel.names[0]!r}: normalize='unit' needs k(x, x) of new examples, "
                "which a precomputed matrix does not contain; pass matrices with a unit diagonal"
            )
        return set_to_zero(kernel, is_constant(kernel, reading))
    return set_to_zero(Unit(kernel), zero | is_constant(Unit(kernel), reading))


def _trace(kernel: Kernel, reading: Reader) -> Kernel:
    constant, scales = is_constant(kernel, reading), diagonal(kernel, reading) @ reading.shares
    return _divided(kernel, scales, constant | (scales <= 0))


def _center(kernel: Kernel, reading: Reader) -> Kernel:
    constant = is_constant(kernel, reading)
    return set_to_zero(Centered.of(kernel, reading), constant)


NORMALISATIONS: dict[str | None, Callable[[Kernel, Reader], Kernel]] = {
    "variance": _variance,
    "unit": _unit,
    "trace": _trace,
    "center": _center,
    None: _unchanged,
}


def _divided(kernel: Kernel, scales: np.ndarray, constant: np.ndarray) -> Kernel:
    """Return a kernel whose members are divided by `scales`, or 0 where `constant`, both (M,)."""
    scales = np.broadcast_to(scales, constant.shape)  # unit diagonals have one scale for all
    with np.errstate(over="ignore"):
        factors = np.divide(1.0, scales, out=np.zeros(len(scales)), where=~constant)
    bad = np.flatnonzero(~np.isfinite(factors))
    if len(bad):
        raise ValueError(
            f"X: kernel {kernel.names[bad[0]]!r} has values of about {scales[bad[0]]:.3g} on the "
            "training data, which are too small to be normalised; scale X up, for example with "
            "sklearn.preprocessing.StandardScaler"
        )
    return Rescaled(kernel, tuple(factors.tolist()))


def prepare(
    kernels: Kernels,
    how: str | None,
    X: Data,
    *,
    weights: np.ndarray | None = None,
    n_jobs: int | None = None,
    extrapolate: bool = True,
) -> tuple[CompiledKernels, Examples]:
    """Determine the data-dependent parameters of kernels, normalise and compile them.

    Parameters
    ----------
    kernels : Kernel, list of kernels, or dict from names to kernels
        A kernel with several values of a parameter, such as ``RBF([0.1, 1.0])``, counts as several.
    how : {"variance", "unit", "trace", "center", None}
        The normalisation; None for none.
    X : n training examples
    weights : array of shape (n,), optional
        Weight of each example in normalisations; equal weights by default.
    n_jobs : int or None
        Number of threads. None means 1, -1 all processors.
    extrapolate : bool
        Whether an example without values in some views gets larger features in its other views, to
        make up for them. Otherwise it is placed at the mean of the training examples in the views
        without values.

    Returns
    -------
    compiled : CompiledKernels
        The normalised kernels. Kernels that are constant on the training data are set to 0, and a
        warning lists them.
    examples : Examples
        The training examples, encoded for the compiled kernels.

    Raises
    ------
    ValueError
        If all kernels are constant, or if values overflow.

    Examples
    --------
    >>> import numpy as np
    >>> from kernelweave.kernels import RBF, Linear, prepare
    >>> X = np.random.default_rng(0).normal(size=(20, 3))
    >>> compiled, examples = prepare([Linear(), RBF()], "variance", X)
    >>> compiled.names
    ('Linear', 'RBF gamma=0.333')
    """
    reading = Reading(X, training=True, n_jobs=n_jobs, weights=weights)
    each = tuple(_normalized(kernel, how, reading) for kernel in listed(kernels))
    compiled = CompiledKernels(each)
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
        f"{len(constant)} of {compiled.n_kernels} kernels get weight 0, because they are constant "
        f"on the training data: {', '.join(named)}{more}",
        UserWarning,
    )


def resolve(kernels: Kernels, X: Data) -> list[Kernel]:
    """Return kernels with all parameters that depend on data determined from X.

    Parameters
    ----------
    kernels : Kernel, list of kernels, or dict from names to kernels
    X : n training examples

    Returns
    -------
    list of Kernel

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


def listed(kernels: object) -> list[Kernel]:
    """Return the argument `kernels` as a list; kernels of a dict are named by its keys.

    Raises
    ------
    ValueError
        If it is empty or contains an object that is not a kernel.
    """
    if isinstance(kernels, Mapping):
        chosen = [as_kernel(kernel).named(name) for name, kernel in kernels.items()]
    elif isinstance(kernels, list | tuple):
        chosen = [as_kernel(kernel) for kernel in kernels]
    else:
        chosen = [as_kernel(kernels)]
    if not chosen:
        raise ValueError(f"kernels must be {ACCEPTED}, got an empty {type(kernels).__name__}")
    return chosen


def all_pairwise(kernels: object) -> bool:
    """Return whether all kernels of the argument `kernels` read X as a kernel matrix."""
    each = [kernels] if isinstance(kernels, Kernel) else list(by_name(kernels).values())
    return len(each) > 0 and all(isinstance(one, Kernel) and one.pairwise for one in each)


def as_kernel(kernel: object) -> Kernel:
    """Return a kernel unchanged and a function as `Function`; raise ValueError otherwise."""
    if isinstance(kernel, Kernel):
        return kernel
    if callable(kernel) and not isinstance(kernel, type):
        return Function(kernel)
    what = type(kernel).__name__
    if hasattr(kernel, "shape"):
        raise ValueError(
            f"kernels must be {ACCEPTED}, got an array of shape {tuple(kernel.shape)}; a kernel "
            "matrix K is passed as Precomputed(K)"
        )
    shown = repr(kernel)
    shown = shown if len(shown) <= 60 else f"a {what}"
    raise ValueError(
        f"kernels must be {ACCEPTED}, got {shown}; kernels are in kernelweave.kernels: RBF(), "
        "Precomputed()"
    )
