"""Examples of several classes, and the two-class problems that can be posed on them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from ..losses import Loss
from ..norms import Norm
from ..problem.hard_margin import HardMarginProblem
from ..problem.problem import Problem
from .merged_examples import MergedExamples
from .posed_problems import PosedProblems

MOST_KEPT = 5_000_000  # maximum of classes x examples; above, problems are created on access


@dataclass(frozen=True, eq=False)
class Classes:
    """The classes and costs of n examples, a loss and a norm.

    Attributes
    ----------
    codes : ndarray of shape (n,)
        Class of each example, from 0 to K - 1.
    costs : ndarray of shape (n,)
        C times the weights. If any is inf, all examples with a nonzero cost have a hard margin.
    loss : Loss
        A two-class loss.
    norm : Norm
        Norm of the kernel weights.
    n_classes : int
        K; some classes may have no examples.
    tau : float or None
        Right-hand side of the dual constraint sum_i alpha_i = tau: 0 with an intercept, None (no
        constraint) without one.
    """

    codes: np.ndarray
    costs: np.ndarray
    loss: Loss
    norm: Norm
    n_classes: int
    tau: float | None = 0.0

    @property
    def weights(self) -> np.ndarray:
        """Weights of the examples in statistics: costs, or 1 with a hard margin."""
        return np.where(np.isinf(self.costs), 1.0, self.costs)

    @property
    def is_hard_margin(self) -> bool:
        return bool(np.isinf(self.costs).any())

    def posed(self, y: np.ndarray, costs: np.ndarray) -> Problem:
        """Return the two-class problem for targets y of -1 and 1, and costs, both of shape (k,)."""
        if self.is_hard_margin:
            return HardMarginProblem.separating(self.loss, self.norm, y, costs > 0, self.tau)
        return Problem.of(self.loss, self.norm, y, costs, self.tau)

    def against_rest(self) -> Sequence[Problem]:
        """Return the problem of each class against the others, or a single one for two classes."""
        positives = [1] if self.n_classes == 2 else list(range(self.n_classes))

        def pose(number: int) -> Problem:
            return self.posed(np.where(self.codes == positives[number], 1.0, -1.0), self.costs)

        if len(positives) * len(self.codes) > MOST_KEPT:
            return PosedProblems(len(positives), pose)
        return [pose(number) for number in range(len(positives))]

    def merged(self, merged: MergedExamples) -> Classes:
        """Return the classes of distinct examples."""
        hard = self.is_hard_margin
        costs = merged.summed(self.weights)
        costs = np.where(costs > 0, np.inf, 0.0) if hard else costs
        return replace(self, codes=self.codes[merged.chosen], costs=costs)

    def scaled(self, factor: float) -> Classes:
        """Return the same classes with costs multiplied by a factor."""
        return replace(self, costs=factor * self.costs)

    def with_norm(self, norm: Norm) -> Classes:
        """Return the same classes with another norm."""
        return replace(self, norm=norm)
