"""Comparison of the learned combination with the plain sum, the best single kernel and others.

Nested cross-validation chooses the C of every model, the norm of the learned combination, and the
single kernel: inside each training fold, from the same grid.
"""

from __future__ import annotations

import inspect
import sys
import warnings
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.base import BaseEstimator, clone, is_classifier
from sklearn.metrics import check_scoring
from sklearn.model_selection import KFold, StratifiedKFold, check_cv
from sklearn.utils.metaestimators import _safe_split

from ..common.types import Data
from ..display.displays import ComparisonDisplay
from ..kernels.compose.member import Member
from ..norms import Fixed, Norm
from .search import NORMS
from .selection import CS, MKLClassifierCV, MKLRegressorCV, MKLSurvivalCV
from .survival import BaseSurvival

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from pandas import DataFrame

LEARNED, SUM, SINGLE = "learned combination", "plain sum", "best single kernel"
INNER_FOLDS = 3


@dataclass(frozen=True, eq=False, repr=False)
class Comparison:
    """Scores of several models on the same folds; larger is better.

    Attributes
    ----------
    scores : dict
        Scores of each model by its name, shape (n_folds,).
    chosen : tuple of strings
        Name of the best single kernel in each fold. Names are those of the first fold.
    scoring : str
        Name of the score.
    settings : dict
        List of the chosen (norm, C), one for each fold, by the name of the model.

    Examples
    --------
    >>> import numpy as np
    >>> from kernelweave import MKLClassifier, compare
    >>> from kernelweave.kernels import Linear, per_feature
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(120, 3))
    >>> y = X[:, 0] + 0.5 * rng.normal(size=120) > 0
    >>> result = compare(MKLClassifier(per_feature(Linear())), X, y, cv=2, Cs=[1.0], norms=[1, 2])
    >>> {name: scores.shape for name, scores in result.scores.items()}
    {'learned combination': (2,), 'plain sum': (2,), 'best single kernel': (2,)}
    >>> sorted(result.differences)
    ['best single kernel', 'plain sum']
    """

    scores: dict[str, np.ndarray]
    chosen: tuple[str, ...]
    scoring: str
    settings: dict[str, list[tuple[Any, float]]] = field(default_factory=dict)

    @property
    def differences(self) -> dict[str, tuple[float, float]]:
        """Score of the learned combination minus that of each other model.

        A dict from names to (mean, standard error) of the differences on the same folds. Since
        training folds overlap, the standard errors are too small.
        """
        learned = self.scores[LEARNED]
        return {
            name: _mean_and_error(learned - values)
            for name, values in self.scores.items()
            if name != LEARNED
        }

    def __repr__(self) -> str:
        width = max(map(len, self.scores))
        lines = [
            f"{self.scoring} on {len(self.chosen)} folds",
            f"{'':{width}}    mean     std  learned is better by  folds",
        ]
        for name, values in self.scores.items():
            each = " ".join(f"{value:.3f}" for value in values)
            better = self._better(name)
            lines.append(
                f"{name:{width}}  {values.mean():6.3f}  {values.std():6.3f}  {better:20}  {each}"
            )
        lines.append(f"chosen as {SINGLE}: {_counted(self.chosen)}")
        for name, chosen in self.settings.items():
            settings = [_written(norm, C, name == LEARNED) for norm, C in chosen]
            lines.append(f"chosen for {name}: {_counted(settings)}")
        return "\n".join(lines)

    def _better(self, name: str) -> str:
        """Return the mean difference to a model, and its standard error, as text."""
        return "" if name == LEARNED else "{:+.3f} +- {:.3f}".format(*self.differences[name])

    def to_frame(self) -> DataFrame:
        """Return the scores as a table.

        Returns
        -------
        pandas DataFrame
            One row per model. Columns: mean, std, difference (score of the learned combination
            minus that of the model), error (standard error of the difference), and each fold.
        """
        import pandas as pd

        pairs = {LEARNED: (np.nan, np.nan), **self.differences}
        rows = {
            name: [values.mean(), values.std(), *pairs[name], *values]
            for name, values in self.scores.items()
        }
        folds = [f"fold {fold}" for fold in range(1, len(self.scores[LEARNED]) + 1)]
        columns = ["mean", "std", "difference", "error", *folds]
        return pd.DataFrame.from_dict(rows, orient="index", columns=columns)

    def plot(self, ax: Axes | None = None) -> ComparisonDisplay:
        """Plot the scores: one line per fold, the means, and the differences.

        Parameters
        ----------
        ax : matplotlib Axes, optional

        Returns
        -------
        ComparisonDisplay
        """
        named = {f"{name}\n{self._better(name)}": values for name, values in self.scores.items()}
        return ComparisonDisplay(named, self.scoring).plot(ax)


