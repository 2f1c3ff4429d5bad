"""
Which columns of a table matter
===============================

A table of numbers, categories and texts says whether a customer comes back. Every column has a
kernel of its own, and the model learns a weight for each.
"""

import matplotlib.pyplot as plt

from kernelweave import MKLClassifier, WeightsDisplay
from kernelweave.datasets import make_mixed_table
from kernelweave.kernels import RBF, BagOfWords, Linear

X, y = make_mixed_table(500, random_state=0)
X.head(3)

# %%
# Numbers that are close are alike, equal categories are alike, and texts that share words are.

numbers = ["age", "spend", "noise 1", "noise 2", "noise 3"]
kernels = {column: RBF("scale", columns=column) for column in numbers}
kernels |= {column: Linear(columns=column) for column in ["city", "colour"]}
kernels["review"] = BagOfWords(columns="review")

# %%
# With ``norm=1`` most weights are zero. With ``norm=2`` the columns that do not matter keep small
# ones. Only the age, the city and the review were used when the table was made up.

fig, axes = plt.subplots(1, 2, figsize=(9, 3), sharey=True, layout="constrained")
for ax, p in zip(axes, (1, 2), strict=True):
    model = MKLClassifier(kernels, norm=p, C=0.3).fit(X, y)
    WeightsDisplay.from_estimator(model, by="view", ax=ax)
    ax.set_title(f"norm={p}")

# %%
# A weight says how much a column may count. How much it does count is its share of the decisions.

model.weights_frame(by="view").round(2)
