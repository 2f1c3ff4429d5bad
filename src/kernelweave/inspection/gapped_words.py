"""Models on gapped k-mers as weights of words: what each l-mer adds to a score where it occurs."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..common.core import _core
from ..kernels.string.hamming import spectrum
from ..kernels.string.hamming_kernel import HammingQuantity
from .words import fitted_model, output_of, sources_of, weighted_terms

MOST_BYTES = 2**30  # of the weights of all l-mers


def gapped_words(estimator: Any, target: Any = None) -> list[tuple[HammingQuantity, np.ndarray]]:
    """Return the weights of all l-mers, shape (letters^l,), in the order of a dictionary.

    One array for each l of the model. A sequence scores the sum over its l-mers (times how much
    their places count, where the kernel says so), on the scale of `weighted_terms`.
    """
    model, output = fitted_model(estimator), output_of(estimator, target)
    found = []
    for number, quantity, _, first in sources_of(model, HammingQuantity):
        planes, delta = weighted_terms(model, output, first, len(quantity.values))
        if not planes.any():
            continue
        letters = len(quantity.alphabet.letters)
        size = 8.0 * letters**quantity.length
        if size > MOST_BYTES:
            raise ValueError(
                f"the weights of {letters}^{quantity.length} words would take {size / 2**30:.1f} GB"
            )
        table: Any = model.examples.tables[model.examples.sources[number]]
        side = _core.Side(table.sequences.n)
        table.add_to(side)
        each = [[float(value) for value in spectrum(v, letters)] for v in quantity.values]
        weights = _core.place_weights(quantity.source(), side, delta, -1, planes @ each, 1)
        found.append((quantity, np.asarray(weights)))
    return found
