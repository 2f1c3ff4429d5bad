"""
Large sets of sequences (Sonnenburg, Rätsch and Rieck, 2007)
============================================================

*Large scale learning with string kernels*: areas under curves and time by the number of sequences
(tables 4.2 to 4.6), and learned weights of hidden motifs (figures 4.8 and 4.9). :doc:`What agrees
with the paper </papers/sonnenburg-2007>`.
"""

import os
import time

import matplotlib.pyplot as plt
import numpy as np
from sklearn.metrics import average_precision_score, roc_auc_score

from kernelweave import MKLClassifier, inspection
from kernelweave.baselines import MarkovChain
from kernelweave.datasets import make_motifs, make_splice
from kernelweave.kernels import NGram, WeightedDegree

plt.style.use("tableau-colorblind10")

FULL = os.environ.get("KERNELWEAVE_PAPERS") == "full"  # up to a million sequences: make papers

# %%
# Generated splice sites, 1 % of them true, and a weighted degree kernel of degree 20. Accuracy
# increases with the number of sequences, and exceeds that of the Markov chain (of order 4, as in
# the paper).

sizes = [1000, 3000, 10_000, 30_000, 100_000, 300_000, 1_000_000] if FULL else [1000, 3000, 10_000]
X, y = make_splice(max(sizes), random_state=0)
new, truth = make_splice(100_000 if FULL else 20_000, random_state=1)
rows = []
for n in sizes:
    started = time.process_time()
    model = MKLClassifier(WeightedDegree(20)).fit(X[:n], y[:n])
    seconds = time.process_time() - started
    scores = model.decision_function(new)
    chain = MarkovChain(order=4).fit(X[:n], y[:n]).decision_function(new)
    areas = [
        area(truth, s) for s in (scores, chain) for area in (roc_auc_score, average_precision_score)
    ]
    rows.append([n, seconds, *areas])
    print(f"{n:9,} sequences: {seconds:7.2f} CPU s, auROC {areas[0]:.3f}, auPRC {areas[1]:.3f}")

rows = np.array(rows)
fig, axes = plt.subplots(1, 2, figsize=(9, 3.2), layout="constrained")
for column, label, style in [
    (2, "auROC", "o-"),
    (3, "auPRC", "s-"),
    (4, "auROC, chain", "o:"),
    (5, "auPRC, chain", "s:"),
]:
    axes[0].semilogx(rows[:, 0], rows[:, column], style, label=label)
axes[0].set(xlabel="sequences", ylabel="area on other sequences")
axes[0].legend(fontsize=8)
axes[1].loglog(rows[:, 0], rows[:, 1], "o-")
text = axes[1].set(xlabel="sequences", ylabel="CPU seconds of training")

# %%
# With and without weights of words (the paper's *linadd*, tables 4.2 and 4.3): the outputs of the
# same SVM are sums over words of a trie, or sums of kernel rows.

some = sizes[: 5 if FULL else 3]
added = {}
for store in ("auto", "rows"):
    added[store] = []
    for n in some:
        started = time.process_time()
        MKLClassifier(WeightedDegree(20, store=store), n_jobs=1).fit(X[:n], y[:n])
        added[store].append(time.process_time() - started)
print("sequences", some, {store: np.round(times, 2).tolist() for store, times in added.items()})

# %%
# The size of working sets (table 4.6). By default SVMs with one weighted degree kernel are trained
# by conjugate gradients, without working sets; ``working_set=`` selects chunking as in the paper.

q_sizes = [12, 42, 112, 400, 1000]
chunked = {}
for q in ["auto", *q_sizes]:
    chunked[str(q)] = []
    for n in some[:4]:
        started = time.process_time()
        MKLClassifier(WeightedDegree(20), working_set=q, n_jobs=1).fit(X[:n], y[:n])
        chunked[str(q)].append(time.process_time() - started)
print("working sets", {q: np.round(times, 2).tolist() for q, times in chunked.items()})

fig, ax = plt.subplots(figsize=(6, 3.2), layout="constrained")
for position, n in enumerate(some[:4]):
    times = [chunked[str(q)][position] for q in q_sizes]
    (line,) = ax.loglog(q_sizes, times, "o-", label=f"{n:,} sequences")
    ax.axhline(chunked["auto"][position], color=line.get_color(), linestyle=":", linewidth=1)
