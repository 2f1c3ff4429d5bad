"""Training of pairs of classes (one against one), with separate or shared kernel weights."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import zip_longest
from typing import TYPE_CHECKING

import numpy as np

from ..common.cached_property import cached_property
from ..engines import ClassPairsEngine, OutputsEngine
from ..model.files.checkpoint import Checkpoint
from ..optimization.inner.pair_sets import PairSets, solve_each_pair
from ..optimization.plan import Plan
from ..optimization.result import Result
from ..optimization.run import Run
from ..optimization.start import Uniform
from ..problem.problem import Problem
from ..problem.rounding import PairRounding
from .fit import Fit, remove_if_done
from .formulation import Solution

if TYPE_CHECKING:
    from .one_vs_one import OneVsOne

SERVED = ("dense", "family", "plain sum")  # engines that `ClassPairsEngine` can replace


@dataclass(frozen=True, eq=False)
class PairTrainer:
    """Solves the problems of all pairs of classes.

    Attributes
    ----------
    fit : Fit
        Kernels and engine of all examples, and the parameters of the estimator.
    pairs : OneVsOne
        The problems of all pairs.
    """

    fit: Fit
    pairs: OneVsOne

    def each(self) -> Solution:
        """Solve the pairs as separate problems, each with its own kernel weights.

        With one kernel, or a plain sum, the core solves all pairs at once. Pairs that do not reach
        the tolerance there, and all others, are solved one by one, and so are all pairs with
        checkpoints.
        """
        count = len(self.pairs.pairs)
        files = self._checkpoints()
        found: list[Result | None] = [None] * count
        if not files and self._engine is not None and self._engine.n_kernels == 1:
            found = list(self._at_once(self._engine))
        results = [
            one if one is not None and one.converged else self._alone(number, file)
            for number, (one, file) in enumerate(zip_longest(found, files))
        ]
        remove_if_done(files)
        return self._solution(results, [one.alpha for one in results])

    def _checkpoints(self) -> list[Checkpoint]:
        """Return the checkpoint of each pair, or none if the estimator has none."""
        if self.fit.estimator.checkpoint is None:
            return []
        problems = [self.pairs.problem(number) for number in range(len(self.pairs.pairs))]
        return self.fit.checkpoints(problems, self.fit.prepared.engine, self.pairs.classes.codes)

    def shared(self) -> Solution:
        """Solve all pairs as one problem with shared weights."""
        prepared = self.fit.prepared
        if self._engine is None:
            problem = Problem.sharing(self.pairs.on_all)
            engine = OutputsEngine(prepared.engine, problem.n_outputs)
            results = self.fit.solve_each([problem], engine, self.pairs.classes.codes)
            return Solution(results, [problem], engine)
        rounding = PairRounding.of(prepared.rounding, self.pairs.rows)
        prepared = replace(prepared, rounding=rounding, name="class pairs")
        fit = replace(self.fit, prepared=prepared)
        codes = self.pairs.classes.codes
        [result] = fit.solve_each([self.pairs.joint()], self._engine, codes)
        return self._solution([result], [result.alpha[part] for part in self._engine.slices])

    def _solution(self, results: list[Result], alphas: list[np.ndarray]) -> Solution:
        """Return the solution of pairs whose results and alphas cover their own examples only."""
        alpha = self.pairs.spread(alphas)
        return Solution(results, [], self.fit.prepared.engine, alpha)

    @cached_property
    def _engine(self) -> ClassPairsEngine | None:
        """The engine that trains all pairs together; None if it does not support the problem.

        Its solver checks `max_iter` and `max_time` only between weight steps, so it is not used if
        they are set. With checkpoints it is used nevertheless: a fit must resume with the same
        solver, whatever its limits are.
        """
        estimator, training_set = self.fit.estimator, self.fit.prepared.training_set
        limited = estimator.max_iter is not None or self.fit.deadline < np.inf
        limited = limited and estimator.checkpoint is None
        plain = estimator.solver == "auto" and estimator.working_set == "auto"
        name, classes = self.fit.prepared.name, self.pairs.classes
        if limited or not plain or name not in SERVED or training_set is None:
            return None
        if classes.is_hard_margin or classes.tau is None:
            return None
        if not self.pairs.problem(0).term.is_quadratic:
            return None
        if not ClassPairsEngine.serves(training_set, classes.codes):
            return None
        summed = name == "plain sum"
        return ClassPairsEngine(training_set, classes.codes, classes.n_classes, summed=summed)

    def _at_once(self, engine: ClassPairsEngine) -> Iterator[Result]:
        problem = self.pairs.joint()
        weights = problem.norm.start(1)
        rounding = PairRounding.of(self.fit.prepared.rounding, self.pairs.rows)
        run = Run.start(self.fit.estimator.tol, watch=self.fit.watch)
        plan = Plan("class pairs", Uniform(), PairSets())
        for result in solve_each_pair(problem, engine, weights, run, rounding):
            yield replace(result, plan=plan)

    def _alone(self, number: int, checkpoint: Checkpoint | None) -> Result:
        """Return the result of the pair `number`, solved on its subset of the engine's examples."""
        rows, prepared = self.pairs.rows[number], self.fit.prepared
        prepared.engine.move_to(np.zeros(prepared.engine.n))
        engine = prepared.engine.subset(rows)
        prepared = replace(prepared, rounding=prepared.rounding.part(rows))
        fit = self.fit.share(len(self.pairs.pairs) - number)
        problem = self.pairs.problem(number)
        return replace(fit, prepared=prepared).solve(problem, engine, checkpoint=checkpoint)