def compare(
    estimator: BaseEstimator,
    X: Data,
    y: object,
    cv: object = 5,
    scoring: object = None,
    *,
    Cs: Iterable[float] | None = None,
    norms: Iterable[float | Norm] | None = None,
    others: Mapping[str, BaseEstimator] | None = None,
) -> Comparison:
    """Compare learned kernel weights with the plain sum and the best single kernel.

    The C of every model, the norm of the learned combination and the single kernel are chosen from
    the same grid. This is done inside each training fold, by 3-fold cross-validation with shuffled
    folds (nested cross-validation). So no score is biased by the choice of parameters.

    Parameters
    ----------
    estimator : MKLClassifier, MKLRegressor, MKLSurvival, or a pipeline that ends with one of them
        It is not modified. Its own C and norm are not used. With ``verbose=1`` the
        number of each fold is printed, with 2 also the progress of the searches.
    X : array, table, views or sequences with n examples
    y : array-like of shape (n,)
        Targets, as for `fit` of the estimator.
    cv : int, splitter or iterable of (train, test), as in scikit-learn
        Folds on which all models are scored.
    scoring : str, callable or None
        As in scikit-learn; None is the accuracy, R^2 or the concordance index. A callable is also
        used inside training folds, as in `MKLClassifierCV`.
    Cs : sequence of floats, optional
        Values of C to compare: 0.01, 0.1, 1, 10 and 100 by default, multiplied by the standard
        deviation of y for regressors.
    norms : sequence of floats >= 1 (or inf) and norm objects, optional
        Norms of the learned combination to compare: 1, 4/3, 2, 4 and infinity by default.
    others : dict from names to estimators, optional
        Further models, fitted with their own parameters: nothing is chosen for them.

    Returns
    -------
    Comparison

    Raises
    ------
    ValueError
        If `estimator` is of another type, or if `others` has the name of a model that is compared
        anyway.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.preprocessing import scale
    >>> from kernelweave import MKLClassifier, compare
    >>> from kernelweave.kernels import RBF, Linear
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> model = MKLClassifier([Linear(), RBF("scale")])
    >>> result = compare(model, scale(X)[:200], y[:200], cv=3, Cs=[0.1, 1.0], norms=[1, 2])
    >>> list(result.scores)
    ['learned combination', 'plain sum', 'best single kernel']
    """
    make = _maker(estimator, Cs, scoring)
    further = dict(others or {})
    if taken := {LEARNED, SUM, SINGLE} & set(further):
        raise ValueError(
            f"others must not have the reserved names {sorted(taken)}; rename these estimators"
        )
    chosen_norms = NORMS if norms is None else list(norms)
    measure = scoring or _default_scoring(estimator)
    scores: dict[str, list[float]] = {name: [] for name in (LEARNED, SUM, SINGLE, *further)}
    settings: dict[str, list[tuple[Any, float]]] = {name: [] for name in (LEARNED, SUM, SINGLE)}
    chosen: list[str] = []
    names: tuple[str, ...] = ()
    splits = list(check_cv(cv, y, classifier=is_classifier(estimator)).split(X, y))
    for number, (train, test) in enumerate(splits, start=1):
        if _last(estimator).verbose:
            print(f"compare: fold {number} of {len(splits)}", file=sys.stderr, flush=True)
        fold = Fold(estimator, X, y, train, test)
        learned = fold.fitted(make(chosen_norms))
        plain = fold.fitted(make([np.inf]))
        position, single = _best_single(fold, make, learned)
        own = _last(learned).kernel_names_
        if len(own) != len(names) or _last(estimator).kernels is None:
            names = own  # default kernels differ between folds
        chosen.append(names[position])
        for key, model in zip((LEARNED, SUM, SINGLE), (learned, plain, single), strict=True):
            scores[key].append(fold.score(model, measure))
            settings[key].append((_last(model).norm_, _last(model).C_))
        for key, other in further.items():
            scores[key].append(fold.score(fold.fitted(clone(other)), measure))
    return Comparison(
        scores={name: np.array(values) for name, values in scores.items()},
        chosen=tuple(chosen),
        scoring=_name_of(scoring, estimator),
        settings=settings,
    )


