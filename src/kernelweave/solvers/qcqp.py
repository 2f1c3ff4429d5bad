"""`QCQP` under its public path; the code is in `kernelweave.optimization.methods.qcqp`."""

from ..optimization.methods.qcqp import QCQP

__all__ = ["QCQP"]
