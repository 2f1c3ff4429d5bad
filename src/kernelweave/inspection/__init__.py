"""What a fitted model has learned: words, positions, and how sure their weights are."""

from .bootstrap import BootstrapWeights, bootstrap_weights
from .importance import Importance, importance
from .kmers import KmerWeights, kmer_weights, poim, top_kmers

__all__ = [
    "BootstrapWeights",
    "Importance",
    "KmerWeights",
    "bootstrap_weights",
    "importance",
    "kmer_weights",
    "poim",
    "top_kmers",
]
