"""Training of pairs of classes (one against one), with weights of each pair or shared ones."""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
import scipy.sparse as sp

from ..common.cached_property import cached_property
from ..engines import ClassPairsEngine, Engine, OutputsEngine
from ..optimization.inner.pair_sets import PairSets, solve_each_pair
from ..optimization.plan import Plan
from ..optimization.progress import Watch
from ..optimization.result import Result
from ..optimization.run import Run
from ..optimization.start import Uniform
from ..problem.hard_margin import HardMarginProblem
from ..problem.problem import Problem
from ..problem.rounding import PairRounding
from .one_vs_one import OneVsOne

if TYPE_CHECKING:
    from .base import MKLEstimator, Prepared

SERVED = ("dense", "family", "plain sum")  # engines whose kernels the pairs evaluate row by row


@dataclass(frozen=True, eq=False)
class PairTrainer:
    """Solves the problems of all pairs of classes with the parameters of an estimator.

    Attributes
    ----------
    estimator : MKLEstimator
    prepared : Prepared
        Kernels and engine of all examples.
    pairs : OneVsOne
    deadline : float
        Time of `time.monotonic` at which to stop.
    watch : callable, optional
        Displays progress.
    confirm : bool
        Whether to bound the rounding errors of the gaps.
    """

    estimator: MKLEstimator
    prepared: Prepared
    pairs: OneVsOne
    deadline: float = np.inf
    watch: Watch | None = None
    confirm: bool = True

    def each(self) -> tuple[list[Result], sp.csr_matrix]:
        """Solve each pair with weights of its own.

        With one kernel, or a plain sum, the core solves all pairs at once. Pairs that do not reach
        the tolerance there, and all others, are solved one by one.

        Returns
        -------
        results : list of Result
            One for each pair.
        alpha : CSR matrix of shape (n_pairs, n)
        """
        found: list[Result | None] = [None] * len(self.pairs.pairs)
        if self._engine is not None and self._engine.n_kernels == 1:
            found = list(self._at_once(self._engine))
        results = [
            one if one is not None and one.converged else self._alone(number)
            for number, one in enumerate(found)
        ]
        return results, self.pairs.spread([one.alpha for one in results])

    def shared(self) -> tuple[list[Result], sp.csr_matrix]:
        """Solve all pairs as one problem with shared weights.

        Returns
        -------
        results : list of one Result
        alpha : CSR matrix of shape (n_pairs, n)
        """
        if self._engine is None:
            every = range(len(self.pairs.pairs))
            problem = Problem.sharing([self.pairs.on_all(pair) for pair in every])
            engine = OutputsEngine(self.prepared.engine, len(every))
            result = self._solve(problem, engine, self.prepared)
            return [result], sp.csr_matrix(result.alpha.reshape(len(every), -1))
        rounding = PairRounding.of(self.prepared.rounding, self.pairs.rows)
        prepared = replace(self.prepared, rounding=rounding, name="class pairs")
        result = self._solve(self.pairs.joint(), self._engine, prepared)
        return [result], self.pairs.spread([result.alpha[part] for part in self._engine.slices])

    @cached_property
    def _engine(self) -> ClassPairsEngine | None:
        """The engine of all pairs, None if it does not serve the problem."""
        estimator, training_set = self.estimator, self.prepared.training_set
        limited = estimator.max_iter is not None or self.deadline < np.inf
        plain = estimator.solver == "auto" and estimator.working_set == "auto"
        if limited or not plain or self.prepared.name not in SERVED or training_set is None:
            return None
        first = self.pairs.problem(0)
        if isinstance(first, HardMarginProblem) or not first.term.is_quadratic:
            return None
        if not ClassPairsEngine.serves(training_set, self.pairs.codes):
            return None
        summed = self.prepared.name == "plain sum"
        pairs = self.pairs
        return ClassPairsEngine(training_set, pairs.codes, pairs.n_classes, summed=summed)

    def _at_once(self, engine: ClassPairsEngine) -> Iterator[Result]:
        problem = self.pairs.joint()
        weights = problem.norm.start(1)
        self.estimator.plan_ = Plan("class pairs", Uniform(), PairSets())
        rounding = (
            PairRounding.of(self.prepared.rounding, self.pairs.rows) if self.confirm else None
        )
        run = Run.start(self.estimator.tol, watch=self.watch)
        yield from solve_each_pair(problem, engine, weights, run, rounding)

    def _alone(self, number: int) -> Result:
        """Return the result of one pair, solved on a part of the engine of all examples."""
        rows, problem = self.pairs.rows[number], self.pairs.problem(number)
        self.prepared.engine.move_to(np.zeros(self.prepared.engine.n))
        engine = self.prepared.engine.subset(rows)
        prepared = replace(self.prepared, rounding=self.prepared.rounding.part(rows))
        left = len(self.pairs.pairs) - number
        now = time.monotonic()
        return self._solve(problem, engine, prepared, now + (self.deadline - now) / left)

    def _solve(
        self,
        problem: Problem,
        engine: Engine,
        prepared: Prepared,
        deadline: float | None = None,
    ) -> Result:
        until = self.deadline if deadline is None else deadline
        return self.estimator._solve(
            problem, engine, prepared, deadline=until, watch=self.watch, confirm=self.confirm
        )
