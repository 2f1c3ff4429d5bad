"""Data sets of several classes: those of scikit-learn, and real ones where there are any."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pandas as pd
import scipy.sparse as sp
from sklearn.datasets import load_digits, load_iris, load_wine
from sklearn.preprocessing import StandardScaler

from . import data

BUNDLED: dict[str, Callable[..., tuple[np.ndarray, np.ndarray]]] = {
    "iris": load_iris,
    "wine": load_wine,
    "digits": load_digits,
}
VIEWS = ("mfeat", "protein_fold", "brca_jive")
TABLES = (
    "letters",
    "satellite",
    "pendigits",
    "optdigits",
    "segment",
    "texture",
    "vehicle",
    "vowel",
    "contraceptive",
    "movement_libras",
)
TEXTS = {"splice_seq": "ACGT", "multiloc_seq": "ACDEFGHIKLMNPQRSTVWY"}
NAMES = (*BUNDLED, *VIEWS, "mfeat_fou", "mfeat_mor", "mnist", "sentiment_books", *TEXTS, *TABLES)


def load(name: str, most: int | None = None) -> data.Data:
    """Return a set with standardised columns and classes from 0, at most so many examples."""
    X, y = _read(name)
    if most is not None and len(y) > most:
        chosen = np.random.default_rng(0).permutation(len(y))[:most]
        X, y = X[chosen], y[chosen]
    X = StandardScaler().fit_transform(X[:, X.std(axis=0) > 0])
    return data.Data(name, X, np.unique(y, return_inverse=True)[1])


def _read(name: str) -> tuple[np.ndarray, np.ndarray]:
    if name in BUNDLED:
        X, y = BUNDLED[name](return_X_y=True)
        return X, y
    if name in TEXTS:
        return _composition(name, TEXTS[name])
    found = data.arrays("mfeat" if name.startswith("mfeat") else name)
    if name == "mnist":
        return found["X_train"].reshape(len(found["y_train"]), -1).astype(float), found["y_train"]
    if name == "sentiment_books":
        return _commonest(found, 200), found["y"]
    if name in VIEWS:
        views = [found[key] for key in sorted(found) if key.startswith("X_")]
        return np.hstack(views).astype(float), found["y"]
    if name.startswith("mfeat_"):
        return found[f"X_{name.removeprefix('mfeat_')}"].astype(float), found["y"]
    return found["X"].astype(float), found["y"]


def _composition(name: str, alphabet: str) -> tuple[np.ndarray, np.ndarray]:
    """Return the counts of letters and pairs of letters in sequences."""
    path = data.FOLDER / f"{name}.csv.gz"
    if not path.exists():
        raise data.MissingData(f"{path.name} is not there")
    table = pd.read_csv(path)
    texts = table["sequence"].str.upper()
    words = [*alphabet, *(a + b for a in alphabet for b in alphabet)]
    counts = np.array([[text.count(word) / len(text) for word in words] for text in texts])
    return counts, table.iloc[:, 0].to_numpy()


def _commonest(found: dict[str, np.ndarray], count: int) -> np.ndarray:
    """Return the commonest columns of a sparse table, as logs of counts."""
    X = sp.csr_matrix((found["data"], found["indices"], found["indptr"]), shape=found["shape"])
    chosen = np.argsort(-X.getnnz(axis=0), kind="stable")[:count]
    return np.asarray(np.log1p(X[:, chosen].toarray()))
