"""HTML reports: one page with certificate, weights, explanations and held-out scores of a model."""

from .page import redraw, report

__all__ = ["redraw", "report"]
