"""Draw the pictures of the user pages: `python docs/pictures.py [NAME ...]`.

Without names all pictures are drawn. A picture is either a function below, or it is saved by the
code of its page (`PAGES`).
"""

from __future__ import annotations

import os
import re
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

import matplotlib as mpl
import matplotlib.pyplot as plt
import numpy as np
from matplotlib.figure import Figure
from matplotlib.patches import FancyArrowPatch, FancyBboxPatch
from sklearn.datasets import load_breast_cancer
from sklearn.svm import SVC

from kernelweave import MKLClassifier, datasets, kernel_alignment, losses, norms
from kernelweave.kernels import RBF, GappedKmer, Linear, Polynomial, Precomputed, per_feature

HERE = Path(__file__).resolve().parent
PAGES = (  # their code saves pictures
    "views",
    "certificates",
    "model_selection",
    "bounds",
    "explain",
    "insight",
    "gapped-kmers",
)
BLUE, ORANGE, GREY = "#3366aa", "#dd7722", "#888888"
# Okabe and Ito (2008): colours that colour-blind readers can tell apart
LINES = mpl.cycler(color=["#0072b2", "#d55e00", "#009e73", "#cc79a7", "#000000"]) + mpl.cycler(
    marker=["o", "s", "^", "D", "v"]
)
PLACES = ((slice(None), 0), (0, 1), (1, 1))  # of the panels of the start page
REGIONS = ("#dde7f3", "#fbe6d2", "#e8e8e8")  # pale forms of these colours


def start() -> Figure:
    """Four sources of data, their shares of the decision, and the two bounds of the optimum."""
    X, y = _sources()
    model = _model_of_sources(X, y)
    figure = plt.figure(figsize=(7.2, 4.2), layout="constrained")
    grid = figure.add_gridspec(2, 2, width_ratios=(1.1, 1))
    left, middle, right = (figure.add_subplot(grid[place]) for place in PLACES)
    left.set(xlim=(0, 10), ylim=(0, 10), title="several sources, one model")
    left.axis("off")
    sources = ("table", "DNA", "similarities", "noise")
    for row, name in enumerate(sources):
        y = 7.9 - 2.4 * row
        left.add_patch(FancyBboxPatch((0.2, y), 4.1, 1.4, boxstyle="round,pad=0.1", fc="#eef2f8"))
        left.text(2.25, y + 0.7, name, ha="center", va="center")
        left.add_patch(_arrow((4.5, y + 0.7), (6.3, 5.1)))
    left.add_patch(FancyBboxPatch((6.5, 4.1), 3.2, 2, boxstyle="round,pad=0.1", fc="#fdf1e6"))
    left.text(8.1, 5.1, "MKLClassifier", ha="center", va="center", size=9)
    shares = model.contributions(X).std(axis=0)
    middle.barh(sources, shares / shares.sum(), color=[BLUE, BLUE, BLUE, GREY])
    middle.invert_yaxis()
    middle.set(title="which source matters", xlabel="share of the decision")
    entries = [entry for entry in model.history_ if np.isfinite(entry["gap"])]
    steps = np.arange(len(entries))
    right.plot(steps, [entry["primal"] for entry in entries], color=ORANGE, label="model (primal)")
    right.plot(steps, [entry["dual"] for entry in entries], color=BLUE, label="bound (dual)")
    right.set(title="proof that training finished", xlabel="iteration", ylabel="objective")
    right.legend(frameon=False)
    for ax in (middle, right):
        ax.spines[["top", "right"]].set_visible(False)
    return figure


def _sources() -> tuple[dict[str, object], np.ndarray]:
    """Return four sources of 300 examples, of which the last is noise, and the classes."""
    rng = np.random.default_rng(0)
    y = np.arange(300) % 2
    table = rng.normal(size=(300, 3)) + 0.9 * y[:, None] * [1, 0, 0]
    dna = np.array(["".join(rng.choice(list("ACGT"), 60)) for _ in range(300)], object)
    for i in np.flatnonzero(y)[::2]:
        at = rng.integers(50)
        dna[i] = dna[i][:at] + "GATTACAGGA" + dna[i][at + 10 :]
    return {
        "table": table,
        "dna": dna,
        "kin": np.arange(300),
        "noise": rng.normal(size=(300, 3)),
    }, y


