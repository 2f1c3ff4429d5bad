"""
A motif at any position
=======================

Half of the sequences contain GATT.CAGGA at a random position, where "." is any letter. A gapped
k-mer kernel finds the motif, and the scores of single letters show its position.
"""

import matplotlib.pyplot as plt
import numpy as np

from kernelweave import LogoDisplay, MKLClassifier
from kernelweave.inspection import letter_scores
from kernelweave.kernels import GappedKmer

rng = np.random.default_rng(0)
X = ["".join(rng.choice(list("ACGT"), 60)) for _ in range(500)]
y = np.arange(500) % 2
places = rng.integers(0, 50, size=500)
for i in np.flatnonzero(y):
    motif = "GATT" + rng.choice(list("ACGT")) + "CAGGA"
    X[i] = X[i][: places[i]] + motif + X[i][places[i] + 10 :]
model = MKLClassifier(GappedKmer(l=8, k=5), normalize="unit").fit(X[:400], y[:400])
print(f"accuracy on new sequences {model.score(X[400:], y[400:]):.2f}")

# %%
# Contribution of each letter to the scores of three new sequences. The motif was placed in the grey
# interval; its variable letter contributes nothing.

chosen = [401, 405, 409]
scores = letter_scores(model, [X[i] for i in chosen])
fig, axes = plt.subplots(3, 1, figsize=(10, 4.5), sharey=True, layout="constrained")
for ax, i, heights in zip(axes, chosen, scores.contributions, strict=True):
    LogoDisplay(heights, "ACGT", np.arange(60)).plot(ax)
    ax.axvspan(places[i] - 0.5, places[i] + 9.5, color="lightgrey", alpha=0.5, zorder=0)
