"""Data-dependent values of gamma.

``gamma`` is a positive number or one of these, which are determined from the training data:

* None or "auto": 1 / n_features, counted after one-hot encoding;
* "scale": 1 / (n_features * variance of all values), as in scikit-learn's SVC;
* "median": 1 / the median distance of two examples (squared for RBF), so that half of the pairs
  have kernel values above exp(-1). It applies to kernels that are functions of a distance.
* "learn": for RBF kernels, learned by `MKLWidths`.
"""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp

from kernelweave.common.core import _core, single_threaded_blas
from kernelweave.common.types import Tabular
from kernelweave.kernels.compile.examples import vector_table
from kernelweave.kernels.data.encoding import Encoded
from kernelweave.kernels.parameters import LEARNED

MEDIAN_EXAMPLES = 1000  # examples over which the median distance is taken: 500,000 pairs


def concrete_gamma(gamma: object, columns: Encoded, X: Tabular, quantity: str = "dot") -> object:
    """Return the numeric value of gamma; numbers are returned unchanged.

    Parameters
    ----------
    gamma : float, None, "auto", "scale", "median", or a tuple of them
    columns : Encoded
        The columns that the kernel reads.
    X : n training examples
    quantity : str
        Name of the distance whose median "median" refers to, such as "sqdist".

    Returns
    -------
    float, or tuple of floats
    """
    if isinstance(gamma, tuple):
        return tuple(concrete_gamma(one, columns, X, quantity) for one in gamma)
    if gamma == LEARNED:
        raise ValueError(
            "RBF: gamma='learn' is learned by MKLWidths(estimator); pass it the estimator, or "
            "another gamma"
        )
    if gamma in (None, "auto"):
        return 1.0 / columns.n_features
    if gamma == "median":
        return 1.0 / median(quantity, columns.present_values(X))
    if gamma != "scale":
        return gamma
    spread = variance(columns.present_values(X))
    return 1.0 / (columns.n_features * spread) if spread > 0 else 1.0


def median(quantity: str, values: np.ndarray | sp.csr_array) -> float:
    """Return the median of a quantity over pairs of different vectors; 1 if the median is 0.

    Parameters
    ----------
    quantity : str
        Name of the quantity in the compiled core, such as "sqdist".
    values : array or sparse matrix of shape (n, d)
        The n vectors; at most `MEDIAN_EXAMPLES` of them are used.
    """
    n = values.shape[0]
    some = np.linspace(0, n - 1, min(n, MEDIAN_EXAMPLES)).astype(np.int64)
    program, side = _core.Program(), _core.Side(len(some))
    program.copy(program.source(quantity))
    program.out()
    program.end_group()
    vector_table(values[some]).add_to(side)
    with single_threaded_blas():
        pairs = _core.evaluate(program, side, side)[0][np.triu_indices(len(some), 1)]
    found = float(np.median(pairs)) if len(pairs) else 0.0
    return found if found > 0 else 1.0


def variance(values: np.ndarray | sp.csr_array) -> float:
    """Return the variance of all values of an array or sparse matrix."""
    if isinstance(values, np.ndarray):
        return float(values.var())
    return float(values.power(2).mean() - values.mean() ** 2)
