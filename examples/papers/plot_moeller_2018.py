"""
Multiplicative weights and the default solver (Moeller et al., 2018)
====================================================================

*A geometric algorithm for scalable multiple kernel learning* updates two examples per round and
does not solve any SVM. Here it is compared with ``solver="auto"`` on the same problem: gap against
time. :doc:`Agreement with the paper </papers/moeller-2018>`.
"""

import os
import time
import warnings

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_breast_cancer
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import train_test_split
from sklearn.preprocessing import minmax_scale

from kernelweave import LinearizedMKL, MKLClassifier
from kernelweave.kernels import RBF, Polynomial, per_feature
from kernelweave.optimization.methods.mwu import MWU

plt.style.use("tableau-colorblind10")

FULL = os.environ.get("KERNELWEAVE_PAPERS") == "full"  # all splits: make papers
warnings.simplefilter("ignore", ConvergenceWarning)  # rough models are the point
X, y = load_breast_cancer(return_X_y=True)
X = minmax_scale(X)
family = [Polynomial([1, 2, 3]), RBF(gamma=1 / (2 * 2.0 ** np.arange(0, 4.5, 0.5) ** 2))]

# %%
# Gap against CPU seconds: twelve kernels on all features, squared hinge, 2-norm soft margin. Every
# point is a separate fit.

goals = [0.3, 0.1, 0.03, 0.01, 1e-3, 1e-4]
MKLClassifier(family, norm=1, loss="squared_hinge").fit(X, y)  # the first fit imports modules
curves = {"auto": [], "mwu": []}
for goal in goals:
    for name in curves:
        if name == "mwu" and goal < 0.01:
            continue  # 1 / eps^2 rounds
        solver = MWU(eps=min(0.5, 2 * goal)) if name == "mwu" else "auto"
        model = MKLClassifier(
            family,
            norm=1,
            loss="squared_hinge",
            normalize="unit",
            solver=solver,
            tol=goal,
            n_jobs=1,
        )
        started = time.process_time()
        model.fit(X, y)
        curves[name].append([time.process_time() - started, model.duality_gap_])

fig, ax = plt.subplots(figsize=(6, 3.4), layout="constrained")
for name, points in curves.items():
    ax.loglog(*np.transpose(points), "o-", label=name)
    print(name, [f"{seconds:.2f} s: {gap:.1e}" for seconds, gap in points])
ax.set(xlabel="CPU seconds", ylabel="certified gap")
legend = ax.legend()

# %%
# Test errors (figure 2): twelve kernels for each feature, medians of splits of 80 and 20 percent, C
# the best of three on a part of the training examples.

COSTS = [0.1, 1.0, 10.0]
columns = [per_feature(kernel) for kernel in family]
models = {
    "mwu, eps = 0.2": lambda C: MKLClassifier(
        columns, norm=1, loss="squared_hinge", C=C, normalize="unit", solver=MWU(0.2), tol=0.05
    ),
    "auto, p = 1": lambda C: MKLClassifier(
        columns, norm=1, loss="squared_hinge", C=C, normalize="unit", tol=0.01
    ),
    "plain sum": lambda C: MKLClassifier(
        columns, norm=np.inf, loss="squared_hinge", C=C, normalize="unit", tol=0.01
    ),
    "linearised": lambda C: LinearizedMKL(columns, C=C, n_components=20, random_state=0),
}


def test_error(make, seed):
    """Return the error on a fifth, with C chosen on a quarter of the rest."""
    train, test = train_test_split(np.arange(len(y)), test_size=0.2, random_state=seed)
    fit, check = train_test_split(train, test_size=0.25, random_state=seed)
    scores = {C: make(C).fit(X[fit], y[fit]).score(X[check], y[check]) for C in COSTS}
    return 1 - make(max(scores, key=scores.get)).fit(X[train], y[train]).score(X[test], y[test])


errors = {}
for name, make in models.items():
    errors[name] = [test_error(make, seed) for seed in range(30 if FULL else 1)]
    print(f"{name:16} median error {np.median(errors[name]):.3f}")

fig, ax = plt.subplots(figsize=(6, 2.6), layout="constrained")
ax.barh(list(errors), [np.median(found) for found in errors.values()])
ax.set(xlabel="median test error")
ax.invert_yaxis()

results = {"gaps": goals, "curves": curves, "errors": errors}
