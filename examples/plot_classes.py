"""
Kernel weights of every class
=============================

Ten handwritten digits of eight by eight pixels. Each row of pixels has a kernel, and each digit
learns its own weights: which rows distinguish it from the other digits?
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits

from kernelweave import MKLClassifier, WeightsDisplay
from kernelweave.kernels import RBF

X, y = load_digits(return_X_y=True)
X = X / 16
rows = {f"row {r + 1}": RBF("scale", columns=slice(8 * r, 8 * r + 8)) for r in range(8)}
model = MKLClassifier(rows, norm=1.2).fit(X[:1200], y[:1200])
print(f"accuracy {model.score(X[1200:], y[1200:]):.3f}")

# %%
# The weights of all kernels, one row of colours per digit.

display = WeightsDisplay(model.weights_, list(rows), model.classes_).plot()

# %%
# The weights beside an image of each digit: dark rows have large weights.

fig, axes = plt.subplots(1, 10, figsize=(11, 1.6), layout="constrained")
for ax, digit, weights in zip(axes, model.classes_, model.weights_, strict=True):
    ax.imshow(X[y == digit].mean(axis=0).reshape(8, 8), cmap="Greys", vmax=1)
    shade = np.repeat(weights[:, None] / model.weights_.max(), 8, axis=1)
    ax.imshow(shade, cmap="Reds", alpha=0.45, vmin=0, vmax=1)
    ax.set(xticks=[], yticks=[], title=str(digit))
