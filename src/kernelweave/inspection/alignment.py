"""Similarity of kernels: alignments between their matrices.

The alignment of two kernels is the cosine between their matrices, <K, L> / (||K|| ||L||) with the
Frobenius product (Cristianini et al., 2002). Cortes et al. (2012) centre the kernels first.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ..common.numbers import thread_count
from ..common.types import Data
from ..engines import DenseEngine, TrainingSet
from ..estimators.validation import as_rows
from ..kernels import Kernel
from ..kernels.compile.normalize import prepare
from ..optimization.methods.alignment import ROUNDING, Moments


def kernel_alignment(
    kernels: Kernel | Sequence[Kernel], X: Data, *, centered: bool = True, n_jobs: int | None = None
) -> np.ndarray:
    """Return the pairwise alignments of kernels: cosines between their matrices.

    Parameters
    ----------
    kernels : Kernel or sequence of Kernel
        A kernel with several values of a parameter, such as ``RBF([0.1, 1.0])``, counts as several.
    X : array-like of n examples
        For precomputed kernels the row numbers in their matrix, shape (n,).
    centered : bool
        Whether the kernels are centred first, so that a constant offset does not increase the
        alignment.
    n_jobs : int, optional
        Number of threads; None is one, -1 all processors.

    Returns
    -------
    ndarray of shape (M, M), where M is the number of kernels
        The diagonal is 1. The row and the column of a constant kernel are 0.

    Raises
    ------
    ValueError
        If kernel values are too large for floating point numbers.

    Examples
    --------
    >>> import numpy as np
    >>> from kernelweave import kernel_alignment
    >>> from kernelweave.kernels import RBF, Linear
    >>> X = np.random.default_rng(0).normal(size=(200, 2))
    >>> print(kernel_alignment([RBF([0.1, 0.11]), Linear(columns=[0])], X).round(1))
    [[1.  1.  0.7]
     [1.  1.  0.6]
     [0.7 0.6 1. ]]
    """
    n_jobs = thread_count(n_jobs)
    compiled, examples = prepare(kernels, None, as_rows(kernels, X), n_jobs=n_jobs)
    training_set = TrainingSet(compiled.listing, examples, cache_mb=0, n_jobs=n_jobs)
    try:
        moments = Moments.of(DenseEngine.of(training_set))
    except FloatingPointError as error:
        sizes = training_set.largest_values()
        largest = f"{compiled.names[sizes.argmax()]!r} has values of {sizes.max():.3g}"
        raise ValueError(f"kernels: {error}: {largest}; scale the data") from None
    plain = np.diag(moments.gram)
    products = moments.centered() if centered else moments.gram
    norms = np.sqrt(np.where(np.diag(products) > ROUNDING * plain, np.diag(products), np.inf))
    return products / np.outer(norms, norms)
