"""What a fit has before it solves anything: kernels on the training examples, and an engine."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace

import numpy as np

from ..digits import Digits
from ..engines import Engine, OutputsEngine
from ..kernels import CompiledKernels
from ..kernels.examples import Examples
from ..norms import Norm
from ..overflow import why_not_finite
from ..plan import suited_norm
from ..problem import Problem


@dataclass(frozen=True, eq=False)
class Prepared:
    """Kernels on the training examples, and the engine that holds both.

    Attributes
    ----------
    compiled : the M kernels, normalised.
    examples : the n training examples as the kernels read them.
    engine, name : the engine of the kernels that vary on the examples, and its name.
    digits : how many digits the values of these kernels have.
    shares : how much each example counts in means, shape (n,); the sum is 1.
    """

    compiled: CompiledKernels
    examples: Examples
    engine: Engine
    name: str
    digits: Digits
    shares: np.ndarray

    @contextmanager
    def explained(self, problems: Sequence[Problem]) -> Iterator[None]:
        """Name what is too large where a solver finds that its objective is not finite."""
        try:
            with np.errstate(over="ignore", invalid="ignore"):  # the objective tells
                yield
        except FloatingPointError as error:
            raise ValueError(why_not_finite(self.compiled, self._shown, problems)) from error

    @property
    def _shown(self) -> Examples:
        """The examples that are at hand."""
        return self.examples

    def suited_norm(self, norm: Norm) -> Norm:
        """Return a norm of M weights as that of the engine's kernels."""
        norm = suited_norm(norm, self.name, self.compiled.n_kernels)
        return norm.among(self.compiled.varying)

    def suited(self, problems: list[Problem], *, shared: bool) -> tuple[list[Problem], Engine]:
        """Return the problems to solve one after the other, and the engine for them.

        Those of outputs that share their weights are one problem.
        """
        problems = [replace(one, norm=self.suited_norm(one.norm)) for one in problems]
        if not shared:
            return problems, self.engine
        return [Problem.sharing(problems)], OutputsEngine(self.engine, len(problems))
