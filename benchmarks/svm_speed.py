"""One RBF kernel: time of the library against scikit-learn's SVC at one certified gap."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.svm import SVC

from kernelweave import MKLClassifier, kernels

from . import data
from .certificates import rbf_gap
from .libsvm import TOLERANCES, loosest_tolerance
from .report import Table
from .settings import Settings
from .timing import alternate, blas_threads, timed

GAP = 1e-3
CACHE_MB = 1024
COLUMNS = ("data", "n_jobs", "kernelweave s", "SVC s", "ratio", "gap", "gap of SVC", "tol of SVC")
NOTE = (
    "Relative duality gaps are recomputed in NumPy for both sides. SVC runs at the loosest `tol` "
    f"of {TOLERANCES} that reaches {GAP:g} (the search is not timed), on the quicker of dense and "
    f"CSR input. Both sides have {CACHE_MB} MB of cache; C = 1; BLAS has one thread; best times."
)


def problems(settings: Settings) -> Iterator[tuple[Callable[[], data.Data], float]]:
    """Give functions that load a problem, and the gamma to use on it."""
    yield lambda: data.adult().first(settings.size(None, 300, 8_000)), 1 / 123
    yield lambda: data.mnist_odd_even().first(settings.size(10_000, 300, 4_000)), 0.02
    yield lambda: data.generated(settings.size(10_000, 300, 4_000)), 1 / 50


def fit_svc(X: Any, y: np.ndarray, gamma: float, tol: float) -> SVC:
    """Fit scikit-learn's SVM."""
    return SVC(gamma=gamma, tol=tol, cache_size=CACHE_MB).fit(X, y)


def fit_kernelweave(X: Any, y: np.ndarray, gamma: float, n_jobs: int) -> MKLClassifier:
    """Fit Kernelweave's model on the same kernel."""
    kernel = kernels.RBF(gamma=gamma)
    return MKLClassifier(
        kernel, norm=np.inf, normalize=None, tol=GAP, cache_mb=CACHE_MB, n_jobs=n_jobs
    ).fit(X, y)


def gap_of(problem: data.Data, gamma: float, model: SVC | MKLClassifier) -> float:
    """Return the gap of a fitted model, from scratch."""
    coef = sp.csr_matrix(model.dual_coef_).toarray()[0]  # SVC on sparse input gives a sparse one
    return rbf_gap(problem.X, problem.y, [gamma], model.support_, coef, np.ones(1), np.inf)


def quicker_input(problem: data.Data, gamma: float) -> Any:
    """Return X, or its sparse form if a loose fit of SVC is quicker on that."""
    forms = [problem.X, sp.csr_matrix(problem.X)]
    seconds = [timed(partial(fit_svc, X, problem.y, gamma, TOLERANCES[0])).best for X in forms]
    return forms[int(np.argmin(seconds))]


def sides(problem: data.Data, gamma: float) -> dict[Any, Callable[[], MKLClassifier]]:
    """Return our fits with one thread and with two."""
    return {n: partial(fit_kernelweave, problem.X, problem.y, gamma, n) for n in (1, 2)}


def alone(problem: data.Data, gamma: float, repeats: int) -> Iterator[tuple]:
    """Give a row for one thread and one for two, without SVC."""
    for n, timing in alternate(sides(problem, gamma), repeats).items():
        gap = gap_of(problem, gamma, timing.result)
        yield problem.label, n, timing.best, None, None, gap, None, None


def compare(problem: data.Data, gamma: float, repeats: int) -> Iterator[tuple]:
    """Give a row for one thread and one for two."""
    X = quicker_input(problem, gamma)
    tol = loosest_tolerance(
        lambda tol: gap_of(problem, gamma, fit_svc(X, problem.y, gamma, tol)), GAP
    )
    ours = sides(problem, gamma)
    times = alternate({"SVC": partial(fit_svc, X, problem.y, gamma, tol), **ours}, repeats)
    svc = times["SVC"]
    for n in ours:
        gaps = [gap_of(problem, gamma, side.result) for side in (times[n], svc)]
        yield problem.label, n, times[n].best, svc.best, times[n].best / svc.best, *gaps, tol


def run(settings: Settings) -> Table:
    """Compare on each problem."""
    table = Table("One RBF machine against SVC", COLUMNS, notes=[NOTE])
    for load, gamma in problems(settings):
        try:
            problem = load()
        except data.MissingData as missing:
            table.notes.append(f"Left out: {missing}.")
            continue
        rows = compare if settings.peers else alone
        with blas_threads(1):
            for row in rows(problem, gamma, settings.repeats):
                table.add(*row)
    return table
