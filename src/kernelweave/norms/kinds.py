"""Which norms are alike: what solvers ask before they serve one."""

from __future__ import annotations

import numpy as np

from .base import Norm
from .block import Block
from .elliptic import Elliptic
from .fixed import Fixed
from .lp import Lp

LARGEST = 32  # exponent up to which the ball is round enough for Newton's method


def exponent(norm: Norm) -> float:
    """Return the p of a norm whose problem is that of an lp norm; NaN for any other norm."""
    if isinstance(norm, Lp) or (isinstance(norm, Block) and norm.q <= 2):
        return norm.p
    return np.nan


def is_sparse(norm: Norm) -> bool:
    """Whether p = 1."""
    return exponent(norm) == 1


def is_smooth(norm: Norm) -> bool:
    """Whether the best weights of an alpha are unique: all norms but p = 1."""
    return not is_sparse(norm)


def is_curved(norm: Norm) -> bool:
    """Whether the ball of the norm has a boundary that Newton's method can follow."""
    return isinstance(norm, Elliptic) or 1 < exponent(norm) <= LARGEST


def has_ball(norm: Norm) -> bool:
    """Whether the feasible weights are those of a convex function that cuts can be set against."""
    return is_sparse(norm) or is_curved(norm)


def is_plain_sum(norm: Norm) -> bool:
    """Whether p = inf, where all weights are 1."""
    return exponent(norm) == np.inf


def is_given(norm: Norm) -> bool:
    """Whether the norm leaves no choice of weights."""
    return is_plain_sum(norm) or isinstance(norm, Fixed)


def is_scale(norm: Norm) -> bool:
    """Whether the norm can scale any weights: block norms with q > 2 allow none that are 0."""
    return not (isinstance(norm, Block) and norm.q > 2)