def _model_of_sources(X: dict[str, object], y: np.ndarray) -> MKLClassifier:
    """Return a model with one kernel for each source."""
    hidden = np.random.default_rng(1).normal(size=(300, 4)) + 0.5 * y[:, None]
    kernels = {
        "table": RBF("scale"),
        "dna": GappedKmer(l=8, k=5),
        "kin": Precomputed(hidden @ hidden.T),
        "noise": RBF("scale"),
    }
    return MKLClassifier(kernels, norm=1, C=0.3, solver="cutting-plane").fit(X, y)


def absent() -> Figure:
    """Accuracy against the fraction of views removed, from the table of views.md."""
    figure, axes = plt.subplots(1, 3, figsize=(10, 2.8), sharex=True, layout="constrained")
    rows = _table("views", "| data, training")
    for ax, at in zip(axes, range(0, 12, 4), strict=True):
        block = rows[at : at + 4]
        for place, (label, color) in enumerate(
            [
                ("absent views", ORANGE),
                ("complete cases", GREY),
                ("5-NN imputed", BLUE),
                ("gradient boosting", "black"),
            ]
        ):
            values = [float(row[2 + place].strip("*") or "nan") for row in block]
            ax.plot([0, 20, 40, 60], values, marker="os^D"[place], color=color, label=label)
        ax.set(title=block[0][0], xlabel="% of views removed", xticks=[0, 20, 40, 60])
        ax.spines[["top", "right"]].set_visible(False)
    axes[0].set_ylabel("accuracy")
    axes[0].legend(frameon=False)
    return figure


def which_p() -> Figure:
    """Weights of six kernels, two of which matter, at five values of p."""
    X, y, _ = datasets.make_sparse_to_uniform(200, n_relevant=2, n_features=6, random_state=0)
    figure, axes = plt.subplots(1, 5, figsize=(10, 2.4), sharey=True, layout="constrained")
    names = ("1", "4/3", "2", "4", "inf")
    for ax, name, p in zip(axes, names, (1, 4 / 3, 2, 4, np.inf), strict=True):
        model = MKLClassifier(per_feature(Linear()), norm=p, C=0.01, tol=1e-6).fit(X, y)
        ax.bar(range(1, 7), model.weights_, color=[BLUE] * 2 + [GREY] * 4)
        ax.set(title=f"p = {name}", xlabel="kernel", xticks=range(1, 7))
        ax.spines[["top", "right"]].set_visible(False)
    axes[0].set_ylabel("weight")
    return figure


def kernels() -> Figure:
    """RBF kernels of several widths, and the kernel matrix of two groups of points."""
    figure, (left, right) = plt.subplots(
        1, 2, figsize=(8, 2.9), width_ratios=(1.5, 1), layout="constrained"
    )
    distance = np.linspace(0, 5.5, 200)
    for gamma, shade in zip((0.05, 0.2, 1, 5), (0.4, 0.6, 0.8, 1.0), strict=True):
        left.plot(
            distance, np.exp(-gamma * distance**2), color=plt.cm.Blues(shade), label=f"{gamma:g}"
        )
    left.set(xlabel="distance of two examples", ylabel="kernel value", title="RBF(gamma)")
    left.legend(title="gamma", frameon=False, loc="upper right", bbox_to_anchor=(1, 1.05))
    left.spines[["top", "right"]].set_visible(False)
    rng = np.random.default_rng(0)
    points = np.concatenate([rng.normal(size=(20, 2)), 3 + rng.normal(size=(20, 2))])
    image = right.imshow(RBF(gamma=0.2)(points), cmap="Blues", vmin=0, vmax=1)
    right.set(title="RBF(0.2) of two groups", xlabel="example", ylabel="example")
    figure.colorbar(image, ax=right)
    return figure


