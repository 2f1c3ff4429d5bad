"""One RBF kernel: CPU time and gap beside SVC, scikit-learn-intelex and ThunderSVM."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from functools import partial
from importlib import import_module
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.svm import SVC

from kernelweave import MKLClassifier, kernels

from . import classes_data, data
from .certificates import rbf_gap
from .report import Table
from .settings import Settings
from .timing import alternate, blas_threads

GAP = 3e-5  # about what a tolerance of 1e-3 means for the peers
PEERS = {"scikit-learn-intelex": "sklearnex.svm", "ThunderSVM": "thundersvm"}
NOTE = (
    "C = 1, gamma = 1 / columns, one thread, CPU seconds of the best of several alternating fits. "
    f"`ratio`: to the time of kernelweave, which stops at a gap of {GAP:g}; the others stop at "
    "their own tolerance of 1e-3. Relative duality gaps are recomputed in NumPy for all. Peers "
    "that are not installed are left out."
)


def problems(settings: Settings) -> Iterator[Callable[[], data.Data]]:
    """Yield functions that load a problem of two classes."""
    n = settings.size(10_000, 300, 2000)

    def halves(name: str) -> data.Data:
        problem = classes_data.load(name, n)
        middle = (problem.y.max() + 1) // 2
        return data.Data(name, problem.X, np.where(problem.y < middle, 1.0, -1.0))

    yield lambda: data.generated(n)
    yield lambda: data.adult().first(n)
    yield lambda: data.mnist_odd_even().first(n // 2)
    yield from (partial(halves, name) for name in ("letters", "satellite", "digits"))


def sides(gamma: float) -> dict[str, Callable[[], Any]]:
    """Return functions that make a classifier, for every peer that is installed."""
    kernel = kernels.RBF(gamma=gamma)
    found: dict[str, Callable[[], Any]] = {
        "kernelweave": lambda: MKLClassifier(kernel, C=1.0, normalize=None, tol=GAP),
        "scikit-learn": lambda: SVC(gamma=gamma),
    }
    for name, module in PEERS.items():
        try:
            peer = import_module(module).SVC
        except (ImportError, OSError):  # the library, or what it is linked to, is not there
            continue
        found[name] = partial(peer, kernel="rbf", gamma=gamma)
    return found


def run(settings: Settings) -> Table:
    """Compare on each problem."""
    columns = ("data", "method", "CPU s", "ratio", "gap")
    table = Table("One RBF machine beside peers", columns, notes=[NOTE])
    for load in problems(settings):
        try:
            problem = load()
        except data.MissingData as missing:
            table.notes.append(f"Left out: {missing}.")
            continue
        X, y, gamma = problem.X, problem.y, 1.0 / problem.X.shape[1]
        fits = {name: partial(_fit, make, X, y) for name, make in sides(gamma).items()}
        with blas_threads(1):
            times = alternate(fits, settings.repeats, clock=time.process_time)
        for name, timing in times.items():
            model = timing.result
            coef = sp.csr_matrix(model.dual_coef_).toarray()[0]
            gap = rbf_gap(X, y, [gamma], model.support_, coef, np.ones(1), np.inf)
            table.add(
                problem.label, name, timing.best, timing.best / times["kernelweave"].best, gap
            )
    return table


def _fit(make: Callable[[], Any], X: np.ndarray, y: np.ndarray) -> Any:
    return make().fit(X, y)
