"""`MWU` under its public path; the code is in `kernelweave.optimization.methods.mwu`."""

from ..optimization.methods.mwu import MWU

__all__ = ["MWU"]
