"""Kernels that are evaluated by a Python function of two sets of examples.

The function need not be positive semidefinite. Its matrix on the training examples is therefore
repaired like a precomputed one (`kernelweave.kernels.vector.matrix_repair`): it is made symmetric,
and its negative eigenvalues are removed, also from the values of new examples. Duality gaps refer
to the repaired kernel. The kernel stores all training examples, since the function of new examples
reads them.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import scipy.sparse as sp

from kernelweave.common.types import Data, Tabular
from kernelweave.kernels.base import Kernel, TableKernel
from kernelweave.kernels.compile.examples import Table
from kernelweave.kernels.data.columns import Columns, choose, found
from kernelweave.kernels.data.encoding import Encoded, encode
from kernelweave.kernels.data.inputs import as_input, column, items_or_none
from kernelweave.kernels.vector.matrix_repair import check_repair, find_negative, repaired_table


@dataclass(frozen=True)
class Evaluated(TableKernel):
    """A kernel whose matrices are computed by a Python function and repaired.

    Parameters
    ----------
    repair : {"clip", "error"}
        Whether to repair an asymmetric or indefinite training matrix or to raise an error; see
        `Precomputed`.
    negative : array of shape (n_train, r), or None
        The r eigenvectors of negative eigenvalues, which are projected out; set by `resolve`.
    reference : array of shape (n_train, d) or (n_train,)
        The training examples; set by `resolve(X)`.
    """

    quantity = "given"

    repair: str = field(default="clip", kw_only=True)
    negative: np.ndarray | None = field(default=None, kw_only=True, repr=False, compare=False)
    reference: np.ndarray | None = field(default=None, kw_only=True, repr=False, compare=False)

    def __post_init__(self) -> None:
        super().__post_init__()
        check_repair(self.kind, self.repair)

    @abstractmethod
    def evaluate(self, X: np.ndarray, Y: np.ndarray) -> np.ndarray:
        """Return the kernel values of all pairs of examples.

        Parameters
        ----------
        X : array of shape (n, d), or (n,) for texts
        Y : array of shape (m, d), or (m,) for texts

        Returns
        -------
        array of shape (n, m)
        """

    def resolve(self, X: Data) -> Kernel:
        if isinstance(self.columns, Columns):
            return self
        X = as_input(X)
        kernel = self.with_parameters(X)
        training = kernel._read(X)
        kernel = replace(kernel, reference=training)
        title = f"kernel {kernel.labels[0]!r}"
        negative = find_negative(kernel._matrix(training), self.repair, title)
        return replace(kernel, negative=negative)

    def with_parameters(self, X: Tabular) -> Evaluated:
        """Return the kernel with its columns and parameters determined from X.

        Parameters
        ----------
        X : n training examples

        Returns
        -------
        Evaluated
        """
        return replace(self, columns=encode(self.columns, X, self.name))

    def _read(self, X: Tabular) -> np.ndarray:
        """Return the argument of the function: n vectors, (n, d), or texts of a column, (n,)."""
        columns = found(self, Columns)
        if not isinstance(columns, Encoded):
            return np.array(columns.texts(X), dtype=object)
        values: Any = columns.values(X)
        return np.asarray(values.toarray() if sp.issparse(values) else values)

    def table(self, X: Tabular, training: bool) -> Table:
        return repaired_table(self._matrix(self._read(X)), self.negative, training)

    def _matrix(self, X: np.ndarray) -> np.ndarray:
        """Return the values of the function for X and the training examples, (n, n_train)."""
        reference = self.reference
        assert reference is not None  # the kernel is resolved
        values = np.asarray(self.evaluate(X, reference), dtype=np.float64)
        if values.shape != (len(X), len(reference)):
            raise ValueError(
                f"kernel {self.labels[0]!r} returned an array of shape {values.shape} for {len(X)} "
                f"and {len(reference)} examples; it must return one of shape "
                f"{(len(X), len(reference))}"
            )
        if not np.isfinite(values).all():
            raise ValueError(
                f"kernel {self.labels[0]!r} returned NaN or infinity; its values must be finite"
            )
        return values


@dataclass(frozen=True)
class Function(Evaluated):
    """A Python function ``f(X, Y)`` that returns a kernel matrix.

    Estimators also accept the function itself in place of a kernel: ``kernels=[RBF(), f]``. Models
    with such a kernel cannot be saved.

    Parameters
    ----------
    function : callable
        Takes arrays of shapes (n, d) and (m, d) and returns an array of shape (n, m). Columns of
        categories are one-hot encoded. If X is a list of texts, or `columns` selects one column of
        texts, it takes arrays of texts of shapes (n,) and (m,).
    columns : columns of X to use, as in scikit-learn's ColumnTransformer; all by default
    name : str, optional
        Name of the kernel; the name of the function by default.
    repair : {"clip", "error"}
        If the matrix of the training examples is not symmetric or not positive semidefinite, "clip"
        repairs it with a warning, and "error" raises an error. See `Precomputed`.
    negative, reference : arrays
        Eigenvectors that are projected out, and training examples; set by `resolve(X)`.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.metrics.pairwise import cosine_similarity
    >>> from kernelweave.kernels import Function
    >>> X = np.array([[1.0, 0.0], [1.0, 1.0], [0.0, 2.0]])
    >>> kernel = Function(cosine_similarity)
    >>> print(kernel(X).round(2))
    [[1.   0.71 0.  ]
     [0.71 1.   0.71]
     [0.   0.71 1.  ]]
    >>> kernel.names
    ('cosine_similarity',)
    """

    function: Callable[[np.ndarray, np.ndarray], Any]

    def with_parameters(self, X: Tabular) -> Evaluated:
        columns = choose(self.columns, X, self.name)
        if _are_texts(columns, X):
            return replace(self, columns=columns)
        return super().with_parameters(X)

    def __post_init__(self) -> None:
        super().__post_init__()
        if not callable(self.function):
            raise ValueError(f"Function: function must be callable, got {self.function!r}")

    @property
    def kind(self) -> str:
        return str(getattr(self.function, "__name__", "Function"))

    def evaluate(self, X: np.ndarray, Y: np.ndarray) -> np.ndarray:
        return self.function(X, Y)


def _are_texts(columns: Columns, X: Tabular) -> bool:
    """Return whether the columns are a single column of strings."""
    part, _ = columns.present(X)
    if part is None or sp.issparse(part) or len(columns.indices) > 1:
        return False
    values = column(part, columns.locate(part)[0])
    return all(isinstance(value, str) for value in items_or_none(values))
