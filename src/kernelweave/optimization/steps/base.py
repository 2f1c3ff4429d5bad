"""The interface of weight steps."""

from __future__ import annotations

from abc import ABC, abstractmethod

from ...engines.base import Engine
from ...problem.problem import Problem
from ..iterate import Step


class WeightStep(ABC):
    """A rule that updates the kernel weights; a component of a `Plan`."""

    @abstractmethod
    def begin(self, problem: Problem, engine: Engine) -> Step:
        """Return the steps of one fit: a callable with state, from iterates to weights.

        Iterates describe the alpha of the engine. Most steps need nothing else of it.
        """
