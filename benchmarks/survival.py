"""Concordance on censored times: learned views against Cox models, forests, boosting and an SVM.

Every model is fitted on the same random training parts (two thirds, stratified by event) and scored
by Harrell's concordance on the rest. Columns are imputed by medians, standardised and clipped to
+-5 on the training part; each view is divided by the square root of its width. Parameters are
chosen inside the training part, by 3-fold concordance, from grids of two to four points or, for the
learned views, from the default grid of `MKLSurvivalCV`. Learned views have the default kernels of
these columns: a linear and a Laplacian kernel each. Kernels and grids were chosen on other random
splits of nki70, kirc, blca and gbsg2, grids before that also on splits of gse7390, gbm_cs and pbc.

Limits: forests and boosting have 100 trees; the leaf size of forests is chosen with 30 trees. The
survival SVM has an RBF kernel and at most 12 Newton steps: further ones take minutes and do not
raise its concordance.

Scores of every split are kept in benchmarks/results/survival_scores.json, so that a stopped run
resumes. Delete that file to measure anew.
"""

from __future__ import annotations

import json
import warnings
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
import pandas as pd
from sklearn.model_selection import GridSearchCV, StratifiedKFold, StratifiedShuffleSplit
from sklearn.pipeline import Pipeline, make_pipeline
from threadpoolctl import threadpool_limits

from kernelweave import MKLSurvivalCV, Views
from kernelweave.estimators.survival_targets import as_survival, concordance, survival_array
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
SCORES = RESULTS / "survival_scores.json"
PRINCIPAL_COMPONENTS = ("tcga_kirc_pins",)  # their variances mean something: one scale for a view
CLIP = 5.0
OURS, CLINICAL = ("learned views, Cox", "learned views, ranking"), "clinical Cox"
Tables = dict[str, np.ndarray]
Scores = dict[str, list[float | None]]
"""From the name of a model to its concordance on each split; None where it failed."""
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
    return views, survival_array(event, time)


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


def searched(
    model: Any, grid: dict[str, Any], *, rotated: bool = False, trees: tuple[int, int] | None = None
) -> Fit:
    """Return how a model of one table is fitted: with its parameters chosen by concordance.

    `trees`: number of trees in the search, and of the final model.
    """

    def fit(train: Tables, y: np.ndarray) -> Callable[[Tables], np.ndarray]:
        steps: Pipeline = make_pipeline(Rotation() if rotated else "passthrough", model)
        last = steps.steps[-1][0]
        points = {f"{last}__{key}": values for key, values in grid.items()}
        if trees:
            points[f"{last}__n_estimators"] = [trees[0]]
        X, search = side_by_side(train), GridSearchCV(steps, points, cv=folds(y), refit=not trees)
        search.fit(X, y)
        if not trees:
            return lambda test: search.predict(side_by_side(test))
        best = steps.set_params(**search.best_params_ | {f"{last}__n_estimators": trees[1]})
        best.fit(X, y)
        return lambda test: best.predict(side_by_side(test))

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


def ways() -> dict[str, Fit]:
    """Return all models by name."""
    from sksurv.ensemble import GradientBoostingSurvivalAnalysis, RandomSurvivalForest
    from sksurv.linear_model import CoxnetSurvivalAnalysis, CoxPHSurvivalAnalysis
    from sksurv.svm import FastKernelSurvivalSVM

    ridge = searched(CoxPHSurvivalAnalysis(), {"alpha": [0.1, 1.0, 10.0, 100.0]}, rotated=True)
    net = CoxnetSurvivalAnalysis(l1_ratio=0.5, max_iter=10000)
    shrinkage = {"alphas": [[0.3], [0.1], [0.03], [0.01]]}
    forest = RandomSurvivalForest(max_features="sqrt", random_state=0, n_jobs=1)
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
        "forest": searched(forest, {"min_samples_leaf": [3, 15]}, trees=(30, 100)),
        "boosting": searched(boosting, {"learning_rate": [0.03, 0.1]}),
        "survival SVM": searched(svm, {"alpha": [0.01, 0.1, 1.0, 10.0]}, rotated=True),
    }


