"""Norms on the kernel weights theta, which regularise the combination of kernels.

Let w_m = theta_m sum_i alpha_i psi_m(x_i) be the part of the model in the feature space of kernel
m, with feature map psi_m and dual variables alpha. Let s_m = alpha' K_m alpha with the kernel
matrix K_m, so that ||w_m||^2 = theta_m^2 s_m. A norm enters the primal and dual problems as

    primal   1/2 regularizer(theta, s) = 1/2 sum_m ||w_m||^2 / theta_m = 1/2 theta . s
    dual     1/2 dual(s)               = 1/2 max { theta . s : theta >= 0, ||theta|| <= 1 }

The two terms are equal at theta = best(s), the maximiser. `Block` documents how it differs.
"""

from __future__ import annotations

from .base import Norm
from .block import Block
from .elastic import Elastic
from .elliptic import Elliptic
from .fixed import Fixed
from .lp import Lp, as_norm
from .sum_of_norms import SumOfNorms
from .tikhonov import tikhonov_C

__all__ = [
    "Block",
    "Elastic",
    "Elliptic",
    "Fixed",
    "Lp",
    "Norm",
    "SumOfNorms",
    "as_norm",
    "tikhonov_C",
]
