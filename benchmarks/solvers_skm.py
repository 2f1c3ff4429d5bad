"""The support kernel machine and a cone program, at the sizes of Bach et al. (2004), figure 2."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator

import numpy as np

from kernelweave import MKLClassifier, kernels

from . import data
from .mkl_growth import exponent
from .report import Table
from .settings import Settings

CONIC = [
    (351, 6),
    (683, 24),
    (450, 4),
]  # sizes at which Clarabel is timed too: the second takes long

# Seconds of the paper's SMO and of Mosek (None: out of memory), on an Athlon MP 2000+.
PANELS = {
    "ionosphere, growing m": [
        (351, 6, 2, 4), (351, 12, 3, 8), (351, 24, 54, 20), (351, 48, 56, 51), (351, 96, 88, 162),
        (351, 192, 166, 548),
    ],
    "breast cancer, growing m": [
        (683, 3, 11, 11), (683, 6, 20, 17), (683, 12, 54, 45), (683, 24, 141, 120),
        (683, 48, 149, 492), (683, 96, 267, 764),
    ],
    "adult, growing m": [
        (1605, 3, 20, 92), (1605, 6, 23, 205), (1605, 12, 36, 1313), (1605, 24, 119, None),
        (1605, 48, 618, None), (1605, 96, 957, None),
    ],
    "adult, growing n": [
        (450, 4, 17, 4), (750, 4, 29, 17), (1100, 4, 44, 52), (1605, 4, 72, 114),
        (2265, 4, 121, 5455), (3185, 4, 202, 8625), (4781, 4, 410, None), (6212, 4, 670, None),
    ],
}  # fmt: skip
SOURCES: dict[str, Callable[[], data.Data]] = {
    "ionosphere": lambda: data.real("ionosphere"),
    "breast cancer": lambda: data.real("breast_cancer_wisconsin"),
    "adult": data.adult,
}


def subsets(d: int, m: int) -> list[kernels.Kernel]:
    """Return Gaussian kernels on random subsets of d features, with widths of three decades."""
    random = np.random.default_rng(0)
    chosen = [
        np.sort(random.choice(d, size=random.integers(1, d + 1), replace=False)) for _ in range(m)
    ]
    return [
        kernels.RBF(gamma=10 ** random.uniform(-1.5, 1.5) / len(columns), columns=columns.tolist())
        for columns in chosen
    ]


def fit(problem: data.Data, m: int, solver: str) -> tuple[float, MKLClassifier]:
    """Return the CPU seconds of a fit, and the model."""
    family = subsets(problem.X.shape[1], m)
    model = MKLClassifier(family, norm=1, solver=solver, normalize=None, n_jobs=1)
    started = time.process_time()
    model.fit(problem.X, problem.y)
    return time.process_time() - started, model


def panels(settings: Settings) -> Iterator[tuple[str, data.Data, list[tuple]]]:
    """Give each panel with its data."""
    for title, rows in PANELS.items():
        source = SOURCES[title.partition(",")[0]]()
        yield title, source, rows[: settings.size(len(rows), 2, 4)]


def run(settings: Settings) -> Table:
    """Time the four panels of the figure."""
    table = Table(
        "Support kernel machine (seconds of one core)",
        ("panel", "n", "m", "skm s", "gap", "Clarabel s", "paper: SMO", "paper: Mosek"),
        notes=["Hinge loss, C = 1, Gaussian kernels on random subsets of features, tol = 1e-3."],
    )
    for title, source, rows in panels(settings):
        seconds = []
        for n, m, smo, mosek in rows:
            problem = source.first(n)
            took, model = fit(problem, m, "skm")
            seconds.append(took)
            with_clarabel = (n, m) in CONIC and settings.peers and not settings.tiny
            conic = fit(problem, m, "qcqp")[0] if with_clarabel else None
            table.add(title, n, m, took, model.duality_gap_, conic, smo, mosek)
        grown = [row[0] if title.endswith("n") else row[1] for row in rows]
        table.notes.append(f"{title}: time grows with exponent {exponent(grown, seconds):.2f}.")
    return table