def concordances(name: str, splits: int, known: Scores) -> Iterator[int]:
    """Append the concordance of every model that is not yet known, and yield after every split.

    Parameters
    ----------
    name : str
        The data set.
    splits : int
    known : dict from the name of a model to its scores on the first splits
        A score is None where a model failed.
    """
    views, y = read(name)
    models = ways()
    if "clinical" not in views:
        del models[CLINICAL]
    outer = StratifiedShuffleSplit(splits, test_size=1 / 3, random_state=0)
    for split, (train, test) in enumerate(outer.split(np.zeros(len(y)), y["event"])):
        pairs = {
            key: prepared(view[train], view[test], common=name in PRINCIPAL_COMPONENTS)
            for key, view in views.items()
        }
        first, second = ({key: pair[part] for key, pair in pairs.items()} for part in (0, 1))
        for way in models:
            if len(known.setdefault(way, [])) <= split:
                try:
                    risk = models[way](first, y[train])(second)
                    score = concordance(*as_survival(y[test]), risk)
                except (ArithmeticError, ValueError):  # an elastic net without any column
                    score = None
                known[way].append(score)
        yield split


def measure(settings: Settings) -> dict[str, Scores]:
    """Return the scores of all models on all data sets, by their names."""
    names, splits = settings.size(SETS, ("nki70",)), settings.size(SPLITS, 2)
    kept = json.loads(SCORES.read_text()) if SCORES.exists() else {}
    RESULTS.mkdir(exist_ok=True)
    with warnings.catch_warnings(), threadpool_limits(1):
        warnings.simplefilter("ignore")
        for name in names:
            for split in concordances(name, splits, kept.setdefault(name, {})):
                SCORES.write_text(json.dumps(kept, indent=1))
                print(f"{name}, split {split + 1} of {splits}", flush=True)
    return {name: {way: scores[:splits] for way, scores in kept[name].items()} for name in names}


def tables(found: dict[str, Scores]) -> dict[str, Table]:
    """Return the tables of a page by name.

    Parameters
    ----------
    found : dict from the name of a data set to the scores of each model on each split
    """
    learned_views = Table(
        "Learned views",
        ("data", *OURS, "best baseline", *(f"{way.split()[-1]}, difference" for way in OURS)),
    )
    cox = Table("Cox models", ("data", CLINICAL, "ridge Cox", "elastic net"))
    others = Table("Other models", ("data", "forest", "boosting", "survival SVM"))
    for name, scores in found.items():
        best = best_baseline(scores)
        cells = [f"{mean_and_error(scores[best])[0]:.3f}, {best}"]
        cells += [_cell(difference(scores, way, best), sign="+") for way in OURS]
        learned_views.add(name, *(_cell(scores[way]) for way in OURS), *cells)
        for table in (cox, others):
            known = table.columns[1:]
            table.add(name, *(_cell(scores[way]) if way in scores else None for way in known))
    return {"learned": learned_views, "cox": cox, "others": others}


def best_baseline(scores: Scores) -> str:
    """Return the baseline with the highest mean score."""
    return max(
        (way for way in scores if way not in OURS), key=lambda way: mean_and_error(scores[way])[0]
    )


def difference(scores: Scores, first: str, second: str) -> np.ndarray:
    """Return the differences of scores of two models on the same splits, shape (splits,)."""
    return np.array(scores[first], dtype=float) - np.array(scores[second], dtype=float)


def mean_and_error(scores: Sequence[float | None] | np.ndarray) -> tuple[float, float]:
    """Return the mean and the standard error of scores of several splits, without missing ones."""
    known = np.array(scores, dtype=float)
    known = known[np.isfinite(known)]
    return float(known.mean()), float(known.std(ddof=1) / np.sqrt(len(known)))


def _cell(scores: Sequence[float | None] | np.ndarray, sign: str = "") -> str:
    """Return the mean of scores of several splits and its standard error as text."""
    mean, error = mean_and_error(scores)
    return f"{mean:{sign}.3f} +- {error:.3f}"


def run(settings: Settings) -> Table:
    """Score all models on all data sets; return the table of learned views."""
    return tables(measure(settings))["learned"]
