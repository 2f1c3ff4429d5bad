"""MNIST, odd against even digits: MKL on 50 RBF widths against SVC on one of them, an hour each."""

from __future__ import annotations

import multiprocessing
import resource
import time
from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from sklearn.svm import SVC

from kernelweave import MKLClassifier, kernels

from . import data
from .certificates import rbf_gap
from .libsvm import loosest_tolerance
from .report import Table
from .settings import Settings
from .timing import blas_threads

QUICK = False
GAP = 1e-3
HOUR = 3600.0
CACHE_MB = 4096
WIDTHS = 1.2 ** np.arange(50)  # 2 sigma^2; the mean squared distance of two digits is about 100
ONE_WIDTH = WIDTHS[[21]]  # 46
SEARCHED = 10_000  # digits on which the tolerance of SVC is searched for
NOTE = (
    "2 sigma^2 = 1.2^0 to 1.2^49 on pixels in [0, 1], C = 1, one thread. SVC has the width 1.2^21 "
    f"and the tolerance that reaches a gap of {GAP:g} on {SEARCHED:,} digits. Both sides have "
    f"{CACHE_MB} MB of cache and at most an hour. Gaps are recomputed in NumPy."
)


def fit_mkl(problem: data.Data, p: float) -> MKLClassifier:
    """Learn the weights of all widths."""
    family = kernels.RBF(gamma=list(1.0 / WIDTHS))
    model = MKLClassifier(family, norm=p, normalize=None, tol=GAP, cache_mb=CACHE_MB)
    return model.fit(problem.X, problem.y)


def fit_svc(problem: data.Data, tol: float) -> SVC:
    """Fit scikit-learn's SVM on one width."""
    return SVC(gamma=1.0 / ONE_WIDTH[0], tol=tol, cache_size=CACHE_MB).fit(problem.X, problem.y)


class Fitted(NamedTuple):
    """The result of a fit in another process."""

    seconds: float
    peak_gb: float
    support: np.ndarray
    coef: np.ndarray
    theta: np.ndarray


def measure(fit: Callable[[], Any]) -> Fitted:
    """Fit, and look at the CPU time and at the memory that this process has used."""
    started = time.process_time()
    model = fit()
    seconds = time.process_time() - started
    peak_gb = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    theta = getattr(model, "weights_", np.ones(1))
    return Fitted(seconds, peak_gb, model.support_, np.asarray(model.dual_coef_)[0], theta)


def bounded(work: Callable[[], Fitted], seconds: float) -> Fitted | None:
    """Run `work` in a separate process; None if it has not finished after `seconds`."""
    context = multiprocessing.get_context("fork")
    receive, send = context.Pipe(duplex=False)
    process = context.Process(target=lambda: send.send(work()))
    process.start()
    send.close()
    try:
        return receive.recv() if receive.poll(seconds) else None
    finally:
        process.kill()
        process.join()


def gap_of(problem: data.Data, fitted: Fitted, widths: np.ndarray, p: float) -> float:
    """Return the gap of a model, from scratch."""
    return rbf_gap(problem.X, problem.y, 1.0 / widths, *fitted[2:], p)


def tolerance(problem: data.Data) -> float:
    """Return the tolerance of SVC for the gap, searched for on some of the digits."""
    some = problem.first(SEARCHED)

    def gap_at(tol: float) -> float:
        return gap_of(some, measure(partial(fit_svc, some, tol)), ONE_WIDTH, np.inf)

    return loosest_tolerance(gap_at, GAP)


def run(settings: Settings) -> Table:
    """Time all three methods, one after the other."""
    columns = ("machine", "CPU s", "peak GB", "support", "gap")
    table = Table("MNIST odd/even, 50 widths on the fly", columns, notes=[NOTE])
    try:
        problem = data.mnist_odd_even().first(settings.size(None, 400))
    except data.MissingData as missing:
        table.notes.append(f"Left out: {missing}.")
        return table
    with blas_threads(1):
        fit_one = partial(fit_svc, problem, tolerance(problem))
        sides = {
            "kernelweave, 50 widths, p = 1": (partial(fit_mkl, problem, 1.0), WIDTHS, 1.0),
            "kernelweave, 50 widths, p = 2": (partial(fit_mkl, problem, 2.0), WIDTHS, 2.0),
            "SVC, one width": (fit_one, ONE_WIDTH, np.inf),
        }
        for name, (fit, *judged) in sides.items():
            fitted = bounded(partial(measure, fit), HOUR)
            if fitted is None:
                table.add(name, f"more than {HOUR:.0f}", None, None, None)
                continue
            gap = gap_of(problem, fitted, *judged)
            table.add(name, fitted.seconds, fitted.peak_gb, len(fitted.coef), gap)
    return table
