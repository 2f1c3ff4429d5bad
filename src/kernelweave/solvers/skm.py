"""`SKM` under its public path; the code is in `kernelweave.optimization.methods.skm`."""

from ..optimization.methods.skm import SKM
from ..optimization.methods.smoothing_bounds import a_priori_smoothing, smoothed_optimality

__all__ = ["SKM", "a_priori_smoothing", "smoothed_optimality"]
