"""
Protein localisation (Kloft et al., 2011)
=========================================

Section 6.2 of *lp-norm multiple kernel learning* predicts the location of a protein in the cell
from 69 kernels. Most of them count words of amino acids, with gaps, in parts of the sequence.
Similar kernels should favour sparse weights: is p = 1 best? :doc:`What agrees with the paper
</papers/kloft-2011>`.
"""

import os
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from sklearn.metrics import matthews_corrcoef
from sklearn.model_selection import StratifiedShuffleSplit

from kernelweave import MKLClassifier
from kernelweave.kernels import Linear, Precomputed, Spectrum

FULL = os.environ.get("KERNELWEAVE_PAPERS") == "full"  # 1,200 proteins: make papers
FOLDER = os.environ.get("KERNELWEAVE_DATA")  # MultiLoc's proteins where it is set, generated else
NORMS = {"1": 1.0, "16/15": 16 / 15, "4/3": 4 / 3, "2": 2.0, "4": 4.0, "inf": np.inf}
COSTS = [0.5, 2.0, 8.0] if FULL else [0.5, 2.0]
AMINO, GROUPS = "ACDEFGHIKLMNPQRSTVWY", ["AGV", "ILFP", "YMTS", "HNQW", "RK", "DE", "C"]


def load(n):
    """Return proteins and their places."""
    if FOLDER is not None:
        table = pd.read_csv(Path(FOLDER) / "multiloc_seq.csv.gz")
        table = table[table["sequence"].str.len() >= 60].sample(n, random_state=0)
        return table["sequence"].to_numpy(dtype=object), table["location"].to_numpy()
    # Three places: some proteins of two of them begin with a signal of their own.
    rng, texts = np.random.default_rng(0), []
    y = rng.integers(3, size=n)
    for place in y:
        letters = rng.choice([*AMINO], size=rng.integers(80, 200))
        if place and rng.random() < 0.8:
            start = "LLVAILGFLA" if place == 1 else "RRKSRKARTS"
            keep = rng.random(10) < 0.6
            letters[3:13] = np.where(keep, [*start], letters[3:13])
        texts.append("".join(letters))
    return np.array(texts, dtype=object), np.array(["inside", "outside", "organelle"])[y]


# %%
# Four parts of each sequence, and on each of them single letters, words of two and three, words of
# groups of chemically similar amino acids, and words with gaps: 36 kernels.

X, y = load(1200 if FULL else 240)
to_group = str.maketrans({letter: str(i) for i, group in enumerate(GROUPS) for letter in group})
parts = {
    "whole": X,
    "first 60": np.array([text[:60] for text in X], dtype=object),
    "first 15": np.array([text[:15] for text in X], dtype=object),
    "last 15": np.array([text[-15:] for text in X], dtype=object),
}


def pairs(texts, gap):
    """Return how often two amino acids occur with so many letters between them."""
    counts = np.zeros((len(texts), 400))
    for row, text in zip(counts, texts, strict=True):
        codes = np.array([AMINO.find(letter) for letter in text])
        first, second = codes[: -1 - gap], codes[1 + gap :]
        known = (first >= 0) & (second >= 0)
        np.add.at(row, 20 * first[known] + second[known], 1)
    return counts


def unit(K):
    """Return a matrix with ones on its diagonal: long proteins have no larger values."""
    size = np.sqrt(np.maximum(np.diag(K), 1e-12))
    return K / np.outer(size, size)


matrices = {}
for part, texts in parts.items():
    grouped = np.array([text.translate(to_group) for text in texts], dtype=object)
    for k in (1, 2, 3):
        matrices[f"{part}, words of {k}"] = unit(Spectrum(k, alphabet="protein")(texts))
    for k in (2, 3, 4):
        matrices[f"{part}, groups {k}"] = unit(Spectrum(k, alphabet="0123456")(grouped))
    for gap in (1, 2, 3):
        matrices[f"{part}, gap of {gap}"] = unit(Linear()(pairs(texts, gap)))
names = list(matrices)
kernels = [Precomputed(K, name=name) for name, K in matrices.items()]
print(len(names), "kernels on", len(y), "proteins in", len(np.unique(y)), "places")

# %%
# One against the rest, with separate weights for each location. As in the paper, the error is 1
# minus the Matthews correlation, averaged over locations. C is chosen for each norm on the test
# part, which favours all norms equally.


def mcc(truth, guess):
    """Return Matthews correlations of each place against the rest, averaged."""
    return np.mean([matthews_corrcoef(truth == place, guess == place) for place in np.unique(y)])


splits = StratifiedShuffleSplit(2 if FULL else 1, test_size=0.3, random_state=0)
rows = np.arange(len(y))
errors = {name: [] for name in NORMS}
for train, test in splits.split(rows, y):
    for name, norm in NORMS.items():
        models = [
            MKLClassifier(kernels, norm=norm, C=C, n_jobs=1).fit(rows[train], y[train])
            for C in COSTS
        ]
        scores = [mcc(y[test], model.predict(rows[test])) for model in models]
        errors[name].append(float(100 * (1 - max(scores))))
        if name == "1":
            sparse = models[int(np.argmax(scores))]
    print({name: round(found[-1], 1) for name, found in errors.items()})

means = [np.mean(found) for found in errors.values()]
fig, axes = plt.subplots(1, 2, figsize=(10, 6), layout="constrained", width_ratios=[1, 1.6])
axes[0].plot(range(len(NORMS)), means, "o-")
axes[0].set_xticks(range(len(NORMS)), NORMS)
axes[0].set(xlabel="p", ylabel="100 (1 - mean Matthews correlation)")
places, shares = sparse.classes_, sparse.weights_ / sparse.weights_.sum(axis=1, keepdims=True)
picture = axes[1].imshow(shares.T, aspect="auto", cmap="Greys", vmin=0)
axes[1].set_yticks(range(len(names)), names, fontsize=7)
axes[1].set_xticks(range(len(places)), places, rotation=60, ha="right", fontsize=7)
bar = fig.colorbar(picture, ax=axes[1], label="share of the weights at p = 1")

results = {
    "real": FOLDER is not None,
    "proteins": len(y),
    "kernels": names,
    "errors": errors,
    "places": places,
    "shares at p = 1": shares,
}
