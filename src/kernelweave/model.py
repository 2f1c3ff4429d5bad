"""The fitted state of an estimator: support examples, their coefficients, kernel weights."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from .cached_property import cached_property
from .core import _core, single_threaded_blas
from .kernels.examples import Examples
from .kernels.program import CompiledKernels
from .stored import stored

if TYPE_CHECKING:
    from .training.history import Result


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
    """

    compiled: CompiledKernels
    examples: Examples
    coef: np.ndarray
    weights: np.ndarray
    intercept: np.ndarray

    @classmethod
    def of(cls, compiled: CompiledKernels, examples: Examples, results: Sequence[Result]) -> Model:
        """Make the model of results on `examples`: one per output, or one of all of them."""
        alpha = alphas(results, examples.n)
        weights = np.stack([result.weights for result in results])
        support = np.flatnonzero(alpha.any(axis=0))
        return cls(
            compiled=compiled,
            examples=examples.reference(support),
            coef=np.ascontiguousarray(alpha[:, support]),
            weights=np.repeat(weights, len(alpha) // len(results), axis=0),
            intercept=np.hstack([result.bias for result in results]),
        )

    def decide(self, X: Any, *, n_jobs: int = 1) -> np.ndarray:
        """Return the decision values of new examples, shape (n, outputs)."""
        with single_threaded_blas():
            new = self.compiled.examples(X, n_jobs=n_jobs).side
            values: np.ndarray = self._decision.decide(new, n_jobs).T + self.intercept
            return values

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
        _ = self._decision  # the core checks the examples

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in self.__dict__.items() if name != "_decision"}

    def contributions(self, X: Any, *, n_jobs: int = 1) -> np.ndarray:
        """Return what each kernel adds to the decision values, shape (n, outputs, M)."""
        outputs, M = self.weights.shape
        coef = np.repeat(self.coef, M, axis=0)
        weights = (self.weights[:, :, None] * np.eye(M)).reshape(outputs * M, M)
        program, old = self.compiled.program, self.examples.side
        with single_threaded_blas():
            new = self.compiled.examples(X, n_jobs=n_jobs).side
            values = _core.decide(program, old, new, coef, weights, n_jobs)
        return np.ascontiguousarray(values.reshape(outputs, M, -1).transpose(2, 0, 1))


def alphas(results: Sequence[Result], n: int) -> np.ndarray:
    """Return the alphas of all outputs on n examples, shape (outputs, n)."""
    return np.vstack([result.alpha.reshape(-1, n) for result in results])
