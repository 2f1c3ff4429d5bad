"""Who holds the examples: engines compute kernels and keep the outputs of the current alpha."""

from ..kernels.examples import Examples
from ..kernels.program import CompiledKernels
from .base import Engine
from .dense import DenseEngine
from .mixture import MixtureEngine

__all__ = ["DenseEngine", "Engine", "MixtureEngine", "engine_for"]


def engine_for(
    compiled: CompiledKernels, examples: Examples, *, cache_mb: float, n_jobs: int
) -> Engine:
    """Return the engine that suits the kernels."""
    kind = MixtureEngine if MixtureEngine.serves(compiled) else DenseEngine
    return kind(compiled, examples, cache_mb=cache_mb, n_jobs=n_jobs)
