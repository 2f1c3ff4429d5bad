"""The linear kernel."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import scipy.sparse as sp

from kernelweave.kernels.base import Kernel
from kernelweave.kernels.compile.examples import Dense, Reader, Sparse
from kernelweave.kernels.data.columns import found
from kernelweave.kernels.data.encoding import Encoded
from kernelweave.kernels.vector.base import VectorKernel
from kernelweave.model.files.registry import registered


@registered("Linear")
@dataclass(frozen=True)
class Linear(VectorKernel):
    """Linear kernel, the dot product of x and y.

    Parameters
    ----------
    columns : columns of X to use, as in scikit-learn's ColumnTransformer; all by default
    name : str, optional
        Name of the kernel.

    Examples
    --------
    >>> import numpy as np
    >>> from kernelweave.kernels import Linear
    >>> X = np.array([[1.0, 0.0], [2.0, 1.0]])
    >>> print(Linear()(X))
    [[1. 2.]
     [2. 5.]]
    >>> print(Linear(columns=[0])(X))
    [[1. 2.]
     [2. 4.]]
    """

    quantity = "dot"

    def filled(self, present: Reader) -> Kernel:
        _, mean = self._vectors_and_mean(present)
        columns = found(self, Encoded)
        return replace(self, columns=replace(columns, fill=tuple(mean.tolist())))

    def centred(self, present: Reader) -> Kernel | None:
        columns = found(self, Encoded)
        vectors, mean = self._vectors_and_mean(present)
        if columns.categories or not isinstance(vectors, np.ndarray):  # would lose sparsity
            return None
        before = columns.offsets or (0.0,) * len(mean)
        offsets = tuple((np.array(before) + mean).tolist())
        return replace(self, columns=replace(columns, offsets=offsets))

    def _vectors_and_mean(self, reading: Reader) -> tuple[np.ndarray | sp.csr_array, np.ndarray]:
        """Return the vectors of n examples, (n, d), and their weighted mean, (d,)."""
        table = reading.table(found(self, Encoded))
        assert isinstance(table, Dense | Sparse)  # which is what Encoded returns
        vectors = table.values if isinstance(table, Dense) else table.to_csr()
        return vectors, np.ravel(reading.shares @ vectors)
