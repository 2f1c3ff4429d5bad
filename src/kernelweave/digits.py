"""How far rounding may move a certificate: kernels whose values have too few digits.

Each value of kernel m has an error of about eps times its largest value, and a certificate adds up
as many of them as there are pairs of alphas. In extended precision, gaps were found to move by less
than

    eps sum_m theta_m max_i k_m(x_i, x_i)  ||alpha||_1 ||alpha||_2 / scale,

`scale` being what the gap is relative to. That is nothing unless examples differ in the last digits
of k only, as they do where widths are far above the scale of the data, and a normalisation
magnifies what is left of the differences.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from .kernels import CompiledKernels
from .kernels.examples import Examples
from .model import alphas
from .overflow import largest_values
from .problem import Result

LOOKED_AT = 100  # examples, those with the largest alphas
NAMED = 3  # kernels in a message, at most
EPS = np.finfo(float).eps


def rounding(alpha: np.ndarray, theta: np.ndarray, sizes: np.ndarray, scale: float) -> np.ndarray:
    """Return how far the rounding of each kernel may move a relative gap, shape (M,).

    Parameters
    ----------
    alpha : array of shape (n,)
    theta, sizes : arrays of shape (M,)
        Weights, and largest values of the kernels.
    scale : what the gap is relative to.
    """
    pairs = np.abs(alpha).sum() * np.sqrt(alpha @ alpha)
    with np.errstate(over="ignore"):
        share = pairs / max(scale, np.finfo(float).tiny)
        errors: np.ndarray = EPS * theta * sizes * share
    return errors


def lost_digits(
    compiled: CompiledKernels, examples: Examples, results: Sequence[Result], tol: float
) -> str | None:
    """Return what to say of kernels whose rounding may move a gap by more than tol, if any may."""
    size = np.abs(alphas(results, examples.n)).max(axis=0)
    few = np.sort(np.argsort(-size)[:LOOKED_AT])
    weighted = np.flatnonzero(np.any([result.weights for result in results], axis=0))
    if not weighted.size:  # the model is constant
        return None
    sizes = np.zeros(compiled.n_kernels)
    sizes[weighted] = largest_values(compiled, examples.take(few), weighted)
    moves = [rounding(one.alpha, one.weights, sizes, one.scale) for one in results]
    worst = max(moves, key=lambda move: move.sum())
    if worst.sum() <= tol:
        return None
    named = np.argsort(-worst)[:NAMED]
    names = ", ".join(repr(compiled.names[m]) for m in named if worst[m] >= 0.1 * worst.max())
    return (
        f"the values of {names} have too few digits for tol={tol:g}: rounding alone may move the "
        f"gap by {worst.sum():.1e}. Scale the data or choose parameters that suit their scale, "
        "lower C, or raise tol"
    )
