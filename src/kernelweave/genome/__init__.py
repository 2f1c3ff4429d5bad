"""Genomes: regions cut out of them, and models slid over them."""

from .regions import Regions, cut_out, read_bed
from .scanning import Scores, scan

__all__ = ["Regions", "Scores", "cut_out", "read_bed", "scan"]
