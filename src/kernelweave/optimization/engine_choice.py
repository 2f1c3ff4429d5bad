"""The choice of the engine, from the kernels, the examples, the methods and the norms."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from .. import engines
from ..engines.base import Engine, TrainingSet
from ..norms import Lp, Norm
from .methods.base import Method
from .steps.base import MOST_WEIGHTS

ENGINES: dict[str, Callable[[TrainingSet], Engine]] = {
    "family": engines.FamilyEngine.of,
    "linear": engines.LinearEngine.of,
    "plain sum": engines.DenseEngine.of_sum,
    "streamed": engines.StreamedEngine,
    "stacked": engines.StackedEngine.of,
    "dense": engines.DenseEngine.of,
}


@dataclass(frozen=True)
class Workload:
    """The problems that one engine will serve.

    Attributes
    ----------
    methods, norms : sequences of Method and Norm
        Methods and norms of the problems.
    shared : bool
        Whether several outputs, each with its own alpha, have common kernel weights.
    fits : int
        Number of problems that the engine will serve.
    """

    methods: Sequence[Method]
    norms: Sequence[Norm]
    shared: bool = False
    fits: int = 1

    @property
    def combines(self) -> bool:
        """Whether only outputs of the weighted sum of the kernels are needed."""
        return not self.shared and all(method.combines for method in self.methods)

    def streams(self, M: int, n: int) -> bool:
        """Return whether all problems are solved on growing sets of M kernels (`sifting`)."""
        sparse = not self.shared and all(norm.is_sparse for norm in self.norms)
        return sparse and all(method.streams(M, n) for method in self.methods)


def choose_engine(training_set: TrainingSet, workload: Workload) -> str:
    """Return the name of the engine that suits the kernels, the examples, and the problems."""
    kernels, n = training_set.kernels, training_set.examples.n
    streams = workload.streams(kernels.n_kernels, n)
    if streams and kernels.n_kernels > MOST_WEIGHTS:  # too many for steps on all weights
        return "streamed"
    if workload.combines and engines.FamilyEngine.serves(training_set):
        return "family"
    if workload.combines and engines.LinearEngine.serves(training_set):
        return "linear"
    plain_sum = all(norm.is_plain_sum for norm in workload.norms)
    if workload.combines and plain_sum and engines.DenseEngine.sums(training_set):
        return "plain sum"
    if streams:
        return "streamed"
    several = workload.fits > 1
    return "stacked" if several and engines.StackedEngine.serves(training_set) else "dense"


def suited_norm(norm: Norm, engine: str, M: int) -> Norm:
    """Return the norm for the kernels of an engine; "plain sum" has a single one, their sum."""
    norm.start(M)  # raises ValueError if the norm is for another number of kernels
    return Lp(np.inf) if engine == "plain sum" else norm
