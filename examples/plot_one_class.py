"""
Outlier detection
=================

``MKLOneClass`` learns a region that contains most of the examples, without labels. At most a
fraction ``nu`` of them is outside.
"""

import matplotlib.pyplot as plt
import numpy as np

from kernelweave import MKLOneClass

rng = np.random.default_rng(0)
angle = rng.uniform(0, np.pi, size=300)
X = np.column_stack([np.cos(angle), np.sin(angle)]) + 0.12 * rng.normal(size=(300, 2))

# %%
# On the line the score is zero. Points outside are outliers.

grid = np.stack(np.meshgrid(np.linspace(-1.8, 1.8, 120), np.linspace(-0.9, 1.8, 90)), axis=-1)
fig, axes = plt.subplots(1, 3, figsize=(11, 3), sharey=True, layout="constrained")
for ax, nu in zip(axes, (0.02, 0.1, 0.3), strict=True):
    model = MKLOneClass(nu=nu).fit(X)
    score = model.decision_function(grid.reshape(-1, 2)).reshape(grid.shape[:2])
    ax.contourf(grid[..., 0], grid[..., 1], score, levels=20, cmap="Blues")
    ax.contour(grid[..., 0], grid[..., 1], score, levels=[0], colors="crimson")
    inside = model.predict(X) > 0
    ax.plot(*X[inside].T, ".", color="black", ms=3)
    ax.plot(*X[~inside].T, ".", color="crimson", ms=5)
    ax.set(title=f"nu = {nu:g}: {np.mean(~inside):.0%} outside", aspect="equal")
