"""
Edges of a network from products of kernels (Kloft et al., 2011)
================================================================

Section 6.4 of *lp-norm multiple kernel learning* predicts edges of a network of enzymes; there the
plain sum of a few moderately informative kernels was best. Here an edge joins a drug and a protein,
and kernels are products of a drug matrix and a protein matrix. The last part predicts a number for
each edge: the response of a cell line to a drug. :doc:`What agrees with the paper
</papers/kloft-2011>`.
"""

import os
import warnings
from itertools import product
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import GroupKFold, KFold

from kernelweave import MKLClassifier, MKLRegressor, kernel_alignment
from kernelweave.kernels import Precomputed

FULL = os.environ.get("KERNELWEAVE_PAPERS") == "full"  # all folds of both networks: make papers
FOLDER = os.environ.get("KERNELWEAVE_DATA")  # drugs and their targets where it is set
NORMS = {"1": 1.0, "4/3": 4 / 3, "2": 2.0, "4": 4.0, "8": 8.0, "inf": np.inf}
COSTS = [1.0, 10.0] if FULL else [1.0]
warnings.filterwarnings("ignore", message=".*(symmetric|eigenvalue).*")  # matrices are repaired


def unit(K):
    """Return a matrix with ones on its diagonal."""
    size = np.sqrt(np.maximum(np.diag(K), 1e-12))
    return K / np.outer(size, size)


def generated(n_drugs=45, n_proteins=24, n_views=3):
    """Return noisy matrices of drugs and of proteins, and how well they go together."""
    rng = np.random.default_rng(0)
    drugs, proteins = rng.normal(size=(n_drugs, 4)), rng.normal(size=(n_proteins, 4))

    def views(truth):
        noisy = [truth + rng.normal(size=truth.shape) for _ in range(n_views)]
        return {f"view {i}": unit(Z @ Z.T) for i, Z in enumerate(noisy)}

    score = proteins @ drugs.T + rng.normal(size=(n_proteins, n_drugs))
    return views(drugs), views(proteins), score


def matrices_of(found, side):
    """Return the matrices of one side of a network, which a prefix tells, by name."""
    return {key[3:]: unit(found[key].astype(float)) for key in found if key.startswith(side)}


def load(name):
    """Return matrices of drugs and of proteins by name, and which pairs interact."""
    if FOLDER is None:
        drugs, proteins, score = generated()
        return drugs, proteins, score > np.quantile(score, 0.9)
    with np.load(Path(FOLDER) / f"{name}.npz") as found:
        return matrices_of(found, "Kd_"), matrices_of(found, "Kp_"), found["Y"] > 0


def some_pairs(edges, n, seed=0):
    """Return all pairs that interact, and enough others to make n, as a frame with y."""
    rng = np.random.default_rng(seed)
    protein, drug = np.nonzero(edges)
    others = rng.permutation(np.flatnonzero(~edges))[: max(n - len(drug), len(drug))]
    no_protein, no_drug = np.unravel_index(others, edges.shape)
    X = pd.DataFrame({"drug": np.r_[drug, no_drug], "protein": np.r_[protein, no_protein]})
    return X, np.repeat([1, -1], [len(drug), len(no_drug)])


# %%
# Folds are sets of drugs: the model predicts which proteins a new drug binds. Kernels are one
# matrix of one kind times the sum of all matrices of the other kind ("few"), or all products
# ("products").


def members(drugs, proteins):
    """Return both sets of kernels."""
    left = [Precomputed(K, columns="drug", name=name) for name, K in drugs.items()]
    right = [Precomputed(K, columns="protein", name=name) for name, K in proteins.items()]
    mean = {"drug": sum(drugs.values()), "protein": sum(proteins.values())}
    whole = {side: Precomputed(K, columns=side, name=f"every {side}") for side, K in mean.items()}
    few = [k * whole["protein"] for k in left] + [whole["drug"] * k for k in right]
    return {"few": few, "products": [a * b for a in left for b in right]}


