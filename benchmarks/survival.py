"""Concordance on censored times: learned views against Cox models, forests, boosting and an SVM.

Every model is fitted on the same random training parts (two thirds, stratified by event) and scored
by Harrell's concordance on the rest. Columns are imputed by medians, standardised and clipped to
+-5 on the training part; each view is divided by the square root of its width. Parameters are
chosen inside the training part, by 3-fold concordance, from grids of two to four points or, for the
learned views, from the default grid of `MKLSurvivalCV`. Learned views have the default kernels of
these columns: a linear and a Laplacian kernel each. Kernels and grids were chosen on other random
splits of the sets in `DEVELOPMENT`, grids before that also on splits of gse7390, gbm_cs and pbc.

Limits: forests have 100 trees, and 30 on sets with more than 1,000 columns, where they would take
longer than all other models together. The survival SVM has an RBF kernel and at most 12 Newton
steps: further ones take minutes and do not raise its concordance.

Scores are kept in benchmarks/results/survival_scores.json, so that a stopped run resumes. Delete
that file to measure anew.
"""

from __future__ import annotations

import json
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
from sklearn.model_selection import GridSearchCV, StratifiedKFold, StratifiedShuffleSplit
from sklearn.pipeline import Pipeline, make_pipeline
from threadpoolctl import threadpool_limits

from kernelweave import MKLSurvivalCV, Views
from kernelweave.estimators.survival_targets import as_survival, concordance
from kernelweave.kernels import Laplacian, Linear

from .data import FOLDER, MissingData
from .report import RESULTS, Table
from .settings import Settings

QUICK = False
SPLITS = 10
SETS = (
    "nki70",
    "gse7390_desmedt",
    "tcga_kirc_pins",
    "tcga_gbm_cs",
    "tcga_luad",
    "tcga_blca",
    "tcga_gbmlgg",
    "pbc",
    "gbsg2",
)
DEVELOPMENT = ("nki70", "tcga_kirc_pins", "tcga_blca", "gbsg2")
SCORES = RESULTS / "survival_scores.json"
PRINCIPAL_COMPONENTS = ("tcga_kirc_pins",)  # their variances mean something: one scale for a view
CLIP = 5.0
WIDE = 1000  # columns from which on forests have fewer trees
OURS, CLINICAL = ("learned views, Cox", "learned views, ranking"), "clinical Cox"
Tables = dict[str, np.ndarray]
Fit = Callable[[Tables, np.ndarray], Callable[[Tables], np.ndarray]]
"""From training views and targets to a function from views to risk scores."""


def read(name: str) -> tuple[Tables, np.ndarray]:
    """Return the views of a data set and its targets (event, time)."""
    folder = FOLDER / "survival"
    found = [folder / f"{name}{suffix}" for suffix in (".npz", ".csv.gz")]
    path = next((one for one in found if one.exists()), None)
    if path is None:
        raise MissingData(f"{name} is not in {folder}")
    if path.suffix == ".gz":
        frame = pd.read_csv(path)
        event, time = frame.pop("event").to_numpy(bool), frame.pop("time").to_numpy(float)
        views = {"columns": pd.get_dummies(frame, drop_first=True).to_numpy(float)}
    else:
        with np.load(path, allow_pickle=False) as stored:
            event, time = stored["event"], stored["time"]
            names = [key for key in stored if key.startswith("view_")]
            views = {key.removeprefix("view_"): stored[key].astype(float) for key in names}
    y = np.empty(len(time), dtype=[("event", bool), ("time", float)])
    y["event"], y["time"] = event, time
    return views, y


