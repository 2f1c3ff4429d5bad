"""Is learning weights worth it on real data? Nested cross-validation on 12 sets.

A set that is done leaves a line in ``results/accuracy_real.jsonl``: a run that was stopped goes on
with the others. Without the file it starts anew.
"""

from __future__ import annotations

import json
import warnings
from functools import reduce
from operator import add
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.impute import SimpleImputer
from sklearn.model_selection import StratifiedKFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from kernelweave import MKLClassifier, kernels
from kernelweave.estimators.comparison import LEARNED, SINGLE, SUM, Comparison, compare

from . import data
from .report import RESULTS, Table
from .settings import Settings
from .timing import blas_threads

QUICK = False
VIEWS = ("breast_tcga", "brca_jive", "internet_ads_subset", "protein_fold", "mfeat")
COLUMNS = ("ionosphere", "sonar", "pima", "german_numeric", "heart_statlog", "wdbc", "wpbc")
BOOSTING = "gradient boosting"
NORMS = (1.0, 4 / 3, 2.0, 4.0, np.inf)
COSTS = (0.1, 1.0, 10.0, 100.0)
FOLDS = 4
SEEDS = dict.fromkeys(COLUMNS, 10) | {"protein_fold": 3}  # repeats of the folds: others have
USUAL_SEEDS = 5  # so many, and protein_fold takes minutes for one
MOST = 600  # examples of a set
KEPT = RESULTS / "accuracy_real.jsonl"


def run(settings: Settings) -> Table:
    """Compare the four on each set; grids are the same for all, chosen inside training folds."""
    machines = (LEARNED, SUM, SINGLE, BOOSTING)
    table = Table(
        f"Accuracy, {FOLDS} folds, repeated",
        ("data", "n", "kernels", "repeats", *machines, "learned - sum", "learned - best other"),
        notes=[
            "Means over all folds; differences on the same folds, with the standard error of "
            "Nadeau and Bengio (2003), which knows that the training parts of folds overlap.",
            "Views: three widths each. Columns: a linear kernel, RBF kernels of seven widths and "
            "Laplacian kernels of three on all columns, and three sums of RBF kernels on each.",
            f"At most {MOST} examples of a set, drawn once. C, norm and single kernel are chosen "
            f"inside each training fold (3 parts) from C in {COSTS} and p in "
            f"{tuple(round(p, 2) for p in NORMS)}.",
        ],
    )
    names = settings.size((*COLUMNS, *VIEWS), ("heart_statlog",))
    done = {} if settings.tiny else kept()
    for name in names:
        if name not in done:
            done[name] = row(name, settings.tiny)
            if not settings.tiny:
                keep(done[name])
        print(*done[name], sep=" | ", flush=True)
        table.add(*done[name])
    return table


def kept(path: Path = KEPT) -> dict[str, list[Any]]:
    """Return the rows of earlier runs, by the names of their sets."""
    lines = path.read_text().splitlines() if path.exists() else []
    return {row[0]: row for row in map(json.loads, lines)}


def keep(row: list[Any], path: Path = KEPT) -> None:
    """Save a row."""
    path.parent.mkdir(exist_ok=True)
    with path.open("a") as file:
        file.write(json.dumps(row) + "\n")


def row(name: str, tiny: bool) -> list[Any]:
    """Return a row of the table."""
    X, y, sizes = loaded(name)
    family = by_views(sizes) if name in VIEWS else by_columns(sizes[0])
    machine = make_pipeline(SimpleImputer(), StandardScaler(), MKLClassifier(family))
    seeds = 1 if tiny else SEEDS.get(name, USUAL_SEEDS)
    folds = repeated(X, y, 2 if tiny else FOLDS, seeds)
    grid = {"norms": NORMS[::2], "Cs": COSTS[:2]} if tiny else {"norms": NORMS, "Cs": COSTS}
    rivals = {BOOSTING: HistGradientBoostingClassifier(random_state=0)}
    with warnings.catch_warnings(), blas_threads(1):
        warnings.simplefilter("ignore")  # kernels that are constant in a fold
        found = compare(machine, X, y, cv=folds, others=rivals, **grid)
    count = 3 * len(sizes) if name in VIEWS else 14
    means = [float(values.mean()) for values in found.scores.values()]
    differences = [written(found, other) for other in (SUM, best_other(found))]
    return [name, len(y), count, seeds, *means, *differences]


def repeated(
    X: np.ndarray, y: np.ndarray, folds: int, seeds: int
) -> list[tuple[np.ndarray, np.ndarray]]:
    """Return the training and test examples of folds that are drawn anew with each seed."""
    drawn = [StratifiedKFold(folds, shuffle=True, random_state=seed) for seed in range(seeds)]
    return [split for one in drawn for split in one.split(X, y)]


def loaded(name: str, most: int | None = MOST) -> tuple[np.ndarray, np.ndarray, list[int]]:
    """Return examples, at most so many, labels, and the number of columns of each view."""
    found = data.arrays(name)
    train = "_train" if "y_train" in found else ""
    views = [found["X"]] if "X" in found else of_training(found, train)
    y = found[f"y{train}"]
    chosen = np.sort(np.random.default_rng(0).permutation(len(y))[:most])
    X = np.hstack([view.astype(float) for view in views])
    return X[chosen], y[chosen], [view.shape[1] for view in views]


def of_training(found: dict[str, np.ndarray], train: str) -> list[np.ndarray]:
    """Return the views of the training examples."""
    return [found[key] for key in found if key.startswith("X_") and key.endswith(train)]


def by_views(sizes: list[int]) -> list[kernels.Kernel]:
    """Return RBF kernels of three widths for each view."""
    ends = np.cumsum(sizes)
    return [
        kernels.RBF(gamma=[0.25 / d, 1.0 / d, 4.0 / d], columns=slice(int(end - d), int(end)))
        for d, end in zip(sizes, ends, strict=True)
    ]


def by_columns(d: int) -> list[kernels.Kernel]:
    """Return kernels on all of d columns, and sums of kernels on each."""
    widths = [4.0**k / d for k in range(-3, 4)]
    laplacian = kernels.Laplacian(gamma=[0.25 / d, 1.0 / d, 4.0 / d])
    additive = [
        reduce(add, [kernels.RBF(gamma, columns=[column]) for column in range(d)])
        for gamma in (0.1, 1.0, 10.0)
    ]
    return [kernels.Linear(), kernels.RBF(gamma=widths), laplacian, *additive]


def best_other(found: Comparison) -> str:
    """Return the model  with the best mean but for the learned combination."""
    return min(found.differences, key=lambda name: found.differences[name][0])


def corrected_error(values: np.ndarray, folds: int = FOLDS) -> float:
    """Return the standard error of the mean of scores, shape (repeats * folds,).

    Scores of folds are correlated, since their training parts overlap. Nadeau and Bengio (2003,
    Inference for the generalization error) add the ratio of test to training examples to 1 / J.
    """
    return float(np.sqrt((1 / len(values) + 1 / (folds - 1)) * values.var(ddof=1)))


def written(found: Comparison, name: str) -> str:
    """Return the difference between the learned combination and another model, as text."""
    values = found.scores[LEARNED] - found.scores[name]
    return f"{values.mean():+.3f} +- {corrected_error(values):.3f}"