def loss_curves() -> Figure:
    """Losses against the margin y f, or against the error y - f."""
    figure, (left, right) = plt.subplots(1, 2, figsize=(8, 2.9), layout="constrained")
    margin = np.linspace(-2, 3, 300)
    for ax in (left, right):
        ax.set_prop_cycle(LINES)
    for name in ("hinge", "squared_hinge", "logistic", "smooth_hinge"):
        value = losses.get(name, "classifier").value(margin, np.ones(300))
        style = "--" if name == "smooth_hinge" else "-"
        left.plot(margin, value, label=name, linestyle=style, markevery=60, ms=4)
    left.set(xlabel="margin y f", ylabel="loss", ylim=(0, 4), title="MKLClassifier")
    error = np.linspace(-2, 2, 300)
    for loss in (losses.EpsilonInsensitive(epsilon=0.5), losses.Squared()):
        label = f"{loss.name}, epsilon = 0.5" if loss.name.startswith("eps") else loss.name
        right.plot(error, loss.value(error, np.zeros(300)), label=label, markevery=60, ms=4)
    right.set(xlabel="error f - y", ylim=(0, 4), title="MKLRegressor")
    for ax in (left, right):
        ax.legend(frameon=False, fontsize=8)
        ax.spines[["top", "right"]].set_visible(False)
    return figure


def toys() -> Figure:
    """Two stars at two distances, and the weights of five widths against the distance."""
    widths = np.array([0.01, 0.1, 1, 10, 100])
    radii = np.linspace(4.1, 9.9, 12)
    weights = []
    for radius in radii:
        X, y = datasets.make_stars(400, outer_radius=radius, random_state=0)
        model = MKLClassifier(RBF(gamma=1 / widths), norm=1, C=0.5, normalize=None)
        weights.append(model.fit(X, y).weights_)
    figure, (left, middle, right) = plt.subplots(
        1, 3, figsize=(10, 2.8), width_ratios=(1, 1, 1.8), layout="constrained"
    )
    for ax, radius in ((left, 4.5), (middle, 9)):
        X, y = datasets.make_stars(400, outer_radius=radius, random_state=0)
        ax.scatter(*X.T, c=y, cmap="coolwarm", s=4)
        ax.set(title=f"outer radius {radius:g}", aspect="equal", xticks=[], yticks=[])
    right.set_prop_cycle(LINES)
    for width, line in zip(widths, np.transpose(weights), strict=True):
        right.plot(radii, line, ms=4, label=f"{width:g}")
    right.set(xlabel="outer radius", ylabel="weight")
    right.legend(title="width", frameon=False, loc="center left", bbox_to_anchor=(1, 0.5))
    right.spines[["top", "right"]].set_visible(False)
    return figure


def gap() -> Figure:
    """The values on which the relative duality gap depends, on one axis."""
    figure, ax = plt.subplots(figsize=(8, 1.7), layout="constrained")
    ax.set(xlim=(0, 10), ylim=(-1.15, 1.5))
    ax.axis("off")
    ax.plot([0.3, 9.7], [0, 0], color=GREY)
    points = {
        1: ("0", GREY),
        4: ("D\nlower bound (dual)", BLUE),
        5: ("optimum", "black"),
        6: ("P\nmodel (primal)", ORANGE),
        9: ("P0\nconstant model", GREY),
    }
    for x, (label, color) in points.items():
        ax.plot(x, 0, "o", color=color)
        ax.text(x, -0.18, label, ha="center", va="top", color=color, size=9)
    for x, end, y, label in ((4, 6, 0.3, "P - D"), (4, 9, 0.7, "P0 - D"), (1, 6, 1.15, "P")):
        ax.annotate("", (x, y), (end, y), arrowprops={"arrowstyle": "<->", "color": GREY})
        ax.text((x + end) / 2, y + 0.02, label, ha="center", va="bottom", size=9)
    return figure


