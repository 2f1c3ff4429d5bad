"""Multiplicative weights on examples elsewhere: rounds in batches (Moeller et al. 2018, section 6).

A round needs the deepest example of each class, and what it adds to the outputs of every kernel.
With a question to all shards in each of some thousand rounds, latency would rule. So rounds are
played in batches on the examples that can be the deepest: those with an a above 0, and the deepest
ones of each class. They are fetched, and an ordinary engine keeps their outputs. After a batch one
pass over all examples tells how deep the others lie, and certifies.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ..engines.base import Engine
from ..problem import Problem
from ..training.history import History, Result
from .mwu import CERTIFIED, Game

if TYPE_CHECKING:
    from .mwu import MWU

CANDIDATES = 1000  # of each class, besides those with an a above 0


def play_batches(method: MWU, problem: Problem, engine: Engine, history: History) -> Result:
    """Solve a problem by games on some examples at a time."""
    game = Game(problem, engine)
    rate, rounds = method.rate(game), method.rounds(game)
    rounds = min(rounds, history.turns_left or rounds)
    while True:
        before, near = game.rounds, candidates(game)
        part = engine.subset(near)
        batch = Game(problem.restricted(near, problem.tau), part, game)
        for _ in range(min(max(1, rounds // CERTIFIED), rounds - before)):
            batch.play(rate(batch))
            method.check_width(batch)
            if history.out_of_time:
                break
        engine.change(near, part.alpha)
        game.follow(batch)
        certificate = game.certificate()
        history.add(certificate, game.theta(), game.rounds - before)
        if history.converged or history.out_of_time or game.rounds >= rounds:
            break
    engine.move_to(*engine.snapshot().scaled(game.scale))
    return history.result(certificate, engine.alpha, game.theta())


def candidates(game: Game) -> np.ndarray:
    """Return the examples of the next batch, sorted."""
    alpha = game.engine.alpha
    F = game.engine.combined(game.theta()) * game.problem.norm.value(game.mu) + game.ridge * alpha
    deepest = [
        side[np.argsort(sign * F[side], kind="stable")[:CANDIDATES]]
        for side, sign in ((game.positive, 1), (game.negative, -1))
    ]
    return np.union1d(np.flatnonzero(alpha), np.concatenate(deepest))
