"""Accuracy and time with absent views, beside imputation and gradient boosting.

Of every example each view is removed with a given probability, in training and test examples alike;
at least one stays. Columns are standardised on the training examples that have them. All machines
but gradient boosting are the same: an RBF kernel of median width for each view, p = 2, C = 10.
"""

from __future__ import annotations

import time
from collections.abc import Callable

import numpy as np
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.impute import KNNImputer
from sklearn.model_selection import StratifiedShuffleSplit
from threadpoolctl import threadpool_limits

from kernelweave import MKLClassifier, Views
from kernelweave.kernels import RBF

from .data import FOLDER, MissingData
from .report import Table
from .settings import Settings

QUICK = False
SHARES = (0.0, 0.2, 0.4, 0.6)
# Views, examples to train on and to test on, boosting rounds.
SETS = {
    "breast_tcga": (("mrna_train", "mirna_train", "protein_train"), 90, 60, 100),
    "brca_jive": (("expression", "methylation", "mirna"), 200, 148, 100),
    "mfeat": (("fac", "fou", "kar", "mor", "pix", "zer"), 300, 700, 30),
}
Tables = dict[str, np.ndarray]


def read(name: str) -> tuple[Tables, np.ndarray]:
    """Return the views of a data set and its classes."""
    path = FOLDER / f"{name}.npz"
    if not path.exists():
        raise MissingData(f"{name}: {path} is not there")
    with np.load(path, allow_pickle=False) as found:
        views = {view: found[f"X_{view}"].astype(float) for view in SETS[name][0]}
        return views, found["y_train" if "y_train" in found else "y"]


def gaps(views: Tables, share: float, rng: np.random.Generator) -> Tables:
    """Return the views with NaN in the rows that are removed."""
    n = len(next(iter(views.values())))
    gone = rng.random((n, len(views))) < share
    nothing = np.flatnonzero(gone.all(axis=1))
    gone[nothing, rng.integers(len(views), size=len(nothing))] = False
    return {
        name: np.where(gone[:, [k]], np.nan, view) for k, (name, view) in enumerate(views.items())
    }


def standardised(train: Tables, test: Tables) -> tuple[Tables, Tables]:
    """Return both on the scale of the training examples that are present."""
    means = {name: np.nanmean(view, axis=0) for name, view in train.items()}
    scales = {name: np.nanstd(view, axis=0) + 1e-12 for name, view in train.items()}
    first, second = (
        {name: (view - means[name]) / scales[name] for name, view in part.items()}
        for part in (train, test)
    )
    return first, second


def machine(views: Tables) -> MKLClassifier:
    """Return the model of all methods but gradient boosting."""
    return MKLClassifier({name: RBF("median") for name in views}, C=10.0)


def ours(train: Tables, y: np.ndarray, test: Tables, rounds: int) -> np.ndarray:
    """Predict with present views scaled up for absent ones."""
    return machine(train).fit(Views(train), y).predict(Views(test))


def complete_cases(train: Tables, y: np.ndarray, test: Tables, rounds: int) -> np.ndarray | None:
    """Predict from the training examples that have all views, if there are enough of each class."""
    whole = ~np.any([np.isnan(view).any(axis=1) for view in train.values()], axis=0)
    if len(np.unique(y[whole])) < len(np.unique(y)):
        return None
    kept = {name: view[whole] for name, view in train.items()}
    return machine(train).fit(Views(kept), y[whole]).predict(Views(test))


def mean_imputed(train: Tables, y: np.ndarray, test: Tables, rounds: int) -> np.ndarray:
    """Predict with the mean of each column, which is 0, filled in."""
    filled = [{k: np.nan_to_num(v) for k, v in part.items()} for part in (train, test)]
    return machine(train).fit(Views(filled[0]), y).predict(Views(filled[1]))


def neighbours_imputed(train: Tables, y: np.ndarray, test: Tables, rounds: int) -> np.ndarray:
    """Predict with the mean of the five nearest training examples filled in."""
    imputer = KNNImputer().fit(np.hstack(list(train.values())))
    ends = np.cumsum([view.shape[1] for view in train.values()])[:-1]
    filled = []
    for part in (train, test):
        wide = imputer.transform(np.hstack(list(part.values())))
        filled.append(dict(zip(part, np.split(wide, ends, axis=1), strict=True)))
    return machine(train).fit(Views(filled[0]), y).predict(Views(filled[1]))


def boosted(train: Tables, y: np.ndarray, test: Tables, rounds: int) -> np.ndarray:
    """Predict with gradient boosting, which takes NaN."""
    model = HistGradientBoostingClassifier(max_iter=rounds, random_state=0)
    wide = [np.hstack(list(part.values())) for part in (train, test)]
    return model.fit(wide[0], y).predict(wide[1])


WAYS: dict[str, Callable[[Tables, np.ndarray, Tables, int], np.ndarray | None]] = {
    "extrapolated": ours,
    "complete cases": complete_cases,
    "mean imputed": mean_imputed,
    "5-NN imputed": neighbours_imputed,
    "boosting": boosted,
}


def run(settings: Settings) -> Table:
    """Score every way on the same splits and the same gaps."""
    table = Table("Absent views", ("data", "removed", *WAYS, "fit CPU s"))
    repeats = settings.size(max(settings.repeats, 2), 1)
    for name in settings.size(list(SETS), ["breast_tcga"]):
        views, y = read(name)
        for share in settings.size(SHARES, (0.4,)):
            with threadpool_limits(1):  # of BLAS, and of gradient boosting
                scores, seconds = scored(name, views, y, share, repeats, peers=settings.peers)
            table.add(name, f"{share:.0%}", *scores, seconds)
            print(*table.rows[-1], sep=" | ", flush=True)
    table.notes.append(f"Mean accuracy of {repeats} random splits; CPU seconds of the first way.")
    return table


def scored(
    name: str, views: Tables, y: np.ndarray, share: float, repeats: int, *, peers: bool
) -> tuple[list[float | None], float]:
    """Return the mean accuracy of each way, and the CPU seconds of ours."""
    _, n_train, n_test, rounds = SETS[name]
    splits = StratifiedShuffleSplit(repeats, train_size=n_train, test_size=n_test, random_state=0)
    found: dict[str, list[float]] = {way: [] for way in WAYS}
    seconds = 0.0
    for number, (train, test) in enumerate(splits.split(y, y)):
        holed = gaps(views, share, np.random.default_rng(number))
        parts = [{view: X[rows] for view, X in holed.items()} for rows in (train, test)]
        first, second = standardised(*parts)
        for way, predict in WAYS.items():
            if predict is boosted and not peers:
                continue
            start = time.process_time()
            labels = predict(first, y[train], second, rounds)
            if predict is ours:
                seconds += time.process_time() - start
            if labels is not None:
                found[way].append(float(np.mean(labels == y[test])))
    means = [float(np.mean(values)) if values else None for values in found.values()]
    return means, seconds / repeats
