"""
Multiplicative weights by size (Moeller et al., 2018)
=====================================================

Figures 3 to 5 of *A geometric algorithm for scalable multiple kernel learning*: time and test error
against the number of training examples, with twelve kernels on all features, and time per kernel
with twelve kernels for every feature. The default solver is compared at every size. :doc:`What
agrees with the paper </papers/moeller-2018>`.
"""

import os
import time
import warnings
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import make_classification
from sklearn.exceptions import ConvergenceWarning
from sklearn.preprocessing import minmax_scale

from kernelweave import LinearizedMKL, MKLClassifier
from kernelweave.kernels import RBF, Polynomial, per_feature
from kernelweave.optimization.methods.mwu import MWU

plt.style.use("tableau-colorblind10")

FULL = os.environ.get("KERNELWEAVE_PAPERS") == "full"  # all examples: make papers
FOLDER = os.environ.get("KERNELWEAVE_DATA")  # real data where it is set, generated ones else
warnings.simplefilter("ignore", ConvergenceWarning)  # rough models are the point
FAMILY = [Polynomial([1, 2, 3]), RBF(gamma=1 / (2 * 2.0 ** np.arange(0, 4.5, 0.5) ** 2))]
SHARES = [1 / 16, 1 / 4, 1] if FULL else [1 / 4, 1 / 2, 1]
MOST = 12_000  # examples of the plain sum, which the paper trained on 11,907 at most


def load(name):
    """Return features in [0, 1] and labels, in an order of chance."""
    if FOLDER is None:
        X, y = make_classification(900, 12, n_informative=6, flip_y=0.05, random_state=0)
    else:
        with np.load(Path(FOLDER) / f"{name}.npz") as found:
            parts = [found["X"]] if "X" in found else [found["X_train"], found["X_test"]]
            labels = [found["y"]] if "y" in found else [found["y_train"], found["y_test"]]
            X, y = np.concatenate(parts).astype(float), np.concatenate(labels)
    order = np.random.default_rng(0).permutation(len(y))
    return minmax_scale(X)[order], y[order]


def make_model(kernels, solver, tol, eps):
    """Return the model of the paper, a 2-norm soft margin, with one of three solvers."""
    if solver == "linearised":
        return LinearizedMKL(kernels, n_components=100, normalize="unit", random_state=0)
    method = MWU(eps) if solver == "mwu" else "auto"
    return MKLClassifier(
        kernels, norm=np.inf if solver == "plain sum" else 1, loss="squared_hinge",
        normalize="unit", solver=method, tol=tol, n_jobs=1,
    )  # fmt: skip


def measured(kernels, solver, X, y, tol=0.01, eps=0.1):
    """Return the CPU seconds of a fit and the model."""
    model = make_model(kernels, solver, tol, eps)
    started = time.process_time()
    model.fit(X, y)
    return time.process_time() - started, model


# %%
# Training sets are fractions of four fifths of the examples; the other fifth is the test set
# (figures 3 and 4). A fit by multiplicative weights with a gap above 0.01 has used all rounds that
# eps = 0.1 allows.

names = ["cod_rna", "adult_a9a", "w8a"] if FULL and FOLDER else ["cod_rna"]
SOLVERS = ["mwu", "auto", "plain sum", "linearised"]
curves = {}
for name in names:
    X, y = load(name)
    cut = 4 * len(y) // 5
    for share in SHARES:
        n = int(share * cut)
        for solver in SOLVERS:
            if solver == "plain sum" and n > MOST:
                continue
            seconds, model = measured(FAMILY, solver, X[:n], y[:n])
            error = 1 - model.score(X[cut:], y[cut:])
            gap = getattr(model, "duality_gap_", np.nan)
            curves.setdefault((name, solver), []).append([n, seconds, error, gap])
            print(f"{name} {n:6} {solver:10} {seconds:7.2f} s, error {error:.3f}, gap {gap:.1e}")

fig, axes = plt.subplots(
    len(names), 2, figsize=(9, 3.2 * len(names)), layout="constrained", squeeze=False
)
for row, name in zip(axes, names, strict=True):
    for solver in SOLVERS:
        n, seconds, error, _ = np.transpose(curves[name, solver])
        row[0].loglog(n, seconds, "o-", label=solver)
        row[1].semilogx(n, error, "o-", label=solver)
    title = name if FOLDER else "generated"
    row[0].set(xlabel="training examples", ylabel="CPU seconds", title=title)
    row[1].set(xlabel="training examples", ylabel="test error", title=title)
legend = axes[0, 0].legend(fontsize=8)

# %%
# Twelve kernels for each feature (figure 5): time per kernel against the number of examples.
# Constant columns are left out.

X, y = load("mushrooms_libsvm")
X = X[:, X.std(axis=0) > 0]
sizes = [1625, 3250, 4875, 6500] if FULL and FOLDER else [150, 300, 600]
columns = [per_feature(kernel) for kernel in FAMILY]
each = {}
for n in sizes:
    for solver in ("mwu", "auto", "plain sum"):
        used = X[:n, X[:n].std(axis=0) > 0]
        seconds, model = measured(columns, solver, used, y[:n], tol=0.05, eps=0.2)
        M = len(model.kernel_names_)
        each.setdefault(solver, []).append([n, M, seconds, model.duality_gap_])
        print(f"{n:5} x {M} kernels, {solver:9}: {seconds:6.2f} s, gap {model.duality_gap_:.1e}")

fig, ax = plt.subplots(figsize=(6, 3.4), layout="constrained")
for solver, points in each.items():
    n, M, seconds, _ = np.transpose(points)
    ax.loglog(n, seconds / M, "o-", label=solver)
ax.set(xlabel="training examples", ylabel="CPU seconds for a kernel")
legend = ax.legend()

results = {
    "real": FOLDER is not None,
    "columns": ["examples", "CPU seconds", "test error", "gap"],
    "curves": {", ".join(key): points for key, points in curves.items()},
    "columns of kernels for each feature": ["examples", "kernels", "CPU seconds", "gap"],
    "kernels for each feature": each,
}
