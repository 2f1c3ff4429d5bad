"""Estimators without arguments against tuned SVMs, boosting, forests and linear models.

Defaults were chosen on the sets of `DEVELOPMENT`; those of `REPORTED` were not looked at before.
`MKLClassifierCV` and `MKLRegressorCV`, which also search the norm, are compared on the reported
half. Each pair of set and model leaves a line in ``results/accuracy_default.jsonl``, so that a run
that was stopped continues; remove the file to start anew. `benchmarks.defaults_page` puts the
tables into the documentation.
"""

from __future__ import annotations

import json
import time
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
from sklearn import datasets
from sklearn.compose import (
    TransformedTargetRegressor,
    make_column_selector,
    make_column_transformer,
)
from sklearn.ensemble import (
    HistGradientBoostingClassifier,
    HistGradientBoostingRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
)
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression, RidgeCV
from sklearn.model_selection import GridSearchCV, KFold, StratifiedKFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, OrdinalEncoder, StandardScaler
from sklearn.svm import SVC, SVR
from sklearn.utils import _safe_indexing
from threadpoolctl import threadpool_limits

from kernelweave import MKLClassifier, MKLClassifierCV, MKLRegressor, MKLRegressorCV

from . import data
from .report import RESULTS, Table
from .settings import Settings

QUICK = False
Set = Callable[[], tuple[Any, np.ndarray]]

FOLDS = 5
MOST = 1000  # examples of a set
CACHED = RESULTS / "accuracy_default.jsonl"
CATEGORIES = make_column_selector(dtype_exclude="number")
GRID_C, GRID_GAMMA = [0.1, 1.0, 10.0, 100.0], [0.001, 0.01, 0.1, 1.0]


def stored(name: str) -> Set:
    """Return a reader of a stored table of numbers."""

    def read() -> tuple[Any, np.ndarray]:
        found = data.arrays(name)
        X, y = found["X"].astype(float), found["y"]
        rows = np.sort(np.random.default_rng(0).permutation(len(y))[:MOST])
        return X[rows], y[rows].astype(float) if y.dtype.kind == "f" else y[rows]

    return read


def adult() -> tuple[Any, np.ndarray]:
    """Return 1,000 rows of adult: numbers and categories."""
    frame = pd.read_csv(data.FOLDER / "adult_categorical.csv.gz")
    frame = frame.sample(MOST, random_state=0).reset_index(drop=True)
    return frame.iloc[:, :-1], frame.iloc[:, -1].to_numpy()


def friedman(number: int, n: int, noise: float, seed: int) -> Set:
    """Return a generator of one of Friedman's regression problems."""
    make = getattr(datasets, f"make_friedman{number}")
    return lambda: make(n, noise=noise, random_state=seed)


DEVELOPMENT: dict[str, Set] = {
    "ionosphere": stored("ionosphere"),
    "pima": stored("pima"),
    "heart": stored("heart_statlog"),
    "wine": lambda: datasets.load_wine(return_X_y=True),
    "cod-rna": stored("cod_rna"),
    "adult": adult,
    "concrete": stored("concrete"),
    "diabetes": lambda: datasets.load_diabetes(return_X_y=True),
    "cpusmall": stored("cpusmall"),
    "friedman1, n = 500": friedman(1, 500, 1.0, 0),
}
REPORTED: dict[str, Set] = {
    "sonar": stored("sonar"),
    "german": stored("german_numeric"),
    "wdbc": stored("wdbc"),
    "wpbc": stored("wpbc"),
    "breast cancer wisconsin": stored("breast_cancer_wisconsin"),
    "house votes 84": stored("house_votes84"),
    "liver bupa": stored("liver_bupa"),
    "iris": lambda: datasets.load_iris(return_X_y=True),
    "digits": lambda: tuple(one[:MOST] for one in datasets.load_digits(return_X_y=True)),
    "mushrooms": stored("mushrooms_libsvm"),
    "boston": stored("boston_housing"),
    "abalone": stored("abalone"),
    "casp": stored("casp_protein"),
    "friedman1, n = 1000": friedman(1, 1000, 1.0, 7),
    "friedman2": friedman(2, 500, 50.0, 0),
    "friedman3": friedman(3, 500, 0.1, 0),
}


