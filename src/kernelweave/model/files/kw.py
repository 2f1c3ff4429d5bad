"""Saving and loading fitted estimators, with no pickled code.

A file is an `archive`: a document, ``model.json``, and the arrays that it refers to, ``0.npy``,
``1.npy`` and so on. In the document an array is ``{"array": number}``; an object of this package
is ``{"object": name, "fields": {...}}``; tuples, slices, dictionaries and numbers that JSON lacks
are marked likewise. Only classes that are `stored` can be made, by their own constructors, of
values of the types that they declare. So a file can hold wrong numbers but no code.

Formats
-------
1 : class names of the time, which are the names of today; no checksums.
2 : the same, and the SHA-256 of every member.

A class whose fields have changed their meaning has a new name; files that call it by its former one
are read as they were meant (`stored.formerly`).
"""

from __future__ import annotations

import os
from collections.abc import Callable
from importlib import import_module
from typing import Any, BinaryIO

import numpy as np

from ...kernels import Kernel
from ...optimization.summary import PlanSummary
from ...sequences import Sequences
from ..model import Model
from .archive import Archive, write_archive
from .atomic_write import whole_file
from .legacy import OldPlan
from .lsgkm import is_lsgkm, read_lsgkm
from .registry import Stored, stored_as, stored_class
from .type_check import fits

FORMAT = 2
FIRST_WITH_SUMS = 2
DOCUMENT = "model.json"

ESTIMATORS = (
    "MKLClassifier", "MKLRegressor", "MKLOneClass", "MKLClassifierCV", "MKLRegressorCV",
    "MKLSurvival", "MKLSurvivalCV",
)  # fmt: skip
NOT_FOR_FILES = frozenset({"checkpoint"})  # a path means nothing elsewhere, and may mean harm

# Modules of classes that files may hold and that nothing above imports.
NOT_YET_IMPORTED = (
    "kernelweave.estimators",
    "kernelweave.estimators.selection",
    "kernelweave.kernels.compose.member",
    "kernelweave.kernels.data.missing",
    "kernelweave.kernels.data.standardized",
)

Number = int | float
# What estimators learn, and of which type it is.
LEARNED: dict[str, Any] = {
    "_model": Model,
    "C_": Number | np.ndarray,
    "best_score_": Number,
    "calibrators_": tuple,
    "calibration_": np.ndarray,
    "certifies_": str,
    "classes_": np.ndarray,
    "conformity_": np.ndarray,
    "constant_objective_": Number | np.ndarray,
    "cumulative_baseline_hazard_": np.ndarray,
    "dual_coef_": np.ndarray,
    "dual_objective_": Number | np.ndarray,
    "duality_gap_": Number | np.ndarray,
    "epsilon_": Number | np.ndarray,
    "event_times_": np.ndarray,
    "feature_names_in_": np.ndarray,
    "history_": list,
    "intercept_": np.ndarray,
    "kernel_names_": tuple[str, ...],
    "multilabel_": bool,
    "n_features_in_": int,
    "n_iter_": int,
    "norm_": Any,
    "offset_": Number,
    "optimality_": np.ndarray,
    "primal_objective_": Number | np.ndarray,
    "plan_": PlanSummary | OldPlan,
    "scores_": np.ndarray,
    "support_": np.ndarray,
    "weights_": np.ndarray,
}
MOST_LETTERS = 1 << 20  # of sequences of which a model has none


def save(estimator: Any, path: str | os.PathLike[str]) -> None:
    """Write a fitted estimator to a file, whole or not at all."""
    writer = Writer()
    parameters = estimator.get_params(deep=False)
    fitted = {name: value for name, value in vars(estimator).items() if _is_learned(name)}
    document = {
        "kernelweave": FORMAT,
        "estimator": _name_of(estimator),
        "parameters": writer.encode(parameters | dict.fromkeys(NOT_FOR_FILES & parameters.keys())),
        "fitted": writer.encode(fitted),
    }
    for entry, value in writer.objects:
        entry.check(value)
    with whole_file(path) as file:
        write_archive(file, DOCUMENT, document, writer.arrays)


def load(path: str | os.PathLike[str]) -> Any:
    """Return the estimator that `save` wrote to a file, or the model in a file of LS-GKM.

    It is safe to load a file of unknown origin: no code of it is run, it takes memory in proportion
    to its size, and whatever is wrong with it is an error.

    Parameters
    ----------
    path : the file.

    Raises
    ------
    ValueError : where the file is no such file, is damaged, was changed, or has a newer format.
    OSError : where there is no file to be read.

    Examples
    --------
    >>> import numpy as np
    >>> from kernelweave import MKLClassifier, load
    >>> X = np.random.default_rng(0).normal(size=(60, 2))
    >>> model = MKLClassifier().fit(X, X[:, 0] > 0)
    >>> model.save("model.kw")
    >>> again = load("model.kw")
    >>> np.array_equal(again.predict(X), model.predict(X))
    True
    """
    for module in NOT_YET_IMPORTED:
        import_module(module)
    with open(path, "rb") as file:
        foreign = is_lsgkm(file.read(8))
        file.seek(0)
        try:
            return read_lsgkm(file) if foreign else _loaded(file)
        except MemoryError:
            raise
        except Exception as error:  # what may be wrong with a file has no end
            kind = "model of LS-GKM" if foreign else "kernelweave model"
            reason = str(error) or type(error).__name__
            raise ValueError(f"{os.fspath(path)!r} is not a {kind}: {reason}") from error


