"""The Hessian in the kernel weights of J(theta), the optimal value of the inner problem.

For given weights the alphas of the free examples A (strictly between their bounds) satisfy

    conj'(alpha_A) + sum_m theta_m g_mA + b = 0,      sum alpha = tau.

Differentiating in theta gives the rates of alpha_A and, since dJ/dtheta_m = -1/2 s_m, the Hessian
of Chapelle and Rakotomamonjy (2008), here for every loss.
"""

from __future__ import annotations

import numpy as np

from ..kkt_system import KKTSystem

RIDGE = 1e-10  # relative to the mean diagonal of the kernel: keeps a singular block solvable


def value_hessian(kernel: np.ndarray, curvature: np.ndarray, outputs: np.ndarray) -> np.ndarray:
    """Return the Hessian of J, shape (M, M), from the f free examples.

    Parameters
    ----------
    kernel : array of shape (f, f)
        The combined kernel of the free examples.
    curvature : array of shape (f,)
        The second derivatives of their dual terms.
    outputs : array of shape (M, f)
        Their outputs per kernel.
    """
    M, f = outputs.shape
    if f < 2:
        return np.zeros((M, M))
    system = KKTSystem(kernel, curvature + RIDGE * np.trace(kernel) / f)
    rates, _ = system.solve(outputs.T)
    hessian = outputs @ rates
    return 0.5 * (hessian + hessian.T)
