"""The fitted state of an estimator: support examples, their coefficients, kernel weights."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from ..common.cached_property import cached_property
from ..common.core import _core, single_threaded_blas
from ..engines import Engine, FamilyEngine, LinearEngine, TrainingSet
from ..engines.base import kernel_blocks
from ..engines.cached_outputs import CachedOutputs
from ..engines.family import MANY_KERNELS
from ..kernels.compile.examples import Examples, Reading
from ..kernels.compile.normalized_kernels import MOST_EXAMPLES
from ..kernels.compile.program import CompiledKernels
from ..kernels.data.absent import (
    absent_of_all,
    extrapolation,
    is_at_mean,
    is_extrapolated,
    patterns,
    shares_of_views,
)
from .files.registry import stored

if TYPE_CHECKING:
    from ..optimization.result import Result

AT_A_TIME = 1000  # kernels whose parts of decisions are evaluated together


@stored("Model")
@dataclass(frozen=True, eq=False)
class Model:
    """One or several decision functions over the same support examples.

        decision[c](x) = sum_m weights[c, m] sum_i coef[c, i] k_m(x_i, x) + intercept[c]

    Attributes
    ----------
    compiled : the M kernels.
    examples : the support examples, all that is kept of the training data.
    coef : signed dual variables, shape (outputs, n_support).
    weights : shape (outputs, M).
    intercept : shape (outputs,).
    means, deviations : shape (outputs, M), mean and standard deviation of what each kernel adds to
        the decision values of the training examples, to six digits at least (see
        `Engine.outputs_at`); None in files that are older than they.
    view_deviations : shape (outputs, views), of what the kernels of each view add together.
    """

    compiled: CompiledKernels
    examples: Examples
    coef: np.ndarray
    weights: np.ndarray
    intercept: np.ndarray
    means: np.ndarray | None = None
    deviations: np.ndarray | None = None
    view_deviations: np.ndarray | None = None

    @classmethod
    def of(
        cls,
        compiled: CompiledKernels,
        examples: Examples,
        results: Sequence[Result],
        shares: np.ndarray,
        n_jobs: int = 1,
        engine: Engine | None = None,
    ) -> Model:
        """Make the model of results on `examples`: one per output, or one of all of them.

        Parameters
        ----------
        shares : how much each example counts in means, shape (n,).
        engine : that of the fit, which may have the outputs of all kernels at hand.
        """
        alpha = alphas(results, examples.n)
        weights = np.stack([result.weights for result in results])
        support = np.flatnonzero(alpha.any(axis=0))
        model = cls(
            compiled=compiled,
            examples=examples.reference(support),
            coef=np.ascontiguousarray(alpha[:, support]),
            weights=np.repeat(weights, len(alpha) // len(results), axis=0),
            intercept=np.hstack([result.bias for result in results]),
        )
        return model.summed_up(examples, alpha, shares, n_jobs, engine)

    def decide(self, X: Any, extrapolate: bool = True, *, n_jobs: int = 1) -> np.ndarray:
        """Return the decision values of new examples, shape (n, outputs).

        `extrapolate`: whether views that are there make up for those that are absent.
        """
        reading = Reading(X, training=False, n_jobs=n_jobs)
        with single_threaded_blas():
            absent = self._unknown(reading)
            new = self.compiled.read(reading)
            if absent is None:
                return self._decide(new, n_jobs)
            values = np.empty((new.n, len(self.intercept)))
            for missing, rows in patterns(absent):
                some = new.take(rows)
                values[rows] = self._without(missing, extrapolate)._decide(some, n_jobs)
            return values

    def _decide(self, new: Examples, n_jobs: int) -> np.ndarray:
        values: np.ndarray = self._decision.decide(new.side, n_jobs).T + self.intercept
        return values

    @property
    def _averages(self) -> np.ndarray:
        """What each kernel adds on average, shape (outputs, M)."""
        if self.means is None:
            raise ValueError("X: a view is absent, which models of older files say nothing of")
        return self.means

    def _unknown(self, reading: Reading) -> np.ndarray | None:
        """Return for which examples each kernel is absent, (M, n), if kernels do not know."""
        absent = absent_of_all(self.compiled, reading)
        return None if is_extrapolated(self.compiled) else absent

    def _factors(self, absent: np.ndarray, extrapolate: bool) -> np.ndarray:
        """Return how much what present kernels add differently from the average counts, (n,).

        `absent` has shape (M, n). Models of earlier versions did not extrapolate.
        """
        if is_at_mean(self.compiled) or not extrapolate:
            return np.ones(absent.shape[1])
        return extrapolation(shares_of_views(self.compiled.views) @ ~absent)

    def _without(self, kernels: np.ndarray, extrapolate: bool) -> Model:
        """Return the model where some kernels, shape (M,), add what they add on average.

        The others make up for them, see `kernels.absent`.
        """
        factor = self._factors(kernels[:, None], extrapolate)[0]
        left = (self._averages * np.where(kernels, 1.0, 1.0 - factor)).sum(axis=1)
        weights = np.where(kernels, 0.0, factor * self.weights)
        return replace(self, weights=weights, intercept=self.intercept + left)

    @cached_property
    def _decision(self) -> _core.Decision:
        """The decision functions for the core, which compiles them once."""
        program, side = self.compiled.program, self.examples.side
        return _core.Decision(program, side, self.coef, self.weights)

    def check(self) -> None:
        """Raise ValueError where the parts do not fit together, or are not finite numbers."""
        outputs = len(self.intercept)
        shapes = {
            "intercept": (outputs,),
            "coef": (outputs, self.examples.n),
            "weights": (outputs, self.compiled.n_kernels),
        }
        for name, shape in shapes.items():
            values = getattr(self, name)
            if values.shape != shape or values.dtype != np.float64 or outputs == 0:
                raise ValueError(f"{name} must be float64 of shape {shape}, not {values.shape}")
            if not np.isfinite(values).all():
                raise ValueError(f"{name} holds numbers that are not finite")
        each = self.weights.shape, self.weights.shape, (outputs, len(set(self.compiled.views)))
        names = "means", "deviations", "view_deviations"
        for name, shape in zip(names, each, strict=True):
            values = getattr(self, name)
            if values is not None and (values.shape != shape or values.dtype != np.float64):
                raise ValueError(f"{name} must be float64 of shape {shape}")
        _ = self._decision  # the core checks the examples

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in self.__dict__.items() if name != "_decision"}

    def contributions(self, X: Any, extrapolate: bool = True, *, n_jobs: int = 1) -> np.ndarray:
        """Return what each kernel adds to the decision values, shape (n, outputs, M)."""
        reading = Reading(X, training=False, n_jobs=n_jobs)
        with single_threaded_blas():
            absent = self._unknown(reading)
            values = self.added(self.compiled.read(reading), n_jobs)
        if absent is None:
            return values
        factors = np.where(absent, 0.0, self._factors(absent, extrapolate))
        with_averages: np.ndarray = factors.T[:, None] * (values - self._averages) + self._averages
        return with_averages

    def summed_up(
        self,
        examples: Examples,
        alpha: np.ndarray,
        shares: np.ndarray,
        n_jobs: int,
        engine: Engine | None = None,
    ) -> Model:
        """Return the model with what its kernels add to the decisions of its training examples.

        More than `MOST_EXAMPLES` of them are sampled evenly. `alpha` has shape (outputs, n).
        """
        some, few = examples, np.arange(examples.n)
        if examples.n > MOST_EXAMPLES:
            few = np.linspace(0, examples.n - 1, MOST_EXAMPLES).astype(np.int64)
            some, shares = examples.take(few), shares[few] / shares[few].sum()
        here = isinstance(examples, Examples)  # and not on other machines
        training_set = TrainingSet(self.compiled.listing, examples, n_jobs=n_jobs)
        if engine is not None and self._knows(engine, alpha):
            parts = in_parts(kernel_blocks(engine).outputs_at(few).T[:, None] * self.weights)
        elif here and LinearEngine.serves(training_set):  # one pass gives all kernels' outputs
            parts = in_parts(_outputs(LinearEngine.of(training_set), alpha, few) * self.weights)
        else:
            parts = self._added(some, n_jobs)
        means, deviations = np.zeros_like(self.weights), np.zeros_like(self.weights)
        views = numbered(self.compiled.views)
        by_view = np.zeros((some.n, len(self.weights), views.max() + 1))
        for kernels, values in parts:
            means[:, kernels], deviations[:, kernels] = spread(values, shares)
            for view in np.unique(views[kernels]):
                by_view[..., view] += values[..., views[kernels] == view].sum(axis=-1)
        by_view = spread(by_view, shares)[1]
        return replace(self, means=means, deviations=deviations, view_deviations=by_view)

    def _knows(self, engine: Engine, alpha: np.ndarray) -> bool:
        """Return whether an engine gives the outputs of all kernels for alpha at little cost.

        One that combines kernels needs products, or a pass, which a few kernels are not worth.
        """
        if engine.n_kernels != self.compiled.n_kernels or len(alpha) > 1:
            return False
        many = np.count_nonzero(self.weights) >= MANY_KERNELS
        combining = isinstance(engine, LinearEngine) or (many and isinstance(engine, FamilyEngine))
        if not (combining or isinstance(engine, CachedOutputs)):
            return False
        return np.array_equal(engine.alpha, alpha[0])

    def added(self, new: Examples, n_jobs: int) -> np.ndarray:
        """Return what each kernel adds for examples as the kernels read them, (n, outputs, M)."""
        values = np.zeros((new.n, *self.weights.shape))
        for some, part in self._added(new, n_jobs):
            values[:, :, some] = part
        return values

    def _added(self, new: Examples, n_jobs: int) -> Iterator[tuple[np.ndarray, np.ndarray]]:
        """Give some kernels with a weight, shape (k,), and what they add, (n, outputs, k)."""
        outputs, used = len(self.weights), np.flatnonzero(self.weights.any(axis=0))
        for some in np.array_split(used, len(used) // AT_A_TIME + 1):
            if len(some) == 0:
                continue
            old = TrainingSet(self.compiled.listing, self.examples).part(some)
            fresh = TrainingSet(self.compiled.listing, new).part(some)
            program, sides = old.kernels.program, (old.examples.side, fresh.examples.side)
            if outputs == 1:
                sums = _core.sum_each(program, *sides, self.coef[0], n_jobs)
                yield some, (self.weights[0, some, None] * sums).T[:, None]
                continue
            each = np.einsum("om,mk->omk", self.weights[:, some], np.eye(len(some)))
            coef = np.repeat(self.coef, len(some), axis=0)
            found = _core.decide(program, *sides, coef, each.reshape(-1, len(some)), n_jobs)
            yield some, found.reshape(outputs, len(some), -1).transpose(2, 0, 1)


def _outputs(engine: LinearEngine, alpha: np.ndarray, idx: np.ndarray) -> np.ndarray:
    """Return what kernels give k examples, (k, outputs, M), for alpha of shape (outputs, n)."""
    found = []
    for one in alpha:
        engine.move_to(one)
        found.append(engine.outputs_at(idx).T)
    return np.stack(found, axis=1)


def in_parts(added: np.ndarray) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Give some of M kernels, shape (k,), and what they add, (n, outputs, k) of (n, outputs, M)."""
    M = added.shape[2]
    for some in np.array_split(np.arange(M), M // AT_A_TIME + 1):
        yield some, added[..., some]


def spread(added: np.ndarray, shares: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return mean and standard deviation of values, shape (n, ...), over n weighted examples."""
    means = np.tensordot(shares, added, 1)
    off = added - means
    sizes = np.abs(off).max(axis=0)  # whose squares may be beyond all numbers
    off = np.divide(off, sizes, out=np.zeros_like(off), where=sizes > 0)
    return means, sizes * np.sqrt(np.tensordot(shares, off**2, 1))


def sum_of_views(added: np.ndarray, views: Sequence[str]) -> np.ndarray:
    """Return what the kernels of each view add together, shape (..., views), of (..., M)."""
    numbers = numbered(views)
    belongs = np.equal.outer(numbers, np.arange(numbers.max() + 1)).astype(float)
    summed: np.ndarray = added @ belongs
    return summed


def numbered(views: Sequence[str]) -> np.ndarray:
    """Return the number of each kernel's view, in the order of their first kernels, (M,)."""
    first = {view: number for number, view in enumerate(dict.fromkeys(views))}
    return np.array([first[view] for view in views])


def alphas(results: Sequence[Result], n: int) -> np.ndarray:
    """Return the alphas of all outputs on n examples, shape (outputs, n)."""
    return np.vstack([result.alpha.reshape(-1, n) for result in results])
