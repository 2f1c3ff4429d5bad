"""The Hessian of J(theta), the optimal value of the inner problem, for smooth risks.

With R the risk, the inner optimum satisfies alpha = -grad R(K alpha), where K = sum_m theta_m K_m.
The derivative of alpha in theta_m is -x_m with (I + D K) x_m = D g_m, where D is the Hessian of R
and g_m = K_m alpha. Since dJ/dtheta_m = -1/2 alpha' g_m, the Hessian of J is G' (I + D K)^-1 D G,
where the g_m are the columns of G. The conjugate gradients of `inner.newton_cg` solve the M systems
at once. The risk need not be a sum over the examples.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ...engines.base import Engine, kernel_blocks
from ...problem.problem import Problem
from ..inner.newton_cg import newton_iterates
from ..inner.products import kernel_product

MOVES = 30  # maximum number of conjugate gradient iterations
ENOUGH = 1e-3  # squared norm of residuals, relative to the first, at which they stop


@dataclass(frozen=True)
class ResponseHessian:
    """The Hessian of J(theta), the optimal value at fixed weights theta, for a smooth risk.

    Parameters
    ----------
    products : {"engine", "matrix", "sample"}
        How products with the kernel matrix are computed: by the engine, with the matrix in memory,
        or with a Nyström approximation.
    """

    products: str

    def __call__(self, problem: Problem, engine: Engine, weights: np.ndarray) -> np.ndarray:
        """Return the Hessian, shape (M, M), at the alpha of an engine and weights, shape (M,)."""
        hessian = problem.risk.response(engine.combined(weights).copy()).hessian
        G = np.array(kernel_blocks(engine).outputs_at(np.arange(engine.n)))
        product = kernel_product(self.products, engine, weights)

        def curved(columns: np.ndarray) -> np.ndarray:
            return np.stack([hessian(column) for column in columns.T], axis=1)

        right = curved(G.T)
        K_right = product(right)
        enough = ENOUGH * np.einsum("ik,ik->k", right, K_right)
        for found in newton_iterates(curved, product, right, K_right, MOVES):
            if np.all(found.squared <= enough):
                break
        hessian_of_J = G @ found.x
        return np.asarray(0.5 * (hessian_of_J + hessian_of_J.T))
