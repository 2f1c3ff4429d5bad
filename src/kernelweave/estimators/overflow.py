"""Error messages for overflow: they name the quantity that is too large.

A solver raises FloatingPointError if its objective is not finite, without any names of kernels and
parameters. The message for users contains these names.
"""

from __future__ import annotations

import numpy as np

from ..engines import TrainingSet
from ..kernels import CompiledKernels
from ..kernels.compile.examples import Examples
from ..problem.problem import Problem


def why_not_finite(compiled: CompiledKernels, examples: Examples, problem: Problem) -> str:
    """Return an error message that names the largest of costs, targets and kernel values.

    Parameters
    ----------
    compiled : CompiledKernels
        The M kernels.
    examples : Examples
        The training examples, or a sample of them.
    problem : Problem
        Has the costs and targets.

    Returns
    -------
    str
    """
    sizes = TrainingSet(compiled.listing, examples).largest_values()
    costs, targets = float(problem.C.max()), float(np.abs(problem.y).max())
    causes = {
        f"the costs, C times sample_weight and class_weight, reach {costs:.3g}": costs,
        f"the targets y reach {targets:.3g}": targets,
        f"kernel {compiled.names[sizes.argmax()]!r} has values of {sizes.max():.3g}": sizes.max(),
    }
    return (
        f"the objective is not finite: {max(causes, key=lambda cause: causes[cause])}, which is "
        "too large for floating point numbers; scale it down"
    )
