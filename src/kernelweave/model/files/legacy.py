"""Classes of objects that only files of earlier versions contain."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from ...optimization.summary import PlanSummary
from .registry import registered

# Texts of `certifies_` in files of version 0.2.
OLD_TEXTS = {
    "weights and machine": "weights and model",
    "machine at given weights": "model with fixed weights",
}


@registered("Pace")
@dataclass(frozen=True)
class Pace:
    """Accuracy of inner solutions, in a plan of version 0.2."""

    name: str
    most: float
    least: float


@registered("Plan")
@dataclass(frozen=True, repr=False)
class OldPlan:
    """The plan of a model that version 0.2 has saved.

    Only `engine`, `algorithm`, `step` and `alignment` are used; other fields can be in a file.
    """

    engine: str
    algorithm: object = None
    step: str | None = None
    pace: Pace | None = None
    alignment: str | None = None
    working_set: int = 1000
    conjugate: bool = False
    newton_cg: bool = False
    joint: bool = False
    grows: bool = False
    samples: bool = False
    drops: bool = False
    rough: bool = False

    @property
    def certifies(self) -> str:
        """Text that states what the duality gap of the model certifies."""
        return "weights and model" if self.alignment is None else "model with fixed weights"

    def for_file(self) -> PlanSummary:
        """Return the summary of the plan that model files contain."""
        return PlanSummary(repr(self), self.certifies)

    def __repr__(self) -> str:
        solver = self.algorithm or f"{self.step or self.alignment or 'fixed'} weights"
        return f"{self.engine} engine; {solver} (version 0.2)"


def with_current_texts(fitted: dict[str, Any]) -> dict[str, Any]:
    """Return the attributes of a model file, with texts of version 0.2 replaced by current ones."""
    if "certifies_" in fitted:
        fitted = fitted | {"certifies_": _current(fitted["certifies_"])}
    plan = fitted.get("plan_")
    if isinstance(plan, PlanSummary):
        fitted = fitted | {"plan_": replace(plan, certifies=_current(plan.certifies))}
    return fitted


def _current(text: str) -> str:
    """Return a text with the words in `OLD_TEXTS` replaced."""
    for old, new in OLD_TEXTS.items():
        text = text.replace(old, new)
    return text
