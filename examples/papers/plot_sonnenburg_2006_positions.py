"""
Weights by length and position of words (Sonnenburg et al., 2006)
=================================================================

Figures 5 and 6 of *Large scale multiple kernel learning*: a kernel for every length of words, and
one for every two positions around the start of an exon, the AG of an acceptor site. Which kernels
distinguish true sites from decoys, and how stable are their weights? :doc:`What agrees with the
paper </papers/sonnenburg-2006>`.
"""

import os
import time
import warnings
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np

from kernelweave import MKLClassifier, inspection
from kernelweave.datasets import make_splice
from kernelweave.kernels import WeightedDegree
from kernelweave.sequences import read_sequences

FULL = os.environ.get("KERNELWEAVE_PAPERS") == "full"  # the paper's size: make papers
FOLDER = os.environ.get("KERNELWEAVE_DATA")  # worm acceptors where it is set, generated ones else
warnings.filterwarnings("ignore", message=".*are constant.*")  # the AG, as two letters
BEFORE, BEHIND = 50, 58  # letters before the AG, and from the A on


def load(n):
    """Return windows around an AG, and whether it is a true site."""
    if FOLDER is None:
        X, y = make_splice(n, positive_rate=0.2, random_state=0)
        site = 60
    else:
        X = read_sequences(Path(FOLDER) / "sequences" / "C_elegans_acc_100000.fasta.bz2")
        y = np.array([1 if "label=1" in name else -1 for name in X.names])
        chosen = np.sort(np.random.default_rng(0).permutation(len(y))[:n])
        X, y, site = X[chosen], y[chosen], 197
    return X.window(site - BEFORE, site + BEHIND), y


X, y = load(65_000 if FULL else 1500)
print(f"{len(y):,} sequences of {BEFORE + BEHIND} letters, {np.mean(y > 0):.1%} of them true sites")

# %%
# A kernel for each of 20 lengths of words (figure 5), at p = 1 and p = 2.

lengths = {}
for norm in (1, 2):
    model = MKLClassifier(WeightedDegree(20, split="degree"), norm=norm, n_jobs=1).fit(X, y)
    lengths[f"p = {norm}"] = model.weights_ / model.weights_.sum()
    print(f"p = {norm}: most weight on words of", 1 + np.argsort(-model.weights_)[:3])

fig, ax = plt.subplots(figsize=(7, 2.8), layout="constrained")
for shift, (name, shares) in zip((-0.2, 0.2), lengths.items(), strict=True):
    ax.bar(np.arange(1, 21) + shift, shares, width=0.4, label=name)
ax.set(xlabel="length of words", ylabel="share of the weights", xticks=range(1, 21))
legend = ax.legend()

# %%
# 54 kernels at p = 1, each with the matches of up to 20 letters that start at one of two positions,
# as in the paper; and 54 on these two letters only. Bars are means over bootstrap
# samples, lines the fifth and the 95th percentile.

ranges = [(start, start + 2) for start in range(0, BEFORE + BEHIND, 2)]
families = {
    "matches of up to 20 letters": WeightedDegree(20, split=ranges),
    "single letters": WeightedDegree(1, split=ranges),
}
samples = 5 if FULL else 3
places = np.arange(-BEFORE, BEHIND, 2)
found, seconds = {}, {}
for name, family in families.items():
    started = time.process_time()
    found[name] = inspection.bootstrap_weights(
        MKLClassifier(family, norm=1, n_jobs=1), X, y, n=samples, random_state=0
    )
    seconds[name] = time.process_time() - started
    print(f"{name}: {seconds[name] / samples:.2f} CPU s a fit")

fig, axes = plt.subplots(2, 1, figsize=(9, 5), layout="constrained", sharex=True)
for ax, (name, weights) in zip(axes, found.items(), strict=True):
    low, high = weights.quantiles([0.05, 0.95])
    ax.bar(places + 0.5, weights.mean, width=1.8, color=np.where(places == 0, "tab:red", "C0"))
    ax.vlines(places + 0.5, low, high, color="black", linewidth=0.8)
    ax.axvline(0, color="grey", linewidth=0.5)
    ax.set(ylabel="weight", title=name)
text = axes[1].set(xlabel="first position, counted from the A of AG (red)")

# %%
# All sequences contain the AG. The kernel of its two letters is constant and has no weight. Longer
# matches that start there reach into the exon.

for name, weights in found.items():
    largest = places[np.argsort(-weights.mean)[:5]]
    ag = weights.mean[places == 0][0]
    print(f"{name}: weight of AG {ag:.3f}, most weight at {', '.join(map(str, largest))}")

results = {
    "sequences": len(y),
    "real": FOLDER is not None,
    "shares of 20 lengths": lengths,
    "first positions": places,
    "mean weights": {name: weights.mean for name, weights in found.items()},
    "5th and 95th percentile": {
        name: weights.quantiles([0.05, 0.95]) for name, weights in found.items()
    },
    "CPU seconds of a fit": {name: spent / samples for name, spent in seconds.items()},
}
