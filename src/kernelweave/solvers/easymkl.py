"""`EasyMKL` under its public path; the code is in `kernelweave.optimization.methods.easymkl`."""

from ..optimization.methods.easymkl import EasyMKL

__all__ = ["EasyMKL"]
