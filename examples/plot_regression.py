"""
Contributions of kernels to a regression
========================================

The target is the sum of a fast wave, a slow wave and a slope. The model has kernels of three
widths, and ``contributions`` splits the prediction into the contribution of each kernel.
"""

import matplotlib.pyplot as plt
import numpy as np

from kernelweave import MKLRegressor
from kernelweave.datasets import make_sines
from kernelweave.kernels import RBF

plt.style.use("tableau-colorblind10")

X, y = make_sines(300, frequencies=(0.7, 9), slope=0.25, noise=0.2, random_state=0)
widths = RBF(gamma=[0.002, 0.3, 40])
model = MKLRegressor(widths, norm=1, C=1, epsilon=0.1).fit(X, y)
for name, weight in zip(model.kernel_names_, model.weights_, strict=True):
    print(f"{weight:.2f} {name}")

# %%
# The contributions and the intercept add up to the prediction.

x = np.linspace(0, X.max(), 600)[:, None]
parts = model.contributions(x)
fig, axes = plt.subplots(2, 1, figsize=(8, 5), sharex=True, layout="constrained")
axes[0].plot(X, y, ".", color="lightgrey", label="data")
axes[0].plot(x, model.predict(x), color="black", lw=1, label="prediction")
for part, name in zip(parts.T, model.kernel_names_, strict=True):
    axes[1].plot(x, part, lw=1, label=name)
for ax in axes:
    ax.spines[["top", "right"]].set_visible(False)
    ax.legend(frameon=False, loc="upper left", ncols=3)
axes[0].set(ylabel="y")
text = axes[1].set(xlabel="x", ylabel="what each width adds")
