"""
Solvers and their certificates
==============================

All solvers are compared by the same number, the relative duality gap, which bounds the distance of
the model from the optimum. It is computed after every iteration.
"""

import matplotlib.pyplot as plt
import numpy as np

from kernelweave import ConvergenceDisplay, MKLClassifier
from kernelweave.kernels import RBF

plt.style.use("tableau-colorblind10")

rng = np.random.default_rng(0)
X = rng.normal(size=(800, 8))
y = np.sin(2 * X[:, 0]) + X[:, 1] * X[:, 2] + 0.3 * rng.normal(size=800) > 0
widths = RBF(gamma=2.0 ** np.arange(-9, 3))

# %%
# Five solvers for sparse weights (p = 1), to a gap of 1e-5.

fig, ax = plt.subplots(figsize=(7, 4.2), layout="constrained")
for solver in ("auto", "cutting-plane", "level", "gradient", "skm"):
    model = MKLClassifier(widths, norm=1, solver=solver, tol=1e-5).fit(X, y)
    display = ConvergenceDisplay.from_estimator(model, ax=ax)
    display.lines_[0].set_label(solver)
    display.tol_line_.set_label(None)
ax.set(xscale="log", xlim=(2e-2, None))
legend = ax.legend(frameon=False)

# %%
# They end at the same weights. The last solver, its gap and its plan:

print(model.weights_.round(3))
print(f"between {model.dual_objective_:.4f} and {model.primal_objective_:.4f}")