def _loaded(file: BinaryIO) -> Any:
    from ...estimators.parameters import check_parameters  # estimators import this module

    archive = Archive(file, DOCUMENT)
    document = archive.document()
    version = document["kernelweave"]
    if not fits(version, int) or not 1 <= version <= FORMAT:
        raise ValueError(f"it has format {version!r}, this version reads 1 to {FORMAT}")
    if version >= FIRST_WITH_SUMS and not archive.has_sums:
        raise ValueError("it lacks its checksums")
    if document["estimator"] not in ESTIMATORS:
        raise ValueError(f"{document['estimator']!r} is no estimator")
    reader = Reader(archive)
    parameters = reader.decode(document["parameters"])
    for name in NOT_FOR_FILES:
        parameters.pop(name, None)
    estimator = stored_as(document["estimator"]).cls(**parameters)
    check_parameters(estimator)
    fitted = reader.decode(document["fitted"])
    reader.check_lengths()
    _fill(estimator, fitted)
    return estimator


def _fill(estimator: Any, fitted: dict[str, Any]) -> None:
    """Give an estimator what it has learned."""
    for name, value in fitted.items():
        if name not in LEARNED or not fits(value, LEARNED[name]):
            raise ValueError(f"{name!r} is nothing that an estimator learns, or of another type")
    vars(estimator).update(fitted)
    fitted["_model"].check()
    estimator._check_loaded()


def _is_learned(name: str) -> bool:
    return name == "_model" or (name.endswith("_") and not name.startswith("_"))


def _name_of(estimator: Any) -> str:
    entry = stored_class(type(estimator))
    if entry is None:
        raise ValueError(f"a {type(estimator).__name__} cannot be saved, only {ESTIMATORS}")
    return entry.name


class Writer:
    """Turns values into a JSON document and arrays."""

    def __init__(self) -> None:
        self.arrays: dict[str, np.ndarray] = {}
        self.objects: list[tuple[Stored, Any]] = []

    def encode(self, value: Any) -> Any:
        """Return a value as JSON has it."""
        for kinds, encode in self._rules():
            if isinstance(value, kinds):
                return encode(value)
        if hasattr(value, "for_file"):  # a simpler object represents it
            return self.encode(value.for_file())
        if entry := stored_class(type(value)):
            self.objects.append((entry, value))
            fields = {name: self.encode(getattr(value, name)) for name in entry.fields}
            return {"object": entry.name, "fields": fields}
        return self.other(value)

    def other(self, value: Any) -> Any:
        """Return what stands for a value that files cannot hold, if anything."""
        raise ValueError(
            f"a {type(value).__name__} cannot be saved: {value!r}; files hold no code, so that "
            "models of functions are for pickle; kernels may choose columns by number, name, slice "
            "or mask, and random_state may be None or an integer"
        )

    def _rules(self) -> list[tuple[Any, Callable[[Any], Any]]]:
        return [
            (bool | int | str | None, lambda value: value),
            (float, self._number),
            (np.generic, lambda value: self.encode(value.item())),
            (np.ndarray, self._array),
            (list, lambda value: [self.encode(item) for item in value]),
            (tuple, lambda value: {"tuple": [self.encode(item) for item in value]}),
            (dict, lambda value: {"dict": [self.encode(item) for item in value.items()]}),
            (slice, lambda value: {"slice": [value.start, value.stop, value.step]}),
            (bytes, lambda value: {"bytes": value.decode("latin-1")}),
        ]

    def _number(self, value: float) -> Any:
        return value if np.isfinite(value) else {"float": repr(value)}

    def _array(self, value: np.ndarray) -> Any:
        if value.dtype.kind == "O":
            return {"objects": [self.encode(item) for item in value.tolist()]}
        number = len(self.arrays)
        self.arrays[str(number)] = value
        return {"array": number}


class Reader:
    """Turns a document back into values."""

    def __init__(self, archive: Archive):
        self.archive = archive
        self.lengths: set[int] = set()  # that kernels compare
        self.sequences: list[Sequences] = []
        self._rules: dict[str, Callable[[Any], Any]] = {
            "array": lambda number: self.archive.array(str(int(number))),
            "objects": self._objects,
            "tuple": lambda items: tuple(self.decode(items)),
            "dict": lambda items: dict(self.decode(items)),
            "slice": lambda parts: slice(*parts),
            "float": float,
            "bytes": lambda text: text.encode("latin-1"),
        }

    def decode(self, value: Any) -> Any:
        """Return what was encoded."""
        if isinstance(value, list):
            return [self.decode(item) for item in value]
        if not isinstance(value, dict):
            return value
        if "object" in value:
            return self._object(value["object"], value["fields"])
        ((kind, content),) = value.items()
        return self._rules[kind](content)

    def _objects(self, items: list[Any]) -> np.ndarray:
        array = np.empty(len(items), dtype=object)
        array[:] = [self.decode(item) for item in items]
        return array

    def _object(self, name: str, fields: dict[str, Any]) -> Any:
        entry = stored_as(name)
        hints = entry.hints({"Kernel": Kernel})
        values = {field: self.decode(content) for field, content in fields.items()}
        for field, value in values.items():
            if field not in entry.fields or not fits(value, hints[field]):
                raise ValueError(f"{field!r} of {name} is unknown, or of another type")
        made = entry.make(**values)
        entry.check(made)
        if isinstance(made, Sequences):
            self.sequences.append(made)
        elif isinstance(made, Kernel) and values.get("length") is not None:
            self.lengths.add(values["length"])
        return made

    def check_lengths(self) -> None:
        """Refuse kernels for longer sequences than there are: what they cost grows with length."""
        known = {sequences.length for sequences in self.sequences if sequences.n > 0}
        longest = 0 if known else MOST_LETTERS
        if any(not 1 <= length <= longest for length in self.lengths - known):
            raise ValueError("a kernel compares sequences of another length than the model has")
