"""Weights of many fits in a folder, so that a run that was killed goes on."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import numpy as np

from ..model.files.atomic_write import whole_file


class Fit(NamedTuple):
    """The weights of a fit, shape (M,) or (classes, M), and the names of its kernels."""

    weights: np.ndarray
    names: tuple[str, ...]


@dataclass(frozen=True)
class KeptFits:
    """Where the weights of fits are kept, a file for each."""

    path: Path
    key: str

    def load(self, kind: str, number: int) -> Fit | None:
        """Return what came of a fit in an earlier run, or None."""
        try:
            with np.load(self._file(kind, number), allow_pickle=False) as kept:
                key, fit = str(kept["key"]), Fit(kept["weights"], tuple(kept["names"].tolist()))
        except FileNotFoundError:
            return None
        except (OSError, ValueError, KeyError, EOFError) as error:
            raise ValueError(
                f"checkpoint {self._file(kind, number)} cannot be read: {error}; remove it"
            ) from error
        if key != self.key:
            raise ValueError(
                f"checkpoint {self.path} belongs to other data or another estimator; remove it, or "
                "give another path"
            )
        return fit

    def keep(self, kind: str, number: int, fit: Fit) -> None:
        """Write what came of a fit."""
        self.path.mkdir(parents=True, exist_ok=True)
        with whole_file(self._file(kind, number)) as file:
            np.savez(file, key=self.key, weights=fit.weights, names=np.array(fit.names))

    def _file(self, kind: str, number: int) -> Path:
        return self.path / f"{kind}-{number}.npz"
