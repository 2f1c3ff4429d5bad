"""Growing active sets: from a sample to all examples, by way of those that matter.

With many examples most alphas end at zero. So the problem is solved on a sample. Then all outputs
are brought up to date once, and the next set holds the support, the examples that violate the KKT
conditions, and those nearest to it. An alpha that is zero adds nothing to any sum, so the
restricted problem is the same problem with fewer losses: the same loop solves it, weight steps
included. Only the certificate on all examples ends the search. This is shrinking (Joachims, 1999)
and a coarse-to-fine start in one.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ..engines.base import Engine
from ..problem.problem import Problem
from .history import History, Result
from .inner.violations import Violations, every_kth, is_crowded
from .inner.working_sets import WorkingSets
from .loop import train
from .observers import of_examples

if TYPE_CHECKING:
    from .plan import Plan

MANY_EXAMPLES = 20_000  # from which on active sets grow from a sample of about as many
SMALLEST_SHARE = 0.02  # part of the examples in the first sample, if that is not small
LARGEST_GROWTH = 4  # a set may become so many times larger
SPARE = 0.5  # examples that nearly violate the conditions, relative to those that matter
# A restricted problem is solved to this part of the gap on all examples. Weights that are learned
# settle slowly, and those of a set that is wrong are of no use.
FALL_ONE_KERNEL, FALL_MANY_KERNELS = 0.05, 0.2
LAST_FALL = 0.5  # and to no less than this part of the tolerance
# Leaving examples out does not pay where most of a set is support, and the set is at least this
# part of all examples. In a smaller one nearly every example may count.
TELLING = 0.25
LARGE_SAMPLE_TOL = 0.03  # relative duality gap to which weights are learned on a larger sample


def train_on_active_sets(
    problem: Problem, engine: Engine, weights: np.ndarray, plan: Plan, history: History
) -> Result:
    """Train on active sets while they are smaller than half of the examples, then on all.

    Sooner where most examples of a set are support examples.
    """
    sets = WorkingSets(problem, engine, plan.working_set, history)
    fall = FALL_ONE_KERNEL if engine.n_kernels == 1 else FALL_MANY_KERNELS
    active, gap, changed, noisy = first_set(problem, engine.alpha), 1.0, True, False
    while changed and len(active) <= engine.n // 2:
        inner = history.inner(
            max(min(fall * gap, LARGE_SAMPLE_TOL if noisy else 1.0), LAST_FALL * history.tol),
            history.turns_left,
            observe=of_examples(history.observe, active, engine.alpha),
        )
        restricted = problem.restricted(active, problem.tau)
        result = train(restricted, engine.subset(active), weights, plan, inner)
        sets.assign(active, result.alpha, weights := result.weights)
        certificate = sets.certify(weights)
        history.add(certificate, weights, inner.n_iter, engine.alpha)
        if history.finished(engine):
            return history.result(certificate, engine.alpha, weights)
        gap, changed = min(gap, certificate.gap), inner.n_iter > 0
        crowded = is_crowded(result.alpha)
        noisy = noisy or (crowded and plan.samples)  # larger sets have less support
        if (crowded or noisy) and len(active) >= TELLING * engine.n:
            break
        if noisy:
            active = sample(problem, engine.alpha, LARGEST_GROWTH * len(active))
            continue
        active = next_set(sets.violations(), engine.alpha, certificate.bias, len(active))
    return train(problem, engine, weights, plan, history)


def first_set(problem: Problem, alpha: np.ndarray) -> np.ndarray:
    """Return the sample that active sets start from."""
    return sample(problem, alpha, max(MANY_EXAMPLES, int(SMALLEST_SHARE * len(alpha))))


def sample(problem: Problem, alpha: np.ndarray, size: int) -> np.ndarray:
    """Return about `size` evenly spaced examples of each kind, and all with an alpha.

    Larger samples contain smaller ones as far as that can be.
    """
    every = max(1, round(len(alpha) / size))
    every -= every % LARGEST_GROWTH if every > LARGEST_GROWTH else 0
    return np.union1d(every_kth(problem.y, every), np.flatnonzero(alpha))


def next_set(violations: Violations, alpha: np.ndarray, bias: float, size: int) -> np.ndarray:
    """Return the support, the examples that violate the KKT conditions, and those nearest to it.

    They are judged with the best bias: the middle of the two worst says little before the end.
    `size` is the size of the last set.
    """
    violations.middle = -bias
    idle = np.flatnonzero(alpha == 0)
    excess = violations.excess(idle)
    support = len(alpha) - len(idle)
    wanted = int((1 + SPARE) * (support + np.count_nonzero(excess > 0)))
    most = min(LARGEST_GROWTH * max(size, MANY_EXAMPLES), len(alpha) // 2)
    room = min(wanted, most) - support
    if 0 < room < len(idle):
        idle = idle[np.argpartition(-excess, room)[:room]]
    return np.union1d(np.flatnonzero(alpha), idle)
