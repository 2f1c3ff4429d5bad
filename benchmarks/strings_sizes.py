"""Accuracy against the number of training sequences, from a thousand to a million.

Sonnenburg, Rätsch and Rieck (2007) show in their figure 4.6 that more splice sites still help at
ten million; here the sites are generated.
"""

from __future__ import annotations

from .report import Table
from .settings import Settings
from .strings_training import measure

QUICK = False
SIZES = (1_000, 3_000, 10_000, 30_000, 100_000, 300_000, 1_000_000)
COLUMNS = ("sequences", "CPU s", "support", "auROC", "auPRC")
NOTE = (
    "make_splice (141 letters, 1 % positive), WeightedDegree(20), C = 1, tol = 1e-3, two threads; "
    "tested on 200,000 other sequences."
)


def run(settings: Settings) -> Table:
    """Train at growing sizes."""
    table = Table("Accuracy by number of sequences", COLUMNS, notes=[NOTE])
    for n in settings.size(SIZES, (1_000, 2_000)):
        n, _, cpu, _, _, support, roc, prc = measure(n, settings.size(200_000, 5_000))
        table.add(n, cpu, support, f"{roc:.4f}", f"{prc:.4f}")
    return table
