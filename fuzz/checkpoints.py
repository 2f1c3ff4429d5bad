"""Checkpoints: a fit that finds a damaged, crafted or stale one refuses it or ends certified."""

from __future__ import annotations

import io
import tempfile
import warnings
from functools import cache
from pathlib import Path
from typing import Any
from unittest import mock

import numpy as np

import kernelweave as kw
from kernelweave import kernels as k
from kernelweave.model.files import checkpoint
from kernelweave.model.files.archive import Archive, write_archive

from .certificates import check_certificate
from .choices import Choices
from .damage import damaged
from .examples import Given
from .fits import check_fitted

rng = np.random.default_rng(0)
X, Y = rng.normal(size=(16, 3)), np.arange(16) % 2
KERNELS = [k.RBF([0.1, 1.0]), k.Linear()]
MODELS = {
    "hinge": lambda: kw.MKLClassifier(KERNELS),
    "logistic": lambda: kw.MKLClassifier(KERNELS, loss="logistic", norm=1),
    "squared": lambda: kw.MKLRegressor(KERNELS, loss="squared"),
    "one class": lambda: kw.MKLOneClass(KERNELS),
    "skm": lambda: kw.MKLClassifier(KERNELS, norm=1, solver="skm"),
}


@cache
def template(name: str) -> bytes:
    """Return the checkpoint that a fit leaves when it is killed."""
    with (
        tempfile.TemporaryDirectory() as folder,
        mock.patch.object(checkpoint, "SECONDS", 0.0),
        mock.patch.object(checkpoint.Checkpoint, "remove"),
    ):
        path = Path(folder, "run")
        MODELS[name]().set_params(checkpoint=path).fit(X, Y)
        return next(iter(sorted(Path(folder).iterdir()))).read_bytes()


def run(data: bytes) -> None:
    """Fit with a damaged, crafted or stale checkpoint."""
    c = Choices(data)
    name = c.pick(sorted(MODELS))
    content = template(c.pick(sorted(MODELS)) if c.chance(0.05) else name)
    content = damaged(c, content) if c.chance(0.4) else crafted(c, content)
    with tempfile.TemporaryDirectory() as folder:
        Path(folder, "run.0").write_bytes(content)
        model = MODELS[name]().set_params(checkpoint=Path(folder, "run"))
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            model.fit(X, Y)
    said = [warning.message for warning in caught]
    check_fitted(model, said)
    if np.all(np.isfinite(model.duality_gap_)):
        check_certificate(model, Given(X, X, KERNELS, len(X)), Y, None, list(map(str, said)))


def crafted(c: Choices, content: bytes) -> bytes:
    """Return a checkpoint with the right key and other arrays."""
    archive = Archive(io.BytesIO(content), checkpoint.DOCUMENT)
    arrays = {name: archive.array(name) for name in ("alpha", "weights")}
    name = c.pick(sorted(arrays))
    arrays[name] = spoilt(c, arrays[name])
    if c.chance(0.05):
        del arrays[c.pick(sorted(arrays))]
    out = io.BytesIO()
    write_archive(out, checkpoint.DOCUMENT, archive.document(), arrays)
    return out.getvalue()


def spoilt(c: Choices, array: np.ndarray) -> Any:
    """Return an array with other numbers, of another shape or of another dtype."""
    if array.dtype.kind not in "fiu" or array.size == 0:
        return np.resize(array, c.pick([(0,), (3,), (2, 2)]))
    changed = array.astype(float)
    if changed.ndim:
        place = c.integer(0, changed.size - 1)
        changed.flat[place] += c.pick([1e-12, 1e-3, 1.0, -1.0, 1e300, np.nan, np.inf, -np.inf])
    return c.pick(
        [
            changed,
            changed,
            changed,
            array.astype("f4"),
            array.astype("c16"),
            array.astype("U8"),
            array[..., :-1] if array.ndim else array,
            np.zeros_like(array),
            -array,
            np.resize(array, (2, 3, 4)),
            np.tile(array, 2),
            array.astype(">f8"),
        ]
    )
