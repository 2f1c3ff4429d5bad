"""The Hessian in the weights of the inner problem's optimal value, as Newton steps need it."""

from __future__ import annotations

import numpy as np

from ..engines.base import Engine
from ..kkt_system import value_hessian
from ..problem import Problem
from .landmarks import landmark_hessian
from .violations import strictly_inside

BLOCKS = 1.2  # times the engine's largest block: so many examples make the Hessian at most
# Where a pass takes less than the factors of so large a block, it is made of fewer: so many, or a
# share of all examples if that is more.
FEW_EXAMPLES, SHARE = 600, 0.2
MOST_BLOCKS = 50  # times the largest block: with landmarks it is made of so many


def inner_hessian(problem: Problem, engine: Engine, weights: np.ndarray) -> np.ndarray:
    """Return the Hessian, shape (M, M), at the alpha of an engine and weights, shape (M,)."""
    parts = [_of_output(part, problem, engine, weights) for part in problem.output_slices]
    hessian: np.ndarray = np.sum(parts, axis=0)
    return hessian


def _of_output(part: slice, problem: Problem, engine: Engine, weights: np.ndarray) -> np.ndarray:
    """Return what the output with some of the examples adds to the Hessian.

    All its free examples respond to new weights. Where there are too many, landmarks stand for them
    if all outputs are at hand and weights are to vanish: which of them do depends on it. Otherwise
    every k-th of them counts k times: with a Hessian that is too small the weights would oscillate.
    """
    members = np.arange(engine.n)[part]
    free = members[strictly_inside(problem.term, engine.alpha, members)]
    times = 1 + len(free) // most_examples(engine, len(members))
    at_hand = engine.rough or engine.keeps_outputs
    by_landmarks = times > 1 and at_hand and problem.norm.is_sparse
    if by_landmarks:
        times = 1 + len(free) // (MOST_BLOCKS * engine.largest_block)
    free = free[::times]
    curvature = problem.term.take(free).curvature(engine.alpha[free])
    if by_landmarks:
        return landmark_hessian(engine, free, times, weights, curvature)
    kernel = engine.block(free, weights)
    return times * value_hessian(kernel, curvature, engine.outputs_at(free))


def most_examples(engine: Engine, n: int) -> int:
    """Return how many of the n examples of an output its part of the Hessian is made of."""
    most = round(BLOCKS * engine.largest_block)
    if engine.keeps_outputs:  # a pass makes the outputs of every kernel, and takes longer
        return most
    return min(most, max(FEW_EXAMPLES, round(SHARE * n)))
