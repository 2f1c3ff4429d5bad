"""Many fits of an estimator to resampled or permuted data, saved so that they can be resumed."""

from __future__ import annotations

import hashlib
import os
from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar, NamedTuple

import numpy as np
from joblib import Parallel, delayed
from joblib import hash as digest_of
from sklearn.base import BaseEstimator

from ..common.numbers import thread_count
from ..model.files.atomic_write import atomic_write
from ..optimization.progress import progress_bar

# Parameters of estimators that change neither weights nor statistics.
NO_RESULT = ("n_jobs", "verbose", "checkpoint", "cache_mb")


class Task(NamedTuple):
    """One fit.

    Attributes
    ----------
    kind : {"all", "sample", "permuted"}
        Fit to all examples, to a bootstrap sample, or to permuted targets.
    number : int
        Number of the sample or permutation, which is part of the seed.
    """

    kind: str
    number: int


class Fit(NamedTuple):
    """Result of a fit: weights or statistics, shape (..., M), and the names of the M kernels."""

    values: np.ndarray
    names: tuple[str, ...]


@dataclass(eq=False)
class Refits(ABC):
    """Estimator, data and seed of many fits.

    Attributes
    ----------
    estimator : estimator that is cloned for each fit
    X, y : n examples and their targets
    random_state : int
        Seed, from which each fit derives its own.
    """

    estimator: BaseEstimator
    X: Any
    y: Any
    random_state: int

    title: ClassVar[str]  # text beside the progress bar

    @abstractmethod
    def fit(self, task: Task) -> Fit:
        """Return the result of one fit."""

    @property
    @abstractmethod
    def settings(self) -> object:
        """Settings of the fits other than the attributes of this class, as a part of `key`."""

    @property
    def size(self) -> int:
        """Number of examples."""
        shape = getattr(self.X, "shape", None)
        return int(shape[0]) if shape else len(self.X if self.y is None else self.y)

    @property
    def key(self) -> str:
        """Digest of estimator, data, seed and settings, which identifies saved results."""
        parameters = {
            name: repr(value)
            for name, value in self.estimator.get_params(deep=False).items()
            if name not in NO_RESULT
        }
        how = [type(self.estimator).__name__, parameters, self.random_state, self.settings]
        parts = [digest_of(part) for part in (how, self.X, self.y)]
        return hashlib.sha256(" ".join(parts).encode()).hexdigest()

    def results(
        self,
        tasks: list[Task],
        checkpoint: str | os.PathLike[str] | None,
        n_jobs: int | None,
        verbose: int,
    ) -> list[Fit]:
        """Return the result of each task, in their order.

        Parameters
        ----------
        tasks : list of Task
        checkpoint : path or None
            Folder in which results are saved, and from which saved results are taken.
        n_jobs : int or None
            Number of processes.
        verbose : int
            Whether to display a progress bar.

        Raises
        ------
        ValueError
            If a saved result is damaged or belongs to another run.
        """
        saved = None if checkpoint is None else SavedFits(Path(checkpoint), self.key)
        found = {task: None if saved is None else saved.load(task) for task in tasks}
        left = [task for task, fit in found.items() if fit is None]
        with progress_bar(self.title, len(tasks), verbose) as done:
            for _ in range(len(tasks) - len(left)):
                done()
            for task, fit in self._fitted(left, thread_count(n_jobs)):
                found[task] = fit
                if saved is not None:
                    saved.save(task, fit)
                done()
        return [fit for fit in found.values() if fit is not None]

    def _fitted(self, tasks: list[Task], n_jobs: int) -> Iterator[tuple[Task, Fit]]:
        """Yield tasks and their results as they finish."""
        if n_jobs == 1:
            yield from (_fit(self, task) for task in tasks)
        else:
            pool = Parallel(n_jobs=n_jobs, return_as="generator_unordered")
            yield from pool(delayed(_fit)(self, task) for task in tasks)


def _fit(refits: Refits, task: Task) -> tuple[Task, Fit]:
    return task, refits.fit(task)


@dataclass(frozen=True)
class SavedFits:
    """Folder with one file per fit.

    Attributes
    ----------
    path : Path
        The folder; it is created when the first fit is saved.
    key : str
        Digest of estimator, data and settings, which must match that of saved fits.
    """

    path: Path
    key: str

    def load(self, task: Task) -> Fit | None:
        """Return the saved result of a task, or None.

        Raises
        ------
        ValueError
            If the file is damaged or belongs to another run.
        """
        path = self._file(task)
        try:
            with np.load(path, allow_pickle=False) as saved:
                key, fit = str(saved["key"]), Fit(saved["weights"], tuple(saved["names"].tolist()))
        except FileNotFoundError:
            return None
        except Exception as error:  # a damaged file can cause any exception
            raise ValueError(f"checkpoint {path} cannot be read: {error}; remove it") from error
        if key != self.key:
            raise ValueError(
                f"checkpoint {self.path} belongs to other data or another estimator; remove it, or "
                "pass another path"
            )
        return fit

    def save(self, task: Task, fit: Fit) -> None:
        """Write the result of a task; the write is atomic."""
        self.path.mkdir(parents=True, exist_ok=True)
        with atomic_write(self._file(task)) as file:
            np.savez(file, key=self.key, weights=fit.values, names=np.array(fit.names))

    def _file(self, task: Task) -> Path:
        return self.path / f"{task.kind}-{task.number}.npz"
