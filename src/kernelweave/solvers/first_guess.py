"""A first guess at p = 1: the kernels that matter on some of the examples.

Which of many kernels have weight shows on a few hundred examples, where all kernels together cost
little. What the guess misses is found when all kernels are looked at (`sifting`).
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ..engines.base import Engine
from ..problem import Problem
from ..training.history import History, ignore
from ..training.solve import feasible_alpha
from ..training.violations import every_kth
from .sifting import Solve, spread

ROOM = 2**22  # values of kernels inside the sample of the examples: 32 MB
MOST_KERNELS = 2000  # that are tried
FEW = 8  # kernels that are guessed, or more where more have weight
SAMPLE_TOL = 1e-2  # relative duality gap on the sample


def first_guess(
    solve: Solve, problem: Problem, engine: Engine, history: History
) -> tuple[np.ndarray, np.ndarray]:
    """Return weights to start from, shape (M,), and the kernels to begin with, sorted.

    An engine at alpha = 0 is moved to the alphas of the sample, since costs are as they were.

    Parameters
    ----------
    solve : solves p = 1.
    engine : one that streams.
    """
    tried = spread(np.arange(engine.n_kernels), MOST_KERNELS)
    side = np.sqrt(ROOM / len(tried))
    idx = every_kth(problem.y, int(np.ceil(engine.n / side)))
    tau = problem.tau * problem.C[idx].sum() / problem.C.sum()
    small = replace(problem.restricted(idx, tau), norm=problem.norm.among(tried))
    part = engine.subset(idx, tried)
    part.move_to(feasible_alpha(small))
    start = small.norm.start(len(tried))
    inner = history.inner(SAMPLE_TOL, history.max_iter, observe=ignore)
    result = solve(small, part, start, inner)
    height = part.quadratic() / small.norm.costs(len(tried))
    likely = np.union1d(np.argsort(-height)[:FEW], np.flatnonzero(result.weights))
    weights = np.zeros(engine.n_kernels)
    weights[tried] = result.weights
    if not engine.alpha.any():  # zero is feasible, so this is
        engine.change(idx, result.alpha)
    return weights, tried[likely]
