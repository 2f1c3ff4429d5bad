"""The text that represents the plan of a model loaded from a file."""

from __future__ import annotations

from dataclasses import dataclass

from ..model.files.registry import registered


@registered("PlanSummary")
@dataclass(frozen=True, repr=False)
class PlanSummary:
    """The description of a plan in a model file.

    Attributes
    ----------
    text : str
        The `repr` of the plan.
    certifies : str
        Text that states what the duality gap of the model certifies.
    """

    text: str
    certifies: str

    def __repr__(self) -> str:
        return self.text
