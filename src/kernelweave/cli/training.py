"""Data, estimator, folds and held-out scores of the commands `fit`, `compare` and `report`."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import click
import numpy as np
from sklearn.base import clone
from sklearn.metrics import average_precision_score, check_scoring
from sklearn.model_selection import (
    BaseCrossValidator,
    GroupKFold,
    KFold,
    StratifiedGroupKFold,
    StratifiedKFold,
)
from sklearn.utils import _safe_indexing
from sklearn.utils.multiclass import type_of_target

from .. import MKLClassifier, MKLOneClass, MKLRegressor, MKLSurvival
from ..genome.chromosome_names import listed, match_chromosomes
from ..kernels import Kernel
from ..kernels.default import sequence_candidates
from ..optimization.progress import progress_bar
from ..sequences import Sequences
from ..sequences.alphabets import PROTEIN, Alphabet, as_alphabet
from .command import Options
from .data import Data, Windows, read_labelled, read_two_classes
from .kernel_specs import parse_kernel
from .tables import Frame, sequence_columns

if TYPE_CHECKING:
    from ..estimators.fitted import FittedEstimator


def _precision(model: FittedEstimator, X: object, y: np.ndarray) -> float:
    """Return the average precision of the second class, whatever its label."""
    return float(average_precision_score(y == model.classes_[1], model.decision_function(X)))


SCORES: dict[str, dict[str, object]] = {
    "binary": {"auROC": "roc_auc", "auPRC": _precision, "accuracy": "accuracy"},
    "multiclass": {"accuracy": "accuracy", "balanced accuracy": "balanced_accuracy"},
    "continuous": {"R^2": "r2", "root mean squared error": "neg_root_mean_squared_error"},
}
ESTIMATORS: dict[str, type[FittedEstimator]] = {
    "classify": MKLClassifier,
    "regress": MKLRegressor,
    "one-class": MKLOneClass,
    "survival": MKLSurvival,
}
MOST_NUMERIC_CLASSES = 20  # distinct numbers above which a target is a quantity, not a label


def read_data(options: Options) -> Data:
    """Return the examples that the options of `fit` name."""
    windows, alphabet = Windows.of(options), options["alphabet"]
    two = options["positive"], options["negative"]
    if all(two) and not options["data"]:
        if options["columns"] is not None:
            raise ValueError(
                "--columns is for tables, not for --positive and --negative; leave it out"
            )
        return read_two_classes(*two, options["cv_groups"], windows, alphabet=alphabet)
    if any(two) or not options["data"]:
        raise ValueError("give DATA, or both --positive and --negative")
    times = _times(options)
    if not times and options["target"] is None and options["task"] != "one-class":
        raise ValueError("--target is required: the column (or header field) with the targets")
    chosen = {name: options[name] for name in ("target", "columns")} | {"times": times}
    groups = options["cv_groups"]
    data = read_labelled(
        options["data"], groups=groups, windows=windows, alphabet=alphabet, **chosen
    )
    if options.get("kernels") != () or isinstance(data.X, Sequences):
        return data
    return _sequences_only(data, options)


def _times(options: Options) -> tuple[str, str] | None:
    """Return the names of the columns with events and times; None without such options.

    Raises
    ------
    ValueError
        If one of the two is missing, or they are combined with another kind of target.
    """
    event, time = options.get("event"), options.get("time")
    if event is None and time is None:
        return None
    if event is None or time is None:
        raise ValueError("--time and --event are needed together: survival models learn from both")
    if options["target"] is not None or options["task"] != "auto":
        raise ValueError("--time and --event train a survival model; leave out --target and --task")
    return event, time


def hold_out(data: Data, chromosomes: str | None) -> tuple[Data, Data | None]:
    """Return the training and the test examples.

    Parameters
    ----------
    data : Data
        n examples.
    chromosomes : str or None
        Names of test chromosomes, separated by commas. None: all examples are for training.

    Raises
    ------
    ValueError
        If the examples are not regions, a named chromosome has none, or none is left for training.
    """
    if chromosomes is None:
        return data, None
    if data.chromosomes is None:
        raise ValueError("--test-chrom is for regions (BED) with --genome; leave it out")
    wanted = [name.strip() for name in chromosomes.split(",") if name.strip()]
    known = match_chromosomes(wanted, data.chromosomes, "--test-chrom")
    if absent := [name for name in wanted if name not in known]:
        raise ValueError(
            f"--test-chrom: no region is on {listed(absent)}; regions are on "
            f"{listed(data.chromosomes)}"
        )
    test = np.isin(data.chromosomes, list(known.values()))
    if test.all():
        raise ValueError(
            "--test-chrom: no region is left for training; name fewer of the chromosomes "
            f"{listed(data.chromosomes)}"
        )
    return _some(data, ~test), _some(data, test)


def _some(data: Data, chosen: np.ndarray) -> Data:
    """Return the examples selected by a boolean mask, shape (n,)."""
    rows = np.flatnonzero(chosen)
    return replace(
        data,
        X=data.X[rows],
        names=[data.names[i] for i in rows.tolist()],
        y=None if data.y is None else data.y[rows],
        groups=None if data.groups is None else data.groups[rows],
        chromosomes=None if data.chromosomes is None else data.chromosomes[rows],
    )


def test_scores(model: FittedEstimator, data: Data) -> dict[str, float]:
    """Return the scores of a fitted model on test examples, by name.

    Raises
    ------
    ValueError
        If a classifier has test examples of one class only.
    """
    if hasattr(model, "classes_") and len(np.unique(np.asarray(data.y))) < 2:
        raise ValueError(
            "--test-chrom: the test chromosomes have examples of one class only; name others"
        )
    return scores_of(model, data.X, data.y)


def scores_of(model: FittedEstimator, X: object, y: object) -> dict[str, float]:
    """Return the scores of a fitted model on examples with targets y, shape (n,), by name."""
    if isinstance(model, MKLSurvival):
        return {"concordance": model.score(X, y)}
    classes = getattr(model, "classes_", None)
    kind = "continuous" if classes is None else "binary" if len(classes) == 2 else "multiclass"
    found = {}
    for name, scorer in SCORES[kind].items():
        value = float(check_scoring(model, scorer)(model, X, y))
        found[name] = -value if str(scorer).startswith("neg_") else value
    return found


def _sequences_only(data: Data, options: Options) -> Data:
    """Return only the columns of sequences, or all columns if a table has no sequences.

    This applies without --kernel.
    """
    frame: Frame = data.X
    found = sequence_columns(frame, as_alphabet(options["alphabet"]))
    others = [str(name) for name in frame.columns if name not in found]
    if not found:
        _hint_at_proteins(data, options["quiet"])
        return data
    if others and not options["quiet"]:
        click.echo(
            f"using the sequences in {', '.join(found)}; without --kernel other columns are "
            f"ignored: {', '.join(others)}",
            err=True,
        )
    return replace(data, X=frame[found])


def _hint_at_proteins(data: Data, quiet: bool) -> None:
    """Suggest --alphabet protein on standard error if a column looks like protein sequences."""
    if (found := sequence_columns(data.X, PROTEIN)) and not quiet:
        click.echo(
            f"{', '.join(found)} may contain protein sequences; with --alphabet protein they are "
            "read as such, and only they",
            err=True,
        )


def task_of(data: Data, options: Options) -> str:
    """Return "classify", "regress", "one-class" or "survival".

    Without --task, numbers with many distinct values are a quantity, not labels of classes.
    """
    if _times(options):
        return "survival"
    if options["task"] != "auto":
        return str(options["task"])
    many = _whole_numbers(data) > MOST_NUMERIC_CLASSES
    return "regress" if many or type_of_target(data.y) == "continuous" else "classify"


def strata(data: Data) -> np.ndarray | None:
    """Return the events of censored times, or else y, shape (n,), to stratify folds by."""
    return data.y["event"] if data.y is not None and data.y.dtype.names else data.y


def _whole_numbers(data: Data) -> int:
    """Return the number of distinct targets if all are integers and it is at least 3, else 0."""
    y = np.asarray(data.y)
    either = np.issubdtype(y.dtype, np.number) and type_of_target(y) == "multiclass"
    return len(np.unique(y)) if either else 0


def _print_task(task: str, data: Data) -> None:
    """Write the task of a numeric target, and the option that changes it, to standard error."""
    if count := _whole_numbers(data):
        kind, other = {
            "regress": ("regression", "--task classify takes them for labels of classes"),
            "classify": ("classification", "--task regress takes them for a quantity"),
        }[task]
        click.echo(f"{kind}: the target has {count} different numbers; {other}", err=True)


def _norm(value: str) -> float:
    """Return the value of --norm as a number."""
    try:
        return float(value)
    except ValueError:
        raise ValueError(f"--norm must be a number of at least 1, or inf, got {value!r}") from None


def make_estimator(options: Options, data: Data) -> FittedEstimator:
    """Return the estimator, not fitted, for the options of a command and its data."""
    names = ("loss", "class_weight", "multi_class", "tol", "max_time")
    chosen = {name: options[name] for name in names} | {"C": options["cost"]}
    chosen["norm"] = None if options["norm"] is None else _norm(options["norm"])
    parameters = {name: value for name, value in chosen.items() if value is not None}
    if options["normalize"] is not None:
        parameters["normalize"] = None if options["normalize"] == "none" else options["normalize"]
    if options["no_intercept"]:
        parameters["fit_intercept"] = False
    task = task_of(data, options)
    auto = options["task"] == "auto" and task != "survival"
    if auto and not (options["quiet"] or options["as_json"]):
        _print_task(task, data)
    kind = ESTIMATORS[task]
    unfit = [name for name in parameters if name not in kind().get_params()]
    if unfit:
        named = {"C": "-C", "fit_intercept": "--no-intercept"}
        option = named.get(unfit[0], f"--{unfit[0].replace('_', '-')}")
        raise ValueError(f"{option} does not apply to the task {task}; leave it out")
    return kind(
        kernels=kernels_for(options["kernels"], data, as_alphabet(options["alphabet"])),
        n_jobs=options["jobs"],
        verbose=0 if options["quiet"] or options["as_json"] else 1,
        **parameters,
    )


def kernels_for(specs: tuple[str, ...], data: Data, alphabet: Alphabet) -> list[Kernel] | None:
    """Return the kernels of the options -k, or without -k the default ones of sequence columns.

    Columns of sequences in a table have gapped k-mers (k-mers with a mismatch for proteins), and
    the weighted degree kernel if all lengths are equal. The result is None if X is `Sequences` or
    a table without such columns: the estimator then chooses its default kernels itself.
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


