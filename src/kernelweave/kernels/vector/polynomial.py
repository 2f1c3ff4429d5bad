"""The polynomial kernel."""

from __future__ import annotations

from dataclasses import dataclass

from kernelweave.kernels.compile.program import Instruction
from kernelweave.kernels.parameters import Parameter, Parameters
from kernelweave.kernels.vector.base import VectorKernel
from kernelweave.model.files.registry import registered


@registered("Polynomial")
@dataclass(frozen=True)
class Polynomial(VectorKernel):
    """Polynomial kernel (gamma <x, y> + coef0)^degree.

    Parameters
    ----------
    degree : int >= 1, or a sequence of them
    gamma : float > 0, {"auto", "scale"}, None, or a sequence of them
        Factor of the dot product. None and "auto" are 1 / n_features, "scale" is
        1 / (n_features * variance of all values).
    coef0 : float >= 0, or a sequence of them
        Constant that is added to the dot product.
    columns : columns of X to use, as in scikit-learn's ColumnTransformer; all by default
    name : str, optional
        Name of the kernel.

    Examples
    --------
    >>> import numpy as np
    >>> from kernelweave.kernels import Polynomial
    >>> X = np.array([[1.0, 0.0], [2.0, 1.0]])
    >>> print(Polynomial(2, gamma=1.0)(X))
    [[ 4.  9.]
     [ 9. 36.]]
    >>> Polynomial([1, 2, 3], gamma=1.0)(X).shape
    (3, 2, 2)
    """

    degree: Parameter = 3
    gamma: Parameter = None
    coef0: Parameter = 1.0

    quantity = "dot"

    def instruction(self, source: int, member: Parameters) -> Instruction:
        return ("power", source, member["gamma"], member["coef0"], member["degree"])