def prepared(train: np.ndarray, test: np.ndarray, *, common: bool) -> tuple[np.ndarray, np.ndarray]:
    """Return both parts of a view, imputed and scaled by the training part."""
    medians = np.nanmedian(train, axis=0)
    train, test = (np.where(np.isnan(part), medians, part) for part in (train, test))
    centre, scale = train.mean(axis=0), train.std(axis=0)
    scale = np.full_like(scale, np.sqrt(np.mean(scale**2))) if common else scale
    scale = np.where(scale > 0, scale, 1.0) * np.sqrt(train.shape[1])
    limit = np.inf if common else CLIP / np.sqrt(train.shape[1])
    first, second = (np.clip((part - centre) / scale, -limit, limit) for part in (train, test))
    return first, second


def learned(loss: str) -> Fit:
    """Return how learned views are fitted: two kernels each, C chosen by cross-validation."""

    def fit(train: Tables, y: np.ndarray) -> Callable[[Tables], np.ndarray]:
        kernels: dict[str, Any] = {}
        for name, view in train.items():
            gamma = 0.25 / np.sqrt(view.shape[1])  # default of columns of variance 1 / width
            kernels[f"{name} linear"] = Linear(columns=name)
            kernels[f"{name} Laplacian"] = Laplacian(gamma, columns=name)
        model = MKLSurvivalCV(kernels, loss=loss, cv=folds(y), n_jobs=1)
        model.fit(Views(train), y)
        return lambda test: model.predict(Views(test))

    return fit


def folds(y: np.ndarray) -> list[tuple[np.ndarray, np.ndarray]]:
    """Return the inner folds that all models share."""
    inner = StratifiedKFold(3, shuffle=True, random_state=0)
    return list(inner.split(np.zeros(len(y)), y["event"]))


class Rotation:
    """Rotates rows to the span of the training rows: ridge solutions and distances stay."""

    def fit(self, X: np.ndarray, y: Any = None) -> Rotation:
        self.axes_ = np.linalg.svd(X, full_matrices=False)[2] if X.shape[1] > X.shape[0] else None
        return self

    def transform(self, X: np.ndarray) -> np.ndarray:
        return X if self.axes_ is None else X @ self.axes_.T

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        return {}


def searched(model: Any, grid: dict[str, Any], *, rotated: bool = False) -> Fit:
    """Return how a model of one table is fitted: with its parameters chosen by concordance."""

    def fit(train: Tables, y: np.ndarray) -> Callable[[Tables], np.ndarray]:
        steps: Pipeline = make_pipeline(Rotation(), model) if rotated else make_pipeline(model)
        last = steps.steps[-1][0]
        search = GridSearchCV(
            steps, {f"{last}__{key}": values for key, values in grid.items()}, cv=folds(y)
        )
        search.fit(side_by_side(train), y)
        return lambda test: search.predict(side_by_side(test))

    return fit


def side_by_side(views: Tables) -> np.ndarray:
    """Return all views as one table."""
    return np.hstack(list(views.values()))


def clinical(fit: Fit) -> Fit:
    """Return a way to fit the clinical view alone."""

    def fit_clinical(train: Tables, y: np.ndarray) -> Callable[[Tables], np.ndarray]:
        predict = fit({"clinical": train["clinical"]}, y)
        return lambda test: predict({"clinical": test["clinical"]})

    return fit_clinical


def ways(columns: int) -> dict[str, Fit]:
    """Return all models of tables with so many columns, by name."""
    from sksurv.ensemble import GradientBoostingSurvivalAnalysis, RandomSurvivalForest
    from sksurv.linear_model import CoxnetSurvivalAnalysis, CoxPHSurvivalAnalysis
    from sksurv.svm import FastKernelSurvivalSVM

    ridge = searched(CoxPHSurvivalAnalysis(), {"alpha": [0.1, 1.0, 10.0, 100.0]}, rotated=True)
    net = CoxnetSurvivalAnalysis(l1_ratio=0.5, max_iter=10000)
    shrinkage = {"alphas": [[0.3], [0.1], [0.03], [0.01]]}
    trees = 100 if columns <= WIDE else 30
    forest = RandomSurvivalForest(trees, max_features="sqrt", random_state=0, n_jobs=1)
    boosting = GradientBoostingSurvivalAnalysis(
        n_estimators=100, subsample=0.5, max_features="sqrt", random_state=0
    )
    svm = FastKernelSurvivalSVM(kernel="rbf", max_iter=12, random_state=0)
    return {
        OURS[0]: learned("cox"),
        OURS[1]: learned("ranking"),
        "ridge Cox": ridge,
        CLINICAL: clinical(ridge),
        "elastic net": searched(net, shrinkage),
        "forest": searched(forest, {"min_samples_leaf": [3, 15]}),
        "boosting": searched(boosting, {"learning_rate": [0.03, 0.1]}),
        "survival SVM": searched(svm, {"alpha": [0.01, 0.1, 1.0, 10.0]}, rotated=True),
    }


