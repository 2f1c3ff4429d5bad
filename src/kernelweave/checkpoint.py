"""Checkpoints: where a run is, in a file, so that one that was killed starts again from there."""

from __future__ import annotations

import hashlib
import os
import time
from pathlib import Path
from zipfile import BadZipFile

import numpy as np

from .problem import Problem

SECONDS = 120.0  # between two files


class Checkpoint:
    """The file of one problem.

    Parameters
    ----------
    path : where the file is, or will be.
    problem : what is solved.
    names : the names of the kernels.
    """

    def __init__(self, path: str | os.PathLike[str], problem: Problem, names: tuple[str, ...]):
        self.path = Path(path)
        self._key = fingerprint(problem, names)
        self._written = time.monotonic()

    def load(self) -> tuple[np.ndarray, np.ndarray] | None:
        """Return the alpha, shape (n,), and the weights, shape (M,), of an earlier run, if any.

        Raises
        ------
        ValueError : where the file is damaged, or belongs to another problem.
        """
        if not self.path.exists():
            return None
        try:
            with np.load(self.path, allow_pickle=False) as file:
                key, alpha, weights = str(file["key"]), file["alpha"], file["weights"]
        except (OSError, ValueError, KeyError, EOFError, BadZipFile) as error:
            raise ValueError(f"checkpoint {self.path} cannot be read: {error}") from None
        if key != self._key:
            raise ValueError(
                f"checkpoint {self.path} belongs to another problem (other data, kernels, loss or "
                "C); remove it, or give another path"
            )
        return alpha, weights

    def keep(self, alpha: np.ndarray, weights: np.ndarray) -> None:
        """Write a file, unless the last one is young; a file is whole or not there at all."""
        if time.monotonic() - self._written < SECONDS:
            return
        partial = self.path.with_name(self.path.name + ".part")
        with open(partial, "wb") as file:
            np.savez(file, key=self._key, alpha=alpha, weights=weights)
        os.replace(partial, self.path)
        self._written = time.monotonic()

    def remove(self) -> None:
        """Forget a run that has ended."""
        self.path.unlink(missing_ok=True)


def fingerprint(problem: Problem, names: tuple[str, ...]) -> str:
    """Return a key that tells problems apart."""
    digest = hashlib.sha256()
    for part in (problem.y, problem.C):
        digest.update(np.ascontiguousarray(part).tobytes())
    digest.update(repr((problem.loss, problem.norm, problem.tau, names)).encode())
    return digest.hexdigest()
