"""
Tables with absent patients
===========================

Three measurements of the same patients, each of which lacks some of them, and a clinical table.
Every view has a kernel. If a patient is absent from a view, the view contributes nothing, and the
contributions of the other views are scaled up.
"""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from sklearn.model_selection import cross_val_score

from kernelweave import MKLClassifier, Views, WeightsDisplay
from kernelweave.kernels import RBF

rng = np.random.default_rng(0)
patients = [f"P{i:03d}" for i in range(200)]
ill = pd.Series(rng.integers(2, size=200), index=patients)


def measured(columns, signal, missing):
    """Return a table that lacks some patients; its first three columns tell something."""
    values = rng.normal(size=(200, columns))
    values[:, :3] += signal * ill.to_numpy()[:, None]
    return pd.DataFrame(values, index=patients).loc[rng.permutation(patients)[missing:]]


tables = {
    "mrna": measured(60, 1.5, missing=40),
    "protein": measured(30, 1.0, missing=80),
    "methylation": measured(80, 0.0, missing=30),
    "clinical": measured(4, 0.7, missing=0),
}
X = Views.aligned(tables, index=patients)
y = ill.loc[X.index]
print(X)

# %%
# All patients are used in training.

kernels = {name: RBF("median") for name in X.names}
model = MKLClassifier(kernels, norm=1).fit(X, y)
print(f"accuracy {cross_val_score(model, X, y, cv=5).mean():.2f}")

# %%
# The left picture shows which patients are absent from which view, the right one the learned
# weights. Methylation, the view without signal, has hardly any weight.

present = np.array([~pd.isna(X[name]).all(axis=1) for name in X.names])
fig, (left, right) = plt.subplots(1, 2, figsize=(10, 2.8), layout="constrained")
left.imshow(present, aspect="auto", cmap="Blues", vmax=1.6, interpolation="nearest")
left.set(yticks=range(len(X.names)), yticklabels=X.names, xlabel="patient")
display = WeightsDisplay.from_estimator(model, by="view", ax=right)
