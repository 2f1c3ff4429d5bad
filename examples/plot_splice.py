"""
Weights of a splice site model
==============================

Sequences of 141 letters around an AG, some of which are splice sites. A weighted degree kernel
compares letters at the same position. The example draws the learned weights of words and letters.
"""

import matplotlib.pyplot as plt

from kernelweave import ImportanceDisplay, LogoDisplay, MKLClassifier
from kernelweave.datasets import make_splice
from kernelweave.inspection import top_kmers
from kernelweave.kernels import WeightedDegree

X, y = make_splice(6000, positive_rate=0.2)
model = MKLClassifier(WeightedDegree(12)).fit(X[:5000], y[:5000])
print(f"accuracy {model.score(X[5000:], y[5000:]):.3f}, gap {model.duality_gap_:.0e}")

# %%
# The largest weight of any word, by length and position: all large weights are near the AG at
# position 60.

display = ImportanceDisplay.from_estimator(model, 6)
display.figure_.set_size_inches(10, 2.8)

# %%
# The height of a letter is its weight. Letters above the line raise the score, letters below lower
# it: T and C before the AG raise it, T after the AG lowers it. The AG has no weight, since all
# sequences contain it.

fig, ax = plt.subplots(figsize=(10, 2.4), layout="constrained")
display = LogoDisplay.from_estimator(model, positions=(42, 72), ax=ax)

# %%
# The words of five letters with the largest weights.

for kmer, position, weight in top_kmers(model, 5, k=5):
    print(f"{kmer} at {position}: {weight:.2f}")
