"""Weights of all l-mers, words of l letters, in gapped k-mer models."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ..common.core import _core
from ..kernels.string.hamming import spectrum
from ..kernels.string.hamming_kernel import HammingQuantity
from .words import fitted_model, output_of, sources_of, weighted_terms

if TYPE_CHECKING:
    from ..estimators.fitted import FittedEstimator

MOST_BYTES = 2**30  # largest table of weights


def gapped_words(
    estimator: FittedEstimator, target: object = None
) -> list[tuple[HammingQuantity, np.ndarray]]:
    """Return (quantity, weights of all l-mers) for each word length l.

    Weights have shape (letters**l,), in alphabetical order; the quantity has l and the alphabet.

    The score of a sequence is the intercept plus the sum of the weights of its l-mers. If the
    kernel has position weights (`centre`), the weight of each l-mer is multiplied by that of its
    position. With ``normalize="unit"`` the sum is divided by the norm of the sequence, which the
    weights do not include.

    Raises
    ------
    ValueError
        If a table would exceed `MOST_BYTES`.
    """
    model, output = fitted_model(estimator), output_of(estimator, target)
    found = []
    for source in sources_of(model, HammingQuantity):
        quantity = source.quantity
        planes, delta = weighted_terms(model, output, source.first, quantity.planes)
        if not planes.any():
            continue
        letters = len(quantity.alphabet.letters)
        size = 8.0 * letters**quantity.length
        if size > MOST_BYTES:
            raise ValueError(
                f"the weights of {letters}^{quantity.length} words would take {size / 2**30:.1f} "
                "GB; fit with shorter words (l)"
            )
        eigenvalues = planes @ np.array([spectrum(h, letters) for h in quantity.values], float)
        weights = _core.place_weights(
            quantity.source(), source.table.side, delta, -1, eigenvalues, 1
        )
        found.append((quantity, np.asarray(weights)))
    return found
