"""Save and load fitted estimators without pickle.

A file is an `archive`: a document, ``model.json``, and the arrays that it refers to, ``0.npy``,
``1.npy`` and so on. In the document an array is ``{"array": number}``; an object of this package is
``{"object": name, "fields": {...}}``; tuples, slices, dictionaries and numbers that JSON lacks are
marked likewise. Only registered classes can be created, by their own constructors, from values of
the declared types. A file can therefore contain wrong numbers but no code.

Formats
-------
1 : no checksums.
2 : the SHA-256 of every member.
3 : the model is contained once. Formats 1 and 2 also have copies of its parts (`dual_coef_`,
    `support_`, `weights_`, ...), which must agree with it. A file may have a signature. Times in
    `history_` are left out, so that equal fits give equal bytes.

A class whose fields have changed their meaning has a new name. Files that use the former name are
converted (`registry.formerly`).
"""

from __future__ import annotations

import os
from collections.abc import Callable
from importlib import import_module
from typing import TYPE_CHECKING, Any, BinaryIO
from zipfile import BadZipFile

import numpy as np

from ...kernels import Kernel
from ...sequences import Sequences
from .archive import Archive, check_key, open_regular, write_archive
from .atomic_write import atomic_write
from .fitted_state import COPIES, LEARNED, check_fitted, check_types, with_copies
from .legacy import with_current_texts
from .lsgkm import is_lsgkm, read_lsgkm
from .registry import Entry, entry_of_class, entry_of_name
from .type_check import fits

if TYPE_CHECKING:
    from ...estimators.fitted import FittedEstimator

FORMAT = 3
FIRST_WITH_SUMS = 2
FIRST_WITHOUT_COPIES = 3
DOCUMENT = "model.json"

ESTIMATORS = (
    "MKLClassifier", "MKLRegressor", "MKLOneClass", "MKLClassifierCV", "MKLRegressorCV",
    "MKLSurvival", "MKLSurvivalCV",
)  # fmt: skip
NOT_SAVED = frozenset({"checkpoint"})  # a path is meaningless, or harmful, on another machine
CLOCK = "seconds"  # key of the time in an entry of `history_`

# Modules that register classes and that nothing above imports.
NOT_YET_IMPORTED = (
    "kernelweave.estimators",
    "kernelweave.estimators.selection",
    "kernelweave.kernels.compose.member",
    "kernelweave.kernels.data.missing",
    "kernelweave.kernels.data.standardized",
)

MAX_LENGTH = 1 << 20  # largest sequence length of a kernel if the model contains no sequences


def save(
    estimator: FittedEstimator, path: str | os.PathLike[str], *, key: bytes | None = None
) -> None:
    """Write a fitted estimator to a file (atomic write).

    Parameters
    ----------
    estimator : fitted estimator
    path : str or path-like
    key : bytes, optional
        At least 16 secret bytes. The file is signed with HMAC-SHA256; ``load(path, key=key)``
        checks the signature.

    Raises
    ------
    ValueError
        If a parameter or a kernel cannot be saved.
    OSError
        If the file cannot be written.
    """
    check_key(key)
    writer = Writer()
    parameters = estimator.get_params(deep=False)
    fitted = {name: value for name, value in vars(estimator).items() if _is_learned(name)}
    if "history_" in fitted:
        fitted["history_"] = _without_clock(fitted["history_"])
    document = {
        "kernelweave": FORMAT,
        "estimator": _name_of(estimator),
        "parameters": writer.encode(parameters | dict.fromkeys(NOT_SAVED & parameters.keys())),
        "fitted": writer.encode(fitted),
    }
    for entry, value in writer.objects:
        entry.check(value)
    with atomic_write(path) as file:
        write_archive(file, DOCUMENT, document, writer.arrays, key)


def load(path: str | os.PathLike[str], *, key: bytes | None = None) -> FittedEstimator:
    """Return the estimator that `save` wrote to a file, or the model of an LS-GKM file.

    Files of unknown origin can be loaded safely: no code from the file is executed, memory is
    proportional to the size of the file, and every inconsistency is a ValueError. Whether the
    numbers are those that were saved is a different question: pass `key`, or check the model on its
    training data with `kernelweave.verify`.

    Parameters
    ----------
    path : str or path-like
        A regular file.
    key : bytes, optional
        The key that the file was saved with. Files without a signature, or with a signature of
        another key, are refused. None: signatures are not checked.

    Returns
    -------
    fitted estimator

    Raises
    ------
    ValueError
        If the file is not a model file, is damaged, was altered, or has a newer format.
    OSError
        If the file does not exist or cannot be read.

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

    A signed file:

    >>> import secrets
    >>> key = secrets.token_bytes(32)
    >>> model.save("signed.kw", key=key)
    >>> again = load("signed.kw", key=key)
    """
    check_key(key)
    for module in NOT_YET_IMPORTED:
        import_module(module)
    with open_regular(path) as file:
        foreign = is_lsgkm(file.read(8))
        file.seek(0)
        try:
            if foreign and key is not None:
                raise ValueError("a key was given, but files of LS-GKM have no signature")
            return read_lsgkm(file) if foreign else _loaded(file, key)
        except MemoryError:
            raise
        except BadZipFile as error:
            advice = "it is no complete zip archive; pass a file that `save` has written"
            raise ValueError(f"{os.fspath(path)!r} is not a kernelweave model: {advice}") from error
        except Exception as error:  # a damaged file can cause any exception
            kind = "model of LS-GKM" if foreign else "kernelweave model"
            reason = str(error) or type(error).__name__
            raise ValueError(f"{os.fspath(path)!r} is not a {kind}: {reason}") from error


