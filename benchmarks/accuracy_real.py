"""Is learning weights worth it on real data? Nested cross-validation on 12 sets."""

from __future__ import annotations

import warnings

import numpy as np
from joblib import Parallel, delayed
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.impute import SimpleImputer
from sklearn.model_selection import StratifiedKFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from kernelweave import MKLClassifier, kernels
from kernelweave.comparison import LEARNED, SINGLE, SUM, Comparison, compare

from . import data
from .report import Table
from .settings import Settings
from .timing import blas_threads

QUICK = False
VIEWS = ("breast_tcga", "brca_jive", "internet_ads_subset", "protein_fold", "mfeat")
COLUMNS = ("ionosphere", "sonar", "pima", "german_numeric", "heart_statlog", "wdbc", "wpbc")
BOOSTING = "gradient boosting"
NORMS = (1.0, 4 / 3, 2.0, 4.0, np.inf)
COSTS = (0.1, 1.0, 10.0, 100.0)
FOLDS = 4
MOST = 600  # examples of a set


def run(settings: Settings) -> Table:
    """Compare the four on each set; grids are the same for all, chosen inside training folds."""
    machines = (LEARNED, SUM, SINGLE, BOOSTING)
    table = Table(
        f"Accuracy, {FOLDS} folds",
        ("data", "n", "kernels", *machines, "learned - sum", "learned - best other"),
        notes=[
            "Mean over folds; differences on the same folds, with their standard errors.",
            "Views: three widths each. Columns: a linear kernel and RBF kernels of seven widths on "
            "all columns, and one RBF kernel for each.",
            f"At most {MOST} examples of a set, drawn once. C, norm and single kernel are chosen "
            f"inside each training fold (3 parts) from C in {COSTS} and p in "
            f"{tuple(round(p, 2) for p in NORMS)}.",
        ],
    )
    names = settings.size((*COLUMNS, *VIEWS), ("heart_statlog",))
    rows = Parallel(n_jobs=settings.size(2, 1), return_as="generator")(
        delayed(row)(name, settings.tiny) for name in names
    )
    for cells in rows:
        print(*cells, sep=" | ", flush=True)
        table.add(*cells)
    return table


def row(name: str, tiny: bool) -> list[object]:
    """Return a row of the table."""
    X, y, sizes = loaded(name)
    family = by_views(sizes) if name in VIEWS else by_columns(sizes[0])
    machine = make_pipeline(SimpleImputer(), StandardScaler(), MKLClassifier(family))
    folds = StratifiedKFold(2 if tiny else FOLDS, shuffle=True, random_state=0)
    grid = {"norms": NORMS[::2], "Cs": COSTS[:2]} if tiny else {"norms": NORMS, "Cs": COSTS}
    rivals = {BOOSTING: HistGradientBoostingClassifier(random_state=0)}
    with warnings.catch_warnings(), blas_threads(1):
        warnings.simplefilter("ignore")  # kernels that are constant in a fold
        found = compare(machine, X, y, cv=folds, others=rivals, **grid)
    count = 3 * len(sizes) if name in VIEWS else 8 + sizes[0]
    means = [float(values.mean()) for values in found.scores.values()]
    return [name, len(y), count, *means, written(found, SUM), written(found, best_other(found))]


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
    """Return kernels on all of d columns, and one on each."""
    widths = [4.0**k / d for k in range(-3, 4)]
    return [kernels.Linear(), kernels.RBF(gamma=widths), kernels.per_feature(kernels.RBF(0.5))]


def best_other(found: Comparison) -> str:
    """Return the machine with the best mean but for the learned combination."""
    return min(found.differences, key=lambda name: found.differences[name][0])


def written(found: Comparison, name: str) -> str:
    """Return how much better the learned combination is than another machine."""
    mean, error = found.differences[name]
    return f"{mean:+.3f} +- {error:.3f}"
