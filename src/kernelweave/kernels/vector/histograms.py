"""Kernels on histograms: vectors of counts or proportions."""

from __future__ import annotations

from dataclasses import dataclass

from kernelweave.common.types import Tabular
from kernelweave.kernels.compile.examples import Table, View, vector_table
from kernelweave.kernels.data.columns import found
from kernelweave.kernels.data.encoding import Encoded
from kernelweave.kernels.parameters import Parameter
from kernelweave.kernels.vector.base import ExponentialOfDistance, VectorKernel
from kernelweave.model.files.registry import registered


@dataclass(frozen=True)
class NonNegative:
    """Columns whose values must be >= 0, as the table that a kernel reads.

    Attributes
    ----------
    columns : Encoded
        The columns, as numeric vectors.
    """

    columns: Encoded

    def table(self, X: Tabular, training: bool) -> Table:
        """Return the n rows of X as vectors; raise ValueError if a value is negative."""
        values = self.columns.values(X)
        if values.min() < 0:
            raise ValueError(
                f"Negative values in data: X contains {values.min():g}, but the ChiSquared and "
                "Intersection kernels require values >= 0; pass counts or proportions"
            )
        return vector_table(values)


@registered("ChiSquared")
@dataclass(frozen=True)
class ChiSquared(ExponentialOfDistance):
    """Chi-squared kernel exp(-gamma sum_f (x_f - y_f)^2 / (x_f + y_f)) on nonnegative vectors.

    Terms with x_f = y_f = 0 are 0.

    Parameters
    ----------
    gamma : float > 0, {"auto", "scale", "median"}, None, or a sequence of them
        None and "auto" are 1 / n_features, "scale" is 1 / (n_features * variance of all values),
        "median" is 1 / median distance.
    columns : columns of X to use, as in scikit-learn's ColumnTransformer; all by default
    name : str, optional
        Name of the kernel.

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

    gamma: Parameter = 1.0

    quantity = "chi2"

    @property
    def view(self) -> View:
        return NonNegative(found(self, Encoded))


@registered("Intersection")
@dataclass(frozen=True)
class Intersection(VectorKernel):
    """Histogram intersection kernel sum_f min(x_f, y_f) on nonnegative vectors.

    Parameters
    ----------
    columns : columns of X to use, as in scikit-learn's ColumnTransformer; all by default
    name : str, optional
        Name of the kernel.

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
