"""One against one: several classes as a two-class problem for every pair of classes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import scipy.sparse as sp

from ..common.cached_property import cached_property
from ..common.warnings import warn
from ..engines.class_pairs import class_pairs
from ..losses import Loss
from ..losses.risk import Risk
from ..norms import Norm
from ..problem.problem import Problem
from .classes import Classes
from .cross_fit import Solved
from .fit import Fit
from .formulation import Formulation, Solution
from .merged_examples import MergedExamples
from .pair_calibration import SolvedPairs
from .pair_trainer import PairTrainer

MANY_CLASSES = 500  # above this number of classes, a warning states the number of pairs


@dataclass(frozen=True, eq=False)
class OneVsOne(Formulation):
    """The two-class problems of all pairs (a, b) of classes, a < b.

    Targets are +1 for class a and -1 for class b, as in scikit-learn's SVC.

    Attributes
    ----------
    classes : Classes
        Classes and costs of the examples. At most one class has no example of positive cost.
    shared : bool
        Whether the pairs share their weights.
    """

    classes: Classes
    shared: bool = False

    explained = False
    keeps_kernels = False
    fits = 1

    @property
    def targets(self) -> np.ndarray:  # type: ignore[override]
        return self.classes.codes

    @property
    def costs(self) -> np.ndarray:  # type: ignore[override]
        return self.classes.weights

    @cached_property
    def outputs(self) -> Sequence[Problem]:
        return self.classes.against_rest()

    @property
    def on_all(self) -> Sequence[Problem]:
        """The problem of each pair on all n examples; those of other classes have cost 0."""
        return [self._on_all(*pair) for pair in self.pairs]

    @property
    def norms(self) -> list[Norm]:
        return [self.classes.norm]

    @property
    def loss(self) -> Loss:
        return self.classes.loss

    @property
    def is_hard_margin(self) -> bool:
        return self.classes.is_hard_margin

    @cached_property
    def pairs(self) -> list[tuple[int, int]]:
        """The pairs, in the order of the outputs."""
        return class_pairs(self.classes.n_classes)

    @cached_property
    def rows(self) -> list[np.ndarray]:
        """Positions of the examples of each pair: those of its first class, then of its second."""
        codes = self.classes.codes
        members = [np.flatnonzero(codes == code) for code in range(self.classes.n_classes)]
        return [np.concatenate([members[a], members[b]]) for a, b in self.pairs]

    def problem(self, pair: int) -> Problem:
        """Return the problem of a pair on its own examples, ``rows[pair]``."""
        rows = self.rows[pair]
        y = np.where(self.classes.codes[rows] == self.pairs[pair][0], 1.0, -1.0)
        return self.classes.posed(y, self.classes.costs[rows])

    def joint(self) -> Problem:
        """Return the problem of all pairs on their own examples, which share the weights."""
        classes = self.classes
        if classes.is_hard_margin:
            return Problem.sharing([self.problem(pair) for pair in range(len(self.pairs))])
        every, sizes = np.concatenate(self.rows), tuple(len(rows) for rows in self.rows)
        first = np.repeat([a for a, _ in self.pairs], sizes)
        y = np.where(classes.codes[every] == first, 1.0, -1.0)
        costs = classes.costs[every]
        risk = Risk(classes.loss, y, costs, classes.tau, n_outputs=len(sizes), sizes=sizes)
        return Problem(risk, classes.norm)

    def merged(self, merged: MergedExamples) -> OneVsOne:
        return replace(self, classes=self.classes.merged(merged))

    def scaled(self, factor: float) -> OneVsOne:
        return replace(self, classes=self.classes.scaled(factor))

    def solve(self, fit: Fit) -> Solution:
        norm = fit.prepared.suited_norm(self.classes.norm)
        trainer = PairTrainer(fit, replace(self, classes=self.classes.with_norm(norm)))
        several = fit.prepared.engine.n_kernels > 1  # otherwise there is nothing to share
        return trainer.shared() if self.shared and several else trainer.each()

    def solved(self, fit: Fit, solution: Solution) -> Solved:
        return SolvedPairs(fit.prepared, [], solution.engine, [], self)

    def spread(self, alphas: list[np.ndarray]) -> sp.csr_matrix:
        """Return the alphas of all pairs, each on its own examples, shape (n_pairs, n)."""
        support = [np.flatnonzero(alpha) for alpha in alphas]
        values = np.concatenate([alpha[some] for alpha, some in zip(alphas, support, strict=True)])
        examples = np.concatenate(
            [rows[some] for rows, some in zip(self.rows, support, strict=True)]
        )
        ends = np.append(0, np.cumsum([len(some) for some in support]))
        shape = len(self.pairs), len(self.classes.codes)
        return sp.csr_matrix((values, examples, ends), shape=shape)

    def _on_all(self, a: int, b: int) -> Problem:
        codes, costs = self.classes.codes, self.classes.costs
        inside = (codes == a) | (codes == b)
        return self.classes.posed(np.where(codes == a, 1.0, -1.0), np.where(inside, costs, 0.0))


def warn_of_many(classes: np.ndarray) -> None:
    """Warn of the number of pairs if there are more than `MANY_CLASSES` classes."""
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

    The score is the number of votes of the class. Ties are broken by the sum S of its decision
    values: S / (3 (abs(S) + 1)), which is between -1/3 and 1/3, is added. scikit-learn's SVC uses
    the same formula.

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
    return votes + sums / (3.0 * (np.abs(sums) + 1.0))
