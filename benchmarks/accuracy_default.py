"""Estimators without arguments on 13 small sets, against a scaled SVC and gradient boosting."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.impute import SimpleImputer
from sklearn.model_selection import StratifiedKFold, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

from kernelweave import MKLClassifier

from .accuracy_real import COLUMNS, VIEWS, loaded
from .report import Table
from .settings import Settings
from .timing import blas_threads

SETS = (
    *COLUMNS,
    "breast_cancer_wisconsin",
    "house_votes84",
    "liver_bupa",
    *VIEWS[:3],
)
FOLDS = 5

MODELS: dict[str, Callable[[], Any]] = {
    "MKLClassifier()": MKLClassifier,
    "scaled SVC()": lambda: make_pipeline(SimpleImputer(), StandardScaler(), SVC()),
    "HistGradientBoostingClassifier()": lambda: HistGradientBoostingClassifier(random_state=0),
}


def run(settings: Settings) -> Table:
    """Cross-validate each model on the columns as they come."""
    table = Table(
        f"Accuracy of defaults, {FOLDS} folds",
        ("data", *MODELS),
        notes=["Columns as they come, missing values included; SVC after mean imputation."],
    )
    for name in settings.size(SETS, SETS[4:6]):
        X, y, _ = loaded(name, most=None)
        table.add(name, *(scored(make(), X, y) for make in MODELS.values()))
    means = np.array([row[1:] for row in table.rows], dtype=float).mean(axis=0)
    table.add("mean", *means.tolist())
    return table


def scored(model: Any, X: np.ndarray, y: np.ndarray) -> float:
    """Return the mean accuracy over the folds."""
    folds = StratifiedKFold(FOLDS, shuffle=True, random_state=0)
    with warnings.catch_warnings(), blas_threads(1):
        warnings.simplefilter("ignore")
        return float(cross_val_score(model, X, y, cv=folds, error_score="raise").mean())
