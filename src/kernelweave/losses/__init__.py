"""Losses: what a wrong output costs, and what the dual problem sees of it.

A loss V(f, y) is convex in the output f. Example i is charged C_i V(f_i, y_i), and its share of the
dual problem is, for a signed alpha_i,

    conj_i(alpha) = C_i V*(-alpha / C_i, y_i) = sup over f of  -alpha f - C_i V(f, y_i).

For every loss here that has one form (`DualTerm`), so a solver handles all of them alike.
"""

from __future__ import annotations

from .base import DualTerm, Loss, get
from .margins import HardMargin, Hinge, Logistic, SmoothHinge, SquaredHinge
from .one_class import OneClass
from .residuals import EpsilonInsensitive, Squared

__all__ = [
    "DualTerm",
    "EpsilonInsensitive",
    "HardMargin",
    "Hinge",
    "Logistic",
    "Loss",
    "OneClass",
    "SmoothHinge",
    "Squared",
    "SquaredHinge",
    "get",
]
