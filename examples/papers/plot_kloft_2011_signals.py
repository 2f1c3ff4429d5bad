"""
Five kernels on signals of genes (Kloft et al., 2011)
=====================================================

Section 6.3 of *lp-norm multiple kernel learning* finds gene starts with five kernels: a signal at
the site, words before and behind it, twist angles and stacking energies of the helix. Here the same
kernels predict acceptor sites of introns: areas by training size and norm (figure 4), weights, and
alignments of the kernels (figure 5). :doc:`Agreement with the paper </papers/kloft-2011>`.
"""

import os
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
from sklearn.base import clone
from sklearn.metrics import roc_auc_score

from kernelweave import MKLClassifier, Views, kernel_alignment
from kernelweave.datasets import make_splice
from kernelweave.kernels import Linear, Spectrum, WeightedDegreeShift
from kernelweave.sequences import read_sequences

plt.style.use("tableau-colorblind10")

FULL = os.environ.get("KERNELWEAVE_PAPERS") == "full"  # 10,000 sequences: make papers
FOLDER = os.environ.get("KERNELWEAVE_DATA")  # worm acceptors where it is set, generated ones else
NORMS = {"1": 1.0, "4/3": 4 / 3, "2": 2.0, "4": 4.0, "inf": np.inf}
SIZES, HELD_OUT = ([1000, 3000, 10_000], 5000) if FULL else ([200, 600], 1500)
COSTS = [0.5, 2.0, 8.0] if FULL else [1.0]

# Twist angles in degrees (Olson et al., 1998) and stacking energies in kcal/mol (SantaLucia, 1998)
# of two neighbouring letters; those of the other strand are the same.
STEPS = ["AA", "AC", "AG", "AT", "CA", "CC", "CG", "GA", "GC", "TA"]
TWIST = [35.1, 31.5, 31.9, 29.3, 37.3, 32.9, 36.1, 36.3, 33.6, 37.8]
ENERGY = [-1.00, -1.44, -1.28, -0.88, -1.45, -1.84, -2.17, -1.30, -2.24, -0.58]
OTHER = str.maketrans("ACGT", "TGCA")


def load(n):
    """Return windows of 141 letters around an AG at 60, and whether it is a true site."""
    if FOLDER is None:
        X, y = make_splice(n, positive_rate=0.2, random_state=0)
        return [*X], y
    X = read_sequences(Path(FOLDER) / "sequences" / "C_elegans_acc_100000.fasta.bz2")
    y = np.array([1 if "label=1" in name else -1 for name in X.names])
    chosen = np.random.default_rng(0).permutation(len(y))[:n]
    return [*X[chosen].window(137, 278)], y[chosen]


def profile(texts, values, width=10):
    """Return the means of a property of neighbouring letters over `width` steps, standardised."""
    known = dict(zip(STEPS, values, strict=True))
    known |= {step.translate(OTHER)[::-1]: value for step, value in known.items()}
    steps = np.array([[known.get(t[i : i + 2], 0.0) for i in range(len(t) - 1)] for t in texts])
    means = steps[:, : steps.shape[1] // width * width].reshape(len(texts), -1, width).mean(axis=2)
    return (means - means.mean(axis=0)) / means.std(axis=0)


texts, y = load(max(SIZES) + 2 * HELD_OUT)
X = Views(
    {
        "signal": np.array([text[40:80] for text in texts], dtype=object),
        "intron": np.array([text[:58] for text in texts], dtype=object),
        "exon": np.array([text[62:] for text in texts], dtype=object),
        "angles": profile(texts, TWIST),
        "energies": profile(texts, ENERGY),
    }
)
kernels = {
    "signal": WeightedDegreeShift(8, 2),
    "intron": Spectrum(4),
    "exon": Spectrum(4),
    "angles": Linear(),
    "energies": Linear(),
}
names = list(kernels)
test, check = np.split(np.arange(len(y))[-2 * HELD_OUT :], 2)


def area(model, rows):
    """Return the area under the curve of true against false positives."""
    return roc_auc_score(y[rows], model.decision_function(X[rows]))


# %%
# Areas on other sequences, C chosen on a third set, for each norm and for each kernel alone.


def best(chosen, norm, n):
    """Return the model on n examples whose C is best on the examples kept for that."""
    model = MKLClassifier(chosen, norm=norm, normalize="unit", class_weight="balanced", n_jobs=1)
    models = [clone(model).set_params(C=C).fit(X[:n], y[:n]) for C in COSTS]
    return max(models, key=lambda model: area(model, check))


areas = {name: [] for name in NORMS}
for n in SIZES:
    models = {name: best(kernels, norm, n) for name, norm in NORMS.items()}
    for name, model in models.items():
        areas[name].append(area(model, test))
    print(n, "sequences:", {name: round(found[-1], 3) for name, found in areas.items()})
alone = {name: area(best({name: kernels[name]}, 2, SIZES[1]), test) for name in names}
print("alone:", {name: round(value, 3) for name, value in alone.items()})

fig, axes = plt.subplots(1, 2, figsize=(10, 3.6), layout="constrained")
for name, found in areas.items():
    axes[0].semilogx(SIZES, found, "o-", label=f"p = {name}")
axes[0].set(xlabel="training sequences", ylabel="area on other sequences")
axes[0].legend()
weights = {name: model.weights_ / model.weights_.sum() for name, model in models.items()}
for place, (name, found) in enumerate(weights.items()):
    axes[1].bar(np.arange(5) + 0.15 * (place - 2), found, width=0.15, label=f"p = {name}")
axes[1].set_xticks(range(5), names)
label = axes[1].set_ylabel(f"share of the weights (n = {SIZES[-1]:,})")

# %%
# Alignments (figure 5): uncentred as in the paper, and centred, which removes the component that
# all sequences share.

some = X[: 1000 if FULL else 300]
alignments = {
    "as in the paper": kernel_alignment(kernels, some, centered=False),
    "centred": kernel_alignment(kernels, some),
}
fig, axes = plt.subplots(1, 2, figsize=(9, 3.8), layout="constrained", sharey=True)
for ax, (title, found) in zip(axes, alignments.items(), strict=True):
    picture = ax.imshow(found, vmin=0, vmax=1, cmap="Greys")
    ax.set_xticks(range(5), names, rotation=30)
    ax.set_yticks(range(5), names)
    ax.set_title(title)
    for i, j in np.ndindex(5, 5):
        ink = "white" if found[i, j] > 0.5 else "black"
        ax.text(j, i, f"{found[i, j]:.2f}", ha="center", va="center", color=ink, fontsize=8)
bar = fig.colorbar(picture, ax=axes, label="alignment")

results = {
    "real": FOLDER is not None,
    "sizes": SIZES,
    "areas": areas,
    "areas of single kernels": {"n": SIZES[1], **alone},
    "kernels": names,
    "shares of the weights": weights,
    "alignments": alignments,
}
