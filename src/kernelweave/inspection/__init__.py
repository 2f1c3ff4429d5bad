"""What a fitted model has learned: words, positions, and how sure their weights are."""

from .importance import Importance, importance
from .kmers import KmerWeights, kmer_weights, poim, top_kmers

__all__ = [
    "Importance",
    "KmerWeights",
    "importance",
    "kmer_weights",
    "poim",
    "top_kmers",
]
