"""Working sets of all pairs of classes (one against one), inside the core.

`ClassPairsEngine` solves the two-class problems of all pairs under fixed weights. If the relative
gap of every pair is below a tolerance, so is that of the sum of their problems. If the kernel is
ill-conditioned, the core stops above the tolerance, and `WorkingSets` continues, which also uses
interior points.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from ...engines.base import Engine
from ...engines.class_pairs import WORKING_SET, ClassPairsEngine, pair_solver
from ...problem.problem import Problem
from ...problem.rounding import PairRounding
from ..certifier import Certifier
from ..confirm import judged_pairs
from ..log import Log
from ..result import Result
from ..run import Run
from .working_sets import WorkingSets

BELOW_TOL = 0.9  # fraction of the tolerance for pairs, since the core's bias is not optimal


@dataclass(frozen=True)
class PairSets:
    """Solve the problems of all pairs of classes under fixed weights; a component of a `Plan`."""

    def solve(self, problem: Problem, engine: Engine, weights: np.ndarray, run: Run) -> Result:
        """Improve alpha under fixed weights, shape (M,), until the run is finished."""
        certifier, solver = Certifier(problem, engine), pair_solver(engine)
        constant = problem.risk.constant_models[0]
        # The first gap is that of the solution, so it need not decrease further.
        run = replace(run, rule=replace(run.rule, decrease=1.0))
        while True:
            # No certificate before this call: it would take a pass over all support vectors.
            gaps = solver.solve(problem.term, constant, BELOW_TOL * run.tol, weights)
            if gaps.max() > BELOW_TOL * run.tol:  # too many steps of SMO
                return WorkingSets(WORKING_SET).solve(problem, engine, weights, run)
            run.notify(engine.alpha, weights)
            certificate = certifier.certify(weights)
            run.record(certificate, weights, 1, engine.alpha)
            if run.finished(engine):
                return run.result(certificate, engine.alpha, weights)


def solve_each_pair(
    problem: Problem,
    engine: ClassPairsEngine,
    weights: np.ndarray,
    run: Run,
    rounding: PairRounding | None,
) -> list[Result]:
    """Solve every pair as a separate problem with a separate certificate.

    Parameters
    ----------
    problem : Problem
        All pairs as one problem, with fixed weights.
    engine : ClassPairsEngine
        Of one kernel.
    weights : ndarray of shape (1,)
        Weight of the only kernel.
    run : Run
        Its tolerance is that of every pair.
    rounding : PairRounding, optional
        Rounding bounds, to confirm the gaps.

    Returns
    -------
    list of Result
        One for each pair, with the alphas of the examples ``engine.rows[pair]``.
    """
    engine.move_to(np.zeros(engine.n))
    engine.solve(problem.term, problem.risk.constant_models[0], BELOW_TOL * run.tol, weights)
    found = problem.with_weights(weights).certificates(engine.alpha, engine.combined(weights))
    results = []
    for certificate, part in zip(found, engine.slices, strict=True):
        constant = certificate.primal == certificate.constant and certificate.gap == 0.0
        log = Log(engine.work, run.log.watch, started=run.log.started)
        theta = np.zeros_like(weights) if constant else weights
        log.add(certificate, theta)
        result = Result(
            **vars(certificate),
            alpha=engine.alpha[part].copy(),
            weights=theta,
            n_iter=1,
            history=log.entries,
            converged=certificate.gap <= run.tol,
        )
        results.append(result)
    if rounding is None:
        return results
    return judged_pairs(problem, engine, results, rounding, weights, run.tol)
