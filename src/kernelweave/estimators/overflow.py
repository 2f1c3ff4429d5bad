"""Numbers beyond what a float can hold: an error that names what is too large.

A solver whose objective is not finite raises FloatingPointError, since no further turn would mend
that. It knows neither the names of kernels nor where costs come from.
"""

from __future__ import annotations

import numpy as np

from ..engines import TrainingSet
from ..kernels import CompiledKernels
from ..kernels.compile.examples import Examples
from ..problem.problem import Problem


def why_not_finite(compiled: CompiledKernels, examples: Examples, problem: Problem) -> str:
    """Return what is too large where the objective of a solver is not finite."""
    sizes = TrainingSet(compiled.listing, examples).largest_values()
    costs, targets = float(problem.C.max()), float(np.abs(problem.y).max())
    causes = {
        f"the costs, C times sample_weight and class_weight, reach {costs:.3g}": costs,
        f"the targets y reach {targets:.3g}": targets,
        f"kernel {compiled.names[sizes.argmax()]!r} has values of {sizes.max():.3g}": sizes.max(),
    }
    return (
        f"the objective is not finite: {max(causes, key=lambda cause: causes[cause])}, which is "
        "too much for floating point numbers; scale it down"
    )
