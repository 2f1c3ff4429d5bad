"""
Similar kernels under different norms
=====================================

Six widths of one kernel, and a linear kernel of one column. The example draws the similarity of
these kernels and their weights under different norms.
"""

import matplotlib.pyplot as plt
import numpy as np

from kernelweave import AlignmentDisplay, MKLClassifier, kernel_alignment, norms
from kernelweave.kernels import RBF, Linear

rng = np.random.default_rng(0)
X = rng.normal(size=(250, 3))
y = X[:, 0] + np.cos(3 * X[:, 1]) + 0.4 * rng.normal(size=250) > 0
kernels = [RBF(gamma=[0.2, 0.25, 0.3, 2.0, 2.2, 2.5]), Linear(columns=[0])]

# %%
# The alignment of two kernels is the cosine between their matrices; near 1 they are redundant.

display = AlignmentDisplay.from_kernels(kernels, X)

# %%
# p = 1 selects one of several similar kernels. p = 2 gives weight to each of them. With the
# elliptic norm of their alignments they share the weight of one kernel.

E = kernel_alignment(kernels, X) + 1e-3 * np.eye(7)
choices = {"p = 1": 1, "p = 2": 2, "elliptic": norms.Elliptic(E)}
fig, axes = plt.subplots(1, 3, figsize=(10, 2.6), sharey=True, layout="constrained")
for ax, (name, norm) in zip(axes, choices.items(), strict=True):
    model = MKLClassifier(kernels, norm=norm, tol=1e-4).fit(X, y)
    ax.barh(["0.2", "0.25", "0.3", "2", "2.2", "2.5", "column"], model.weights_)
    ax.set(title=name, xlabel="weight")
    ax.spines[["top", "right"]].set_visible(False)
axes[0].invert_yaxis()
label = axes[0].set_ylabel("gamma")