def concordances(name: str, splits: int, known: dict[str, list[float]]) -> None:
    """Append the concordance of every model on every split that is not yet known.

    Parameters
    ----------
    name : str
        The data set.
    splits : int
    known : dict from the name of a model to its scores on the first splits
        A score is NaN where a model failed.
    """
    views, y = read(name)
    models = ways(sum(view.shape[1] for view in views.values()))
    if "clinical" not in views:
        del models[CLINICAL]
    outer = StratifiedShuffleSplit(splits, test_size=1 / 3, random_state=0)
    for split, (train, test) in enumerate(outer.split(np.zeros(len(y)), y["event"])):
        missing = [way for way in models if len(known.setdefault(way, [])) <= split]
        pairs = {
            key: prepared(view[train], view[test], common=name in PRINCIPAL_COMPONENTS)
            for key, view in views.items()
        }
        first, second = ({key: pair[part] for key, pair in pairs.items()} for part in (0, 1))
        for way in missing:
            try:
                score = concordance(*as_survival(y[test]), models[way](first, y[train])(second))
            except (ArithmeticError, ValueError):  # an elastic net without any column
                score = np.nan
            known[way].append(score)


def measured(names: tuple[str, ...], splits: int) -> dict[str, dict[str, np.ndarray]]:
    """Return the scores of all models on all data sets, (splits,) each."""
    kept = json.loads(SCORES.read_text()) if SCORES.exists() else {}
    RESULTS.mkdir(exist_ok=True)
    for name in names:
        concordances(name, splits, kept.setdefault(name, {}))
        SCORES.write_text(json.dumps(kept, indent=1))
        print(name, flush=True)
    return {
        name: {way: np.array(scores[:splits]) for way, scores in kept[name].items()}
        for name in names
    }


def run(settings: Settings) -> Table:
    """Score all models on all data sets."""
    names, splits = settings.size(SETS, ("nki70",)), settings.size(SPLITS, 2)
    columns = ("data", *ways(1), "best baseline", *(f"{ours}, difference" for ours in OURS))
    table = Table("Concordance of survival models", columns)
    with warnings.catch_warnings(), threadpool_limits(1):
        warnings.simplefilter("ignore")
        found = measured(names, splits)
    for name, scores in found.items():
        cells = [_cell(scores[way]) if way in scores else None for way in ways(1)]
        others = {way: values for way, values in scores.items() if way not in OURS}
        best = max(others, key=lambda way: np.nanmean(others[way]))
        ahead = [_cell(scores[ours] - scores[best], sign="+") for ours in OURS]
        table.add(name, *cells, best, *ahead)
    table.notes.append(
        f"Mean over {splits} splits, +- its standard error; the last columns are paired "
        "differences to the baseline with the highest mean. Splits overlap, so that standard "
        "errors are on the small side."
    )
    return table


def _cell(scores: np.ndarray, sign: str = "") -> str:
    """Return the mean of scores, shape (splits,), and its standard error as text."""
    error = np.nanstd(scores, ddof=1) / np.sqrt(np.isfinite(scores).sum())
    return f"{np.nanmean(scores):{sign}.3f} +- {error:.3f}"
