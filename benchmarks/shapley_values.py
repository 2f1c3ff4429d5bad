"""Exact Shapley values beside ``shap.KernelExplainer`` at growing numbers of samples."""

from __future__ import annotations

from typing import Any

import numpy as np

from kernelweave import MKLClassifier
from kernelweave.inspection import shapley
from kernelweave.kernels import RBF

from .report import Table
from .settings import Settings
from .timing import blas_threads, timed

QUICK = False
BACKGROUND = 100
SIZES = ((30, 1000), (200, 100))  # columns, examples that are explained
SAMPLED = 2  # examples that KernelExplainer explains


def run(settings: Settings) -> Table:
    """Time both on noisy classes, with an RBF kernel and 100 background rows."""
    columns = ("columns", "support vectors", "method", "s per example", "error")
    table = Table(
        "Shapley values",
        columns,
        notes=["Error: root mean square, relative to that of the exact values."],
    )
    with blas_threads(1):
        for columns_, examples in settings.size(SIZES, ((5, 10),)):
            for line in rows(columns_, examples, settings):
                table.add(*line)
                print(*line, sep=" | ", flush=True)
    return table


def rows(columns: int, examples: int, settings: Settings) -> list[list[Any]]:
    """Return a row for the exact values, and one for each number of samples."""
    n = settings.size(1150, 150)
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n + examples, columns))
    y = X[:, 0] * X[:, 1] + 0.5 * rng.normal(size=len(X)) > 0
    model = MKLClassifier(RBF(1 / columns), C=1.0).fit(X[:n], y[:n])
    new, background = X[n:], X[:BACKGROUND]
    ours = timed(lambda: shapley(model, new, background, n_background=None))
    exact = ours.result.values
    found: list[list[Any]] = [[columns, len(model.support_), "exact", ours.best / examples, 0.0]]
    if not settings.peers:
        return found
    from shap import KernelExplainer

    explainer = KernelExplainer(model.decision_function, background)
    some = new[:SAMPLED]
    for samples in settings.size((1000, 4000, 16000), (20,)):
        given = {"nsamples": samples, "l1_reg": False, "silent": True}
        theirs = timed(lambda given=given: explainer.shap_values(some, **given))
        error = np.sqrt(np.mean((theirs.result - exact[:SAMPLED]) ** 2))
        found.append(
            [
                columns,
                len(model.support_),
                f"KernelExplainer, {samples:,} samples",
                theirs.best / len(some),
                float(error / np.sqrt(np.mean(exact**2))),
            ]
        )
    return found