def string_kernels() -> Figure:
    """Which matching words three string kernels count in one pair of sequences."""
    one, two, k = "ACGTCCGATCTTTTTAGA", "ACGTTAGAGATCCCGGCG", 4
    rules: dict[str, Callable[[int, int], bool]] = {
        "WeightedDegree: same position": lambda i, j: i == j,
        "WeightedDegreeShift: at most 2 apart": lambda i, j: abs(i - j) <= 2,
        "Spectrum: anywhere": lambda i, j: True,
    }
    figure, axes = plt.subplots(3, 1, figsize=(5.5, 4.6), layout="constrained")
    for ax, (title, counts) in zip(axes, rules.items(), strict=True):
        for x, (a, b) in enumerate(zip(one, two, strict=True)):
            ax.text(x, 1, a, ha="center", va="center", family="monospace", size=13)
            ax.text(x, 0, b, ha="center", va="center", family="monospace", size=13)
        for i in range(len(one) - k + 1):
            for j in range(len(two) - k + 1):
                if one[i : i + k] == two[j : j + k] and counts(i, j):
                    middle = (k - 1) / 2
                    ax.plot([i + middle, j + middle], [0.8, 0.2], color=BLUE)
                    ax.plot([i - 0.3, i + k - 0.7], [0.8, 0.8], color=BLUE, alpha=0.5)
                    ax.plot([j - 0.3, j + k - 0.7], [0.2, 0.2], color=BLUE, alpha=0.5)
        ax.set(xlim=(-1, len(one)), ylim=(-0.4, 1.4))
        ax.set_title(title, fontsize=12)
        ax.axis("off")
    return figure


def large() -> Figure:
    """CPU time against the number of rows, from the first table of large.md."""
    figure, ax = plt.subplots(figsize=(5.5, 3), layout="constrained")
    rows = _table("large", "| rows | fit")
    fits = {"one width": GREY, "20 widths, p = 1": ORANGE, "20 widths, p = 2": BLUE}
    for name, color in fits.items():
        points = [(row[0], row[2]) for row in rows if row[1] == name]
        x, y = np.array([[float(value.replace(",", "")) for value in point] for point in points]).T
        ax.loglog(x, y, marker="o", color=color, label=name)
    ax.set(xlabel="rows", ylabel="CPU seconds")
    ax.set_xticks(x, [f"{count:,.0f}" for count in x])
    ax.minorticks_off()
    ax.legend(frameon=False)
    ax.spines[["top", "right"]].set_visible(False)
    return figure


def significance() -> Figure:
    """Power and false discoveries by noise, from the table of insight.md."""
    rows = np.array(_table("insight", "| letters replaced | found"), dtype=float)
    figure, (left, right) = plt.subplots(1, 2, figsize=(8, 2.8), layout="constrained")
    for shift, name, color in ((0, "weights", ORANGE), (1, "held out", BLUE)):
        left.plot(rows[:, 0], rows[:, 1 + shift], marker="o", color=color, label=name)
        right.plot(rows[:, 0], rows[:, 3 + shift] / 10, marker="o", color=color, label=name)
    right.axhline(0.05, color=GREY, linestyle=":", label="level")
    left.set(xlabel="letters replaced, of 7", ylabel="share of positions found", ylim=(-0.03, 1.05))
    right.set(xlabel="letters replaced, of 7", ylabel="data sets with a false one")
    right.set_ylim(-0.03, 1.05)
    for ax in (left, right):
        ax.legend(frameon=False)
        ax.spines[["top", "right"]].set_visible(False)
    return figure


