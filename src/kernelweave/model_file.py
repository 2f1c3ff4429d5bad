"""Saving and loading fitted estimators, with no pickled code.

A file is a zip archive with one document, ``model.json``, and the arrays that it refers to,
``0.npy``, ``1.npy`` and so on. In the document an array is ``{"array": number}``; an object of
this package is ``{"object": class, "fields": {...}}``; tuples, slices, dictionaries and numbers
that JSON lacks are marked likewise. Only the classes listed here can be made, by their own
constructors, so a file can hold wrong numbers but no code.
"""

from __future__ import annotations

import dataclasses
import io
import json
import os
import zipfile
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np

from .sequences import Sequences

FORMAT = 1
DOCUMENT = "model.json"
MODULES = [
    import_module(f"kernelweave.{name}")
    for name in (
        *("alphabets", "model", "solvers.mwu", "solvers.skm"),
        *("losses.margins", "losses.one_class", "losses.residuals"),
        *("norms.block", "norms.elliptic", "norms.lp"),
        *("kernels.base", "kernels.columns", "kernels.encoding", "kernels.examples"),
        *("kernels.locality", "kernels.member", "kernels.normalize", "kernels.per_feature"),
        *("kernels.precomputed", "kernels.program", "kernels.spectrum", "kernels.strings"),
        *("kernels.tables", "kernels.text", "kernels.vectors"),
    )
]
CLASSES = {
    cls.__name__: cls
    for module in MODULES
    for cls in vars(module).values()
    if isinstance(cls, type) and dataclasses.is_dataclass(cls) and cls.__module__ == module.__name__
}
SEQUENCES = ("alphabet", "n", "length", "data", "unknown", "lengths")  # what makes them again


def save(estimator: Any, path: str | os.PathLike[str]) -> None:
    """Write a fitted estimator to a file, whole or not at all."""
    writer = Writer()
    fitted = {name: value for name, value in vars(estimator).items() if _is_learned(name)}
    document = {
        "kernelweave": FORMAT,
        "estimator": type(estimator).__name__,
        "parameters": writer.encode(estimator.get_params(deep=False)),
        "fitted": writer.encode(fitted),
    }
    path = Path(path)
    partial = path.with_name(path.name + ".part")
    with zipfile.ZipFile(partial, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr(DOCUMENT, json.dumps(document, allow_nan=False))
        for number, array in enumerate(writer.arrays):
            buffer = io.BytesIO()
            np.save(buffer, array, allow_pickle=False)
            archive.writestr(f"{number}.npy", buffer.getvalue())
    os.replace(partial, path)


def load(path: str | os.PathLike[str]) -> Any:
    """Return the estimator that `save` wrote to a file.

    Raises
    ------
    ValueError : where the file is not such a file, is cut short, or is of a newer format.
    """
    from . import selection  # they import this module
    from .estimators import MKLClassifier, MKLOneClass, MKLRegressor

    known = (
        MKLClassifier, MKLRegressor, MKLOneClass,
        selection.MKLClassifierCV, selection.MKLRegressorCV,
    )  # fmt: skip
    names = {cls.__name__: cls for cls in known}
    try:
        with zipfile.ZipFile(path) as archive:
            document = json.loads(archive.read(DOCUMENT))
            if document["kernelweave"] > FORMAT:
                raise ValueError(f"it has format {document['kernelweave']}, this is {FORMAT}")
            decode = Reader(archive).decode
            estimator = names[document["estimator"]](**decode(document["parameters"]))
            for name, value in decode(document["fitted"]).items():
                setattr(estimator, _learned(name), value)
    except (zipfile.BadZipFile, KeyError, ValueError, TypeError, EOFError, AttributeError) as error:
        raise ValueError(f"{os.fspath(path)!r} is not a kernelweave model: {error}") from error
    return estimator


def _is_learned(name: str) -> bool:
    return name == "_model" or (name.endswith("_") and not name.startswith("_"))


def _learned(name: str) -> str:
    if not _is_learned(name):
        raise ValueError(f"{name!r} is not a fitted attribute")
    return name


class Writer:
    """Turns values into a JSON document and a list of arrays."""

    def __init__(self) -> None:
        self.arrays: list[np.ndarray] = []

    def encode(self, value: Any) -> Any:
        """Return a value as JSON has it."""
        for kinds, encode in self._rules():
            if isinstance(value, kinds):
                return encode(value)
        if type(value).__name__ in CLASSES:
            return self._object(value, [f.name for f in dataclasses.fields(value) if f.init])
        raise ValueError(
            f"a {type(value).__name__} cannot be saved: {value!r}; kernels may choose columns by "
            "number, name, slice or mask, and random_state may be None or an integer"
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
            (os.PathLike, os.fspath),
            (Sequences, lambda value: self._object(value, SEQUENCES)),
        ]

    def _number(self, value: float) -> Any:
        return value if np.isfinite(value) else {"float": repr(value)}

    def _array(self, value: np.ndarray) -> Any:
        if value.dtype.kind == "O":
            return {"objects": [self.encode(item) for item in value.tolist()]}
        self.arrays.append(value)
        return {"array": len(self.arrays) - 1}

    def _object(self, value: Any, names: Any) -> Any:
        fields = {name: self.encode(getattr(value, name)) for name in names}
        return {"object": type(value).__name__, "fields": fields}


class Reader:
    """Turns a document back into values."""

    def __init__(self, archive: zipfile.ZipFile):
        self.archive = archive

    def decode(self, value: Any) -> Any:
        """Return what was encoded."""
        if isinstance(value, list):
            return [self.decode(item) for item in value]
        if not isinstance(value, dict):
            return value
        if "object" in value:
            return self._object(value["object"], value["fields"])
        ((kind, content),) = value.items()
        return getattr(self, f"_{kind}")(content)

    def _object(self, name: str, fields: dict[str, Any]) -> Any:
        cls = Sequences if name == "Sequences" else CLASSES[name]
        return cls(**{field: self.decode(content) for field, content in fields.items()})

    def _array(self, number: int) -> np.ndarray:
        with self.archive.open(f"{int(number)}.npy") as file:
            return np.load(io.BytesIO(file.read()), allow_pickle=False)

    def _objects(self, items: list[Any]) -> np.ndarray:
        array = np.empty(len(items), dtype=object)
        array[:] = [self.decode(item) for item in items]
        return array

    def _tuple(self, items: list[Any]) -> tuple[Any, ...]:
        return tuple(self.decode(items))

    def _dict(self, items: list[Any]) -> dict[Any, Any]:
        return dict(self.decode(items))

    def _slice(self, parts: list[Any]) -> slice:
        return slice(*parts)

    def _float(self, text: str) -> float:
        return float(text)

    def _bytes(self, text: str) -> bytes:
        return text.encode("latin-1")
