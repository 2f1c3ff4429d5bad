"""The RBF (Gaussian) and Laplacian kernels."""

from __future__ import annotations

from dataclasses import dataclass

from kernelweave.common.types import Tabular
from kernelweave.kernels.data.encoding import Encoded
from kernelweave.kernels.vector.base import ExponentialOfDistance
from kernelweave.model.files.registry import registered


@registered("RBF")
@dataclass(frozen=True)
class RBF(ExponentialOfDistance):
    """RBF (Gaussian) kernel exp(-gamma ||x - y||^2).

    A family is cheapest if each gamma is exactly twice the previous one, because the core then
    replaces exponentials by squarings.

    Parameters
    ----------
    gamma : float > 0, {"auto", "scale", "median"}, None, or a sequence of them
        None and "auto" are 1 / n_features, "scale" is 1 / (n_features * variance of all values),
        "median" is 1 / median squared distance. "learn" is for estimators that `MKLWidths` fits.
    columns : columns of X to use, as in scikit-learn's ColumnTransformer; all by default
    name : str, optional
        Name of the kernel.

    Examples
    --------
    >>> import numpy as np
    >>> from kernelweave.kernels import RBF
    >>> X = np.array([[0.0], [1.0], [3.0]])
    >>> print(RBF(0.5)(X).round(2))
    [[1.   0.61 0.01]
     [0.61 1.   0.14]
     [0.01 0.14 1.  ]]
    >>> RBF(gamma=[0.1, 1.0, 10.0])(X).shape
    (3, 3, 3)
    """

    quantity = "sqdist"

    def placed(self, columns: Encoded, X: Tabular) -> Encoded:
        return columns.shifted(X)


@registered("Laplacian")
@dataclass(frozen=True)
class Laplacian(ExponentialOfDistance):
    """Laplacian kernel exp(-gamma sum_f abs(x_f - y_f)).

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
    >>> from kernelweave.kernels import Laplacian
    >>> print(Laplacian(0.5)(np.array([[0.0], [1.0], [3.0]])).round(2))
    [[1.   0.61 0.22]
     [0.61 1.   0.37]
     [0.22 0.37 1.  ]]
    """

    quantity = "l1"
