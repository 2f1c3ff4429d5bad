"""Kernels on histograms: vectors whose values are counts, or parts of a whole."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from kernelweave.kernels.compile.examples import Table, View, vector_table
from kernelweave.kernels.data.columns import found
from kernelweave.kernels.data.encoding import Encoded
from kernelweave.kernels.vector.rbf import Exponential, VectorKernel
from kernelweave.model.files.registry import stored


@dataclass(frozen=True)
class NonNegative:
    """A view of columns whose values may not be negative (counts, histograms)."""

    columns: Encoded

    def table(self, X: Any, training: bool) -> Table:
        """Return the vectors as a table."""
        values = self.columns.values(X)
        if values.min() < 0:
            raise ValueError(
                f"Negative values in data: X holds {values.min():g}, and the ChiSquared and "
                "Intersection kernels accept values >= 0 only"
            )
        return vector_table(values)


@stored("ChiSquared")
@dataclass(frozen=True)
class ChiSquared(Exponential):
    """exp(-gamma sum_f (x_f - y_f)^2 / (x_f + y_f)) of non-negative vectors, with 0 / 0 = 0.

    Parameters
    ----------
    gamma : positive number, None, "auto", "scale", "median", or a sequence of them.
    columns : the part of X to use; all of it by default.
    name : what to call the kernel.

    Examples
    --------
    >>> import numpy as np
    >>> from kernelweave.kernels import ChiSquared
    >>> histograms = np.array([[3.0, 1.0, 0.0], [2.0, 2.0, 0.0], [0.0, 1.0, 3.0]])
    >>> print(ChiSquared(0.5)(histograms).round(2))
    [[1.   0.77 0.05]
     [0.77 1.   0.07]
     [0.05 0.07 1.  ]]
    """

    gamma: Any = 1.0

    quantity = "chi2"

    @property
    def view(self) -> View:
        return NonNegative(found(self, Encoded))


@stored("Intersection")
@dataclass(frozen=True)
class Intersection(VectorKernel):
    """sum_f min(x_f, y_f) of non-negative vectors, such as histograms.

    Parameters
    ----------
    columns : the part of X to use; all of it by default.
    name : what to call the kernel.

    Examples
    --------
    >>> import numpy as np
    >>> from kernelweave.kernels import Intersection
    >>> histograms = np.array([[3.0, 1.0, 0.0], [2.0, 2.0, 0.0], [0.0, 1.0, 3.0]])
    >>> print(Intersection()(histograms))
    [[4. 3. 1.]
     [3. 4. 1.]
     [1. 1. 4.]]
    """

    quantity = "min"

    @property
    def view(self) -> View:
        return NonNegative(found(self, Encoded))
