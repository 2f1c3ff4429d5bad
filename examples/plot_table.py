"""
Important columns of a mixed table
==================================

A table with numbers, categories and texts predicts whether a customer returns. Every column has its
own kernel, and the model learns a weight for each.
"""

import matplotlib.pyplot as plt

from kernelweave import MKLClassifier, WeightsDisplay
from kernelweave.datasets import make_mixed_table
from kernelweave.kernels import RBF, BagOfWords, Linear

X, y = make_mixed_table(500, random_state=0)
X.head(3)

# %%
# Examples are similar if their numbers are close, their categories equal, or if their texts share
# words.

numbers = ["age", "spend", "noise 1", "noise 2", "noise 3"]
kernels = {column: RBF("scale", columns=column) for column in numbers}
kernels |= {column: Linear(columns=column) for column in ["city", "colour"]}
kernels["review"] = BagOfWords(columns="review")

# %%
# With ``norm=1`` most weights are zero. With ``norm=2`` the columns that do not matter keep small
# ones. Only the age, the city and the review determine the class in these generated data.

fig, axes = plt.subplots(1, 2, figsize=(9, 3), sharey=True, layout="constrained")
for ax, p in zip(axes, (1, 2), strict=True):
    model = MKLClassifier(kernels, norm=p, C=0.3).fit(X, y)
    WeightsDisplay.from_estimator(model, by="view", ax=ax)
    ax.set_title(f"norm={p}")

# %%
# A weight is the factor of a kernel. The share of a column is its part of the variation of the
# decision values.

model.weights_frame(by="view").round(2)
