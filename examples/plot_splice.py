"""
What a splice site looks like to a model
========================================

Sequences of 141 letters around an AG, some of which are splice sites. A weighted degree kernel
compares letters at the same position. What the model has learned can be read off again.
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
# The largest weight of any word, by its length and position: everything happens around the AG at
# position 60.

display = ImportanceDisplay.from_estimator(model, 6)
display.figure_.set_size_inches(10, 2.8)

# %%
# Letters as high as their weights. Above the line they speak for a site, below it against one: many
# T's and a C before the AG, and few T's behind it. The AG itself says nothing: decoys have it, too.

fig, ax = plt.subplots(figsize=(10, 2.4), layout="constrained")
display = LogoDisplay.from_estimator(model, positions=(42, 72), ax=ax)

# %%
# The words of five letters that count most.

for kmer, position, weight in top_kmers(model, 5, k=5):
    print(f"{kmer} at {position}: {weight:.2f}")
