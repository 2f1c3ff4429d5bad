"""A fold of a search: some examples train, the others are held out.

All folds share one engine and its cache: a fold trains with cost 0 for the examples that it holds
out, so their alphas are 0, and the engine's outputs are their decision values for free. Where all
values are at hand, a fold has a copy of those that it trains on: every pass is shorter. The
machines of a fold are then evaluated together, by products of matrices.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from ..engines import Engine, StackedEngine
from ..engines.stacked import between
from ..optimization.result import Result
from ..problem.problem import Problem

LARGEST_PART = 0.85  # of the examples may train on a copy: with more of them it saves too little,
FEWEST_MACHINES = 30  # as it does with fewer machines than that


class Machine(NamedTuple):
    """What a fold keeps of a result: its weights, shape (M,), its bias or biases, and the rest."""

    weights: np.ndarray
    bias: Any
    kept: np.ndarray


class Fold:
    """A fold on the engine of all examples.

    Parameters
    ----------
    engine : the engine, which trains the machines of the fold.
    test : the examples that are held out, shape (t,).
    """

    def __init__(self, engine: Engine, test: np.ndarray):
        self.engine, self._test = engine, test

    @staticmethod
    def of(engine: Engine, train: np.ndarray, test: np.ndarray, machines: int) -> Fold:
        """Return the fold that suits an engine of all examples, and a number of machines."""
        train = np.unique(train)
        pays = machines >= FEWEST_MACHINES and len(train) <= LARGEST_PART * engine.n
        if pays and isinstance(engine, StackedEngine):
            return CopiedFold(engine, train, test)
        return Fold(engine, test)

    def problem(self, problem: Problem) -> Problem:
        """Return a problem of all examples, those held out at cost 0, as one for the engine."""
        return problem

    def machine(self, problem: Problem, result: Result) -> Machine:
        """Return what `values` needs of a result, whose outputs the engine still holds."""
        F = self.engine.combined(result.weights).reshape(problem.n_outputs, -1)
        return Machine(result.weights, result.bias, F[:, self._test])

    def values(self, machines: Sequence[Machine]) -> np.ndarray:
        """Return the decision values of held-out examples, shape (machines, outputs, t)."""
        biases = np.reshape([one.bias for one in machines], (len(machines), -1, 1))
        values: np.ndarray = self._outputs(machines) + biases
        return values

    def _outputs(self, machines: Sequence[Machine]) -> np.ndarray:
        """Return their combined outputs, shape (machines, outputs, t)."""
        return np.array([one.kept for one in machines])


class CopiedFold(Fold):
    """A fold on a copy of the values between the examples that train.

    Parameters
    ----------
    whole : the engine of all examples.
    train, test : the examples that train and those held out, shapes (q,) and (t,).
    """

    def __init__(self, whole: StackedEngine, train: np.ndarray, test: np.ndarray):
        super().__init__(whole.subset(train), test)
        self._whole, self._train = whole, train

    def problem(self, problem: Problem) -> Problem:
        return problem.restricted(self._train, problem.tau)

    def machine(self, problem: Problem, result: Result) -> Machine:
        return Machine(result.weights, result.bias, result.alpha)

    def _outputs(self, machines: Sequence[Machine]) -> np.ndarray:
        alphas = np.array([one.kept for one in machines])
        weights = np.array([one.weights for one in machines])
        outputs = np.zeros((len(machines), len(self._test)))
        for m in np.flatnonzero(weights.any(axis=0)):
            own = np.flatnonzero(weights[:, m])
            kernel = between(self._whole, int(m), self._train, self._test)
            outputs[own] += (weights[own, m, None] * alphas[own]) @ kernel
        return outputs[:, None]
