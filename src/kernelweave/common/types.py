"""Types that the packages share."""

from __future__ import annotations

from typing import TypeAlias

import numpy as np

Data: TypeAlias = object
"""Examples in any form that estimators accept: an array, a sparse matrix, a data frame, `Views`,
`Sequences`, or a list of texts. Only `kernels.data` looks inside."""

Numbers: TypeAlias = float | np.ndarray
"""A number, or an array with one for each output, kernel or example."""
