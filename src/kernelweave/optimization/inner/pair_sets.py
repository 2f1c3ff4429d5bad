"""Working sets of all pairs of classes (one against one), inside the core.

`ClassPairsEngine` solves the two-class problems of all pairs under fixed weights. If every pair
reaches a relative gap, so does the sum of their problems.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from ...engines.class_pairs import ClassPairsEngine, PairEngine
from ...problem.problem import Problem
from ...problem.rounding import RoundingBounds
from ..certifier import Certifier
from ..confirm import confirmed
from ..result import Result
from ..run import Run

BELOW_TOL = 0.9  # part of the tolerance that pairs are solved to: the core's bias is not the best


@dataclass(frozen=True)
class PairSets:
    """Solve all pairs under fixed weights, as part of a plan."""

    def solve(
        self, problem: Problem, engine: ClassPairsEngine, weights: np.ndarray, run: Run
    ) -> Result:
        """Improve alpha under fixed weights, shape (M,), until the run is finished."""
        certifier, iterations = Certifier(problem, engine), 0
        while True:
            certificate = certifier.certify(weights)
            run.record(certificate, weights, iterations, engine.alpha)
            if run.finished(engine):
                return run.result(certificate, engine.alpha, weights)
            every = np.arange(problem.n_outputs)
            engine.solve(every, problem.term, constants(problem), BELOW_TOL * run.tol, weights)
            run.notify(engine.alpha, weights)
            iterations = 1


def constants(problem: Problem) -> np.ndarray:
    """Return the primal value of the constant model of each output, shape (n_outputs,)."""
    return np.array([risk.constant_model[0] for risk in problem.risk.per_output])


def solve_each_pair(
    problem: Problem,
    engine: ClassPairsEngine,
    weights: np.ndarray,
    run: Run,
    rounding: RoundingBounds | None,
) -> list[Result]:
    """Solve every pair as a problem of its own, with its own certificate.

    Parameters
    ----------
    problem : Problem
        All pairs as one problem, with fixed weights.
    engine : ClassPairsEngine
        Of one kernel.
    weights : ndarray of shape (1,)
    run : Run
        Its tolerance is that of every pair.
    rounding : RoundingBounds, optional
        Rounding bounds on all examples, to confirm the gaps.

    Returns
    -------
    list of Result
        One for each pair; its alpha is that of the examples ``engine.rows[pair]``.
    """
    engine.move_to(problem.risk.feasible_alpha())
    every = np.arange(problem.n_outputs)
    engine.solve(every, problem.term, constants(problem), BELOW_TOL * run.tol, weights)
    outputs, results = engine.combined(weights), []
    for pair, (one, part) in enumerate(zip(problem.per_output, engine.slices, strict=True)):
        view = PairEngine(engine.alpha[part], outputs[part], weights, engine.precision)
        certificate = one.certificate(view.alpha, outputs[part], view.quadratic(), weights)
        constant = one.constant_is_optimal(certificate.dual)
        here = Run.start(run.tol, work=engine.work)
        here.record(certificate, np.zeros_like(weights) if constant else weights)
        result = here.result(certificate, view.alpha, here.log.last.weights)
        if rounding is not None:
            result = confirmed(one, view, result, rounding.part(engine.rows[pair]), run.tol)
        results.append(replace(result, history=here.log.entries))
    return results
