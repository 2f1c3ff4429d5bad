"""Large real tables: 20 RBF widths against one SVM of scikit-learn, and against one width."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import numpy as np
from sklearn.svm import SVC, SVR

from kernelweave import MKLClassifier, MKLRegressor, kernels

from . import data
from .report import Table
from .settings import Settings
from .timing import timed

QUICK = False
GAP = 1e-3
WIDTHS = np.logspace(-2, 2, 20)  # times one over the number of columns
NOTE = (
    f"Standardised columns (adult, w8a: 0 and 1), tol = {GAP:g} (scikit-learn: its own), C = 1, "
    "p = 1, 4 GB of cache, one thread, CPU seconds of one fit each. casp_protein has the "
    "squared loss."
)


def problems(n: int | None) -> Iterator[tuple[data.Data, type, type, dict[str, Any]]]:
    """Yield the tables, or n of their examples, with scikit-learn's estimator and ours."""
    casp = data.real("casp_protein").some(n).standardised_targets()
    yield casp, SVR, MKLRegressor, {"loss": "squared"}
    for problem in (data.adult(), data.w8a(), data.real("cod_rna")):
        yield problem.some(n), SVC, MKLClassifier, {}


def run(settings: Settings) -> Table:
    """Compare the tables."""
    columns = ("data", "fit", "CPU s", "of scikit-learn", "support", "turns", "gap")
    table = Table("Large real tables", columns, notes=[NOTE])
    for problem, peer, ours, how in problems(settings.size(None, 1200)):
        width = 1 / problem.X.shape[1]

        def fit(
            gammas: np.ndarray, problem: data.Data = problem, ours: type = ours, how: Any = how
        ) -> Any:
            kernel = kernels.RBF(gamma=list(gammas))
            return ours(kernel, norm=1, tol=GAP, cache_mb=4000, **how).fit(problem.X, problem.y)

        sides: dict[str, Callable[[], Any]] = {
            "one width": partial(fit, np.array([width])),
            "20 widths": partial(fit, width * WIDTHS),
        }
        if settings.peers:
            machine = peer(gamma=width, tol=GAP, cache_size=4000)
            sides = {peer.__name__: partial(machine.fit, problem.X, problem.y), **sides}
        first = None
        for name, work in sides.items():
            timing = timed(work, time.process_time)
            first, model = first or timing.best, timing.result
            mkl = hasattr(model, "duality_gap_")
            table.add(
                problem.label,
                name,
                timing.best,
                timing.best / first if settings.peers else None,
                len(model.support_),
                model.n_iter_ if mkl else None,
                model.duality_gap_ if mkl else None,
            )
    return table
