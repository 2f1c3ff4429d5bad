"""
How many kernels are enough?
============================

Ten columns have a kernel each; three of them matter, and two more copy one of these with noise.
``few_kernels`` returns a model with at most k kernels. Its gap bounds the distance to the best
model without a limit. ``norms.Elastic`` lies between p = 1, with few kernels, and p = 2.
"""

import matplotlib.pyplot as plt
import numpy as np

from kernelweave import MKLRegressor, few_kernels, norms
from kernelweave.kernels import RBF, per_feature

plt.style.use("tableau-colorblind10")

rng = np.random.default_rng(0)
X = rng.normal(size=(200, 10))
X[:, 3:5] = X[:, :1] + 0.5 * rng.normal(size=(200, 2))
y = np.sin(X[:, 0]) + X[:, 1] ** 2 - X[:, 2] + 0.3 * rng.normal(size=200)

estimator = MKLRegressor(per_feature(RBF(gamma=0.5)), norm=1, loss="squared", C=1.0)
limits = range(1, 8)
found = [few_kernels(estimator, X, y, max_kernels=k) for k in limits]
for k, one in zip(limits, found, strict=True):
    print(f"{k} kernels: columns {one.kernels.tolist()}, gap {one.gap:.3f}")

# %%
# Left: the gap for each limit. Right: the weights of three norms.

fig, (left, right) = plt.subplots(1, 2, figsize=(9, 3.4), layout="constrained")
left.plot(limits, [one.gap for one in found], marker="o")
left.set(xlabel="largest number of kernels", ylabel="gap to the optimum without limit", ylim=0)
labelled = {"p = 1": norms.Lp(1), "Elastic(0.5)": norms.Elastic(0.5), "p = 2": norms.Lp(2)}
for shift, (label, norm) in enumerate(labelled.items()):
    weights = estimator.set_params(norm=norm).fit(X, y).weights_
    right.bar(np.arange(10) + 0.27 * (shift - 1), weights, 0.25, label=label)
right.set(xlabel="column", ylabel="weight", xticks=range(10))
right.legend(frameon=False)
for ax in (left, right):
    ax.spines[["top", "right"]].set_visible(False)
