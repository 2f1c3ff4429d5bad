"""`SKM` under its public path; the code is in `kernelweave.optimization.methods.skm`."""

from ..optimization.methods.skm import SKM

__all__ = ["SKM"]
