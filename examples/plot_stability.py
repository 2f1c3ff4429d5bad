"""
Uncertainty of kernel weights
=============================

A weight is an estimate. ``bootstrap_weights`` fits the model on bootstrap samples, which shows the
variation of the weights, and on permuted labels, which shows their size by chance.
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
# Columns 0 and 1 matter. Lines span 90 % of the bootstrap samples. Filled marks are significantly
# larger than with permuted labels.

model = MKLClassifier(kernels, norm=2, C=0.3)
found = bootstrap_weights(model, X, y, n=40, n_permutations=39)
display = StabilityDisplay(found).plot()
print("significant:", found.significant(0.05, "max"))
