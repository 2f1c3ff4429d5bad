"""Multiplicative weights on many kernels: rounds are played with those that have weight.

A round needs two columns of every kernel that it is played with. At p = 1 most kernels soon weigh
nothing: weights fall exponentially with the distance from the best. So rounds are played in short
stretches, with the kernels that had weight before it. After a stretch all kernels are looked at:
what a'K_m a has gained costs the pairs of examples that were moved and of those with an a above 0.
That certifies the model among all kernels, and says which are played with next.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from ..engines.streamed import StreamedEngine
from ..problem import Problem
from ..training.history import History, Result
from .game import Game
from .mwu import CERTIFIED

if TYPE_CHECKING:
    from .mwu import MWU

STRETCH = 0.05  # rounds of a stretch, over those before it: lengths move by about as much
WORTH = 0.5  # part of the kernels of a stretch below which it is worth leaving others out


def play_some(method: MWU, problem: Problem, engine: StreamedEngine, history: History) -> Result:
    """Solve a problem by one game."""
    whole = Game(problem, engine)  # what all kernels say of the game
    played = np.arange(engine.n_kernels)
    game = Game(problem, engine.subset(kernels=played))
    rate, rounds = method.rate(game), method.rounds(game)
    rounds = min(rounds, history.turns_left or rounds)
    while True:
        before, all_played = game.rounds, len(played) == engine.n_kernels
        stretch = max(1, rounds // CERTIFIED if all_played else int(STRETCH * before))
        for _ in range(min(stretch, rounds - before)):
            game.play(rate(game))
            method.check_width(game)
            if history.out_of_time:
                break
        last = history.out_of_time or game.rounds >= rounds
        gained = None if all_played or last else engine.gained(game.engine.alpha)
        engine.move_to(game.engine.alpha)
        if all_played:
            whole.follow(game)
        else:  # at last all of it anew, without what rounding did on the way
            energies = engine.quadratic() if gained is None else whole.s * whole.cost + gained
            whole.follow(game, energies)
            whole.mu = whole.weights(rate(whole))
        needed = np.flatnonzero(whole.mu)
        if len(needed) < WORTH * len(played) or not np.isin(needed, played).all():
            game, played = _among(engine, whole, needed, game, played)
        theta = whole.theta()
        certificate = whole.certificate(game.engine.combined(theta[played]))
        history.add(certificate, theta, game.rounds - before)
        if history.converged or last:
            break
    engine.move_to(whole.scale * engine.alpha)
    return history.result(certificate, engine.alpha, theta)


def _among(
    engine: StreamedEngine, whole: Game, needed: np.ndarray, game: Game, played: np.ndarray
) -> tuple[Game, np.ndarray]:
    """Return the game with kernels that are needed, and which these are.

    Those that were played before stay as long as they are not the most: they may come back.
    """
    both = np.union1d(needed, played)
    kernels = both if len(both) * WORTH <= len(needed) else needed
    old = np.isin(kernels, played)
    outputs = np.empty((len(kernels), engine.n))
    outputs[old] = game.engine.outputs()[np.searchsorted(played, kernels[old])]
    outputs[~old] = engine.outputs(kernels[~old])
    problem = replace(whole.problem, norm=whole.problem.norm.among(kernels))
    smaller = Game(problem, engine.known(kernels, outputs), whole)
    smaller.s, smaller.mu = whole.s[kernels], whole.mu[kernels]
    return smaller, kernels
