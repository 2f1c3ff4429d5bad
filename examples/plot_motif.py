"""
A motif anywhere
================

Half of the sequences hold GATT.CAGGA somewhere, with a letter that varies. Gapped k-mers find it,
and the scores of single letters show where it is.
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
# What each letter adds to the score of three new sequences. The grey stretch is where the motif was
# put; the letter that varies counts for nothing.

chosen = [401, 405, 409]
scores = letter_scores(model, [X[i] for i in chosen])
fig, axes = plt.subplots(3, 1, figsize=(10, 4.5), sharey=True, layout="constrained")
for ax, i, heights in zip(axes, chosen, scores.contributions, strict=True):
    LogoDisplay(heights, "ACGT", np.arange(60)).plot(ax)
    ax.axvspan(places[i] - 0.5, places[i] + 9.5, color="lightgrey", alpha=0.5, zorder=0)
