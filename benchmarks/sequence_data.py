"""Real sequences: the task of each set, and its training and test examples.

The files are looked up in the folder ``sequences`` of the real data (see `benchmarks.data`).
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import pandas as pd
from sklearn.model_selection import BaseCrossValidator, KFold, StratifiedKFold

from kernelweave.sequences import read_sequences

from .data import FOLDER, ROOT, MissingData
from .report import Table

SITE, BEFORE, LENGTH = 197, 60, 141  # where the AG of a worm window is, and what is cut out
SMALL = 1000  # below it a set without a test part is cut into five of them
Split = tuple[np.ndarray, np.ndarray]


@dataclass(frozen=True, eq=False)
class Task:
    """A set of sequences with labels, cut into training and test parts.

    Attributes
    ----------
    X : (n,) texts.
    y : (n,) labels.
    splits : positions that train and test, at least one pair.
    folds : how training examples may be cut again, to choose C.
    """

    name: str
    X: np.ndarray
    y: np.ndarray
    splits: list[Split]
    folds: BaseCrossValidator

    def smaller(self, n: int) -> Task:
        """Return the task with about n examples in each part, evenly spaced."""
        splits = [(spread(train, n), spread(test, n)) for train, test in self.splits[:1]]
        return replace(self, splits=splits)


def spread(positions: np.ndarray, n: int) -> np.ndarray:
    """Return at most n of the positions, evenly spaced."""
    return positions[np.unique(np.linspace(0, len(positions) - 1, n).astype(int))]


def worm() -> Task:
    """Return acceptor sites of the worm: one file trains, the other, of other chromosomes, tests.

    Neighbours in a file overlap, so folds are stretches of it.
    """
    parts = [worm_windows(name) for name in ("100000", "modsel")]
    X, y = (np.concatenate(both) for both in zip(*parts, strict=True))
    n = len(parts[0][1])
    split = np.arange(n), np.arange(n, len(y))
    return Task("worm acceptor", X, y, [split], KFold(3))


def worm_windows(name: str) -> tuple[np.ndarray, np.ndarray]:
    """Return windows around the AG, and their labels."""
    found = read_sequences(existing(f"sequences/C_elegans_acc_{name}.fasta.bz2"))
    y = np.array([1 if "label=1" in header else -1 for header in found.names or ()])
    return as_texts(found.window(SITE - BEFORE, SITE - BEFORE + LENGTH)), y


def splice42(negatives: str) -> Task:
    """Return worm acceptor sites of 42 letters against one of the four sets of negatives.

    A fifth of the 107,032 sequences trains.
    """
    table = read("sequences/splice42_ce_acc.tsv.xz")
    table = table[table["label"].isin(["1", negatives])]
    y = np.where(table["label"] == "1", 1, -1)
    whole = task(f"splice42 {negatives}", table["sequence"], y)
    return replace(whole, splits=[(test, train) for train, test in whole.splits])


def sequences(name: str, label: str) -> Task:
    """Return a file of labels, parts and sequences."""
    table = read(f"sequences/{name}.tsv.xz")
    return task(label, table["sequence"], table["label"].to_numpy(), table["split"].to_numpy())


def column(name: str, target: str) -> Task:
    """Return a table of sequences with one column of classes."""
    table = read(f"{name}.csv.gz")
    return task(name, table["sequence"], table[target].to_numpy())


def task(name: str, texts: Iterable[str], y: np.ndarray, parts: np.ndarray | None = None) -> Task:
    """Return sequences cut as the file says, or else at random."""
    X, folds = (
        as_texts(text.upper() for text in texts),
        StratifiedKFold(3, shuffle=True, random_state=0),
    )
    if parts is not None and "test" in parts:
        splits = [(np.flatnonzero(parts == "train"), np.flatnonzero(parts == "test"))]
    else:
        every = list(StratifiedKFold(5, shuffle=True, random_state=0).split(X, y))
        splits = every if len(y) < SMALL else every[:1]
    return Task(name, X, y, splits, folds)


def as_texts(values: Iterable[str]) -> np.ndarray:
    """Return an array of texts of any length."""
    return np.array([*values], dtype=object)


def read(name: str) -> pd.DataFrame:
    """Return a table; its labels are texts."""
    return pd.read_csv(existing(name), sep="\t" if ".tsv" in name else ",", dtype=str)


def existing(name: str) -> Path:
    """Return where a file is, if it is there."""
    path = FOLDER / name
    if not path.exists():
        raise MissingData(f"{path.name} is not in {os.path.relpath(path.parent, ROOT)}")
    return path


Load = Callable[[], Task]


def loaded(loads: Iterable[Load], table: Table) -> Iterator[Task]:
    """Yield the tasks whose data are there, and note the others in a table."""
    for load in loads:
        try:
            task = load()
        except MissingData as missing:
            table.notes.append(f"Left out: {missing}.")
            continue
        yield task
