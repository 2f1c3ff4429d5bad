"""Tests of kernels on noisy motifs: positions found and false ones, by weights and held out."""

from __future__ import annotations

import warnings

import numpy as np

from kernelweave import MKLClassifier
from kernelweave.datasets import make_motifs
from kernelweave.inspection import bootstrap_weights, held_out_test
from kernelweave.kernels import WeightedDegree

from .report import Table
from .settings import Settings

QUICK = False
SIGNAL = [*range(10, 17), *range(30, 37)]  # words from here on lie in a motif
TOUCHED = [*range(4, 17), *range(24, 37)]  # words from here on reach into a motif
NOTE = (
    "make_motifs(500, positive_rate=0.2): letters of each motif of 7 that are replaced; a kernel "
    "for each position, p = 1, 19 permutations, level 5 %, correction 'max'. Found: share of the "
    "14 positions of the motifs. False: positions found per data set that no motif reaches; "
    "any: share of the data sets with one."
)


def run(settings: Settings) -> Table:
    """Test generated data sets of growing noise."""
    columns = ("replaced", "statistic", "found", "false", "any false")
    table = Table("Power of tests of kernels", columns, notes=[NOTE])
    seeds = range(settings.size(10, 1, 2))
    for replaced in settings.size((0, 2, 3, 4, 5, 6, 7), (4,)):
        sets = [tested(replaced, seed, settings.size(500, 60)) for seed in seeds]
        for name in ("weight", "held-out"):
            found = np.array([counts[name] for counts in sets])
            right, false = found[:, 0] / len(SIGNAL), found[:, 1]
            table.add(replaced, name, right.mean(), false.mean(), (false > 0).mean())
    return table


def tested(replaced: int, seed: int, n: int) -> dict[str, tuple[int, int]]:
    """Return the numbers of right and false positions that both tests find."""
    X, y = make_motifs(n, replaced=replaced, random_state=seed, positive_rate=0.2)
    model = MKLClassifier(WeightedDegree(7, split="position"), norm=1, C=1.0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the constant model is optimal for some permutations
        weights = bootstrap_weights(model, X, y, n=1, n_permutations=19, random_state=seed)
        held_out = held_out_test(model, X, y, n_permutations=19, random_state=seed)
    p_values = {"weight": weights.p_values("max"), "held-out": held_out.p_values("max")}
    counts = {}
    for name, p in p_values.items():
        found = np.flatnonzero(p <= 0.05)
        false = np.setdiff1d(found, TOUCHED)
        counts[name] = (len(np.intersect1d(found, SIGNAL)), len(false))
    return counts