def areas(kernels, X, y, norm, folds):
    """Return areas under the curve on the drugs of each fold, with the C that is best on average.

    The paper's choice, too, knows the test part; it favours all norms alike.
    """
    found = np.empty((len(COSTS), len(folds)))
    for (c, C), (f, (train, test)) in product(enumerate(COSTS), enumerate(folds)):
        model = MKLClassifier(kernels, norm=norm, C=C, class_weight="balanced", n_jobs=1)
        model.fit(X.iloc[train], y[train])
        found[c, f] = roc_auc_score(y[test], model.decision_function(X.iloc[test]))
    return found[found.mean(axis=1).argmax()]


networks = ["dti_nr", "dti_ic"] if FULL and FOLDER else ["dti_nr"]
size = 1400 if FULL else 400
by_norm = {}
for network in networks:
    drugs, proteins, edges = load(network)
    X, y = some_pairs(edges, size)
    folds = list(GroupKFold(5).split(X, y, X["drug"]))[: 5 if FULL else 2]
    for kind, kernels in members(drugs, proteins).items():
        for name, norm in NORMS.items():
            by_norm[network, kind, name] = areas(kernels, X, y, norm, folds)
        means = {name: round(float(by_norm[network, kind, name].mean()), 3) for name in NORMS}
        print(f"{network}, {len(y)} pairs, {len(kernels)} kernels ({kind}): {means}")

fig, axes = plt.subplots(
    1, len(networks), figsize=(5 * len(networks) + 1, 3.6), layout="constrained", squeeze=False
)
for ax, network in zip(axes[0], networks, strict=True):
    for kind in ("few", "products"):
        found = np.array([by_norm[network, kind, name] for name in NORMS])
        error = found.std(axis=1) / np.sqrt(found.shape[1])
        ax.errorbar(range(len(NORMS)), found.mean(axis=1), error, fmt="o-", capsize=3, label=kind)
    ax.set_xticks(range(len(NORMS)), NORMS)
    ax.set(xlabel="p", ylabel="area on new drugs", title=network if FOLDER else "generated")
    ax.legend()

# %%
# Alignments of the drug matrices of the last network (figure 6).

matrices = [Precomputed(K, name=name) for name, K in drugs.items()]
alike = kernel_alignment(matrices, np.arange(edges.shape[1])[:, None])
fig, ax = plt.subplots(figsize=(5.4, 4.4), layout="constrained")
picture = ax.imshow(alike, vmin=0, vmax=1, cmap="Greys")
ax.set_xticks(range(len(drugs)), drugs, rotation=60, ha="right", fontsize=8)
ax.set_yticks(range(len(drugs)), drugs, fontsize=8)
bar = fig.colorbar(picture, label="centred alignment")

# %%
# Responses of cell lines to drugs are numbers (Cichonska et al., 2018): the same products, and
# `MKLRegressor`. Folds are sets of pairs. Correlations between responses and predictions:


def load_responses():
    """Return matrices of drugs and of lines of cells by name, and responses, a row for a line."""
    if FOLDER is None:
        return generated()
    with np.load(Path(FOLDER) / "drug_response_pairwise.npz") as found:
        return matrices_of(found, "Kd_"), matrices_of(found, "Kc_"), found["Y"].T.astype(float)


drugs_tested, lines, responses = load_responses()
pairs = np.random.default_rng(0).permutation(responses.size)[: 2000 if FULL else 400]
line, drug = np.unravel_index(pairs, responses.shape)
X, y = pd.DataFrame({"drug": drug, "protein": line}), responses.ravel()[pairs]
kernels = members(drugs_tested, lines)["products"]
folds = list(KFold(5).split(X))[: 5 if FULL else 2]
correlations = {}
for name, norm in NORMS.items():
    predicted = [
        MKLRegressor(kernels, norm=norm, n_jobs=1)
        .fit(X.iloc[train], y[train])
        .predict(X.iloc[test])
        for train, test in folds
    ]
    correlations[name] = [
        np.corrcoef(y[test], values)[0, 1]
        for (_, test), values in zip(folds, predicted, strict=True)
    ]
    mean = np.mean(correlations[name])
    print(f"p = {name}: correlation {mean:.3f} on new pairs, {len(kernels)} products")

results = {
    "real": FOLDER is not None,
    "correlations of responses": correlations,
    "areas": {", ".join(key): found for key, found in by_norm.items()},
    "matrices": list(drugs),
    "alignments": alike,
}
