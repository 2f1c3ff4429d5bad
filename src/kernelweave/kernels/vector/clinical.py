"""The clinical kernel, for columns of numbers and categories."""

from __future__ import annotations

from dataclasses import dataclass, replace

from kernelweave.kernels.base import Kernel
from kernelweave.kernels.compile.program import Instruction
from kernelweave.kernels.data.columns import Columns, choose, found
from kernelweave.kernels.data.inputs import as_input
from kernelweave.kernels.data.ranged import Ranged, ranged
from kernelweave.kernels.parameters import Parameters
from kernelweave.kernels.vector.base import VectorKernel
from kernelweave.model.files.registry import registered


@registered("Clinical")
@dataclass(frozen=True)
class Clinical(VectorKernel):
    """Clinical kernel (Daemen et al., 2012): mean over columns of similarities from 0 to 1.

    The similarity of two numbers is ``1 - |x - y| / r``, with r the range of the column in the
    training data. Two categories are equal (1) or not (0). Code ordered categories, such as
    stages, as numbers 1, 2, 3. All columns have the same weight; there are no parameters. Values
    outside the range are moved to its ends. A missing number is replaced by the mean of the column,
    a missing category counts as a separate category.

    Parameters
    ----------
    columns : columns of X to use, as in scikit-learn's ColumnTransformer; all by default
    name : str, optional
        Name of the kernel.

    References
    ----------
    A. Daemen, D. Timmerman, T. Van den Bosch et al. (2012). Improved modeling of clinical data with
    kernel methods. Artificial Intelligence in Medicine 54(2).

    Examples
    --------
    >>> import pandas as pd
    >>> from kernelweave.kernels import Clinical
    >>> X = pd.DataFrame({"age": [40.0, 50.0, 80.0], "sex": ["f", "m", "f"]})
    >>> print(Clinical()(X).round(3))
    [[1.    0.375 0.5  ]
     [0.375 1.    0.125]
     [0.5   0.125 1.   ]]
    """

    quantity = "l1"

    def resolve(self, X: object) -> Kernel:
        if isinstance(self.columns, Columns):
            return self
        X = as_input(X)
        return replace(self, columns=ranged(choose(self.columns, X, self.name), X))

    def instruction(self, source: int, member: Parameters) -> Instruction:
        return ("power", source, -1.0 / len(found(self, Ranged).indices), 1.0, 1)

    @property
    def unit_diagonal(self) -> bool:
        return True
