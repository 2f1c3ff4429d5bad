"""Norms on the kernel weights: what a combination of kernels costs.

Write w_m = theta_m sum_i alpha_i psi_m(x_i) for the part of kernel m in the model and s_m for
alpha' K_m alpha, so that ||w_m||^2 = theta_m^2 s_m. A norm enters the two problems as

    primal   1/2 regularizer(theta, s) = 1/2 sum_m ||w_m||^2 / theta_m = 1/2 theta . s
    dual     1/2 dual(s)               = 1/2 max { theta . s : theta >= 0, ||theta|| <= 1 }

so the two agree at theta = best(s). `Block` says how it departs from this.
"""

from __future__ import annotations

from .base import Fixed, Norm
from .block import Block
from .elliptic import Elliptic
from .lp import Lp, as_norm

__all__ = ["Block", "Elliptic", "Fixed", "Lp", "Norm", "as_norm"]
