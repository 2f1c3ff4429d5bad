"""Generated data sets with known structure, at any size."""

from .sequences import make_motifs, make_shifted_motif, make_splice
from .tables import make_mixed_table, make_sines, make_sparse_to_uniform, make_stars

__all__ = [
    "make_mixed_table",
    "make_motifs",
    "make_shifted_motif",
    "make_sines",
    "make_sparse_to_uniform",
    "make_splice",
    "make_stars",
]
