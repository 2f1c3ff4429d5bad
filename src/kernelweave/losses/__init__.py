"""Loss functions, and their terms in the dual problem.

A loss V(f, y) is convex in the decision value f. The primal objective has the term
C_i V(f_i, y_i) for example i. The dual problem has the convex conjugate of that term, a function of
the signed dual variable alpha_i:

    conj_i(alpha) = C_i V*(-alpha / C_i, y_i) = sup over f of  -alpha f - C_i V(f, y_i).

All losses of this package have conjugates of the same form (`DualTerm`), so that one solver handles
all of them.
"""

from __future__ import annotations

from .base import DualTerm, Loss, get
from .censored_squared import CensoredSquared
from .cox import Cox
from .epsilon_insensitive import EpsilonInsensitive
from .hard_margin import HardMargin
from .hinge import Hinge
from .logistic import Logistic
from .one_class import OneClass
from .ranking import Ranking
from .smooth_hinge import SmoothHinge
from .squared import Squared
from .squared_hinge import SquaredHinge

__all__ = [
    "CensoredSquared",
    "Cox",
    "DualTerm",
    "EpsilonInsensitive",
    "HardMargin",
    "Hinge",
    "Logistic",
    "Loss",
    "OneClass",
    "Ranking",
    "SmoothHinge",
    "Squared",
    "SquaredHinge",
    "get",
]
