"""How the value of the best machine bends as the kernel weights change.

For fixed weights the alphas of the free examples A (strictly between their bounds) satisfy

    conj'(alpha_A) + sum_m theta_m g_mA + b = 0,      sum alpha = tau.

Differentiating in theta gives the rates of alpha_A and, since dJ/dtheta_m = -1/2 s_m, the second
derivative of J: the Hessian of Chapelle and Rakotomamonjy (2008), here for every loss.
"""

from __future__ import annotations

import numpy as np

from ..saddle import Saddle

RIDGE = 1e-10  # relative to the mean diagonal of the kernel: keeps a singular block solvable


def curvature(kernel: np.ndarray, bend: np.ndarray, outputs: np.ndarray) -> np.ndarray:
    """Return the second derivative of J, shape (M, M), as far as the f free examples make it.

    Parameters
    ----------
    kernel : array of shape (f, f)
        The combined kernel of the free examples.
    bend : array of shape (f,)
        The second derivatives of their dual terms.
    outputs : array of shape (M, f)
        Their outputs per kernel.
    """
    M, f = outputs.shape
    if f < 2:
        return np.zeros((M, M))
    saddle = Saddle(kernel, bend + RIDGE * np.trace(kernel) / f)
    rates, _ = saddle.solve(outputs.T)
    hessian = outputs @ rates
    return 0.5 * (hessian + hessian.T)
