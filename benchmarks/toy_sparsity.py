"""Figure 3 of Kloft et al. (2011): test errors of five norms, from one relevant kernel to all.

Two Gaussians in 50 dimensions, a linear kernel for each. C is chosen on a validation set for every
norm and sample, from the paper's grid, and all fits stop at the default tolerance.
"""

from __future__ import annotations

import warnings

import numpy as np

from kernelweave import MKLClassifier
from kernelweave.datasets import make_sparse_to_uniform
from kernelweave.kernels import Linear, per_feature

from .report import Table
from .settings import Settings

QUICK = False  # 1,350 fits for five samples of 50 examples
NORMS = (1.0, 4 / 3, 2.0, 4.0, np.inf)
RELEVANT = (50, 28, 18, 9, 4, 1)
COSTS = 10.0 ** np.arange(-4, 0.5, 0.5)
HELD_OUT = 10_000
SIZES = (50, 800)

Sample = tuple[np.ndarray, np.ndarray]


def samples(n: int, relevant: int, seed: int) -> list[Sample]:
    """Return training, validation and test examples."""
    sizes = (n, HELD_OUT, HELD_OUT)
    parts = [
        make_sparse_to_uniform(size, n_relevant=relevant, random_state=1000 * part + seed)
        for part, size in enumerate(sizes)
    ]
    return [part[:2] for part in parts]


def tuned_error(p: float, costs: np.ndarray, parts: list[Sample]) -> float:
    """Return the test error at the C that is best on the validation set."""
    train, validation, test = parts
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # every fit has to reach the tolerance
        models = [MKLClassifier(per_feature(Linear()), norm=p, C=C).fit(*train) for C in costs]
    best = max(models, key=lambda model: model.score(*validation))
    return 1.0 - float(best.score(*test))


def run(settings: Settings) -> Table:
    """Average over as many samples as there are repeats."""
    names = [f"p = {p:.3g}" for p in NORMS]
    table = Table("Test errors, C chosen for each norm", ["n, relevant", *names])
    costs = settings.size(COSTS, COSTS[4:5])
    for n in settings.sizes or settings.size(SIZES, (20,)):
        for relevant in settings.size(RELEVANT, (1,)):
            drawn = [samples(n, relevant, seed) for seed in range(settings.repeats)]
            errors = [
                float(np.mean([tuned_error(p, costs, parts) for parts in drawn])) for p in NORMS
            ]
            table.add(f"{n}, {relevant}", *errors)
            print(table.rows[-1], flush=True)
    table.notes = [f"{settings.repeats} samples of n examples, {HELD_OUT:,} to validate and test."]
    return table
