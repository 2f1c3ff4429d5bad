"""One against one: several classes as a two-class problem for every pair of classes."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import scipy.sparse as sp

from ..common.cached_property import cached_property
from ..common.warnings import warn
from ..engines.class_pairs import class_pairs
from ..losses import Loss
from ..norms import Norm
from ..problem.hard_margin import HardMarginProblem
from ..problem.problem import Problem
from ..problem.risk import Risk
from .merged_examples import MergedExamples

MANY_CLASSES = 500  # above, the number of pairs is worth a warning


@dataclass(frozen=True, eq=False)
class OneVsOne:
    """The two-class problems of all pairs (a, b) of classes, a < b.

    Targets are +1 for class a and -1 for class b, as in scikit-learn's SVC.

    Attributes
    ----------
    codes : ndarray of shape (n,)
        Class of each example, from 0 to K - 1.
    costs : ndarray of shape (n,)
    loss : Loss
    norm : Norm
    n_classes : int
        K. At most one class has no example with a cost.
    """

    codes: np.ndarray
    costs: np.ndarray
    loss: Loss
    norm: Norm
    n_classes: int

    @cached_property
    def pairs(self) -> list[tuple[int, int]]:
        """The pairs, in the order of the outputs."""
        return class_pairs(self.n_classes)

    @cached_property
    def rows(self) -> list[np.ndarray]:
        """Positions of the examples of each pair: those of the first class, then the others."""
        members = [np.flatnonzero(self.codes == code) for code in range(self.n_classes)]
        return [np.concatenate([members[a], members[b]]) for a, b in self.pairs]

    def problem(self, pair: int) -> Problem:
        """Return the problem of a pair on its own examples, ``rows[pair]``."""
        rows = self.rows[pair]
        y = np.where(self.codes[rows] == self.pairs[pair][0], 1.0, -1.0)
        return self._posed(y, self.costs[rows])

    def on_all(self, pair: int) -> Problem:
        """Return the problem of a pair on all n examples: those of other classes cost nothing."""
        a, b = self.pairs[pair]
        inside = (self.codes == a) | (self.codes == b)
        return self._posed(np.where(self.codes == a, 1.0, -1.0), np.where(inside, self.costs, 0.0))

    def joint(self) -> Problem:
        """Return the problem of all pairs on their own examples, which share the weights."""
        if np.isinf(self.costs).any():
            return Problem.sharing([self.problem(pair) for pair in range(len(self.pairs))])
        every, sizes = np.concatenate(self.rows), tuple(len(rows) for rows in self.rows)
        first = np.repeat([a for a, _ in self.pairs], sizes)
        y = np.where(self.codes[every] == first, 1.0, -1.0)
        risk = Risk(self.loss, y, self.costs[every], n_outputs=len(sizes), sizes=sizes)
        return Problem(risk, self.norm)

    def scaled(self, factor: float) -> OneVsOne:
        """Return the same problems with their costs multiplied by a factor."""
        return replace(self, costs=factor * self.costs)

    def with_norm(self, norm: Norm) -> OneVsOne:
        """Return the same problems with another norm."""
        return replace(self, norm=norm)

    def merged(self, merged: MergedExamples, costs: np.ndarray) -> OneVsOne:
        """Return the problems of distinct examples with costs, shape (k,)."""
        return replace(self, codes=self.codes[merged.chosen], costs=costs)

    def spread(self, alphas: list[np.ndarray]) -> sp.csr_matrix:
        """Return the alphas of all pairs, each on its own examples, shape (n_pairs, n)."""
        support = [np.flatnonzero(alpha) for alpha in alphas]
        values = np.concatenate([alpha[some] for alpha, some in zip(alphas, support, strict=True)])
        examples = np.concatenate(
            [rows[some] for rows, some in zip(self.rows, support, strict=True)]
        )
        ends = np.append(0, np.cumsum([len(some) for some in support]))
        shape = len(self.pairs), len(self.codes)
        return sp.csr_matrix((values, examples, ends), shape=shape)

    def _posed(self, y: np.ndarray, costs: np.ndarray) -> Problem:
        if np.isinf(costs).any():
            return HardMarginProblem.separating(self.loss, self.norm, y, costs > 0)
        return Problem.of(self.loss, self.norm, y, costs)


def warn_of_many(classes: np.ndarray) -> None:
    """Warn if there are so many classes that their pairs take long, and say how many there are."""
    count = len(classes)
    if count > MANY_CLASSES:
        warn(
            f"multi_class='ovo' trains {count * (count - 1) // 2:,} problems for {count:,} classes "
            f"and keeps as many coefficients for each support vector; multi_class='ovr' trains "
            f"{count:,}",
            UserWarning,
        )


def class_scores(values: np.ndarray, n_classes: int) -> np.ndarray:
    """Return a score of each class from the decision values of all pairs.

    It is the number of pairs that the class wins, plus a third of the sum of their decision values,
    squashed to (-1, 1), which breaks ties; as in scikit-learn's SVC.

    Parameters
    ----------
    values : ndarray of shape (n, n_pairs)
        Positive values vote for the first class of a pair.
    n_classes : int

    Returns
    -------
    ndarray of shape (n, n_classes)
    """
    first = np.zeros((values.shape[1], n_classes))
    second = np.zeros_like(first)
    for k, (a, b) in enumerate(class_pairs(n_classes)):
        first[k, a] = second[k, b] = 1.0
    wins = (values >= 0).astype(float)
    votes = wins @ first + (1.0 - wins) @ second
    sums = values @ (first - second)
    scores: np.ndarray = votes + sums / (3.0 * (np.abs(sums) + 1.0))
    return scores
