"""The fitted model: support vectors, dual coefficients, kernel weights and intercepts.

`Model` is the only representation of a fitted model. Estimators derive `dual_coef_`,
`support_`, `weights_`, `intercept_` and `kernel_names_` from it, `verify` checks it, and model
files contain it once.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
import scipy.sparse as sp

from ..common.cached_property import cached_property
from ..common.core import _core, single_threaded_blas
from ..common.types import Data
from ..engines import Engine, TrainingSet
from ..kernels.compile.examples import Examples, Reading
from ..kernels.compile.program import CompiledKernels
from ..kernels.data.absent import (
    absent_of_all,
    extrapolation,
    is_at_mean,
    is_extrapolated,
    patterns,
    shares_of_views,
)
from .files.registry import registered
from .statistics import KERNEL_BATCH, statistics

if TYPE_CHECKING:
    from ..estimators.merged_examples import MergedExamples
    from ..optimization.result import Result

FRACTION_ROUNDING = 1e-9  # allowed error of the sum of the fractions of equal training examples


@registered("Model")
@dataclass(frozen=True, eq=False)
class Model:
    """One or several decision functions over the same support vectors.

        decision[c](x) = sum_m weights[c, m] sum_i coef[c, i] k_m(x_i, x) + intercept[c]

    Equal training examples with equal targets are merged before training. A merged example has one
    coefficient; `merged_into` and `fractions` distribute it over the training examples.

    Attributes
    ----------
    compiled : CompiledKernels
        The M kernels.
    examples : Examples
        The k distinct support vectors.
    coef : array of shape (n_outputs, k)
        Signed dual coefficients of the distinct support vectors.
    weights : array of shape (n_outputs, M)
        Kernel weights; equal rows if `shared_weights`.
    intercept : array of shape (n_outputs,)
        Constants added to the decision functions.
    means, deviations : array of shape (n_outputs, M), or None
        Weighted mean and standard deviation of each kernel's contribution to the decision values of
        the training examples, accurate to six digits (see `Engine.outputs_at`). None in models that
        were read from files without them.
    view_deviations : array of shape (n_outputs, n_views), or None
        Standard deviation of the summed contributions of the kernels of each view.
    support : array of shape (n_support,), or None
        Increasing indices of the support vectors among the training examples. None if a file of
        format 1 or 2 contains merged examples but not which training examples they represent.
    merged_into : array of shape (n_support,), or None
        Position in `examples` of each support vector. None if nothing was merged: the i-th support
        vector is ``examples[i]``.
    fractions : array of shape (n_support,), or None
        Fraction of the coefficient of its merged example that each support vector has.
    shared_weights : bool
        Whether all outputs were trained with one vector of kernel weights.
    """

    compiled: CompiledKernels
    examples: Examples
    coef: np.ndarray
    weights: np.ndarray
    intercept: np.ndarray
    means: np.ndarray | None = None
    deviations: np.ndarray | None = None
    view_deviations: np.ndarray | None = None
    support: np.ndarray | None = None
    merged_into: np.ndarray | None = None
    fractions: np.ndarray | None = None
    shared_weights: bool = False

    @classmethod
    def of(
        cls,
        compiled: CompiledKernels,
        examples: Examples,
        results: Sequence[Result],
        shares: np.ndarray,
        n_jobs: int = 1,
        engine: Engine | None = None,
        merged: MergedExamples | None = None,
        alpha: sp.csr_matrix | None = None,
    ) -> Model:
        """Return the model of the results of a fit.

        Parameters
        ----------
        compiled : CompiledKernels
            The M kernels.
        examples : Examples
            The n training examples, distinct ones if they were merged.
        results : sequence of Result
            One per output, or a single one if all outputs share their weights.
        shares : array of shape (n,)
            Weight of each example in means; the sum is 1.
        n_jobs : int
            Number of threads.
        engine : Engine, optional
            The engine of the fit, which may have cached the outputs of all kernels.
        merged : MergedExamples, optional
            Mapping from the distinct examples to the training examples.
        alpha : CSR matrix of shape (n_outputs, n), optional
            The dual variables of all examples, if each result has those of a subset only.
        """
        alpha = alphas(results, examples.n) if alpha is None else alpha
        model = cls.without_statistics(compiled, examples, results, merged, alpha)
        means, deviations, by_view = statistics(model, examples, alpha, shares, n_jobs, engine)
        return replace(model, means=means, deviations=deviations, view_deviations=by_view)

    @classmethod
    def without_statistics(
        cls,
        compiled: CompiledKernels,
        examples: Examples,
        results: Sequence[Result],
        merged: MergedExamples | None = None,
        alpha: sp.csr_matrix | None = None,
    ) -> Model:
        """Return the model of the results of a fit without `means` and `deviations`; see `of`."""
        alpha = alphas(results, examples.n) if alpha is None else alpha
        n_outputs = alpha.shape[0]
        weights = np.stack([result.weights for result in results])
        used = np.flatnonzero(alpha.getnnz(axis=0))
        support, merged_into, fractions = used, None, None
        if merged is not None:
            support, merged_into, fractions = _members(merged, used)
        return cls(
            compiled=compiled,
            examples=examples.reference(used),
            coef=alpha[:, used].toarray(),
            weights=np.repeat(weights, n_outputs // len(results), axis=0),
            intercept=np.hstack([result.bias for result in results]),
            support=support,
            merged_into=merged_into,
            fractions=fractions,
            shared_weights=len(results) < n_outputs,
        )

    @property
    def n_weight_vectors(self) -> int:
        """Number of separately trained weight vectors: 1 if shared, else the number of outputs."""
        return 1 if self.shared_weights else len(self.weights)

    @property
    def dual_coef(self) -> np.ndarray:
        """Signed dual coefficients of the training examples `support`, (n_outputs, n_support)."""
        if self.merged_into is None or self.fractions is None:
            return self.coef
        return self.coef[:, self.merged_into] * self.fractions

    def decide(self, X: Data, extrapolate: bool = True, *, n_jobs: int = 1) -> np.ndarray:
        """Return the decision values of new examples.

        Parameters
        ----------
        X : n examples
        extrapolate : bool
            Whether the contributions of present views are scaled up to compensate for absent views.
        n_jobs : int
            Number of threads.

        Returns
        -------
        array of shape (n, n_outputs)

        Raises
        ------
        ValueError
            If X cannot be read by the kernels of the model.
        """
        reading = Reading(X, training=False, n_jobs=n_jobs)
        with single_threaded_blas():
            absent = self._absent_kernels(reading)
            new = self.compiled.read(reading)
            if absent is None:
                return self.decide_examples(new, n_jobs)
            values = np.empty((new.n, len(self.intercept)))
            for missing, rows in patterns(absent):
                some = new.take(rows)
                values[rows] = self._at_mean(missing, extrapolate).decide_examples(some, n_jobs)
            return values

    def decide_examples(self, new: Examples, n_jobs: int) -> np.ndarray:
        """Return the decision values of examples encoded for the kernels, shape (n, n_outputs).

        Parameters
        ----------
        new : Examples
            n examples, encoded for the kernels.
        n_jobs : int
            Number of threads.
        """
        return self._decision.decide(new.side, n_jobs).T + self.intercept

    @property
    def _mean_contributions(self) -> np.ndarray:
        """Mean contribution of each kernel, shape (n_outputs, M)."""
        if self.means is None:
            raise ValueError(
                "X: a view is absent for some examples, but the model file lacks the mean "
                "contribution of its kernels; fit and save the model again, or pass every view"
            )
        return self.means

    def _absent_kernels(self, reading: Reading) -> np.ndarray | None:
        """Return a mask of the absent examples of each kernel, (M, n).

        None if there are none, or if the kernels themselves have values for absent views.
        """
        absent = absent_of_all(self.compiled, reading)
        return None if is_extrapolated(self.compiled) else absent

    def _factors(self, absent: np.ndarray, extrapolate: bool) -> np.ndarray:
        """Return the factor by which the contributions of present kernels are scaled, shape (n,).

        It applies to contributions minus their means. `absent` is a mask of shape (M, n). The
        factor is 1 without extrapolation, and for kernels that place absent examples at the mean
        (one-class models, and models of earlier versions).
        """
        if is_at_mean(self.compiled) or not extrapolate:
            return np.ones(absent.shape[1])
        return extrapolation(shares_of_views(self.compiled.views) @ ~absent)

    def _at_mean(self, kernels: np.ndarray, extrapolate: bool) -> Model:
        """Return the model in which some kernels, a mask of shape (M,), contribute their mean.

        The other kernels are scaled up to compensate, see `kernels.data.absent`.
        """
        factor = self._factors(kernels[:, None], extrapolate)[0]
        constant = (self._mean_contributions * np.where(kernels, 1.0, 1.0 - factor)).sum(axis=1)
        weights = np.where(kernels, 0.0, factor * self.weights)
        return replace(self, weights=weights, intercept=self.intercept + constant)

    @cached_property
    def _decision(self) -> _core.Decision:
        """The decision functions, compiled once for the core."""
        program, side = self.compiled.program, self.examples.side
        return _core.Decision(program, side, self.coef, self.weights)

    def check(self) -> None:
        """Check that shapes and types agree and that all values are finite.

        Raises
        ------
        ValueError
            The message names the attribute that is wrong.
        """
        outputs = len(self.intercept)
        shapes = {
            "intercept": (outputs,),
            "coef": (outputs, self.examples.n),
            "weights": (outputs, self.compiled.n_kernels),
        }
        for name, shape in shapes.items():
            values = getattr(self, name)
            if values.shape != shape or values.dtype != np.float64 or outputs == 0:
                raise ValueError(
                    f"{name} must be float64 of shape {shape}, got {values.dtype} of shape "
                    f"{values.shape}"
                )
            if not np.isfinite(values).all():
                raise ValueError(f"{name} contains NaN or infinity")
        if np.any(self.weights < 0):
            raise ValueError("weights must not be negative")
        if self.shared_weights and np.any(self.weights != self.weights[0]):
            raise ValueError("weights must have equal rows if outputs share them")
        n_views = len(set(self.compiled.views))
        self._check_statistics("means", self.weights.shape)
        self._check_statistics("deviations", self.weights.shape)
        self._check_statistics("view_deviations", (outputs, n_views))
        self._check_support()
        vectors = (self.compiled.listing.layout.n_slots, self.examples.n)
        if self.examples.vectors.shape != vectors or self.examples.vectors.dtype != np.float64:
            raise ValueError(f"the vectors of normalisations must be float64 of shape {vectors}")
        _ = self._decision  # the core checks the tables of the examples

    def _check_statistics(self, name: str, shape: tuple[int, ...]) -> None:
        values = getattr(self, name)
        if values is None:
            return
        if values.shape != shape or values.dtype != np.float64:
            raise ValueError(f"{name} must be float64 of shape {shape}, got {values.shape}")
        if np.isnan(values).any():
            raise ValueError(f"{name} contains NaN")

    def _check_support(self) -> None:
        """Check the indices of the support vectors and the fractions of merged examples."""
        k = self.examples.n
        if self.support is None:
            if self.merged_into is not None or self.fractions is not None:
                raise ValueError("merged_into and fractions require support")
            return
        _check_indices("support", self.support)
        if np.any(np.diff(self.support) <= 0):
            raise ValueError("support must be increasing indices of training examples")
        if self.merged_into is None and self.fractions is None:
            if len(self.support) != k:
                raise ValueError(
                    f"support has {len(self.support)} indices, but the model {k} support vectors"
                )
            return
        if self.merged_into is None or self.fractions is None:
            raise ValueError("merged_into and fractions must be given together")
        _check_indices("merged_into", self.merged_into, below=k)
        shape = self.support.shape
        if self.merged_into.shape != shape or self.fractions.shape != shape:
            raise ValueError(f"merged_into and fractions must have shape {shape}, as support")
        if self.fractions.dtype != np.float64 or not np.all(self.fractions > 0):
            raise ValueError("fractions must be positive float64 numbers")
        total = np.bincount(self.merged_into, self.fractions, minlength=k)
        if np.any(np.abs(total - 1.0) > FRACTION_ROUNDING):
            raise ValueError("the fractions of each merged example must add up to 1")

    def __getstate__(self) -> dict[str, object]:
        return {name: value for name, value in self.__dict__.items() if name != "_decision"}

    def contributions(self, X: Data, extrapolate: bool = True, *, n_jobs: int = 1) -> np.ndarray:
        """Return the contribution of each kernel to the decision values.

        Parameters
        ----------
        X : n examples
        extrapolate : bool
            Whether the contributions of present views are scaled up to compensate for absent views.
        n_jobs : int
            Number of threads.

        Returns
        -------
        array of shape (n, n_outputs, M)
            The sum over the kernels, plus the intercept, is the decision value.
        """
        reading = Reading(X, training=False, n_jobs=n_jobs)
        with single_threaded_blas():
            absent = self._absent_kernels(reading)
            new = self.compiled.read(reading)
            values = np.zeros((new.n, *self.weights.shape))
            for some, part in self.contributions_in_batches(new, n_jobs):
                values[:, :, some] = part
        if absent is None:
            return values
        factors = np.where(absent, 0.0, self._factors(absent, extrapolate)).T[:, None]
        means = self._mean_contributions
        return factors * (values - means) + means

    def contributions_of(self, new: Examples, n_jobs: int) -> np.ndarray:
        """Return the contribution of each kernel to the decision values of encoded examples.

        Parameters
        ----------
        new : Examples
            n examples, encoded for the kernels.
        n_jobs : int
            Number of threads.

        Returns
        -------
        array of shape (n, n_outputs, M)
        """
        values = np.zeros((new.n, *self.weights.shape))
        for some, part in self.contributions_in_batches(new, n_jobs):
            values[:, :, some] = part
        return values

    def contributions_in_batches(
        self, new: Examples, n_jobs: int
    ) -> Iterator[tuple[np.ndarray, np.ndarray]]:
        """Yield indices of b kernels of nonzero weight, and contributions, (n, n_outputs, b)."""
        used = np.flatnonzero(self.weights.any(axis=0))
        for some in np.array_split(used, len(used) // KERNEL_BATCH + 1):
            if len(some) == 0:
                continue
            old = TrainingSet(self.compiled.listing, self.examples).part(some)
            fresh = TrainingSet(self.compiled.listing, new).part(some)
            program, sides = old.kernels.program, (old.examples.side, fresh.examples.side)
            sums = _core.sum_each(program, *sides, self.coef, n_jobs)
            yield some, (self.weights[:, some, None] * sums).transpose(2, 0, 1)


def _members(merged: MergedExamples, used: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the training examples that distinct support vectors represent.

    Parameters
    ----------
    merged : MergedExamples
        Mapping from the distinct examples to the training examples.
    used : array of shape (k,)
        Indices of the support vectors among the distinct examples.

    Returns
    -------
    support, merged_into, fractions : arrays of shape (n_support,)
    """
    position = np.full(len(merged.chosen), -1)
    position[used] = np.arange(len(used))
    merged_into = position[merged.kind]
    support = np.flatnonzero((merged_into >= 0) & (merged.shares > 0))
    return support, merged_into[support], merged.shares[support]


def _check_indices(name: str, values: np.ndarray, below: int | None = None) -> None:
    if values.ndim != 1 or values.dtype.kind != "i":
        raise ValueError(f"{name} must be a 1-D array of integers")
    if values.size and (values.min() < 0 or (below is not None and values.max() >= below)):
        raise ValueError(f"{name} contains an index out of range")


def alphas(results: Sequence[Result], n: int) -> sp.csr_matrix:
    """Return the dual variables of all outputs on n examples, shape (n_outputs, n)."""
    each = [sp.csr_matrix(result.alpha.reshape(-1, n)) for result in results]
    return sp.vstack(each, format="csr")
