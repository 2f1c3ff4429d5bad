"""Norms on the kernel weights: what a combination of kernels costs.

Write w_m = theta_m sum_i alpha_i psi_m(x_i) for the part of kernel m in the model and s_m for
alpha' K_m alpha, so that ||w_m||^2 = theta_m^2 s_m. A norm enters the two problems as

    primal   1/2 regularizer(theta, s) = 1/2 sum_m ||w_m||^2 / theta_m = 1/2 theta . s
    dual     1/2 dual(s)               = 1/2 max { theta . s : theta >= 0, ||theta|| <= 1 }

so the two agree at theta = best(s). `Block` says how it departs from this.
"""

from __future__ import annotations

from numbers import Real

from ..numeric import as_number
from .base import Fixed, Norm
from .block import Block
from .elliptic import Elliptic
from .lp import Lp

__all__ = ["Block", "Elliptic", "Fixed", "Lp", "Norm", "as_norm"]


def as_norm(norm: float | Norm) -> Norm:
    """Return `Lp(norm)` for a number, and a norm object as it is."""
    if isinstance(norm, Norm):
        return norm
    number = isinstance(norm, Real) and not isinstance(norm, bool)
    if as_number(norm) >= 1:
        return Lp(as_number(norm))
    raise (ValueError if number else TypeError)(
        "norm must be a number p >= 1, inf, or an object such as norms.Lp(p, weights), "
        f"norms.Elliptic(E) or norms.Block(q), got {norm!r}"
    )
