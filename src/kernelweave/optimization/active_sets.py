"""Growing active sets: from a sample to all examples, by way of the support vectors.

With many examples most alphas end at zero. So the problem is solved on a sample. Then all outputs
are updated once, and the next set contains the support vectors, the KKT violators, and the examples
closest to a violation. An example whose alpha is zero contributes to no output, so the restricted
problem is the same problem with fewer losses, and the same solver solves it, weight steps included.
Training ends when the gap on all examples is below the tolerance. This combines shrinking
(Joachims, 1999) with a coarse-to-fine start.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from ..engines.base import Engine
from ..problem.problem import Problem
from .inner.violations import Violations, every_kth, mostly_support
from .inner.working_sets import WorkingSets
from .observers import of_examples
from .result import Result
from .run import Run
from .solver import Solver


@dataclass(frozen=True)
class ActiveSetTuning:
    """Constants of growing active sets. Gaps are relative duality gaps.

    Attributes
    ----------
    many_examples : active sets are used if there are more examples; minimum size of the first set.
    smallest_share : the first set has at least this fraction of all examples.
    growth : largest ratio of the size of the next set to that of the present one; smaller sets
        count as `many_examples`.
    spare : a set also includes the examples closest to a violation; their number is this fraction
        of the number of its support vectors and violators.
    one_kernel, many_kernels : the problem of a set is solved to this fraction of the gap on all
        examples. With several kernels the fraction is larger: weights converge slowly, and the next
        set changes them anyway.
    last : sets are not solved to smaller gaps than this fraction of the tolerance.
    most_support : if a set has at least this fraction of all examples, and most of them are support
        vectors, it is the last one: leaving examples out would not save time.
    """

    many_examples: int = 20_000
    smallest_share: float = 0.02
    growth: int = 4
    spare: float = 0.5
    one_kernel: float = 0.05
    many_kernels: float = 0.2
    last: float = 0.5
    most_support: float = 0.25


TUNING = ActiveSetTuning()


@dataclass(frozen=True)
class ActiveSets:
    """Solve on growing active sets, then on all examples.

    Parameters
    ----------
    on_sets : Solver
        Solves the restricted problems.
    then : Solver
        Solves the problem on all examples.
    sets : WorkingSets
        Computes certificates and violations on all examples.
    """

    on_sets: Solver
    then: Solver
    sets: WorkingSets = field(repr=False)
    tuning: ActiveSetTuning = field(default=TUNING, repr=False)

    def solve(self, problem: Problem, engine: Engine, weights: np.ndarray, run: Run) -> Result:
        """Improve alpha and the weights, shape (M,), until the run is finished."""
        tuning, method = self.tuning, self.sets.begin(problem, engine, run)
        decrease = tuning.one_kernel if engine.n_kernels == 1 else tuning.many_kernels
        active = first_set(problem, engine.alpha, tuning)
        gap, changed = 1.0, True
        while changed and len(active) <= engine.n // 2:
            inner = run.inner(
                max(decrease * gap, tuning.last * run.tol),
                run.budget.iterations_left,
                observe=of_examples(run.observe, active, engine.alpha),
            )
            small, part = problem.restricted(active, problem.tau), engine.subset(active)
            result = self.on_sets.solve(small, part, weights, inner)
            method.assign(active, result.alpha, weights := result.weights)
            certificate = method.certify(weights)
            run.record(certificate, weights, inner.budget.used, engine.alpha)
            if run.finished(engine):
                return run.result(certificate, engine.alpha, weights)
            gap, changed = min(gap, certificate.gap), inner.budget.used > 0
            if mostly_support(result.alpha) and len(active) >= tuning.most_support * engine.n:
                break
            active = next_set(
                method.violations(), engine.alpha, float(certificate.bias), len(active), tuning
            )
        return self.then.solve(problem, engine, weights, run)


def first_set(problem: Problem, alpha: np.ndarray, tuning: ActiveSetTuning = TUNING) -> np.ndarray:
    """Return the first active set: evenly spaced examples of each class, and support vectors."""
    size = max(tuning.many_examples, int(tuning.smallest_share * len(alpha)))
    every = max(1, round(len(alpha) / size))
    return np.union1d(every_kth(problem.y, every), np.flatnonzero(alpha))


def next_set(
    violations: Violations,
    alpha: np.ndarray,
    bias: float,
    size: int,
    tuning: ActiveSetTuning = TUNING,
) -> np.ndarray:
    """Return the support vectors, the KKT violators, and the examples closest to a violation.

    `bias` is the optimal bias for `alpha`, with which violations are computed. `size` is the number
    of examples in the present set. It limits that of the next one (see `growth`), which is at most
    half of all. If the support vectors alone reach the limit, all examples are returned.
    """
    violations.middle = -bias
    idle = np.flatnonzero(alpha == 0)
    excess = violations.excess(idle)
    support = len(alpha) - len(idle)
    wanted = int((1 + tuning.spare) * (support + np.count_nonzero(excess > 0)))
    most = min(tuning.growth * max(size, tuning.many_examples), len(alpha) // 2)
    room = min(wanted, most) - support
    if 0 < room < len(idle):
        idle = idle[np.argpartition(-excess, room)[:room]]
    return np.union1d(np.flatnonzero(alpha), idle)
