"""The kernel of examples that are similar to nothing but themselves."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from kernelweave.common.core import _core
from kernelweave.kernels.base import Kernel
from kernelweave.kernels.compile.program import Expression, Layout
from kernelweave.model.files.registry import stored


@stored("IdTable")
@dataclass(frozen=True, eq=False)
class IdTable:
    """Which training example each of n examples is, shape (n,); -1 for new ones."""

    ids: np.ndarray

    def take(self, index: np.ndarray) -> IdTable:
        return IdTable(self.ids[index])

    def reference(self) -> IdTable:
        return self

    def add_to(self, side: _core.Side) -> None:
        side.add_ids(self.ids)


@dataclass(frozen=True)
class Numbers:
    """The view of examples as their numbers in the training data."""

    def table(self, X: Any, training: bool) -> IdTable:
        """Return which training examples X are."""
        n = X.shape[0]
        return IdTable(np.arange(n) if training else np.full(n, -1))


@stored("Identity")
@dataclass(frozen=True)
class Identity(Kernel):
    """k(x, z) = 1 if x and z are the same training example, and 0 otherwise.

    Kernels of long words or narrow widths have matrices that are nearly diagonal. Such a kernel
    fits every example by itself, and takes weight for it that says nothing about words or widths
    (Sonnenburg et al. 2006, section 4.1.3). Added to every kernel, ``kernel + ridge * Identity()``,
    the identity fits them at no kernel's expense, and adds nothing to the scores of new examples:
    this penalises squared slacks. As one more kernel beside the others it helps little at p = 1;
    ``docs/insight.md`` shows both.

    Examples
    --------
    >>> import numpy as np
    >>> from kernelweave.kernels import Identity, Linear
    >>> X = np.array([[1.0], [2.0]])
    >>> print((Linear() + 0.5 * Identity())(X))
    [[1.5 2. ]
     [2.  4.5]]
    """

    def resolve(self, X: Any) -> Identity:
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
        return [(("copy", layout.source("identity", Numbers())),)]
