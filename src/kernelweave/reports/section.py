"""A section of a report, and figures as SVG."""

from __future__ import annotations

import io
import re
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

INK = "#000000"  # of axes and texts: the page gives them the colour of its own text
COLOURS = ("#1f77b4", "#d1730a", "#2a9d5c", "#a65fb0")  # readable on light and dark paper


@dataclass(frozen=True, eq=False)
class Section:
    """What one heading of a report holds.

    Attributes
    ----------
    title : the heading.
    text : what it says, in sentences.
    rows : a table, the first row its head; may be empty.
    figures : pairs of what a figure shows, for those who do not see it, and its SVG.
    data : numbers behind it, as JSON knows them.
    """

    title: str
    text: str = ""
    rows: list[list[str]] = field(default_factory=list)
    figures: list[tuple[str, str]] = field(default_factory=list)
    data: dict[str, Any] = field(default_factory=dict)

    @property
    def anchor(self) -> str:
        """What links to the section are called."""
        return re.sub(r"[^a-z]+", "-", self.title.lower()).strip("-")


def svg(draw: Callable[[Any], object], width: float = 6.4, height: float = 3.6) -> str:
    """Return what a function draws on the axes of a new figure, as SVG.

    Texts stay texts. What is black takes the colour of the page's text, and the paper is
    transparent, so that a figure fits light and dark pages.
    """
    from matplotlib import rc_context
    from matplotlib.figure import Figure

    style: dict[Any, Any] = {
        "svg.fonttype": "none",
        "svg.hashsalt": "kernelweave",
        "font.family": "sans-serif",
        "text.color": INK,
        "axes.edgecolor": INK,
        "axes.labelcolor": INK,
        "xtick.color": INK,
        "ytick.color": INK,
    }
    with rc_context(style):
        figure = Figure(figsize=(width, height), layout="constrained")
        figure.patch.set_alpha(0.0)
        axes = figure.subplots()
        axes.patch.set_alpha(0.0)
        axes.set_prop_cycle(color=COLOURS)
        draw(axes)
        file = io.StringIO()
        figure.savefig(file, format="svg", metadata={"Date": None})
    text = file.getvalue()
    return text[text.index("<svg") :].replace(INK, "currentColor")
