"""Losses of survival analysis besides Cox's: ranking of pairs and censored regression."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, NoReturn

import numpy as np

from .base import Loss


@dataclass(frozen=True)
class Ranking(Loss):
    """Squared hinge max(0, 1 - (f_j - f_i))^2 over pairs with an event j that is earlier than i.

    It is not a sum over the examples: `kernelweave.problem.ranking.RankingRisk` computes it.

    Examples
    --------
    >>> from kernelweave.losses import Ranking
    >>> Ranking().kind
    'survival'
    """

    name: ClassVar[str] = "ranking"
    kind: ClassVar[str] = "survival"

    def value(self, f: np.ndarray, y: np.ndarray) -> NoReturn:
        raise TypeError("the ranking loss is a sum over pairs; use RankingRisk.value")

    def dual_term(self, y: np.ndarray, C: np.ndarray) -> NoReturn:
        raise TypeError("the ranking loss is a sum over pairs; use RankingRisk.conjugate")

    def best_bias(self, F: np.ndarray, y: np.ndarray, C: np.ndarray, tau: float = 0.0) -> float:
        return 0.0


@dataclass(frozen=True)
class CensoredSquared(Loss):
    """Squared loss (f - y)^2 of events, max(0, f - y)^2 of censored times, with y = -log(time).

    The loss depends on which times are censored:
    `kernelweave.problem.censored_regression.CensoredRisk` computes it.

    Examples
    --------
    >>> from kernelweave.losses import CensoredSquared
    >>> CensoredSquared().kind
    'survival'
    """

    name: ClassVar[str] = "regression"
    kind: ClassVar[str] = "survival"

    def value(self, f: np.ndarray, y: np.ndarray) -> NoReturn:
        raise TypeError("the loss depends on events; use CensoredRisk.value")

    def dual_term(self, y: np.ndarray, C: np.ndarray) -> NoReturn:
        raise TypeError("the loss depends on events; use CensoredRisk.term")

    def best_bias(self, F: np.ndarray, y: np.ndarray, C: np.ndarray, tau: float = 0.0) -> NoReturn:
        raise TypeError("the loss depends on events; use CensoredRisk.best_bias")
