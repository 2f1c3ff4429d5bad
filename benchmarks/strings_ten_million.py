"""One weighted degree SVM on ten million splice-like sequences (about half an hour)."""

from __future__ import annotations

from .report import Table
from .settings import Settings
from .strings_training import COLUMNS, NOTE, measure

QUICK = False
CACHE_MB = 4096  # half of it may hold the tries of an active set: of 1.7 million sequences


def run(settings: Settings) -> Table:
    """Train once."""
    table = Table("Ten million sequences", COLUMNS, notes=[NOTE + f" {CACHE_MB} MB of cache."])
    table.add(*measure(settings.size(10_000_000, 5_000), settings.size(200_000, 5_000), CACHE_MB))
    return table
