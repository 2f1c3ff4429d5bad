"""Types that the packages share."""

from __future__ import annotations

from typing import Protocol, TypeAlias

import numpy as np

Data: TypeAlias = object
"""Examples in any form that estimators accept: an array, a sparse matrix, a data frame, `Views`,
`Sequences`, or a list of texts. Only `kernels.data` looks inside."""

Numbers: TypeAlias = float | np.ndarray
"""A number, or an array with one for each output, kernel or example."""


class Tabular(Protocol):
    """Examples as rows, in a form that `kernels.data.inputs.as_input` returns.

    It is an array, a sparse matrix, a data frame, `Views` or `Sequences`.
    """

    @property
    def shape(self) -> tuple[int, ...]:
        """Number of examples, and number of columns."""