def norm_weights() -> Figure:
    """Weights of two nearly equal kernels and a third one under five norms."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 2))
    y = X.sum(axis=1) > 0
    alike = [RBF(gamma=[0.1, 0.11]), Linear(columns=[0])]
    chosen = {
        "p = 1": 1.0,
        "p = 2": 2.0,
        "Elliptic(E)": norms.Elliptic(kernel_alignment(alike, X)),
        "Elastic(0.5)": norms.Elastic(0.5),
        "SumOfNorms(0.5)": norms.SumOfNorms(0.5),
    }
    figure, axes = plt.subplots(1, 5, figsize=(9, 2.2), sharey=True, layout="constrained")
    for ax, (name, norm) in zip(axes, chosen.items(), strict=True):
        weights = MKLClassifier(alike, norm=norm, tol=1e-4).fit(X, y).weights_
        ax.bar(["width\n0.1", "width\n0.11", "column"], weights, color=[BLUE, BLUE, ORANGE])
        ax.set_title(name, size=10)
        ax.tick_params(labelsize=8)
        ax.spines[["top", "right"]].set_visible(False)
    axes[0].set_ylabel("weight")
    return figure


def scale() -> Figure:
    """The client and three workers of a cluster, and what they exchange in an iteration."""
    figure, ax = plt.subplots(figsize=(8, 2.6), layout="constrained")
    ax.set(xlim=(0, 16), ylim=(0, 6))
    ax.axis("off")
    ax.add_patch(FancyBboxPatch((0.3, 1.8), 4.2, 2.4, boxstyle="round,pad=0.1", fc="#fdf1e6"))
    ax.text(
        2.4, 3.0, "client\nalpha, weights, outputs\nactive set", ha="center", va="center", size=9
    )
    for row in range(3):
        y = 4.5 - 1.9 * row
        ax.add_patch(FancyBboxPatch((11.2, y), 4.4, 1.1, boxstyle="round,pad=0.1", fc="#eef2f8"))
        ax.text(13.4, y + 0.55, f"worker {row + 1}: examples", ha="center", va="center", size=9)
        ax.add_patch(_arrow((4.8, 3.15 + 0.25 * (1 - row)), (11.0, y + 0.75)))
        ax.add_patch(_arrow((11.0, y + 0.35), (4.8, 2.85 + 0.25 * (1 - row))))
    ax.text(7.9, 5.2, "examples whose alpha has changed", ha="center", color=ORANGE, size=9)
    ax.text(7.9, 0.5, "one number for each example", ha="center", color=BLUE, size=9)
    return figure


def solvers() -> Figure:
    """Relative duality gaps of six solvers on one problem, over their iterations."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(400, 10))
    y = X[:, 0] * X[:, 1] + X[:, 2] + 0.3 * rng.normal(size=400) > 0
    figure, (left, right) = plt.subplots(1, 2, figsize=(9, 3), sharey=True, layout="constrained")
    panels = {
        left: (1.0, ("newton", "cutting-plane", "level", "gradient", "simplemkl")),
        right: (2.0, ("newton", "analytic", "cutting-plane", "level")),
    }
    names = ("newton", "cutting-plane", "level", "gradient", "simplemkl", "analytic")
    styles = dict(zip(names, [*LINES, {"color": ORANGE, "marker": "x"}], strict=True))
    for ax, (p, names) in panels.items():
        for name in names:
            model = MKLClassifier(
                per_feature(RBF([0.03, 0.3])), norm=p, solver=name, interleaved=False, tol=1e-4
            ).fit(X, y)
            gaps = [max(entry["gap"], 1e-5) for entry in model.history_ if entry["gap"] < np.inf]
            ax.semilogy(np.arange(len(gaps)), gaps, ms=3, label=name, **styles[name])
        ax.set(title=f"p = {p:g}", xlabel="iteration", ylim=(5e-6, 3))
        ax.legend(frameon=False, fontsize=8)
        ax.spines[["top", "right"]].set_visible(False)
    left.set_ylabel("relative duality gap")
    return figure


