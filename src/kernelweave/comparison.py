"""Is it worth it? The learned combination against the plain sum and the best single kernel."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.base import BaseEstimator, clone, is_classifier
from sklearn.model_selection import GridSearchCV, check_cv, cross_validate

from .kernels.member import Member
from .plots import ComparisonDisplay

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from pandas import DataFrame

LEARNED, SUM, SINGLE = "learned combination", "plain sum", "best single kernel"
INNER_FOLDS = 3


@dataclass(frozen=True, eq=False, repr=False)
class Comparison:
    """Scores of the three machines on the same folds; larger is better.

    Attributes
    ----------
    scores : dict from the name of a machine to an array of shape (folds,)
    chosen : tuple of strings
        The single kernel that was chosen in each fold, as it is called in the first one.
    scoring : str
        What the scores are.
    """

    scores: dict[str, np.ndarray]
    chosen: tuple[str, ...]
    scoring: str

    def __repr__(self) -> str:
        folds = len(self.chosen)
        width = max(map(len, self.scores))
        lines = [f"{self.scoring} on {folds} folds", f"{'':{width}}    mean     std  folds"]
        for name, values in self.scores.items():
            each = " ".join(f"{value:.3f}" for value in values)
            lines.append(f"{name:{width}}  {values.mean():6.3f}  {values.std():6.3f}  {each}")
        counts = Counter(self.chosen).most_common()
        chosen = ", ".join(f"{name} ({count})" for name, count in counts)
        lines.append(f"chosen as {SINGLE}: {chosen}")
        return "\n".join(lines)

    def to_frame(self) -> DataFrame:
        """Return a pandas DataFrame: a row per machine; columns mean, std and each fold."""
        import pandas as pd

        frame = pd.DataFrame(self.scores).T
        frame.columns = [f"fold {fold}" for fold in range(1, frame.shape[1] + 1)]
        frame.insert(0, "mean", [values.mean() for values in self.scores.values()])
        frame.insert(1, "std", [values.std() for values in self.scores.values()])
        return frame

    def plot(self, ax: Axes | None = None) -> ComparisonDisplay:
        """Draw the scores: a line per fold, and the means."""
        return ComparisonDisplay(self.scores, self.scoring).plot(ax)


def compare(
    estimator: BaseEstimator, X: Any, y: Any, cv: Any = 5, scoring: Any = None
) -> Comparison:
    """Compare what was learned with what needs no learning of weights, on the same folds.

    The best single kernel is chosen by cross-validation inside each training fold, so that its
    score is as honest as the others. That takes M times three fits per fold.

    Parameters
    ----------
    estimator : MKLClassifier, MKLRegressor, or a pipeline that ends with one of them
        It is not changed.
    X : n examples.
    y : array of shape (n,)
    cv : int, splitter or iterable of (train, test), as in scikit-learn
    scoring : str, callable or None
        As in scikit-learn; None is the score of the estimator (accuracy or R^2).

    Returns
    -------
    Comparison
    """
    kernels = _parameter(estimator, "kernels")
    folds = list(check_cv(cv, y, classifier=is_classifier(estimator)).split(X, y))

    def run(machine: BaseEstimator) -> tuple[np.ndarray, list[Any]]:
        found = cross_validate(
            machine, X, y, cv=folds, scoring=scoring, return_estimator=True, error_score="raise"
        )
        return found["test_score"], found["estimator"]

    learned, fitted = run(clone(estimator))
    plain = clone(estimator).set_params(
        **{_parameter(estimator, "norm"): np.inf, _parameter(estimator, "solver"): "uniform"}
    )
    names = _last(fitted[0]).kernel_names_
    several = estimator.get_params()[kernels]
    each = [Member(several, m) for m in range(len(names))] if len(names) > 1 else [several]
    single, searches = run(GridSearchCV(plain, {kernels: each}, cv=INNER_FOLDS, scoring=scoring))
    return Comparison(
        scores={LEARNED: learned, SUM: run(plain)[0], SINGLE: single},
        chosen=tuple(names[search.best_index_] for search in searches),
        scoring=_name_of(scoring, estimator),
    )


def _parameter(estimator: BaseEstimator, name: str) -> str:
    """Return the full name of a parameter, which may be that of the last step of a pipeline."""
    names: list[str] = [
        key for key in estimator.get_params() if key == name or key.endswith(f"__{name}")
    ]
    if len(names) != 1:
        raise ValueError(
            "estimator must be MKLClassifier, MKLRegressor or a pipeline that ends with one of "
            f"them, got {type(estimator).__name__}"
        )
    return names[0]


def _last(estimator: Any) -> Any:
    """Return the last step of a pipeline, and any other estimator as it is."""
    return estimator[-1] if hasattr(estimator, "steps") else estimator


def _name_of(scoring: Any, estimator: BaseEstimator) -> str:
    if scoring is None:
        return "accuracy" if is_classifier(estimator) else "R^2"
    return scoring if isinstance(scoring, str) else getattr(scoring, "__name__", "score")
