"""Weights of many fits in a folder, from which an interrupted run continues."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import numpy as np

from ..model.files.atomic_write import atomic_write


class Fit(NamedTuple):
    """Weights of a fit, shape (M,) or (classes, M), and the names of its kernels."""

    weights: np.ndarray
    names: tuple[str, ...]


@dataclass(frozen=True)
class SavedFits:
    """Folder with one file per fit.

    Attributes
    ----------
    path : the folder; it is created when the first fit is saved.
    key : digest of estimator, data and seed, which must match that of saved fits.
    """

    path: Path
    key: str

    def load(self, kind: str, number: int) -> Fit | None:
        """Return the saved fit of a task, or None.

        Raises
        ------
        ValueError : if the file is damaged or belongs to another run.
        """
        try:
            with np.load(self._file(kind, number), allow_pickle=False) as saved:
                key, fit = str(saved["key"]), Fit(saved["weights"], tuple(saved["names"].tolist()))
        except FileNotFoundError:
            return None
        except Exception as error:  # a damaged file can cause any exception
            raise ValueError(
                f"checkpoint {self._file(kind, number)} cannot be read: {error}; remove it"
            ) from error
        if key != self.key:
            raise ValueError(
                f"checkpoint {self.path} belongs to other data or another estimator; remove it, or "
                "pass another path"
            )
        return fit

    def save(self, kind: str, number: int, fit: Fit) -> None:
        """Write the weights of a fit; the write is atomic."""
        self.path.mkdir(parents=True, exist_ok=True)
        with atomic_write(self._file(kind, number)) as file:
            np.savez(file, key=self.key, weights=fit.weights, names=np.array(fit.names))

    def _file(self, kind: str, number: int) -> Path:
        return self.path / f"{kind}-{number}.npz"
