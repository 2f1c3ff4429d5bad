"""Checkpoints: where a run is, in a file, so that another goes on from there.

A run that was killed or interrupted leaves its file, and so does one that used up its turns or its
time before its gap was small enough. Where a fit has several outputs, each with a file of its own,
those that have converged keep theirs until all of them have: a fit that goes on finds them solved.

A file is an `archive` with alpha, the weights and a key: a digest of all that defines the problem,
from the examples as the kernels read them to the version of this format.
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
from .archive import Archive, write_archive
from .atomic_write import whole_file
from .kw import Writer
from .type_check import fits

SECONDS = 120.0  # between two files
FORMAT = 2  # 1 had neither checksums nor the examples in its key
DOCUMENT = "checkpoint.json"
ROUNDING = 1e-9  # how far sums may drift, relative to the sum of sizes


class Checkpoint:
    """The file of one problem.

    Parameters
    ----------
    path : where the file is, or will be.
    problem : what is solved.
    data : what tells its examples and kernels from others, see `data_key`.
    M : number of kernels whose weights are kept.
    is_last : whether it is that of the last output of a fit.

    Attributes
    ----------
    done : bool
        Whether its run has ended, and not for want of turns or time.
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
        """Return the alpha, shape (n,), and the weights, shape (M,), of an earlier run, if any.

        Raises
        ------
        ValueError : where the file is damaged, of another version, or belongs to another problem.
        """
        try:
            with open(self.path, "rb") as file:
                key, alpha, weights = _read(file)
        except FileNotFoundError:
            return None
        except MemoryError:
            raise
        except Exception as error:  # what may be wrong with a file has no end
            raise ValueError(
                f"checkpoint {self.path} cannot be read: {error}; remove it, or give another path"
            ) from error
        if key != self._key:
            raise ValueError(
                f"checkpoint {self.path} belongs to another problem (other data, kernels, loss or "
                "C); remove it, or give another path"
            )
        if wrong := infeasible(self._problem, alpha, weights, self._M):
            raise ValueError(
                f"checkpoint {self.path} holds {wrong}; remove it, or give another path"
            )
        return np.clip(alpha, *self._problem.risk.bounds), weights

    def keep(self, alpha: np.ndarray, weights: np.ndarray) -> None:
        """Write a file, unless the last one is young; where that fails, warn and try again later.

        A file is whole or not there at all.
        """
        self._last = alpha.copy(), weights.copy()
        if time.monotonic() - self._written >= SECONDS:
            self.keep_last()

    def keep_last(self) -> None:
        """Write what `keep` was told last, as when a fit is interrupted."""
        if self._last is None:
            return
        alpha, weights = self._last
        document = {"kernelweave-checkpoint": FORMAT, "key": self._key}
        try:
            with whole_file(self.path) as file:
                write_archive(file, DOCUMENT, document, {"alpha": alpha, "weights": weights})
        except OSError as error:
            warn(
                f"checkpoint {self.path} could not be written ({error}); the fit goes on without",
                RuntimeWarning,
            )
        self._written = time.monotonic()

    def end(self, result: Result, *, done: bool) -> None:
        """Write where a run has ended, unless it is done and no other output is still to come."""
        self.done = done
        if done and self._is_last:
            return
        if result.weights.any():  # there is nothing to go on from in a constant model
            self._last = result.alpha, result.weights
            self.keep_last()

    def remove(self) -> None:
        """Forget a run that has ended."""
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
    """Return the checkpoint of each of some problems with M weights: files ``<path>.<output>``."""
    last = len(problems) - 1
    return [
        Checkpoint(f"{os.fspath(path)}.{k}", one, data, M, is_last=k == last)
        for k, one in enumerate(problems)
    ]


def try_out(path: str | os.PathLike[str], n: int) -> None:
    """Raise ValueError where there is no room for the checkpoints of n examples.

    A long run should not learn that after hours.
    """
    trial = Path(f"{os.fspath(path)}.{token_hex(8)}.trial")
    try:
        with whole_file(trial) as file:
            file.write(bytes(8 * n))
        trial.unlink(missing_ok=True)
    except OSError as error:
        raise ValueError(
            f"checkpoint: {os.fspath(path)!r} cannot be written ({error}); give the path of a file "
            "in a directory that exists and has room"
        ) from error


def _read(file: BinaryIO) -> tuple[str, np.ndarray, np.ndarray]:
    archive = Archive(file, DOCUMENT)
    document = archive.document()
    version = document["kernelweave-checkpoint"]
    if not fits(version, int) or version != FORMAT or not archive.has_sums:
        raise ValueError(f"it is of format {version!r}, this version writes {FORMAT}")
    return document["key"], archive.array("alpha"), archive.array("weights")


def infeasible(problem: Problem, alpha: np.ndarray, weights: np.ndarray, M: int) -> str:
    """Return what is wrong with an alpha and weights, if anything."""
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
    for part in problem.output_slices:
        drift = abs(alpha[part].sum() - problem.tau)
        if drift > ROUNDING * (np.abs(alpha[part]).sum() + abs(problem.tau)):
            return f"alphas that add up to {alpha[part].sum():g}, not to {problem.tau:g}"
    if np.any(weights < 0) or not weights.any():
        return "weights that are negative, or all zero"
    if (size := problem.norm.value(weights)) > 1 + ROUNDING:
        return f"weights whose norm is {size:g}, above 1"
    return ""


def data_key(kernels: Any, normalize: Any, examples: Examples) -> str:
    """Return a key that tells data sets apart, as kernels read them.

    Parameters
    ----------
    kernels : the resolved kernels, before they are normalised; None for the default ones.
    normalize : how they are normalised.
    """
    return digest((kernels, normalize, examples.tables))


def problem_key(problem: Problem, data: str) -> str:
    """Return a key that tells problems apart; `data` is that of their examples and kernels."""
    given = (problem.loss, problem.norm, problem.y, problem.C, problem.tau, problem.n_outputs)
    return digest((FORMAT, data, given + problem.risk.further_targets))


class _KeyWriter(Writer):
    """Writes what need not be read again, such as kernels of others."""

    def other(self, value: Any) -> Any:
        return repr(value)


def digest(known: Any) -> str:
    """Return a key that tells values apart; objects that files cannot hold by their repr."""
    writer = _KeyWriter()
    digest = hashlib.sha256(json.dumps(writer.encode(known)).encode())
    for array in writer.arrays.values():
        digest.update(repr((array.dtype, array.shape)).encode())
        values: Any = np.ascontiguousarray(array)
        digest.update(values)
    return digest.hexdigest()
