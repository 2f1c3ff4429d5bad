"""Contents of a report as JSON values: sections with text, tables and figures.

A page is rendered from these values only and embeds them, so that `redraw` can render it again.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any, TypeAlias

import numpy as np

Json: TypeAlias = dict[str, Any]  # an object of JSON values
Folds: TypeAlias = list[tuple[np.ndarray, np.ndarray]]  # positions of training and test examples
DIGITS = 6  # significant digits of embedded numbers


@dataclass(frozen=True, eq=False)
class Figure:
    """A figure, described by the values that it draws.

    Attributes
    ----------
    caption : caption, also the alternative text for screen readers.
    kind : one of the names in `figures.KINDS`.
    data : arguments of the drawing function, as JSON values.
    size : width and height in inches.
    """

    caption: str
    kind: str
    data: Json
    size: tuple[float, float] = (6.4, 3.6)


@dataclass(frozen=True, eq=False)
class Section:
    """A section of a report.

    Attributes
    ----------
    title : the heading.
    text : introductory text.
    rows : a table whose first row is the header; may be empty.
    figures : the figures.
    data : further numbers, embedded in the page for other programs, as JSON values.
    """

    title: str
    text: str = ""
    rows: list[list[str]] = field(default_factory=list)
    figures: list[Figure] = field(default_factory=list)
    data: Json = field(default_factory=dict)

    @property
    def anchor(self) -> str:
        """Fragment identifier of links to the section."""
        return re.sub(r"[^a-z]+", "-", self.title.lower()).strip("-")

    def as_json(self) -> dict[str, object]:
        """Return the section as JSON values."""
        return asdict(self)

    @classmethod
    def from_json(cls, found: Mapping[str, Any]) -> Section:
        """Return the section from the JSON values that `as_json` returned."""
        figures = [Figure(**{**one, "size": tuple(one["size"])}) for one in found["figures"]]
        return cls(**{**found, "figures": figures})


def plain(values: object) -> Any:
    """Return numbers as JSON values with six significant digits; None if they are not finite."""
    found = np.asarray(values, dtype=float)
    if found.ndim:
        return [plain(value) for value in found]
    number = float(found)
    return float(f"{number:.{DIGITS}g}") if math.isfinite(number) else None
