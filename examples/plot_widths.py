"""
Learned weights of RBF widths
=============================

Instead of choosing the width of an RBF kernel, take many widths and learn their weights. The
classes are two stars, one inside the other. If they nearly touch, only a narrow kernel separates
them. As the outer star grows, the weight moves to wider kernels (Sonnenburg et al., 2006, figure
2).
"""

import matplotlib.pyplot as plt
import numpy as np

from kernelweave import MKLClassifier
from kernelweave.datasets import make_stars
from kernelweave.kernels import RBF

plt.style.use("tableau-colorblind10")

widths = np.array([0.01, 0.1, 1, 10, 100])  # 2 sigma^2
radii = np.arange(4.2, 10, 0.4)
weights = np.empty((len(radii), len(widths)))
for row, radius in enumerate(radii):
    X, y = make_stars(500, outer_radius=radius, random_state=0)
    model = MKLClassifier(RBF(gamma=1 / widths), norm=1, C=0.5, normalize=None)
    weights[row] = model.fit(X, y).weights_

# %%
# Each line is the weight of one width against the distance of the stars.

fig, (left, middle, right) = plt.subplots(
    1, 3, figsize=(11, 3.4), width_ratios=(1, 1, 1.8), layout="constrained"
)
for ax, radius in ((left, 4.6), (middle, 9)):
    X, y = make_stars(500, outer_radius=radius, random_state=0)
    ax.scatter(*X.T, c=y, cmap="coolwarm", s=4)
    ax.set(title=f"outer radius {radius:g}", aspect="equal", xticks=[], yticks=[])
for width, line in zip(widths, weights.T, strict=True):
    right.plot(radii, line, marker=".", label=f"{width:g}")
right.set(xlabel="outer radius", ylabel="weight")
right.spines[["top", "right"]].set_visible(False)
legend = right.legend(title="width", frameon=False, loc="center left", bbox_to_anchor=(1, 0.5))
