"""
Learned widths of single columns
================================

Noise columns reduce the accuracy of a kernel on all columns. ``MKLWidths`` learns a width for each
column by gradient descent, with a certified fit in each step. ``MKLKernelPCA`` draws the examples
in the feature space of the learned kernel.
"""

import matplotlib.pyplot as plt
import numpy as np

from kernelweave import MKLClassifier, MKLKernelPCA, MKLWidths
from kernelweave.kernels import RBF

rng = np.random.default_rng(0)
X = rng.normal(size=(200, 6))
y = X[:, 0] * X[:, 1] > 0

# %%
# The class is the sign of the product of columns 0 and 1, and is independent of each single column.

grid = MKLClassifier(RBF(gamma=np.geomspace(1e-3, 1e3, 20) / 6), norm=1, C=1.0).fit(X, y)
model = MKLWidths(MKLClassifier(RBF(gamma="learn"), C=1.0), ard=True, starts=1).fit(X, y)
new = rng.normal(size=(2000, 6))
right = new[:, 0] * new[:, 1] > 0
print(f"a grid of 20 widths: {grid.score(new, right):.2f}")
print(f"a width per column:  {model.score(new, right):.2f}")

# %%
# Widths of the columns, and the first two principal components of the learned kernel.

figure, (left, right) = plt.subplots(1, 2, figsize=(8, 3), layout="constrained")
left.bar([f"X{c}" for c in range(6)], model.gammas_[0])
left.set(ylabel="gamma", yscale="log")
Z = MKLKernelPCA(model.best_estimator_).fit_transform(X)
right.scatter(*Z.T, c=y, s=12, cmap="coolwarm")
right.set(xlabel="component 1", ylabel="component 2")
