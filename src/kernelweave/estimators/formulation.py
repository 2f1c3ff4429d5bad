"""Formulations: the optimisation problems of a fit, and how they are solved.

Targets of several outputs or classes become problems in different ways: one for each output, one
for all outputs that share their weights, one for each pair of classes. A formulation owns its
problems. The estimator prepares kernels and an engine (`Fit`), with which the formulation solves.
"""

from __future__ import annotations

import os
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import scipy.sparse as sp

from ..engines import Engine
from ..kernels import Kernel
from ..losses import Loss
from ..model.files.checkpoint import try_out
from ..norms import Norm
from ..optimization.engine_choice import Workload
from ..optimization.methods.base import Method
from ..optimization.named_methods import find_method
from ..optimization.result import Result
from ..problem.hard_margin import HardMarginProblem
from ..problem.problem import Problem
from .cross_fit import Optimum, Solved
from .fit import Fit
from .merged_examples import MergedExamples, mergeable
from .posed_problems import mapped


@dataclass(frozen=True, eq=False)
class Solution:
    """The solved problems of a formulation.

    Attributes
    ----------
    results : list of Result
        One for each problem.
    problems : list of Problem
        The problem of each result on all examples, for cross-fitting; empty for pairs of classes.
    engine : Engine
        The engine of the problems.
    alpha : CSR matrix of shape (n_outputs, n), optional
        Dual variables of all examples. Given if each result is for a subset of the examples.
    """

    results: list[Result]
    problems: Sequence[Problem]
    engine: Engine
    alpha: sp.csr_matrix | None = None

    @property
    def on_all_examples(self) -> list[Result]:
        """The results, each with dual variables for all n examples.

        They are 0 for examples that are not in a problem: for pairs, those of the other classes.
        """
        if self.alpha is None:
            return self.results
        each = self.alpha.shape[0] // len(self.results)
        return [
            replace(one, alpha=self.alpha[k * each : (k + 1) * each].toarray().ravel())
            for k, one in enumerate(self.results)
        ]


class Formulation(ABC):
    """The optimisation problems of a fit, and the way to solve them.

    Attributes
    ----------
    targets : ndarray of shape (n,)
        One number for each example. Equal rows are merged only if these numbers are equal.
    costs : ndarray of shape (n,)
        Costs of the examples, used as their weights in normalisations and other statistics.
    shared : bool
        Whether the outputs share their weights.
    explained : bool
        Whether held-out shares of the kernels are computed. This is possible if the problems in
        `outputs` are those of the model.
    keeps_kernels : bool
        Whether solvers need the outputs of single kernels, not only those of their weighted sum.
    fits : int
        Number of problems that are solved on the prepared engine.
    """

    targets: np.ndarray
    costs: np.ndarray
    shared: bool
    explained: bool
    keeps_kernels: bool
    fits: int

    @property
    @abstractmethod
    def outputs(self) -> Sequence[Problem]:
        """The problems on which sets of default kernels are compared, one for each output.

        For pairs of classes there is one for each class against the rest instead. All problems have
        all n examples, with the same costs.
        """

    @property
    def on_all(self) -> Sequence[Problem]:
        """The problem of each output of the model on all n examples."""
        return self.outputs

    @property
    def norms(self) -> list[Norm]:
        """The norm of the weights of each problem."""
        return [one.norm for one in self.outputs]

    @property
    def loss(self) -> Loss:
        """The loss of each output."""
        return self.outputs[0].loss

    @property
    def is_hard_margin(self) -> bool:
        """Whether costs are infinite."""
        return isinstance(self.outputs[0], HardMarginProblem)

    def method(self, solver: object) -> Method:
        """Return the method for `solver`; raise ValueError if it does not support the problems."""
        return find_method(solver, self.norms[0], self.loss, shared=self.shared)

    def try_out(self, checkpoint: str | os.PathLike[str] | None) -> None:
        """Raise an error if the checkpoints of the problems cannot be written."""
        if checkpoint is not None:
            try_out(checkpoint, len(self.targets) * (len(self.outputs) if self.shared else 1))

    def workload(self, method: Method) -> Workload:
        """Return the workload of an engine on which a method solves the problems."""
        return Workload([method], self.norms, shared=self.keeps_kernels, fits=self.fits)

    @abstractmethod
    def merged(self, merged: MergedExamples) -> Formulation:
        """Return the same problems on distinct examples, given how equal examples were merged."""

    @abstractmethod
    def scaled(self, factor: float) -> Formulation:
        """Return the problems with their costs multiplied by a factor."""

    @abstractmethod
    def solve(self, fit: Fit) -> Solution:
        """Return the solutions of all problems."""

    def solved(self, fit: Fit, solution: Solution) -> Solved:
        """Return the solution with the engine of the fit, for calibration."""
        optima = [Optimum.of(one) for one in solution.results]
        return Solved(fit.prepared, solution.problems, solution.engine, optima)


@dataclass(frozen=True, eq=False)
class Outputs(Formulation):
    """One problem for each output, or their sum if the outputs share their weights.

    Attributes
    ----------
    problems : list of Problem
        The problem of each output on all n examples.
    targets : ndarray of shape (n,)
        One number for each example, equal for equal targets only.
    shared : bool
        Whether several outputs share their weights.
    """

    problems: Sequence[Problem]
    targets: np.ndarray
    shared: bool = False

    @property
    def outputs(self) -> Sequence[Problem]:
        return self.problems

    @property
    def explained(self) -> bool:  # type: ignore[override]
        return not self.is_hard_margin

    @property
    def costs(self) -> np.ndarray:  # type: ignore[override]
        return self.problems[0].C

    @property
    def keeps_kernels(self) -> bool:  # type: ignore[override]
        return self.shared

    @property
    def fits(self) -> int:  # type: ignore[override]
        return len(self.problems)

    def merged(self, merged: MergedExamples) -> Outputs:
        problems = mapped(self.problems, merged.merge)
        return replace(self, problems=problems, targets=self.targets[merged.chosen])

    def scaled(self, factor: float) -> Outputs:
        return replace(self, problems=mapped(self.problems, lambda one: one.scaled(factor)))

    def solve(self, fit: Fit) -> Solution:
        problems, engine = fit.prepared.suited(self.problems, shared=self.shared)
        return Solution(fit.solve_each(problems, engine), problems, engine)


def distinct(
    kernels: list[Kernel] | None, X: Any, formulation: Formulation
) -> tuple[Any, Formulation, MergedExamples | None]:
    """Return distinct examples and their problems, and how equal examples were merged, if any.

    Parameters
    ----------
    kernels : list of Kernel, optional
        None for default kernels.
    X : n examples
    formulation : Formulation
        The problems on all n examples.
    """
    merged = None
    if mergeable(kernels or [], X):
        merged = MergedExamples.of(X, formulation.targets, formulation.costs)
    if merged is None:
        return X, formulation, None
    return X[merged.chosen], formulation.merged(merged), merged
