"""A million kernels under normalize="variance", against none: time and memory of a fit."""

from __future__ import annotations

import resource
import time
from typing import Any

import numpy as np
from sklearn.preprocessing import minmax_scale

from kernelweave import MKLClassifier, kernels

from . import data
from .report import Table
from .settings import Settings
from .timing import in_own_process, timed

QUICK = False
COLUMNS = 18  # of sonar
WIDTHS = 55_556  # on each of them: a million kernels
TOLERANCE = 0.1


def run(settings: Settings) -> Table:
    """Fit both ways, each in a separate process."""
    widths = settings.size(WIDTHS, 20, 1000)
    table = Table(
        f"{COLUMNS * widths:,} RBF kernels on sonar, 208 x {COLUMNS}",
        ("normalize", "rounds", "CPU s", "times", "peak GB", "gap"),
        notes=[
            "Multiplicative weights, squared hinge, C = 1, tol = 0.1, one thread; "
            "CPU s of the whole fit."
        ],
    )
    first = np.nan
    for normalize in (None, "variance"):
        turns, seconds, peak, gap = in_own_process(fitted, normalize, widths)
        first = seconds if normalize is None else first
        table.add(str(normalize), turns, seconds, seconds / first, peak, gap)
        print(*table.rows[-1], sep=" | ", flush=True)
    return table


def fitted(normalize: str | None, widths: int) -> tuple[Any, ...]:
    """Return rounds, CPU seconds, the peak of memory in GB and the gap of a fit."""
    found = data.arrays("sonar")
    X = minmax_scale(found["X"][:, :COLUMNS].astype(float))
    family = kernels.per_feature(kernels.RBF(gamma=np.geomspace(0.01, 100, widths)))
    model = MKLClassifier(
        family,
        norm=1,
        loss="squared_hinge",
        solver="mwu",
        normalize=normalize,
        tol=TOLERANCE,
        n_jobs=1,
    )
    fit = timed(lambda: model.fit(X, found["y"]), time.process_time)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    return model.n_iter_, fit.best, peak, float(model.duality_gap_)
