"""Reports: one page that says what a model is, what it learned, and how good it is."""

from .page import report

__all__ = ["report"]
