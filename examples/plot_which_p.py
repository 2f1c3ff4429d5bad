"""
Choosing p
==========

Two Gaussians differ in some of 50 features, and every feature has a kernel. The best norm of the
weights depends on the number of features that differ (Kloft et al., 2011, section 6.1).
"""

import matplotlib.pyplot as plt
import numpy as np

from kernelweave import MKLClassifier
from kernelweave.datasets import make_sparse_to_uniform
from kernelweave.kernels import Linear, per_feature

plt.style.use("tableau-colorblind10")

each = per_feature(Linear())
norms = {"1": 1, "4/3": 4 / 3, "2": 2, "4": 4, "inf": np.inf}


def error(p, relevant):
    """Return the test error at the best of a few costs, which a validation set chooses."""
    errors = []
    for seed in range(3):
        X, y, _ = make_sparse_to_uniform(50, n_relevant=relevant, random_state=seed)
        valid = make_sparse_to_uniform(1000, n_relevant=relevant, random_state=50 + seed)[:2]
        test = make_sparse_to_uniform(2000, n_relevant=relevant, random_state=100 + seed)[:2]
        models = [MKLClassifier(each, norm=p, C=C).fit(X, y) for C in (0.003, 0.03)]
        best = max(models, key=lambda model: model.score(*valid))
        errors.append(1 - best.score(*test))
    return np.mean(errors)


# %%
# If one feature differs, norms near p = 1 are best. If all differ, the plain sum (p = inf) is best,
# and p = 1 discards useful features.

fig, ax = plt.subplots(figsize=(6.5, 4), layout="constrained")
for relevant, colour in ((1, "C0"), (9, "C1"), (50, "C2")):
    errors = [error(p, relevant) for p in norms.values()]
    ax.plot(list(norms), errors, marker="o", color=colour, label=f"{relevant} of 50")
    best = int(np.argmin(errors))
    ax.plot(best, errors[best], marker="o", markersize=14, mfc="none", color=colour)
ax.set(xlabel="p", ylabel="test error", ylim=(0, None))
ax.spines[["top", "right"]].set_visible(False)
legend = ax.legend(title="features that count", frameon=False)
