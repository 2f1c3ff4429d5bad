"""Plans of loaded models: a text."""

from __future__ import annotations

from dataclasses import dataclass

from ..model.files.registry import registered


@registered("PlanSummary")
@dataclass(frozen=True, repr=False)
class PlanSummary:
    """What a model file holds of a plan.

    Attributes
    ----------
    text : str
        The `repr` of the plan.
    certifies : str
        What the duality gap of the model certifies.
    """

    text: str
    certifies: str

    def __repr__(self) -> str:
        return self.text
