"""Checkpoints: the state of a fit in a file, from which another fit resumes.

A fit that was killed or interrupted leaves its file, and so does one that reached `max_iter` or
`max_time` before it converged. A fit with several outputs has a file for each. Files of outputs
that have converged are kept until all have, so that a resumed fit need not solve them again.

A file is an `archive` with alpha, the weights and a key: a digest of everything that defines the
problem, from the encoded examples to the version of this format.
"""

from __future__ import annotations

import hashlib
import json
import os
import time
from collections.abc import Sequence
from pathlib import Path
from secrets import token_hex
from typing import Any, BinaryIO

import numpy as np

from ...common.warnings import warn
from ...kernels.compile.examples import Examples
from ...optimization.result import Result
from ...problem.problem import Problem
from .archive import Archive, open_regular, write_archive
from .atomic_write import atomic_write
from .kw import Writer
from .type_check import fits

SECONDS = 120.0  # time between two writes
FORMAT = 2  # format 1 had no checksums, and a key without the examples
DOCUMENT = "checkpoint.json"
ROUNDING = 1e-9  # allowed error of sums, relative to the sum of absolute values


class Checkpoint:
    """The checkpoint of one problem.

    Parameters
    ----------
    path : str or path-like
    problem : Problem
        The problem whose solution is saved.
    data : str
        Digest of examples and kernels, see `data_key`.
    M : int
        Number of kernel weights.
    is_last : bool
        Whether the problem is the last one of a fit.

    Attributes
    ----------
    done : bool
        Whether the problem was solved, rather than stopped by `max_iter` or `max_time`.
    """

    def __init__(
        self,
        path: str | os.PathLike[str],
        problem: Problem,
        data: str,
        M: int,
        *,
        is_last: bool = True,
    ):
        self.path = Path(path)
        self._problem = problem
        self._key = problem_key(problem, data)
        self._M, self._is_last = M, is_last
        self.done = False
        self._written = time.monotonic()
        self._last: tuple[np.ndarray, np.ndarray] | None = None

    def load(self) -> tuple[np.ndarray, np.ndarray] | None:
        """Return alpha, shape (n,), and the weights, shape (M,), of the file; None without a file.

        Raises
        ------
        ValueError
            If the file is damaged, has another format, or belongs to another problem.
        """
        try:
            with open_regular(self.path) as file:
                key, alpha, weights = _read(file)
        except FileNotFoundError:
            return None
        except MemoryError:
            raise
        except Exception as error:  # a damaged file can cause any exception
            raise ValueError(
                f"checkpoint {self.path} cannot be read: {error}; remove it, or pass another path"
            ) from error
        if key != self._key:
            raise ValueError(
                f"checkpoint {self.path} belongs to another problem (other data, kernels, loss or "
                "C); remove it, or pass another path"
            )
        if wrong := infeasible(self._problem, alpha, weights, self._M):
            raise ValueError(
                f"checkpoint {self.path} contains {wrong}; remove it, or pass another path"
            )
        return np.clip(alpha, *self._problem.risk.bounds), weights

    def keep(self, alpha: np.ndarray, weights: np.ndarray) -> None:
        """Remember the state, and write it if the last write was at least `SECONDS` ago.

        Parameters
        ----------
        alpha : array of shape (n,)
            Dual variables.
        weights : array of shape (M,)
            Kernel weights.
        """
        self._last = alpha.copy(), weights.copy()
        if time.monotonic() - self._written >= SECONDS:
            self.keep_last()

    def keep_last(self) -> None:
        """Write the last state; warn if this fails."""
        if self._last is None:
            return
        alpha, weights = self._last
        document = {"kernelweave-checkpoint": FORMAT, "key": self._key}
        try:
            with atomic_write(self.path) as file:
                write_archive(file, DOCUMENT, document, {"alpha": alpha, "weights": weights})
        except OSError as error:
            warn(
                f"checkpoint {self.path} could not be written ({error}); the fit continues",
                RuntimeWarning,
            )
        self._written = time.monotonic()

    def end(self, result: Result, *, done: bool) -> None:
        """Write the final state, unless this problem is the last one of the fit and is solved.

        `done` states whether it is solved; otherwise `max_iter` or `max_time` ended the fit.
        """
        self.done = done
        if done and self._is_last:
            return
        if result.weights.any():  # a constant model is no starting point
            self._last = result.alpha, result.weights
            self.keep_last()

    def remove(self) -> None:
        """Remove the file."""
        try:
            self.path.unlink(missing_ok=True)
        except OSError as error:
            warn(
                f"checkpoint {self.path} could not be removed ({error})",
                RuntimeWarning,
            )