def scaled(X: Any) -> Any:
    """Return the preprocessing of models that need numbers on one scale."""
    numbers = make_pipeline(SimpleImputer(), StandardScaler())
    if not hasattr(X, "columns"):
        return numbers
    indicators = OneHotEncoder(handle_unknown="ignore")
    return make_column_transformer(
        (numbers, make_column_selector(dtype_include="number")), (indicators, CATEGORIES)
    )


def tuned(X: Any, classify: bool) -> Any:
    """Return an SVM with C and gamma chosen from a 4 x 4 grid on 3 shuffled folds."""
    folds = (StratifiedKFold if classify else KFold)(3, shuffle=True, random_state=0)
    if classify:
        grid = {"svc__C": GRID_C, "svc__gamma": GRID_GAMMA}
        return GridSearchCV(make_pipeline(scaled(X), SVC()), grid, cv=folds)
    grid = {"regressor__svr__C": GRID_C, "regressor__svr__gamma": GRID_GAMMA}
    model = TransformedTargetRegressor(
        make_pipeline(scaled(X), SVR()), transformer=StandardScaler()
    )
    return GridSearchCV(model, grid, cv=folds)


def boosting(X: Any, classify: bool) -> Any:
    """Return gradient boosting with the defaults of scikit-learn."""
    kind = HistGradientBoostingClassifier if classify else HistGradientBoostingRegressor
    if not hasattr(X, "columns"):
        return kind(random_state=0)
    codes = OrdinalEncoder(handle_unknown="use_encoded_value", unknown_value=-1)
    encoded = make_column_transformer((codes, CATEGORIES), remainder="passthrough")
    return make_pipeline(encoded, kind(random_state=0))


def forest(X: Any, classify: bool) -> Any:
    """Return a random forest with the defaults of scikit-learn."""
    kind = RandomForestClassifier if classify else RandomForestRegressor
    return make_pipeline(scaled(X), kind(random_state=0))


def linear(X: Any, classify: bool) -> Any:
    """Return logistic regression, or ridge regression."""
    return make_pipeline(scaled(X), LogisticRegression(max_iter=1000) if classify else RidgeCV())


def search(X: Any, classify: bool) -> Any:
    """Return the estimator that also chooses the norm, on shuffled folds."""
    if classify:
        return MKLClassifierCV(cv=StratifiedKFold(5, shuffle=True, random_state=0))
    return MKLRegressorCV(cv=KFold(5, shuffle=True, random_state=0))


MODELS: dict[str, Callable[[Any, bool], Any]] = {
    "no argument": lambda X, classify: MKLClassifier() if classify else MKLRegressor(),
    "tuned SVM": tuned,
    "boosting": boosting,
    "forest": forest,
    "linear": linear,
}
SEARCHED = MODELS | {"CV": search}
Records = list[dict[str, Any]]


def run(settings: Settings) -> Table:
    """Score every model on five shuffled folds of every set."""
    means, *others = tables(measure(settings)).values()
    means.notes = [one.markdown() for one in others]
    return means


def measure(settings: Settings) -> Records:
    """Return a record for each set and model: part, set, model, score, seconds, classify."""
    cached = {} if settings.tiny else read_cache()
    records: Records = []
    for part, sets, models in (
        ("development", DEVELOPMENT, MODELS),
        ("reported", REPORTED, SEARCHED),
    ):
        for name in settings.size(tuple(sets), tuple(sets)[:1]):
            for model, make in models.items():
                if (name, model) not in cached:
                    cached[name, model] = scored(sets[name], make, settings.tiny)
                    if not settings.tiny:
                        cache(name, model, cached[name, model])
                key = {"part": part, "set": name, "model": model}
                records.append(key | cached[name, model])
    return records