class Fold:
    """Training and test examples of a fold."""

    def __init__(
        self, estimator: BaseEstimator, X: Data, y: object, train: np.ndarray, test: np.ndarray
    ):
        self.train = _safe_split(estimator, X, y, train)
        self.test = _safe_split(estimator, X, y, test, train)

    def fitted(self, model: Any) -> Any:
        """Return the model, fitted to the training examples."""
        return model.fit(*self.train)

    def score(self, model: object, measure: object) -> float:
        """Return the score of a fitted model on the test examples."""
        return float(check_scoring(model, measure)(model, *self.test))


def _maker(estimator: BaseEstimator, Cs: Iterable[float] | None, scoring: object) -> Any:
    """Return a function from norms (and kernels) to an estimator that chooses among them."""
    where, last = _parameter(estimator, "kernels"), _last(estimator)
    selecting: Any = MKLClassifierCV if is_classifier(estimator) else MKLRegressorCV
    if _is_survival(estimator):
        selecting = MKLSurvivalCV
    # Shuffled, since the rows of a table may be sorted.
    kind = StratifiedKFold if is_classifier(estimator) else KFold
    parts = kind(INNER_FOLDS, shuffle=True, random_state=0)
    taken = inspect.signature(selecting).parameters
    options = {k: v for k, v in last.get_params(deep=False).items() if k in taken}
    default: Any = "scale" if selecting is MKLRegressorCV else CS
    grid: Any = default if Cs is None else list(Cs)

    def make(norms: Iterable[float | Norm], **changes: object) -> Any:
        inner = {"norms": norms, "Cs": grid, "cv": parts, "scoring": scoring}
        inner["verbose"] = max(0, int(last.verbose) - 1)
        plain = {"solver": "auto"} if list(norms) == [np.inf] else {}
        model = selecting(**{**options, **inner, **plain, **changes})
        if where == "kernels":
            return model
        return clone(estimator).set_params(**{where.rpartition("__")[0]: model})

    return make


def _best_single(fold: Fold, make: Any, learned: Any) -> tuple[int, Any]:
    """Return the index of the best single kernel in a training fold, and its model."""
    fitted = _last(learned)
    varying = fitted._model.compiled.varying
    own = fitted.kernels if fitted.kernels is not None else fitted._default
    if len(fitted.kernel_names_) == 1:
        return 0, fold.fitted(make([np.inf]))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # a kernel that is useless alone is no fault of the model
        models = [fold.fitted(make([np.inf], kernels=Member(own, m))) for m in varying]
    scores = [_last(model).best_score_ for model in models]
    best = int(np.argmax(scores))
    return int(varying[best]), models[best]


def _mean_and_error(values: np.ndarray) -> tuple[float, float]:
    """Return the mean of some values, shape (folds,), and its standard error."""
    error = values.std(ddof=1) / np.sqrt(len(values)) if len(values) > 1 else np.nan
    return float(values.mean()), float(error)


def _counted(values: Iterable[str]) -> str:
    return ", ".join(f"{value} ({count})" for value, count in Counter(values).most_common())


def _written(norm: object, C: float, learned: bool) -> str:
    if not learned:
        return f"C={C:.3g}"
    shown = f"p={norm:.3g}" if isinstance(norm, int | float) else f"p={norm!r}"
    if isinstance(norm, Fixed) and np.count_nonzero(norm.theta) == 1:
        shown = f"kernel {int(norm.theta.argmax())} alone"
    return f"{shown} C={C:.3g}"


def _parameter(estimator: BaseEstimator, name: str) -> str:
    """Return the full name of a parameter, which may belong to the last step of a pipeline."""
    known = estimator.get_params() if hasattr(estimator, "get_params") else {}
    names: list[str] = [key for key in known if key == name or key.endswith(f"__{name}")]
    if len(names) != 1:
        raise ValueError(
            "estimator must be MKLClassifier, MKLRegressor, MKLSurvival or a pipeline that ends "
            f"with one of them, got {type(estimator).__name__}"
        )
    return names[0]


def _is_survival(estimator: object) -> bool:
    return isinstance(_last(estimator), BaseSurvival)


def _default_scoring(estimator: object) -> str | None:
    """Return the name of the default scorer; None for survival models (concordance)."""
    if _is_survival(estimator):
        return None
    return "accuracy" if is_classifier(estimator) else "r2"


def _last(estimator: Any) -> Any:
    """Return the last step of a pipeline, or the estimator itself."""
    return estimator[-1] if hasattr(estimator, "steps") else estimator


def _name_of(scoring: object, estimator: BaseEstimator) -> str:
    if scoring is None:
        names = {"accuracy": "accuracy", "r2": "R^2", None: "concordance"}
        return names[_default_scoring(estimator)]
    return scoring if isinstance(scoring, str) else getattr(scoring, "__name__", "score")
