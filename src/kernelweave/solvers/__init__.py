"""Solvers with options, for `solver=`; the code is in `kernelweave.optimization.methods`."""

from ..optimization.methods.easymkl import EasyMKL
from ..optimization.methods.mwu import MWU
from ..optimization.methods.qcqp import QCQP
from ..optimization.methods.skm import SKM

__all__ = ["MWU", "QCQP", "SKM", "EasyMKL"]