def tables(records: Records) -> dict[str, Table]:
    """Return the tables of means, of the sets of each half, and of searches, by name."""
    return {
        "means": of_means(records),
        "development": of_scores("development", records),
        "reported": of_scores("reported", records),
        "searches": of_searches(records),
    }


def by_set(part: str, records: Records) -> dict[str, dict[str, dict[str, Any]]]:
    """Return the records of a half by set and model."""
    found: dict[str, dict[str, dict[str, Any]]] = {}
    for record in records:
        if record["part"] == part:
            found.setdefault(record["set"], {})[record["model"]] = record
    return found


def of_scores(part: str, records: Records) -> Table:
    """Return the scores of a half of the sets; linear models are in the table of means."""
    models = [model for model in MODELS if model != "linear"]
    table = Table(f"Sets of the {part} half", ("data", *models))
    for name, found in by_set(part, records).items():
        table.add(name, *(f"{found[model]['score']:.3f}" for model in models))
    return table


def of_searches(records: Records) -> Table:
    """Return the scores of searches and their CPU times, beside those without arguments."""
    models = ("CV", "no argument", "tuned SVM")
    table = Table("Searches of norm and C", ("data", *models, "CPU s", "CPU s, tuned SVM"))
    for name, found in by_set("reported", records).items():
        scores = [f"{found[model]['score']:.3f}" for model in models]
        times = [f"{found[model]['seconds']:.2f}" for model in ("CV", "tuned SVM")]
        table.add(name, *scores, *times)
    return table


def of_means(records: Records) -> Table:
    """Return the mean scores of each half, and the mean CPU time of a fit of the reported half."""
    halves = ("development", "reported")
    columns = [f"{what}, {part}" for part in halves for what in ("accuracy", "R^2")]
    table = Table("Means", ("model", *columns, "CPU s a fit"))
    for model in SEARCHED:
        chosen = [record for record in records if record["model"] == model]
        cells = []
        for part in halves:
            for classify in (True, False):
                kind = part, classify
                cells.append(
                    mean("score", [r for r in chosen if (r["part"], r["classify"]) == kind])
                )
        seconds = mean("seconds", [record for record in chosen if record["part"] == "reported"])
        table.add(model, *cells, seconds and seconds[:-1])
    return table


def mean(key: str, records: Records) -> str | None:
    """Return the mean of some values with three digits, or None if there are none."""
    return f"{np.mean([record[key] for record in records]):.3f}" if records else None


def scored(read: Set, make: Callable[[Any, bool], Any], tiny: bool) -> dict[str, Any]:
    """Return the mean score over the folds and the CPU seconds of a fit."""
    X, y = read()
    classify = y.dtype.kind != "f"
    folds = (StratifiedKFold if classify else KFold)(FOLDS, shuffle=True, random_state=0)
    scores, seconds = [], 0.0
    with warnings.catch_warnings(), threadpool_limits(1):
        warnings.simplefilter("ignore")
        for train, test in list(folds.split(X, y))[: 1 if tiny else FOLDS]:
            model = make(X, classify)
            started = time.process_time()
            model.fit(_safe_indexing(X, train), y[train])
            seconds += time.process_time() - started
            scores.append(model.score(_safe_indexing(X, test), y[test]))
    mean = float(np.mean(scores))
    return {"score": mean, "seconds": seconds / len(scores), "classify": classify}


def read_cache() -> dict[Any, Any]:
    """Return the results of earlier runs by set and model."""
    lines = CACHED.read_text().splitlines() if CACHED.exists() else []
    return {(one.pop("set"), one.pop("model")): one for one in map(json.loads, lines)}


def cache(name: str, model: str, result: dict[str, Any]) -> None:
    """Append a result to the file."""
    CACHED.parent.mkdir(exist_ok=True)
    with CACHED.open("a") as file:
        file.write(json.dumps({"set": name, "model": model, **result}) + "\n")
