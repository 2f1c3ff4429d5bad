"""Generalisation bounds under their public path; the code is in `kernelweave.problem.bounds`."""

from ..problem.bounds import Estimate, MarginBound, empirical_rademacher, margin_bound, rademacher

__all__ = ["Estimate", "MarginBound", "empirical_rademacher", "margin_bound", "rademacher"]
