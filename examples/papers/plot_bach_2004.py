"""
The support kernel machine (Bach et al., 2004)
==============================================

Figure 2 of *Multiple kernel learning, conic duality, and the SMO algorithm*: time against the
number of kernels and of examples, beside a cone program. The data here are scikit-learn's breast
cancer table. :doc:`Agreement with the paper </papers/bach-2004>`.
"""

import os
import time

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_breast_cancer
from sklearn.preprocessing import scale

from kernelweave import MKLClassifier
from kernelweave.kernels import RBF
from kernelweave.optimization.methods.skm import SKM

FULL = os.environ.get("KERNELWEAVE_PAPERS") == "full"  # larger sizes: make papers
X, y = load_breast_cancer(return_X_y=True)
X = scale(X)


def random_kernels(m):
    """Return Gaussian kernels on random subsets of the features."""
    random = np.random.default_rng(0)
    columns = [random.choice(30, size=random.integers(1, 31), replace=False) for _ in range(m)]
    widths = [10 ** random.uniform(-1.5, 1.5) / len(chosen) for chosen in columns]
    return [
        RBF(gamma, columns=chosen.tolist()) for gamma, chosen in zip(widths, columns, strict=True)
    ]


def seconds(n, m, solver):
    """Return the CPU seconds of a fit to a gap of 1e-3, and the model."""
    model = MKLClassifier(random_kernels(m), norm=1, solver=solver, normalize=None, n_jobs=1)
    started = time.process_time()
    model.fit(X[:n], y[:n])
    return time.process_time() - started, model


# %%
# Time against the numbers of kernels and examples. The cone program stores all kernel matrices.

kernels = [3, 6, 12, 24, 48, 96] if FULL else [3, 6, 12, 24]
examples = [100, 200, 400, 569]
conic = [3, 6, 12] if FULL else [3, 6]
by_kernels = [seconds(300, m, "skm")[0] for m in kernels]
by_kernels_conic = [seconds(150, m, "qcqp")[0] for m in conic]
by_examples = [seconds(n, 4, "skm")[0] for n in examples]

fig, axes = plt.subplots(1, 2, figsize=(9, 3.4), layout="constrained", sharey=True)
axes[0].loglog(kernels, by_kernels, "o-", label="support kernel machine, n = 300")
axes[0].loglog(conic, by_kernels_conic, "s--", label="cone program, n = 150")
axes[0].set(xlabel="kernels", ylabel="CPU seconds")
axes[0].legend()
axes[1].loglog(examples, by_examples, "o-")
text = axes[1].set(xlabel="examples (4 kernels)")

# %%
# Sparsification: a solution with fewer kernels that is optimal to the same tolerance.
# The optimality conditions: all kernels with weight have the same squared block norm, the largest.

spread, model = seconds(300, 24, SKM())
_, sparse = seconds(300, 24, SKM(sparsify=True))
print("kernels with weight", np.count_nonzero(model.weights_), np.count_nonzero(sparse.weights_))
print(f"gaps {model.duality_gap_:.1e} {sparse.duality_gap_:.1e}")

energies = []
for kernel in random_kernels(24):
    alpha = np.zeros(300)
    alpha[sparse.support_] = sparse.dual_coef_.ravel()
    energies.append(alpha @ kernel(X[:300], X[:300]) @ alpha)
energies = np.array(energies)
active = sparse.weights_ > 0

fig, ax = plt.subplots(figsize=(8, 3), layout="constrained")
ax.bar(range(24), energies / energies.max(), color=np.where(active, "tab:blue", "lightgrey"))
text = ax.set(xlabel="kernel (blue: with weight)", ylabel=r"$\alpha' K_m \alpha$, largest = 1")

results = {
    "kernels": kernels,
    "seconds by kernels": by_kernels,
    "kernels of the cone program": conic,
    "seconds of the cone program": by_kernels_conic,
    "examples": examples,
    "seconds by examples": by_examples,
    "kernels with weight": [np.count_nonzero(model.weights_), np.count_nonzero(sparse.weights_)],
    "energies": energies,
    "weights": sparse.weights_,
}