def _for_column(alphabet: Alphabet, aligned: bool, name: str) -> list[Kernel]:
    """Return the default kernels of the column `name`; `aligned`: all lengths are equal."""
    candidates = sequence_candidates(alphabet, aligned=aligned, columns=name)
    first = next(iter(candidates.values()))
    return [*first, *candidates["weighted degree"]] if aligned else first


def cross_validated(
    estimator: FittedEstimator, data: Data, options: Options
) -> dict[str, dict[str, Any]] | None:
    """Return cross-validated scores by name: mean, standard deviation, and value of each fold.

    None if neither --cv nor --cv-groups is given.
    """
    if options["cv"] is None and options["cv_groups"] is None:
        return None
    if data.y is None:
        given = "--cv" if options["cv"] is not None else "--cv-groups"
        raise ValueError(
            f"{given} scores predictions of targets, which one-class models lack; leave it out"
        )
    splitter = folds(options, data, task_of(data, options))
    splits = list(splitter.split(np.zeros(len(data.names)), strata(data), data.groups))
    scores = []
    shown = not (options["quiet"] or options["as_json"])
    with progress_bar("cross-validation", len(splits), verbose=int(shown)) as advance:
        for train, test in splits:
            model = clone(estimator).set_params(verbose=0)
            model.fit(_safe_indexing(data.X, train), data.y[train])
            scores.append(scores_of(model, _safe_indexing(data.X, test), data.y[test]))
            advance()
    values = {name: np.array([one[name] for one in scores]) for name in scores[0]}
    return {
        name: {"mean": found.mean(), "std": found.std(), "folds": found}
        for name, found in values.items()
    }


def folds(options: Options, data: Data, task: str) -> BaseCrossValidator:
    """Return the splitter of --cv: shuffled folds that keep groups together, if there are any.

    Folds of classes and of censored times are stratified; see `strata`. Without --cv there are five
    folds, or one per group if there are fewer groups.
    """
    count, seed = options["cv"] or 5, options["seed"]
    stratified = task in ("classify", "survival")
    if options["cv_groups"] is None:
        return (StratifiedKFold if stratified else KFold)(count, shuffle=True, random_state=seed)
    groups = len(np.unique(np.asarray(data.groups)))
    if options["cv"] is None:
        count = max(2, min(count, groups))
    if groups < count:
        raise ValueError(
            f"--cv-groups: {groups} groups cannot make {count} folds; give --cv {groups} or less"
        )
    if stratified:
        return StratifiedGroupKFold(count, shuffle=True, random_state=seed)
    return GroupKFold(count)
