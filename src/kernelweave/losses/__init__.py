"""Losses: what a wrong output costs, and what the dual problem sees of it.

A loss V(f, y) is convex in the output f. Example i is charged C_i V(f_i, y_i), and its share of the
dual problem is, for a signed alpha_i,

    conj_i(alpha) = C_i V*(-alpha / C_i, y_i) = sup over f of  -alpha f - C_i V(f, y_i).

For every loss here that has one form (`DualTerm`), so a solver handles all of them alike.
"""

from __future__ import annotations

from typing import Any, TypeGuard

from .base import Loss
from .dual_term import DualTerm
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

_LOSSES = (Hinge, SquaredHinge, Logistic, SmoothHinge, EpsilonInsensitive, Squared, OneClass)


def get(loss: str | Loss, kind: str, **params: Any) -> Loss:
    """Return the loss that a name stands for, or the loss object itself.

    Parameters
    ----------
    loss : str or Loss
        A name such as "hinge", or an object of this module.
    kind : {"classifier", "regressor", "one-class"}
        What the loss has to serve.
    **params
        Parameters of a loss given by name.
    """
    named = {cls.name: cls for cls in _LOSSES if cls.kind == kind}
    if isinstance(loss, str) and loss in named:
        return named[loss](**params)
    if _is_loss(loss) and loss.kind == kind and not params:
        return loss
    raise ValueError(
        f"loss must be one of {sorted(named)} or an object of kernelweave.losses for a {kind}, "
        f"got {loss!r}" + (f" with {params}" if params else "")
    )


def _is_loss(value: object) -> TypeGuard[Loss]:
    return isinstance(value, Loss) and not isinstance(value, type)
