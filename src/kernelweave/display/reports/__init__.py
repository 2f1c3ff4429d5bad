"""Reports: one page that says what a model is, what it learned, and how good it is."""

from .page import redraw, report

__all__ = ["redraw", "report"]
