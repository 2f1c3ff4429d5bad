"""The sigmoid kernel."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from kernelweave.common.types import Data, Tabular
from kernelweave.kernels.base import Kernel
from kernelweave.kernels.compose.per_feature import Stack
from kernelweave.kernels.data.encoding import encode
from kernelweave.kernels.parameters import Parameter, Parameters, checked, members
from kernelweave.kernels.vector.function import Evaluated
from kernelweave.kernels.vector.gamma import concrete_gamma
from kernelweave.model.files.registry import registered


@registered("Sigmoid")
@dataclass(frozen=True)
class Sigmoid(Evaluated):
    """Sigmoid kernel tanh(gamma <x, y> + coef0), made positive semidefinite on the training data.

    For most parameters and data the training matrix has negative eigenvalues. They are set to 0,
    and the duality gap refers to the repaired matrix.

    Parameters
    ----------
    gamma : float > 0, {"auto", "scale"}, None, or a sequence of them
        Factor of the dot product. None and "auto" are 1 / n_features, "scale" is
        1 / (n_features * variance of all values).
    coef0 : float, or a sequence of them
        Constant that is added to the dot product.
    columns : columns of X to use, as in scikit-learn's ColumnTransformer; all by default
    name : str, optional
        Name of the kernel.
    repair : {"clip", "error"}
        Whether to repair an indefinite training matrix or to raise an error; see `Precomputed`.
    negative, reference : arrays
        Eigenvectors that are projected out, and training examples; set by `resolve(X)`.

    Examples
    --------
    >>> import numpy as np
    >>> from kernelweave.kernels import Sigmoid
    >>> X = np.array([[0.5], [1.0], [2.0]])
    >>> print(Sigmoid(gamma=0.5)(X).round(2))
    [[0.17 0.29 0.41]
     [0.29 0.5  0.71]
     [0.41 0.71 1.02]]
    """

    gamma: Parameter = None
    coef0: Parameter = 0.0

    def __post_init__(self) -> None:
        super().__post_init__()
        object.__setattr__(self, "gamma", checked("Sigmoid", "gamma", self.gamma))
        object.__setattr__(self, "coef0", checked("Sigmoid", "coef0", self.coef0))
        _ = self.members

    @property
    def members(self) -> list[Parameters]:
        """The parameters of each kernel of the family."""
        return members("Sigmoid", {"gamma": self.gamma, "coef0": self.coef0})

    @property
    def is_family(self) -> bool:
        return isinstance(self.gamma, tuple) or isinstance(self.coef0, tuple)

    @property
    def labels(self) -> tuple[str, ...]:
        return tuple(self.label(one) for one in self.members)

    def resolve(self, X: Data) -> Kernel:
        if not self.is_family:
            return super().resolve(X)
        return Stack(tuple(replace(self, **one).resolve(X) for one in self.members))

    def with_parameters(self, X: Tabular) -> Evaluated:
        columns = encode(self.columns, X, self.name)
        return replace(self, columns=columns, gamma=concrete_gamma(self.gamma, columns, X))

    def evaluate(self, X: np.ndarray, Y: np.ndarray) -> np.ndarray:
        return np.tanh(self.gamma * (X @ Y.T) + self.coef0)
