"""An engine that remembers: every few minutes, alpha and the weights go to a file.

Every change of alpha passes through an engine, so that is where it can be noted, whatever the
solver. A run that was killed starts again from what the file says.
"""

from __future__ import annotations

import hashlib
import os
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any
from zipfile import BadZipFile

import numpy as np

from ..problem import Problem
from .base import Engine

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


class Remembering:
    """An engine whose alpha and weights are kept.

    Parameters
    ----------
    engine : does the work.
    alpha : (n,) the alpha whose outputs the engine holds.
    weights : (M,) the weights to begin with.
    keep : is told alpha and the weights after every change.
    """

    def __init__(
        self,
        engine: Engine,
        alpha: np.ndarray,
        weights: np.ndarray,
        keep: Callable[[np.ndarray, np.ndarray], None],
    ):
        self._engine = engine
        self._alpha = alpha.copy()
        self._weights = weights
        self._keep = keep

    def __getattr__(self, name: str) -> Any:
        return getattr(self._engine, name)

    def block(self, idx: np.ndarray, weights: np.ndarray) -> np.ndarray:
        """Return the weighted kernel inside a working set, (q, q), and note the weights."""
        self._weights = weights
        return self._engine.block(idx, weights)

    def add(self, idx: np.ndarray, delta: np.ndarray) -> None:
        """Change alpha[idx] by delta."""
        self._engine.add(idx, delta)
        self._alpha[idx] += delta
        self._keep(self._alpha, self._weights)

    def scale(self, factor: float) -> None:
        """Multiply alpha by a factor."""
        self._engine.scale(factor)
        self._alpha *= factor

    def clear(self) -> None:
        """Start again at alpha = 0."""
        self._engine.clear()
        self._alpha[:] = 0.0

    def rebuild(self, alpha: np.ndarray) -> None:
        """Recompute the outputs of alpha, shape (n,)."""
        self._engine.rebuild(alpha)
        self._alpha = alpha.copy()

    def subset(self, idx: np.ndarray) -> Remembering:
        """Return an engine for some of the examples; what it is told is kept here too."""

        def keep(alpha: np.ndarray, weights: np.ndarray) -> None:
            everywhere = self._alpha.copy()
            everywhere[idx] = alpha
            self._keep(everywhere, weights)

        return Remembering(self._engine.subset(idx), self._alpha[idx], self._weights, keep)


def fingerprint(problem: Problem, names: tuple[str, ...]) -> str:
    """Return a key that tells problems apart."""
    digest = hashlib.sha256()
    for part in (problem.y, problem.C):
        digest.update(np.ascontiguousarray(part).tobytes())
    digest.update(repr((problem.loss, problem.norm, problem.tau, names)).encode())
    return digest.hexdigest()