def checkpoints(
    path: str | os.PathLike[str], problems: Sequence[Problem], data: str, M: int
) -> list[Checkpoint]:
    """Return a checkpoint for each problem with M weights: files ``<path>.<output>``.

    `data` is the digest of examples and kernels, see `data_key`.
    """
    last = len(problems) - 1
    return [
        Checkpoint(f"{os.fspath(path)}.{k}", one, data, M, is_last=k == last)
        for k, one in enumerate(problems)
    ]


def try_out(path: str | os.PathLike[str], n: int) -> None:
    """Raise ValueError if the checkpoint of n examples cannot be written, before a fit begins."""
    trial = Path(f"{os.fspath(path)}.{token_hex(8)}.trial")
    try:
        with atomic_write(trial) as file:
            file.write(bytes(8 * n))
        trial.unlink(missing_ok=True)
    except OSError as error:
        raise ValueError(
            f"checkpoint: {os.fspath(path)!r} cannot be written ({error}); pass the path of a file "
            "in an existing directory with enough space"
        ) from error


def _read(file: BinaryIO) -> tuple[str, np.ndarray, np.ndarray]:
    archive = Archive(file, DOCUMENT)
    document = archive.document()
    version = document["kernelweave-checkpoint"]
    if not fits(version, int) or version != FORMAT or not archive.has_sums:
        raise ValueError(f"it has format {version!r}, this version reads {FORMAT}")
    return document["key"], archive.array("alpha"), archive.array("weights")


def infeasible(problem: Problem, alpha: np.ndarray, weights: np.ndarray, M: int) -> str:
    """Return the reason why alpha and weights are infeasible, or ""."""
    for name, values, shape in (("alpha", alpha, problem.y.shape), ("weights", weights, (M,))):
        if values.shape != shape or values.dtype != np.float64:
            return f"{name} of type {values.dtype} and shape {values.shape}, not float64 {shape}"
        if not np.isfinite(values).all():
            return f"{name} that are not finite"
    lo, hi = problem.risk.bounds
    slack = ROUNDING * np.maximum(np.abs(lo), np.abs(hi))
    slack = np.where(np.isfinite(slack), slack, 0.0)
    if np.any((alpha < lo - slack) | (alpha > hi + slack)):
        return "an alpha outside its bounds"
    if (tau := problem.tau) is not None:
        for part in problem.output_slices:
            drift = abs(alpha[part].sum() - tau)
            if drift > ROUNDING * (np.abs(alpha[part]).sum() + abs(tau)):
                return f"alphas that add up to {alpha[part].sum():g}, not to {tau:g}"
    if np.any(weights < 0) or not weights.any():
        return "weights that are negative, or all zero"
    if (size := problem.norm.value(weights)) > 1 + ROUNDING:
        return f"weights whose norm is {size:g}, above 1"
    return ""


def data_key(kernels: object, normalize: object, examples: Examples) -> str:
    """Return a digest of the encoded examples and the kernels.

    Parameters
    ----------
    kernels : list of Kernel or None
        The resolved kernels before normalisation; None for the default kernels.
    normalize : str or None
        The parameter of the estimator.
    examples : Examples
    """
    return digest((kernels, normalize, examples.tables))


def problem_key(problem: Problem, data: str) -> str:
    """Return a digest of a problem; `data` is the digest of its examples and kernels."""
    given = (problem.loss, problem.norm, problem.y, problem.C, problem.tau, problem.n_outputs)
    return digest((FORMAT, data, given + problem.risk.further_targets))


class _KeyWriter(Writer):
    """A writer for digests: it writes objects of any class, unknown ones by their repr."""

    def other(self, value: object) -> Any:
        return repr(value)


def encoded(value: object) -> tuple[object, list[np.ndarray]]:
    """Return the JSON form of a value and its arrays; objects without one become their repr."""
    writer = _KeyWriter()
    document = writer.encode(value)
    return document, list(writer.arrays.values())


def digest(value: object) -> str:
    """Return the SHA-256 of a value, see `encoded`."""
    document, arrays = encoded(value)
    digest = hashlib.sha256(json.dumps(document).encode())
    for array in arrays:
        digest.update(repr((array.dtype, array.shape)).encode())
        values: Any = np.ascontiguousarray(array)
        digest.update(values)
    return digest.hexdigest()
