"""Working sets of examples of several classes, for the multi-class hinge loss.

Each iteration takes the examples that contribute most to the duality gap and solves their dual
problem in the core (`core/solvers/class_block.h`), all classes at once. If the kernel is
ill-conditioned, interior points take over after many passes. The sums of alphas over
examples and over classes do not change, so that every iterate is feasible.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from ...common.core import _core
from ...engines.base import Engine
from ...losses.class_risk import ClassRisk
from ...problem.certificate import Certificate
from ...problem.problem import Problem
from ..certifier import Certifier
from ..result import Result
from ..run import Run
from .class_interior_points import class_interior_points
from .pauses import Pauses


@dataclass(frozen=True)
class ClassSetsTuning:
    """Constants of working sets of several classes.

    Attributes
    ----------
    accuracy, end : a working set is solved to the fraction `accuracy` of its gap, or the fraction
        `end` of the tolerance, whichever is larger.
    passes : maximum number of passes of block coordinate descent over a working set.
    direct : if these passes were not enough, interior points take over up to this number of dual
        variables: a dense system of 8 MB.
    """

    accuracy: float = 0.1
    end: float = 0.5
    passes: int = 1000
    direct: int = 1000


@dataclass(frozen=True)
class ClassSets:
    """Solve the dual problem of the multi-class hinge on working sets; a component of a `Plan`.

    Parameters
    ----------
    size : int
        Number of examples in a working set.
    """

    size: int
    tuning: ClassSetsTuning = field(default=ClassSetsTuning(), repr=False)

    def solve(self, problem: Problem, engine: Engine, weights: np.ndarray, run: Run) -> Result:
        """Improve alpha under fixed weights, shape (M,), until the run is finished."""
        certifier, pauses, iterations = Certifier(problem, engine), Pauses(), 0
        while True:
            certificate = certifier.certify(weights)
            run.record(certificate, weights, iterations, engine.alpha)
            if run.finished(engine):
                return run.result(certificate, engine.alpha, weights)
            risk = class_risk(problem)
            self._improve(risk, engine, weights, certificate, certifier.F, run, pauses)
            run.notify(engine.alpha, weights)
            iterations = 1

    def _improve(
        self,
        risk: ClassRisk,
        engine: Engine,
        weights: np.ndarray,
        certificate: Certificate,
        F: np.ndarray,
        run: Run,
        pauses: Pauses,
    ) -> None:
        """Improve the engine's alphas of the examples that contribute most to the duality gap."""
        tuning, bias = self.tuning, np.array(certificate.bias, dtype=float)
        table, alpha = risk.table(F), risk.table(engine.alpha)
        gaps = example_gaps(risk, table + bias[:, None], alpha)
        some = np.sort(np.argsort(-gaps, kind="stable")[: self.size])
        some = some[risk.costs[some] > 0]
        wanted = max(tuning.accuracy * gaps[some].sum(), tuning.end * run.tol * certificate.scale)
        found, outputs = alpha[:, some].copy(), table[:, some].copy()
        kernel = engine.block(some, weights)
        passes = _core.solve_classes(
            kernel,
            risk.codes[some],
            risk.costs[some],
            risk.has_intercept,
            wanted,
            tuning.passes,
            found,
            outputs,
            bias,
        )
        if passes == tuning.passes and found.size <= tuning.direct and pauses.is_over():
            better = class_interior_points(
                kernel,
                risk.own[:, some],
                risk.costs[some],
                risk.has_intercept,
                tuning.accuracy * tuning.end * run.tol * certificate.scale,
                found,
                outputs,
            )
            if better is not None:
                everyone = alpha.copy()
                everyone[:, some] = better
                if not risk.is_feasible(everyone.ravel()):  # alphas are rounding errors of costs
                    better = None
            pauses.note(better is not None)
            found = found if better is None else better
        changed = np.nonzero(found != alpha[:, some])
        engine.change(changed[0] * table.shape[1] + some[changed[1]], found[changed])


def example_gaps(risk: ClassRisk, f: np.ndarray, alpha: np.ndarray) -> np.ndarray:
    """Return each example's contribution to the duality gap, shape (n,).

    f, the decision values of the K classes, and alpha have shape (K, n).
    """
    slopes = f + ~risk.own
    parts = risk.costs * risk.own - alpha
    return np.asarray(risk.costs * slopes.max(axis=0) - (parts * slopes).sum(axis=0))


def class_risk(problem: Problem) -> ClassRisk:
    """Return the risk of a problem of several classes; raise TypeError for any other risk."""
    if not isinstance(problem.risk, ClassRisk):
        raise TypeError(f"the risk must compare classes, got {type(problem.risk).__name__}")
    return problem.risk