def _loaded(file: BinaryIO, key: bytes | None) -> FittedEstimator:
    from ...estimators.parameters import check_parameters  # estimators import this module

    archive = Archive(file, DOCUMENT, key)
    document = archive.document()
    version = document["kernelweave"]
    if not fits(version, int) or not 1 <= version <= FORMAT:
        raise ValueError(f"it has format {version!r}, this version reads 1 to {FORMAT}")
    if version >= FIRST_WITH_SUMS and not archive.has_sums:
        raise ValueError(f"it has format {version}, but no checksums")
    if document["estimator"] not in ESTIMATORS:
        raise ValueError(f"{document['estimator']!r} is not the name of an estimator")
    reader = Reader(archive)
    parameters = reader.decode(document["parameters"])
    for name in NOT_SAVED:
        parameters.pop(name, None)
    estimator: FittedEstimator = entry_of_name(document["estimator"]).cls(**parameters)
    check_parameters(estimator)
    fitted = reader.decode(document["fitted"])
    reader.check_lengths()
    if version < FIRST_WITHOUT_COPIES:
        check_types(fitted, LEARNED | COPIES)
        fitted = with_copies(fitted)
    else:
        check_types(fitted, LEARNED)
        fitted["_model"].check()
    for name, value in with_current_texts(fitted).items():
        setattr(estimator, name, value)
    estimator._check_loaded()
    check_fitted(estimator)
    return estimator


def _is_learned(name: str) -> bool:
    return name == "_model" or (name.endswith("_") and not name.startswith("_"))


def _without_clock(history: list[Any]) -> list[Any]:
    """Return a history, or a list of histories, without the times of its entries."""
    return [
        {name: value for name, value in entry.items() if name != CLOCK}
        if isinstance(entry, dict)
        else _without_clock(entry)
        for entry in history
    ]


def _name_of(estimator: FittedEstimator) -> str:
    entry = entry_of_class(type(estimator))
    if entry is None:
        raise ValueError(f"a {type(estimator).__name__} cannot be saved, only {ESTIMATORS}")
    return entry.name


class Writer:
    """Encodes values as JSON and arrays."""

    def __init__(self) -> None:
        self.arrays: dict[str, np.ndarray] = {}
        self.objects: list[tuple[Entry, Any]] = []

    def encode(self, value: object) -> Any:
        """Return the JSON form of a value; arrays are collected in `arrays`."""
        for kinds, encode in self._rules():
            if isinstance(value, kinds):
                return encode(value)
        if hasattr(value, "for_file"):  # files contain a simpler object in its place
            return self.encode(value.for_file())
        if entry := entry_of_class(type(value)):
            self.objects.append((entry, value))
            fields = {name: self.encode(getattr(value, name)) for name in entry.fields}
            return {"object": entry.name, "fields": fields}
        return self.other(value)

    def other(self, value: object) -> Any:
        """Return the JSON form of a value of another type, or raise ValueError."""
        raise ValueError(
            f"a {type(value).__name__} cannot be saved: {value!r}; files contain no code: save "
            "models with functions by pickle, choose columns of kernels by number, name, slice or "
            "mask, and set random_state to None or an integer"
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
    """Decodes a document into values."""

    def __init__(self, archive: Archive):
        self.archive = archive
        self.lengths: set[int] = set()  # sequence lengths of kernels
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

    def decode(self, value: object) -> Any:
        """Return the value that a JSON form encodes."""
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
        entry = entry_of_name(name)
        values = {field: self.decode(content) for field, content in fields.items()}
        for field, value in values.items():
            if field not in entry.fields or not fits(value, entry.hints[field]):
                raise ValueError(f"field {field!r} of {name} is unknown, or has the wrong type")
        made = entry.make(**values)
        entry.check(made)
        if isinstance(made, Sequences):
            self.sequences.append(made)
        elif isinstance(made, Kernel) and values.get("length") is not None:
            self.lengths.add(values["length"])
        return made

    def check_lengths(self) -> None:
        """Raise ValueError if a kernel has another sequence length than the support vectors.

        The cost of such kernels grows with the length, which must not exceed that of the data.
        """
        known = {sequences.length for sequences in self.sequences if sequences.n > 0}
        longest = 0 if known else MAX_LENGTH
        if any(not 1 <= length <= longest for length in self.lengths - known):
            raise ValueError("a kernel has another sequence length than the support vectors")
