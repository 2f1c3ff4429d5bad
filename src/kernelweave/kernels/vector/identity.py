"""The identity kernel, whose matrix on the training examples is the identity matrix."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from kernelweave.common.core import _core
from kernelweave.common.types import Data, Tabular
from kernelweave.kernels.base import Kernel
from kernelweave.kernels.compile.program import Expression, Layout
from kernelweave.model.files.registry import registered


@registered("IdTable")
@dataclass(frozen=True, eq=False)
class IdTable:
    """The position of each example in the training data.

    Attributes
    ----------
    ids : array of shape (n,)
        -1 for new examples.
    """

    ids: np.ndarray

    def take(self, index: np.ndarray) -> IdTable:
        return IdTable(self.ids[index])

    def reference(self) -> IdTable:
        return self

    def add_to(self, side: _core.Side) -> None:
        side.add_ids(self.ids)


@dataclass(frozen=True)
class Positions:
    """The input of the identity kernel: the positions of examples in the training data."""

    def table(self, X: Tabular, training: bool) -> IdTable:
        """Return positions 0, ..., n - 1 for training data X, and -1 for new examples."""
        n = X.shape[0]
        return IdTable(np.arange(n) if training else np.full(n, -1))


@registered("Identity")
@dataclass(frozen=True)
class Identity(Kernel):
    """Identity kernel: 1 if both arguments are the same training example, 0 otherwise.

    Kernels of long words or large gamma have nearly diagonal matrices. Such a kernel can fit every
    training example separately and gets a large weight for it, which is hard to interpret
    (Sonnenburg et al. 2006, section 4.1.3). Adding the identity to every kernel, ``kernel + ridge *
    Identity()``, lets all kernels fit single examples equally well. This is equivalent to a penalty
    on squared slacks, and adds nothing to the decision values of new examples. Passing the identity
    as one more kernel has little effect at p = 1; see ``docs/insight.md``.

    Examples
    --------
    >>> import numpy as np
    >>> from kernelweave.kernels import Identity, Linear
    >>> X = np.array([[1.0], [2.0]])
    >>> print((Linear() + 0.5 * Identity())(X))
    [[1.5 2. ]
     [2.  4.5]]
    """

    def resolve(self, X: Data) -> Identity:
        return self

    @property
    def labels(self) -> tuple[str, ...]:
        return ("Identity",)

    @property
    def views(self) -> tuple[str, ...]:
        return ("examples",)

    @property
    def unit_diagonal(self) -> bool:
        return True

    def expressions(self, layout: Layout) -> list[Expression]:
        return [(("copy", layout.source("identity", Positions())),)]