def classes() -> Figure:
    """Regions of three classes by the three values of multi_class=, on the same examples."""
    rng = np.random.default_rng(0)
    y = np.arange(240) % 3
    X = np.array([[-1.6, 0.0], [0.0, 0.9], [1.6, 0.0]])[y] + 0.75 * rng.normal(size=(240, 2))
    across, up = np.meshgrid(np.linspace(-4, 4, 161), np.linspace(-2.5, 3.2, 115))
    cells = np.column_stack([across.ravel(), up.ravel()])
    figure, axes = plt.subplots(1, 3, figsize=(9, 2.6), sharey=True, layout="constrained")
    for ax, form in zip(axes, ("ovr", "ovo", "joint"), strict=True):
        model = MKLClassifier(Linear(), multi_class=form, loss="hinge", C=1.0).fit(X, y)
        regions = model.predict(cells).reshape(across.shape)
        ax.contourf(across, up, regions, [-0.5, 0.5, 1.5, 2.5], colors=REGIONS)
        for k, color in enumerate((BLUE, ORANGE, GREY)):
            ax.plot(*X[y == k].T, ".", ms=4, color=color)
        ax.set_title(f'multi_class="{form}"', size=10)
        ax.set(xticks=[], yticks=[])
    return figure


def migration() -> Figure:
    """Decision values of SVC and of MKLClassifier with the same kernel and C."""
    X, y = load_breast_cancer(return_X_y=True)
    X = (X - X.mean(axis=0)) / X.std(axis=0)
    pairs = {
        "RBF": (SVC(), RBF("scale")),
        "polynomial": (SVC(kernel="poly", coef0=1), Polynomial(3, "scale", 1)),
    }
    figure, axes = plt.subplots(1, 2, figsize=(7, 2.8), layout="constrained")
    for ax, (name, (theirs, kernel)) in zip(axes, pairs.items(), strict=True):
        ours = MKLClassifier(kernel, normalize=None, tol=1e-5).fit(X, y)
        values = theirs.set_params(tol=1e-5).fit(X, y).decision_function(X)
        ax.axline((0, 0), slope=1, color=GREY, linewidth=1)
        ax.plot(values, ours.decision_function(X), ".", ms=3, color=BLUE)
        ax.set(title=name, xlabel="SVC", ylabel="MKLClassifier")
        ax.spines[["top", "right"]].set_visible(False)
    return figure


def guarantees() -> Figure:
    """What is checked between a saved model and a confirmed one, and by which function."""
    figure, ax = plt.subplots(figsize=(8, 1.6), layout="constrained")
    ax.set(xlim=(0, 16), ylim=(0.6, 4.4))
    ax.axis("off")
    boxes = {
        0.2: "file\nmodel.kw",
        4.3: "load\nform, sizes, types,\nchecksums; with key=\nthe signature",
        8.4: "model\npredictions",
        12.5: "verify(model, X, y)\ncertificate, support\nvectors, intercept,\ncalibration",
    }
    for x, text in boxes.items():
        color = "#fdf1e6" if text.startswith(("load", "verify")) else "#eef2f8"
        ax.add_patch(FancyBboxPatch((x, 1), 3.2, 3, boxstyle="round,pad=0.1", fc=color))
        ax.text(x + 1.6, 2.5, text, ha="center", va="center", size=8.5)
        if x > 1:
            ax.add_patch(_arrow((x - 0.85, 2.5), (x - 0.1, 2.5)))
    return figure


def bach() -> Figure:
    """Seconds against the number of kernels, from the table of papers/bach-2004.md."""
    rows = _table("papers/bach-2004", "| panel | n | m |")
    figure, axes = plt.subplots(1, 3, figsize=(9, 3), sharey=True, layout="constrained")
    for ax, data in zip(axes, ("ionosphere", "breast cancer", "adult"), strict=True):
        ax.set_prop_cycle(LINES)
        panel = [row for row in rows if row[0] == f"{data}: growing m"]
        for column, label in enumerate(('"skm"', "paper: SMO", "paper: Mosek"), start=3):
            seconds = [float(row[column] or "nan") for row in panel]
            ax.loglog([int(row[2]) for row in panel], seconds, ms=4, label=label)
        ax.set(title=f"{data}, n = {panel[0][1]}", xlabel="kernels")
        ax.spines[["top", "right"]].set_visible(False)
    axes[0].set_ylabel("seconds")
    axes[0].legend(frameon=False, fontsize=8)
    return figure


