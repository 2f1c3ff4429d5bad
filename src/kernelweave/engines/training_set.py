"""What an engine is made of: kernels, examples, memory and threads."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ..kernels.examples import Examples
from ..kernels.program import Listing


@dataclass(frozen=True, eq=False)
class TrainingSet:
    """Kernels on examples, and what their evaluation may use.

    Attributes
    ----------
    kernels : the M kernels.
    examples : the n training examples as the kernels read them.
    cache_mb : memory for rows of shared quantities.
    n_jobs : number of threads.
    """

    kernels: Listing
    examples: Examples
    cache_mb: float = 1024.0
    n_jobs: int = 1

    def part(self, chosen: np.ndarray) -> TrainingSet:
        """Return the same with some of the kernels."""
        if not len(chosen):
            raise ValueError("chosen must hold at least one kernel, got none")
        kernels = self.kernels.part(chosen)
        examples = self.examples.part(self.kernels.read_by(kernels))
        return replace(self, kernels=kernels, examples=examples)

    def core(self, kind: Callable[..., Any]) -> Any:
        """Return an engine of the core, of a kind such as `_core.Engine`."""
        cache_bytes = int(min(self.cache_mb, 2.0**40) * 2**20)
        return kind(self.kernels.program, self.examples.side, cache_bytes, self.n_jobs)
