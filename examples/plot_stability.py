"""
How sure are the weights?
=========================

A weight is an estimate. ``bootstrap_weights`` fits the model on resampled data, which shows how far
a weight moves, and on permuted labels, which shows how large it gets by chance.
"""

import numpy as np

from kernelweave import MKLClassifier, StabilityDisplay
from kernelweave.inspection import bootstrap_weights
from kernelweave.kernels import RBF

rng = np.random.default_rng(0)
X = rng.normal(size=(200, 14))
y = np.sin(2 * X[:, 0]) + X[:, 1] + 0.5 * rng.normal(size=200) > 0
kernels = {f"column {c}": RBF(0.5, columns=[c]) for c in range(14)}

# %%
# Columns 0 and 1 matter. A line spans the weights of nine in ten bootstrap samples; filled marks
# are larger than chance explains.

model = MKLClassifier(kernels, norm=2, C=0.3)
found = bootstrap_weights(model, X, y, n=40, n_permutations=39)
display = StabilityDisplay(found).plot()
print("significant:", found.significant(0.05, "max"))
