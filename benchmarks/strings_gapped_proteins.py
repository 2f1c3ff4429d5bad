"""Words with mismatches on proteins (SCOP, antimicrobial peptides), beside equal words."""

from __future__ import annotations

from kernelweave.kernels import GappedKmer, Mismatch, Spectrum

from .kmer_counts import counts
from .report import Table
from .settings import Settings
from .strings_gapped import COLUMNS, fill
from .strings_real import PROTEIN_SETS, machine, peer

QUICK = False
NOTE = (
    "One thread, C = 1, unit diagonals, from texts to a fitted model at a relative duality gap of "
    "1e-3. `per CPU s`: test sequences scored, from texts."
)
PROTEINS = (
    machine("Mismatch(5, 1)", Mismatch(5, 1, alphabet="protein")),
    machine("Mismatch(4, 1)", Mismatch(4, 1, alphabet="protein")),
    machine("GappedKmer(5, 3)", GappedKmer(5, 3, alphabet="protein", both_strands=False)),
    machine("Spectrum(3)", Spectrum(3, alphabet="protein")),
    machine("Spectrum(4)", Spectrum(4, alphabet="protein")),
    peer("3-mer counts", counts(3, 3)),
)


def run(settings: Settings) -> Table:
    """Fit and test every model once on every set."""
    table = Table("Mismatches on proteins", COLUMNS, notes=[NOTE])
    fill(table, PROTEIN_SETS[:3], PROTEINS, settings)
    return table
