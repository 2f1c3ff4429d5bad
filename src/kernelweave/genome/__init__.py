"""Genomes: regions cut out of them, backgrounds drawn from them, models slid over them."""

from .background import Matched, negatives
from .letters import read_letters
from .regions import Region, Regions, cut_out, read_bed
from .scanning import Scores, scan
from .shuffling import shuffle_dinucleotides

__all__ = [
    "Matched",
    "Region",
    "Regions",
    "Scores",
    "cut_out",
    "negatives",
    "read_bed",
    "read_letters",
    "scan",
    "shuffle_dinucleotides",
]
