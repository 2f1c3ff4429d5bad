"""What a report says, as plain values: sections with texts, tables and figures.

A page is drawn from these alone, and holds them as JSON, so that it can be drawn again.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

import numpy as np

DIGITS = 6  # of numbers that are drawn


@dataclass(frozen=True, eq=False)
class Figure:
    """A picture, as what is needed to draw it.

    Attributes
    ----------
    caption : what it shows, also for those who do not see it.
    kind : one of the names in `figures.KINDS`.
    data : what is drawn, as JSON knows it.
    size : width and height in inches.
    """

    caption: str
    kind: str
    data: dict[str, Any]
    size: tuple[float, float] = (6.4, 3.6)


@dataclass(frozen=True, eq=False)
class Section:
    """What one heading of a report holds.

    Attributes
    ----------
    title : the heading.
    text : what it says, in sentences.
    rows : a table, the first row its head; may be empty.
    figures : pictures.
    data : further numbers for other programs, as JSON knows them.
    """

    title: str
    text: str = ""
    rows: list[list[str]] = field(default_factory=list)
    figures: list[Figure] = field(default_factory=list)
    data: dict[str, Any] = field(default_factory=dict)

    @property
    def anchor(self) -> str:
        """What links to the section are called."""
        return re.sub(r"[^a-z]+", "-", self.title.lower()).strip("-")

    def as_json(self) -> dict[str, Any]:
        """Return the section as JSON knows it."""
        return asdict(self)

    @classmethod
    def from_json(cls, found: Mapping[str, Any]) -> Section:
        """Return the section that `as_json` has written."""
        figures = [Figure(**{**one, "size": tuple(one["size"])}) for one in found["figures"]]
        return cls(**{**found, "figures": figures})


def plain(values: Any) -> Any:
    """Return numbers as JSON knows them: with six digits, None where there is none."""
    found = np.asarray(values, dtype=float)
    if found.ndim:
        return [plain(value) for value in found]
    number = float(found)
    return float(f"{number:.{DIGITS}g}") if math.isfinite(number) else None
