"""MKL on 20 RBF widths against scikit-learn's 20 kernels, their sum and one SVC."""

from __future__ import annotations

from functools import partial

import numpy as np
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.svm import SVC

from kernelweave import MKLClassifier, kernels

from . import data
from .certificates import rbf_gap
from .libsvm import loosest_tolerance
from .report import Table
from .settings import Settings
from .timing import alternate, blas_threads

GAP = 1e-3
GAMMAS = np.geomspace(1e-3, 1.0, 20)
NORMS = (1.0, 2.0)
NOTE = (
    f"Kernels are computed on both sides. The gaps, recomputed in NumPy, are at most {GAP:g}: MKL "
    "solves for the weights too, SVC has the plain sum and the loosest `tol` that reaches the gap. "
    "gamma = 0.001 to 1, C = 1, no normalisation; BLAS has as many threads as n_jobs; best times."
)


def fit_sum(problem: data.Data, tol: float) -> SVC:
    """Compute 20 kernels, add them up, and fit scikit-learn's SVM on the sum."""
    total = sum(rbf_kernel(problem.X, gamma=gamma) for gamma in GAMMAS)
    return SVC(kernel="precomputed", tol=tol).fit(total, problem.y)


def fit_mkl(problem: data.Data, p: float, n_jobs: int) -> MKLClassifier:
    """Learn the weights of the 20 kernels with the SVM."""
    family = kernels.RBF(gamma=list(GAMMAS))
    model = MKLClassifier(family, norm=p, normalize=None, tol=GAP, n_jobs=n_jobs)
    return model.fit(problem.X, problem.y)


def gap_of(problem: data.Data, model: SVC | MKLClassifier, theta: np.ndarray, p: float) -> float:
    """Return the gap of a fitted model, from scratch."""
    coef = np.asarray(model.dual_coef_)[0]
    return rbf_gap(problem.X, problem.y, GAMMAS, model.support_, coef, theta, p)


def run(settings: Settings) -> Table:
    """Compare p = 1 and p = 2 with the plain sum, with one thread and with two."""
    problem = data.generated(settings.size(4000, 200, 2000))
    uniform = np.ones(len(GAMMAS))
    peer = {}
    if settings.peers:
        tol = loosest_tolerance(
            lambda tol: gap_of(problem, fit_sum(problem, tol), uniform, np.inf), GAP
        )
        peer = {"sum": partial(fit_sum, problem, tol)}
    columns = ("p", "n_jobs", "kernelweave s", "scikit-learn s", "ratio", "turns", "gap")
    table = Table(f"20 RBF widths, {problem.label}", columns, notes=[NOTE])
    for n_jobs in (1, 2):
        sides = {p: partial(fit_mkl, problem, p, n_jobs) for p in NORMS}
        with blas_threads(n_jobs):
            times = alternate(peer | sides, settings.repeats)
        theirs = times["sum"].best if peer else None
        for p in NORMS:
            ours, model = times[p].best, times[p].result
            gap = gap_of(problem, model, model.weights_, p)
            ratio = ours / theirs if theirs else None
            table.add(p, n_jobs, ours, theirs, ratio, model.n_iter_, gap)
    return table
