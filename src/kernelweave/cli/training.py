"""What `fit` and `compare` share: data, an estimator for them, and scores on folds."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import click
import numpy as np
from sklearn.metrics import average_precision_score
from sklearn.model_selection import (
    GroupKFold,
    KFold,
    StratifiedGroupKFold,
    StratifiedKFold,
    cross_validate,
)
from sklearn.utils.multiclass import type_of_target

from .. import MKLClassifier, MKLOneClass, MKLRegressor
from ..kernels import Kernel
from ..kernels.default import sequence_candidates
from ..sequences import Sequences
from ..sequences.alphabets import PROTEIN, as_alphabet
from .data import Data, read_labelled, read_two_classes
from .kernel_specs import parse_kernel
from .tables import sequence_columns


def _precision(model: Any, X: Any, y: np.ndarray) -> float:
    """Return the average precision for the second class, whatever it is called."""
    return float(average_precision_score(y == model.classes_[1], model.decision_function(X)))


SCORES: dict[str, dict[str, Any]] = {
    "binary": {"auROC": "roc_auc", "auPRC": _precision, "accuracy": "accuracy"},
    "multiclass": {"accuracy": "accuracy", "balanced accuracy": "balanced_accuracy"},
    "continuous": {"R^2": "r2", "root mean squared error": "neg_root_mean_squared_error"},
}


def read_data(options: dict[str, Any]) -> Data:
    """Read what the options name."""
    where = {"genome": options["genome"], "alphabet": options["alphabet"]}
    two = options["positive"], options["negative"]
    if all(two) and not options["data"]:
        if options["columns"] is not None:
            raise ValueError("--columns is for tables, not for --positive and --negative")
        return read_two_classes(*two, options["cv_groups"], **where)
    if any(two) or not options["data"]:
        raise ValueError("give DATA, or both --positive and --negative")
    if options["target"] is None and options["task"] != "one-class":
        raise ValueError("--target is missing: the column (or header field) with the targets")
    chosen = {name: options[name] for name in ("target", "columns")}
    data = read_labelled(options["data"], groups=options["cv_groups"], **chosen, **where)
    if options.get("kernels") != () or isinstance(data.X, Sequences):
        return data
    return _sequences_only(data, options)


def _sequences_only(data: Data, options: dict[str, Any]) -> Data:
    """Return the sequences of a table, if it has any: they count more than other columns."""
    found = sequence_columns(data.X, as_alphabet(options["alphabet"]))
    others = [str(name) for name in data.X.columns if name not in found]
    if not found:
        _hint_at_proteins(data, options["quiet"])
        return data
    if others and not options["quiet"]:
        click.echo(
            f"sequences are in {', '.join(found)}; without --kernel other columns are not used: "
            f"{', '.join(others)}",
            err=True,
        )
    return replace(data, X=data.X[found])


def _hint_at_proteins(data: Data, quiet: bool) -> None:
    """Say what to do where a column looks as if it held proteins, which no option tells."""
    if (found := sequence_columns(data.X, PROTEIN)) and not quiet:
        click.echo(
            f"{', '.join(found)} may hold protein sequences, which are taken for categories "
            "without --alphabet protein",
            err=True,
        )


def task_of(data: Data, options: dict[str, Any]) -> str:
    """Return "classify", "regress" or "one-class"."""
    if options["task"] != "auto":
        return str(options["task"])
    return "regress" if type_of_target(data.y) == "continuous" else "classify"


def _norm(given: Any) -> float:
    """Return the p that an option says."""
    try:
        return float(given)
    except ValueError:
        raise ValueError(f"--norm must be a number of at least 1, or inf, not {given!r}") from None


def make_estimator(options: dict[str, Any], data: Data) -> Any:
    """Return the estimator that the options and the data ask for."""
    chosen = {name: options[name] for name in ("loss", "class_weight", "tol", "max_time")}
    chosen |= {"C": options["cost"]}
    chosen["norm"] = None if options["norm"] is None else _norm(options["norm"])
    parameters = {name: value for name, value in chosen.items() if value is not None}
    if options["normalize"] is not None:
        parameters["normalize"] = None if options["normalize"] == "none" else options["normalize"]
    task = task_of(data, options)
    kinds: dict[str, Any] = {
        "classify": MKLClassifier, "regress": MKLRegressor, "one-class": MKLOneClass,
    }  # fmt: skip
    kind = kinds[task]
    unfit = [name for name in parameters if name not in kind().get_params()]
    if unfit:
        raise ValueError(f"{unfit[0]} is not for the task {task}")
    return kind(
        kernels=kernels_for(options["kernels"], data, as_alphabet(options["alphabet"])),
        n_jobs=options["jobs"],
        verbose=0 if options["quiet"] or options["as_json"] else 1,
        **parameters,
    )


def kernels_for(specs: tuple[str, ...], data: Data, alphabet: Any) -> Any:
    """Return the kernels of some specifications, or default kernels; None: the estimator chooses.

    A classifier or regressor chooses the kernels of sequences on held-out folds. Columns of
    sequences in a table have gapped k-mers (k-mers for proteins), and the weighted degree kernel
    if all lengths are equal.
    """
    if specs:
        return [parse_kernel(spec) for spec in specs]
    if isinstance(data.X, Sequences):
        return None
    found = sequence_columns(data.X, alphabet)
    same = [data.X[name].str.len().nunique() == 1 for name in found]
    return [
        kernel
        for name, aligned in zip(found, same, strict=True)
        for kernel in _for_column(alphabet, aligned, name)
    ] or None


def _for_column(alphabet: Any, aligned: bool, name: str) -> list[Kernel]:
    """Return the kernels of a column of sequences."""
    candidates = sequence_candidates(alphabet, aligned=aligned, columns=name)
    first = next(iter(candidates.values()))
    return [*first, *candidates["weighted degree"]] if aligned else first


def cross_validated(
    estimator: Any, data: Data, options: dict[str, Any]
) -> dict[str, dict[str, Any]] | None:
    """Return scores on folds, by name: mean, standard deviation, and those of each fold."""
    if options["cv"] is None and options["cv_groups"] is None:
        return None
    if data.y is None:
        raise ValueError("--cv needs a --target")
    kind = "continuous" if task_of(data, options) == "regress" else type_of_target(data.y)
    scores = SCORES[kind]
    found = cross_validate(
        estimator,
        data.X,
        data.y,
        groups=data.groups,
        cv=folds(options, data, kind != "continuous"),
        scoring=scores,
        error_score="raise",
    )
    result = {}
    for name, scorer in scores.items():
        values = found[f"test_{name}"] * (-1 if str(scorer).startswith("neg_") else 1)
        result[name] = {"mean": values.mean(), "std": values.std(), "folds": values}
    return result


def folds(options: dict[str, Any], data: Data, classes: bool) -> Any:
    """Return shuffled folds, which keep groups whole where there are any."""
    count, seed = options["cv"] or 5, options["seed"]
    if options["cv_groups"] is None:
        return (StratifiedKFold if classes else KFold)(count, shuffle=True, random_state=seed)
    groups = len(np.unique(np.asarray(data.groups)))
    if groups < count:
        raise ValueError(f"--cv-groups: {groups} groups cannot make {count} folds")
    if classes:
        return StratifiedGroupKFold(count, shuffle=True, random_state=seed)
    return GroupKFold(count)
