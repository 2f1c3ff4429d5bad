"""Normalisations: kernels on a common scale, so that their weights can be compared.

Whatever a normalisation takes from data it takes from the training data, and applies to all data.

* "variance" (multiplicative; Kloft et al. 2011, formula 27): k / (mean_i k(x_i, x_i) - mean_ij
  k(x_i, x_j)). The examples then have variance 1 in feature space.
* "unit" (spherical; formula 28): k(x, y) / sqrt(k(x, x) k(y, y)).
* "trace": k / (trace(K) / n), so that the mean of the diagonal is 1. Matrices of trace 1, as in
  Moeller et al. (2018), would give C another meaning at every n.
* "center": the training examples have mean zero in feature space.

Means over pairs are exact up to 5,000 examples. Beyond, they are taken over so many
examples, evenly spaced. A kernel whose columns are absent for some examples is normalised on the
others.

A kernel that is constant on the training data tells no examples apart: its values become 0, and
estimators give it weight 0.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from kernelweave.core import _core, single_threaded_blas
from kernelweave.kernels.absent import absent_of_one, completed, present_part
from kernelweave.kernels.algebra import Multiple, Named
from kernelweave.kernels.base import Kernel, Wrapper
from kernelweave.kernels.examples import Examples, Reading
from kernelweave.kernels.means import Centered, variances
from kernelweave.kernels.per_feature import Stack
from kernelweave.kernels.program import CompiledKernels, Expression, Layout
from kernelweave.kernels.vectors import Exponential
from kernelweave.stored import stored

MANY = 500  # members
CONSTANT = 1e-13  # squared distance in feature space, relative to squared norms, taken for zero


@stored("Rescaled")
@dataclass(frozen=True)
class Rescaled(Multiple):
    """Each member of a family times a factor of its own."""

    factors: tuple[float, ...]

    def expressions(self, layout: Layout) -> list[Expression]:
        pairs = zip(self.kernel.expressions(layout), self.factors, strict=True)
        return [(*expression, ("scale", factor)) for expression, factor in pairs]

    def row_means(self, reading: Reading) -> np.ndarray:
        means: np.ndarray = np.array(self.factors)[:, None] * self.kernel.row_means(reading)
        return means


@stored("Unit")
@dataclass(frozen=True)
class Unit(Wrapper):
    """Each member with k(x, x) = 1; an example with k(x, x) = 0 is similar to nothing."""

    def expressions(self, layout: Layout) -> list[Expression]:
        pairs = zip(self.kernel.expressions(layout), layout.slots(self), strict=True)
        return [(*expression, ("unit", slot)) for expression, slot in pairs]

    def slot_vectors(self, reading: Reading) -> np.ndarray:
        """Return 1 / sqrt(k(x, x)), shape (M, n)."""
        squares = _diagonal(self.kernel, reading)
        factors: np.ndarray = np.divide(
            1.0, np.sqrt(squares), out=np.zeros_like(squares), where=squares > 0
        )
        return factors

    @property
    def unit_diagonal(self) -> bool:
        return True


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
    _diagonal(kernel, reading)
    return kernel


def _variance(kernel: Kernel, reading: Reading) -> Kernel:
    constant, scales = _constant(kernel, reading), variances(kernel, reading)
    return _divided(kernel, scales, constant | (scales <= 0))  # rounding may take it below


def _unit(kernel: Kernel, reading: Reading) -> Kernel:
    if kernel.unit_diagonal:
        return _muted(kernel, _constant(kernel, reading))
    squares = _diagonal(kernel, reading)
    zero = ~squares.any(axis=1)
    for name, row in zip(kernel.names, squares, strict=True):
        vanishes = row.any() and (row < np.finfo(float).tiny).any()
        if vanishes and not kernel.may_vanish:
            raise ValueError(
                f"kernel {name!r}: example {int(np.argmin(row))} has zero self-similarity "
                f"k(x, x) = {row.min():g}, which normalize='unit' cannot make 1"
            )
    if "given" in CompiledKernels((kernel,)).kinds:
        _refuse_unknown_diagonal(kernel, squares)
        return _muted(kernel, _constant(kernel, reading))
    return _muted(Unit(kernel), zero | _constant(Unit(kernel), reading))


def _trace(kernel: Kernel, reading: Reading) -> Kernel:
    constant, scales = _constant(kernel, reading), _diagonal(kernel, reading) @ reading.shares
    return _divided(kernel, scales, constant | (scales <= 0))


def _center(kernel: Kernel, reading: Reading) -> Kernel:
    constant = _constant(kernel, reading)
    return _muted(Centered.of(kernel, reading), constant)


NORMALISATIONS: dict[str | None, Callable[[Kernel, Reading], Kernel]] = {
    "variance": _variance,
    "unit": _unit,
    "trace": _trace,
    "center": _center,
    None: _as_it_is,
}


def _divided(kernel: Kernel, scales: np.ndarray, constant: np.ndarray) -> Kernel:
    """Return each member divided by its scale, but 0 where it is constant."""
    with np.errstate(over="ignore"):
        factors = np.divide(1.0, scales, out=np.zeros(len(scales)), where=~constant)
    bad = np.flatnonzero(~np.isfinite(factors))
    if len(bad):
        raise ValueError(
            f"kernel {kernel.names[bad[0]]!r} has values of about {scales[bad[0]]:.3g} on the "
            "training data, which are too small to be normalised: scale X up"
        )
    return Rescaled(kernel, tuple(factors.tolist()))


def _muted(kernel: Kernel, constant: np.ndarray) -> Kernel:
    """Return a kernel whose constant members have values of 0."""
    return Rescaled(kernel, tuple((1.0 - constant).tolist())) if constant.any() else kernel


def _diagonal(kernel: Kernel, reading: Reading) -> np.ndarray:
    """Return k_m(x, x), shape (M, n), or (1, n) where it is 1 for all of very many members."""
    compiled = CompiledKernels((kernel,))
    return _finite_diagonal(compiled, compiled.read(reading))


def _finite_diagonal(compiled: CompiledKernels, examples: Examples) -> np.ndarray:
    """Return k_m(x, x) as `_diagonal` does; refuse values that are not finite.

    No other values of a positive semidefinite kernel are larger: |k(x, y)|^2 <= k(x, x) k(y, y).
    So where these are finite, all are. Sums of all of them must be, too.
    """
    listing = compiled.listing
    if compiled.kernels[0].unit_diagonal and compiled.n_kernels > MANY:
        listing = listing.part(np.array([0]))  # one of them tells whether it is finite
        examples = examples.part(compiled.listing.read_by(listing))
    values = _core.diagonal(listing.program, examples.side)
    bad = np.argwhere(~(values <= np.finfo(float).max / (4 * max(examples.n, 1))))
    if len(bad):
        member, example = bad[0].tolist()
        raise ValueError(
            f"kernel {compiled.names[member]!r} has no finite value k(x, x) for example {example}, "
            f"or one of which there is no finite sum, {values[member, example]:.3g}: "
            "the numbers in X, or parameters of the kernel, are too large; scale X down, such as "
            "with StandardScaler"
        )
    return values


def _constant(kernel: Kernel, reading: Reading) -> np.ndarray:
    """Return for which members all training examples with a weight are one point, shape (M,)."""
    looked: list[Kernel] = [kernel]
    members = 0
    if isinstance(kernel, Exponential) and isinstance(kernel.gamma, tuple):
        looked.insert(0, replace(kernel, gamma=min(kernel.gamma)))  # the widest one
        members = len(kernel.gamma)
    for looked_at in looked:
        compiled = CompiledKernels((looked_at,))
        examples = compiled.read(reading)
        diagonal = _finite_diagonal(compiled, examples)
        first = examples.take(np.array([0]))
        values = _core.evaluate(compiled.program, first.side, examples.side, reading.n_jobs)[:, 0]
        halves = 0.5 * diagonal + 0.5 * diagonal[:, :1] - values  # of squared distances
        alike: np.ndarray = halves.max(axis=1) <= 0.5 * CONSTANT * diagonal.max(axis=1)
        if members and not alike.any():  # nor is any that is narrower
            return np.zeros(members, dtype=bool)
    return alike


def _refuse_unknown_diagonal(kernel: Kernel, squares: np.ndarray) -> None:
    if not np.allclose(squares, 1.0, rtol=0.0, atol=1e-9):
        raise ValueError(
            f"kernel {kernel.names[0]!r}: normalize='unit' needs k(x, x) of new examples, which a "
            "precomputed matrix does not hold; give matrices with a unit diagonal"
        )
