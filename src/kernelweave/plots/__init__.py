"""Matplotlib displays under their public path; the code is in `kernelweave.display`."""

from ..display.displays import (
    AlignmentDisplay,
    ComparisonDisplay,
    ConvergenceDisplay,
    WeightsDisplay,
)

__all__ = ["AlignmentDisplay", "ComparisonDisplay", "ConvergenceDisplay", "WeightsDisplay"]