def moeller() -> Figure:
    """Certified gaps against CPU seconds of two solvers, from a generated table."""
    rows = _table("generated/paper_gaps", "| tol |")
    figure, ax = plt.subplots(figsize=(5.5, 3), layout="constrained")
    ax.set_prop_cycle(LINES)
    for column, label in ((1, '"mwu"'), (3, '"auto"')):
        points = [(float(row[column]), float(row[column + 1])) for row in rows if row[column]]
        ax.loglog(*np.transpose(points), ms=5, label=label)
    ax.set_xticks([0.02, 0.05, 0.1, 0.2], ["0.02", "0.05", "0.1", "0.2"])
    ax.xaxis.set_minor_formatter("")
    ax.set(xlabel="CPU seconds", ylabel="certified gap")
    ax.legend(frameon=False)
    ax.spines[["top", "right"]].set_visible(False)
    return figure


def kloft() -> Figure:
    """Test errors against p, if one, nine or all features matter, from a generated table."""
    rows = _table("generated/benchmarks_toy_sparsity", "| n, relevant |")
    figure, ax = plt.subplots(figsize=(5.5, 3), layout="constrained")
    ax.set_prop_cycle(LINES)
    for row in rows:
        relevant = row[0].split(", ")[1]
        if relevant in ("1", "9", "50"):
            errors = [float(cell) for cell in row[1:]]
            ax.plot(range(5), errors, ms=5, label=f"{relevant} of 50 features matter")
    ax.set_xticks(range(5), ["1", "4/3", "2", "4", "inf"])
    ax.set(xlabel="p", ylabel="test error", ylim=(0, None))
    ax.legend(frameon=False)
    ax.spines[["top", "right"]].set_visible(False)
    return figure


def _table(page: str, head: str) -> list[list[str]]:
    """Return the cells of the first table of a page whose head begins with a text."""
    lines = (HERE / f"{page}.md").read_text().splitlines()
    first = next(number for number, line in enumerate(lines) if line.startswith(head))
    cells = []
    for line in lines[first + 2 :]:
        if not line.startswith("|"):
            break
        cells.append([cell.strip() for cell in line.strip("|").split("|")])
    return cells


def _arrow(tail: tuple[float, float], head: tuple[float, float]) -> FancyArrowPatch:
    """Return a grey arrow."""
    return FancyArrowPatch(tail, head, arrowstyle="-|>", mutation_scale=10, color=GREY)


PICTURES: dict[str, Callable[[], Figure]] = {
    "start": start,
    "absent": absent,
    "which_p": which_p,
    "kernels": kernels,
    "losses": loss_curves,
    "toys": toys,
    "gap": gap,
    "strings": string_kernels,
    "large": large,
    "significance": significance,
    "norms": norm_weights,
    "scale": scale,
    "solvers": solvers,
    "classes": classes,
    "migration": migration,
    "guarantees": guarantees,
    "bach": bach,
    "moeller": moeller,
    "kloft": kloft,
}


def draw_page(page: str) -> None:
    """Run the Python code of a page, and copy the pictures that the page displays."""
    text = (HERE / f"{page}.md").read_text()
    code = re.findall(r"^```python\n(.*?)^```", text, re.M | re.S)
    before = Path.cwd()
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        exec(compile("\n".join(code), page, "exec"), {})
        os.chdir(before)
        for picture in Path(folder).glob("*.png"):
            if f"({picture.name})" in text:
                (HERE / picture.name).write_bytes(picture.read_bytes())


if __name__ == "__main__":
    mpl.use("Agg")
    for name in sys.argv[1:] or [*PICTURES, *PAGES]:
        if name in PICTURES:
            PICTURES[name]().savefig(HERE / f"{name}.png", dpi=100)
        else:
            draw_page(name)
