"""Genomes: regions and their sequences, matched backgrounds, scans, and variant effects."""

from .background import Matched, negatives
from .letters import read_letters
from .regions import Region, Regions, cut_out, read_bed, resize
from .scanning import Scores, scan
from .shuffling import shuffle_dinucleotides
from .variant_scores import VariantScores, variants
from .vcf import Variant, read_vcf, write_vcf

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
    "resize",
    "scan",
    "shuffle_dinucleotides",
    "variants",
    "write_vcf",
]
