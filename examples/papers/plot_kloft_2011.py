"""
From one relevant kernel to all (Kloft et al., 2011)
====================================================

Figure 3 of *lp-norm multiple kernel learning*: two Gaussians in 50 dimensions with a linear kernel
per dimension, of which 50 to 1 are informative. The example compares test errors and the errors of
the learned weights for several norms. :doc:`Agreement with the paper </papers/kloft-2011>`.
"""

import os
import time

import matplotlib.pyplot as plt
import numpy as np

from kernelweave import MKLClassifier
from kernelweave.datasets import make_sparse_to_uniform
from kernelweave.kernels import RBF, Linear, per_feature

plt.style.use("tableau-colorblind10")

FULL = os.environ.get("KERNELWEAVE_PAPERS") == "full"  # more samples and 800 examples: make papers
NORMS = {"1": 1.0, "4/3": 4 / 3, "2": 2.0, "4": 4.0, "inf": np.inf}
RELEVANT = [50, 28, 18, 9, 4, 1] if FULL else [50, 18, 4, 1]
COSTS = 10.0 ** (np.arange(-4, 0.5, 0.5) if FULL else np.array([-3.0, -2.0, -1.0]))
SAMPLES, HELD_OUT = (10, 10_000) if FULL else (2, 1_000)


def draw(n, relevant, seed):
    """Return examples of class +1 and -1, and the true weights."""
    return make_sparse_to_uniform(n, n_relevant=relevant, random_state=seed)


def one_sample(n, relevant, seed, norm):
    """Return the test error at the C that is best on other examples, and that of the weights."""
    X, y, truth = draw(n, relevant, seed)
    check, test = draw(HELD_OUT, relevant, 1000 + seed), draw(HELD_OUT, relevant, 2000 + seed)
    models = [
        MKLClassifier(per_feature(Linear()), norm=norm, C=C, n_jobs=1).fit(X, y) for C in COSTS
    ]
    best = max(models, key=lambda model: model.score(*check[:2]))
    unit = np.abs(truth) ** 2 / np.linalg.norm(np.abs(truth) ** 2)
    off = np.linalg.norm(best.weights_ / np.linalg.norm(best.weights_) - unit)
    return 1 - best.score(*test[:2]), off


# %%
# Test errors and errors of the model (the distance of the learned weights from the true ones, both
# of length 1). p = 1 is best if one kernel is informative, the plain sum if all are, and other p in
# between.

sizes = [50, 800] if FULL else [50]
errors = {}
for n in sizes:
    for name, norm in NORMS.items():
        runs = [[one_sample(n, r, seed, norm) for seed in range(SAMPLES)] for r in RELEVANT]
        errors[f"n = {n}, p = {name}"] = np.mean(runs, axis=1)

fig, axes = plt.subplots(
    len(sizes), 2, figsize=(9, 3.4 * len(sizes)), layout="constrained", squeeze=False
)
for row, n in zip(axes, sizes, strict=True):
    for name in NORMS:
        found = errors[f"n = {n}, p = {name}"]
        for ax, values in zip(row, found.T, strict=True):
            ax.plot(range(len(RELEVANT)), values, "o-", label=f"p = {name}")
    for ax, label in zip(row, ["test error", "error of the weights"], strict=True):
        ax.set_xticks(range(len(RELEVANT)), RELEVANT)
        ax.set(xlabel=f"kernels that matter, of 50 (n = {n})", ylabel=label)
legend = axes[0, 0].legend(fontsize=8)

# %%
# Time against the number of kernels (section 6.5): widths of one RBF kernel, n = 1,000.

rng = np.random.default_rng(0)
X = rng.normal(size=(1000, 10))
y = np.sign(X[:, 0] * X[:, 1] + 0.3 * rng.normal(size=1000))
counts = [10, 100, 1000, 10_000] if FULL else [10, 30, 100]
times = {}
for name in ("4/3", "2", "4"):
    times[name] = []
    for m in counts:
        family = RBF(gamma=np.geomspace(1e-3, 10, m))
        started = time.process_time()
        model = MKLClassifier(family, norm=NORMS[name], n_jobs=1).fit(X, y)
        times[name].append(time.process_time() - started)

fig, ax = plt.subplots(figsize=(6, 3.2), layout="constrained")
for name, values in times.items():
    ax.loglog(counts, values, "o-", label=f"p = {name}")
ax.set(xlabel="kernels", ylabel="CPU seconds")
legend = ax.legend()

results = {"relevant": RELEVANT, "errors": errors, "kernels": counts, "seconds": times}
