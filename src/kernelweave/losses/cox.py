"""The loss of survival analysis: Cox's partial likelihood."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, NoReturn

import numpy as np

from .base import Loss

TIES = ("breslow", "efron")


@dataclass(frozen=True)
class Cox(Loss):
    """Negative partial log-likelihood of Cox's proportional hazards model.

    It is not a sum over the examples: `kernelweave.problem.cox.CoxRisk` computes it.

    Parameters
    ----------
    ties : {"breslow", "efron"}
        Approximation for events at equal times.

    Examples
    --------
    >>> from kernelweave.losses import Cox
    >>> Cox(ties="efron").kind
    'survival'
    """

    ties: str = "breslow"

    name: ClassVar[str] = "cox"
    kind: ClassVar[str] = "survival"

    def __post_init__(self) -> None:
        if self.ties not in TIES:
            raise ValueError(f"ties must be one of {TIES}, got {self.ties!r}")

    def value(self, f: np.ndarray, y: np.ndarray) -> NoReturn:
        raise TypeError("the partial likelihood is not a sum over examples; use CoxRisk.value")

    def dual_term(self, y: np.ndarray, C: np.ndarray) -> NoReturn:
        raise TypeError("the partial likelihood is not a sum over examples; use CoxRisk.conjugate")

    def best_bias(self, F: np.ndarray, y: np.ndarray, C: np.ndarray, tau: float = 0.0) -> float:
        return 0.0
