"""Genomes: regions cut out of them, backgrounds drawn from them, models slid over them."""

from .background import Matched, negatives
from .letters import read_letters
from .regions import Region, Regions, cut_out, read_bed
from .scanning import Scores, scan
from .shuffling import shuffle_dinucleotides
from .variants import Variant, VariantScores, read_vcf, score_variants

__all__ = [
    "Matched",
    "Region",
    "Regions",
    "Scores",
    "Variant",
    "VariantScores",
    "cut_out",
    "negatives",
    "read_bed",
    "read_letters",
    "read_vcf",
    "scan",
    "score_variants",
    "shuffle_dinucleotides",
]