ax.set(xlabel="working set", ylabel="CPU seconds (dotted: conjugate gradients)")
legend = ax.legend()

# %%
# Two motifs, GATTACA at 10 and AGTAGTG at 30, of which 0, 2, 4 and 5 letters are replaced at random
# (figure 4.8): the largest weight of any word, by position and length, and the weights of letters.

levels = [0, 2, 4, 5]
fig, axes = plt.subplots(2, 4, figsize=(11, 4), layout="constrained", sharex=True, sharey="row")
motif_areas = []
for level, (top, bottom) in zip(levels, axes.T, strict=True):
    motifs, labels = make_motifs(11_000, replaced=level, random_state=0)  # the size of the paper
    others, other_labels = make_motifs(11_000, replaced=level, random_state=1)
    model = MKLClassifier(WeightedDegree(20), C=2.0).fit(motifs, labels)
    motif_areas.append(roc_auc_score(other_labels, model.decision_function(others)))
    importance = inspection.importance(model, 8)
    letters = inspection.poim(model, 1)
    top.imshow(importance.gain, aspect="auto", cmap="Greys", origin="lower")
    largest = np.abs(letters.W).max()
    bottom.imshow(letters.W, aspect="auto", cmap="RdBu_r", vmin=-largest, vmax=largest)
    top.set_title(f"{level} of 7 replaced, auROC {motif_areas[-1]:.3f}", fontsize=9)
    bottom.set(xlabel="position", yticks=range(4), yticklabels="ACGT")
print("auROC of motifs", dict(zip(levels, np.round(motif_areas, 3).tolist(), strict=True)))
text = axes[0, 0].set(ylabel="length of words", yticks=range(0, 8, 2), yticklabels=range(1, 9, 2))

# %%
# Web pages (table 4.4, here generated): spam pages have other frequent words than honest ones. The
# kernel counts runs of eight bytes, as in the paper, with and without weight stores.


def make_pages(n, seed):
    """Return pages of 150 words, and whether each of them is spam."""
    rng = np.random.default_rng(seed)
    letters = np.array([*"aeiounrstlmdpc"])
    words = ["".join(letters[np.random.default_rng(w).integers(0, 14, 6)]) for w in range(2000)]
    common = 1 / np.arange(1, 2001)
    tilt = np.random.default_rng(0).normal(size=2000)
    spam = rng.random(n) < 0.4
    pages = []
    for label in spam:
        chances = common * np.exp((0.15 if label else -0.15) * tilt)
        chosen = rng.choice(2000, size=150, p=chances / chances.sum())
        pages.append("<p>" + " ".join(words[word] for word in chosen) + "</p>")
    return np.array(pages, dtype=object), np.where(spam, 1, -1)


page_sizes = [250, 1000, 4000] if FULL else [100, 200, 400]
pages, spam = make_pages(max(page_sizes), 1)
other_pages, other_spam = make_pages(1000 if FULL else 300, 2)
page_rows = []
for n in page_sizes:
    row = [n]
    for store in ("rows", "auto"):
        model = MKLClassifier(NGram(8, store=store), normalize="unit", C=10, n_jobs=1)
        started = time.process_time()
        model.fit(pages[:n], spam[:n])
        row.append(time.process_time() - started)
    row += [model.score(other_pages, other_spam)]
    row += [roc_auc_score(other_spam, model.decision_function(other_pages))]
    page_rows.append(row)
    times = f"{row[1]:.2f} CPU s by rows, {row[2]:.2f} with stores"
    print(f"{n:5} pages: {times}, accuracy {row[3]:.3f}, auROC {row[4]:.3f}")

results = {
    "columns of pages": ["pages", "CPU seconds by rows", "with stores", "accuracy", "auROC"],
    "pages": page_rows,
    "columns": ["sequences", "CPU seconds", "auROC", "auPRC", "auROC chain", "auPRC chain"],
    "rows": rows,
    "CPU seconds with and without stores": {"sequences": some, **added},
    "CPU seconds by working set": {"sequences": some[:4], **chunked},
    "auROC of motifs": dict(zip(map(str, levels), motif_areas, strict=True)),
}
