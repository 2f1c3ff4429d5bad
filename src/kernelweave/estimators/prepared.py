"""Kernels, examples and an engine that are ready for the solvers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from ..engines import Engine, OutputsEngine, TrainingSet
from ..kernels import CompiledKernels
from ..kernels.compile.examples import Examples
from ..norms import Norm
from ..optimization.engine_choice import suited_norm
from ..problem.problem import Problem
from ..problem.rounding import RoundingBounds
from .posed_problems import mapped


@dataclass(frozen=True, eq=False)
class Prepared:
    """Normalised kernels, training examples and an engine: the input of the solvers.

    Attributes
    ----------
    compiled : CompiledKernels
        The M normalised kernels.
    examples : Examples
        The n training examples, encoded for the kernels.
    sample : Examples
        The same examples, or a sample of them if they are on other machines.
    engine : Engine
        The engine of the kernels that are not constant on the examples.
    name : str
        The name of the engine in plans, such as "dense".
    rounding : RoundingBounds
        Rounding bounds of the kernels of the engine.
    shares : ndarray of shape (n,)
        Weight of each example in means; the sum is 1.
    training_set : TrainingSet, optional
        The kernels and examples of the engine, if they are in this process.
    """

    compiled: CompiledKernels
    examples: Examples
    sample: Examples
    engine: Engine
    name: str
    rounding: RoundingBounds
    shares: np.ndarray
    training_set: TrainingSet | None = None

    def suited_norm(self, norm: Norm) -> Norm:
        """Return a norm of M weights restricted to the kernels of the engine."""
        norm = suited_norm(norm, self.name, self.compiled.n_kernels)
        return norm.among(self.compiled.varying)

    def suited(
        self, problems: Sequence[Problem], *, shared: bool = False
    ) -> tuple[Sequence[Problem], Engine]:
        """Return the problems to solve one after the other, and the engine for them.

        Parameters
        ----------
        problems : list of Problem
            The problem of each output, or the one problem of a joint multi-class loss.
        shared : bool
            Whether the outputs share their weights; their problems are then joined to one.

        Returns
        -------
        problems : list of Problem
        engine : Engine
        """
        problems = mapped(problems, lambda one: replace(one, norm=self.suited_norm(one.norm)))
        if shared:
            problems = [Problem.sharing(problems)]
        if problems[0].n_outputs == 1:
            return problems, self.engine
        return problems, OutputsEngine(self.engine, problems[0].n_outputs)
