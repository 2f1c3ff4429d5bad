"""Multiplicative weights on many kernels: rounds are played with those that have weight.

A round needs two columns of every kernel that it is played with. At p = 1 most kernels soon weigh
nothing: weights fall exponentially with the distance from the best. So rounds are played in
stretches, with the kernels that had weight before it. After a stretch all kernels are looked at:
a'K_m a costs the pairs of examples with an a above 0. That certifies the model among all kernels,
and says which are played with next.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from ..engines.base import Engine
from ..problem import Problem
from ..training.history import History, Result
from .mwu import CERTIFIED, Game

if TYPE_CHECKING:
    from .mwu import MWU

GROWTH = 2  # a stretch is the rounds before it over this: few looks, and early ones cost little
WORTH = 0.5  # part of the kernels of a stretch below which it is worth leaving others out


def play_some(method: MWU, problem: Problem, engine: Engine, history: History) -> Result:
    """Solve a problem by one game, on an engine that streams."""
    whole = Game(problem, engine)  # what all kernels say of the game
    played = np.arange(engine.n_kernels)
    game = Game(problem, engine.subset(kernels=played))
    rate, rounds = method.rate(game), method.rounds(game)
    rounds = min(rounds, history.turns_left or rounds)
    while True:
        before, all_played = game.rounds, len(played) == engine.n_kernels
        stretch = max(1, rounds // CERTIFIED, 0 if all_played else before // GROWTH)
        for _ in range(min(stretch, rounds - before)):
            game.play(rate(game))
            method.check_width(game)
            if history.out_of_time:
                break
        engine.move_to(game.engine.alpha)
        if all_played:
            whole.follow(game)
        else:
            whole.follow(game, engine.quadratic())
            whole.mu = whole.weights(rate(whole))
        needed = np.flatnonzero(whole.mu)
        if len(needed) < WORTH * len(played) or not np.isin(needed, played).all():
            game, played = _among(whole, needed), needed
        theta = whole.theta()
        certificate = whole.certificate(game.engine.combined(theta[played]))
        history.add(certificate, theta, game.rounds - before)
        if history.converged or history.out_of_time or game.rounds >= rounds:
            break
    engine.move_to(whole.scale * engine.alpha)
    return history.result(certificate, engine.alpha, theta)


def _among(whole: Game, kernels: np.ndarray) -> Game:
    """Return the game as some kernels see it."""
    problem = replace(whole.problem, norm=whole.problem.norm.among(kernels))
    game = Game(problem, whole.engine.subset(kernels=kernels), whole)
    game.s, game.mu = whole.s[kernels], whole.mu[kernels]
    return game
