"""The problems: generated ones, and real data where there are any.

Real data are no part of the project. They are read from the folder that the variable
KERNELWEAVE_DATA names, by default ``../shared/data`` next to the repository; a row whose data are
absent is left out with a note.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from sklearn.datasets import make_classification
from sklearn.preprocessing import StandardScaler

ROOT = Path(__file__).resolve().parents[1]
FOLDER = Path(os.environ.get("KERNELWEAVE_DATA", ROOT.parent / "shared" / "data"))


class MissingData(Exception):
    """A real data set is not there; the message says which and where it was looked for."""


@dataclass(frozen=True, eq=False)
class Data:
    """A named problem: X of shape (n, d), y of shape (n,)."""

    name: str
    X: np.ndarray
    y: np.ndarray

    def first(self, n: int | None) -> Data:
        """Return the first n examples, or all of them."""
        return Data(self.name, self.X[:n], self.y[:n])

    def some(self, n: int | None) -> Data:
        """Return n random examples, or all of them."""
        if n is None:
            return self
        chosen = np.random.default_rng(0).permutation(len(self.y))[:n]
        return Data(self.name, self.X[chosen], self.y[chosen])

    def standardised_targets(self) -> Data:
        """Return the same problem with targets of mean 0 and variance 1."""
        return Data(self.name, self.X, (self.y - self.y.mean()) / self.y.std())

    @property
    def label(self) -> str:
        """Name and shape."""
        return f"{self.name} ({self.X.shape[0]:,} x {self.X.shape[1]})"


def arrays(name: str) -> dict[str, np.ndarray]:
    """Return the arrays of a real data set."""
    path = FOLDER / f"{name}.npz"
    if not path.exists():
        raise MissingData(f"{path.name} is not in {os.path.relpath(FOLDER, ROOT)}")
    with np.load(path, allow_pickle=False) as stored:
        return dict(stored)


def generated(n: int, d: int = 50) -> Data:
    """Return two noisy classes in d standardised features, two fifths of them informative."""
    X, y = make_classification(n, d, n_informative=2 * d // 5, flip_y=0.05, random_state=0)
    return Data("generated", StandardScaler().fit_transform(X), 2.0 * y - 1)


def adult() -> Data:
    """Return the training part of a9a: 123 binary features, income above 50,000 or not."""
    found = arrays("adult_a9a")
    return Data("adult a9a", found["X_train"].astype(float), found["y_train"].astype(float))


def w8a() -> Data:
    """Return web pages: 300 binary features, 3 of 100 examples are positive."""
    found = arrays("w8a")
    return Data("w8a", found["X"].astype(float), found["y"].astype(float))


def mnist_odd_even() -> Data:
    """Return the training digits, scaled to [0, 1]: odd (+1) against even (-1)."""
    found = arrays("mnist")
    labels = np.where(found["y_train"] % 2 == 1, 1.0, -1.0)
    return Data("MNIST odd/even", found["X_train"].reshape(len(labels), -1) / 255.0, labels)


def real(name: str) -> Data:
    """Return a small real data set with standardised features."""
    found = arrays(name)
    return Data(name, StandardScaler().fit_transform(found["X"]), found["y"].astype(float))
