"""Interpretation of fitted models: words, motifs, positions, letters, and stability of weights."""

from .bootstrap import BootstrapWeights, bootstrap_weights
from .combined_kernel import combined_kernel
from .counted_kmers import all_words
from .held_out_test import HeldOutTest, held_out_test
from .importance import Importance, importance
from .influence import InfluentialExamples, influential_examples
from .kernel_pca import MKLKernelPCA
from .kmers import KmerWeights, kmer_weights, poim, top_kmers
from .letter_scores import LetterScores, letter_scores
from .meme import match_motifs, read_meme, write_meme
from .motifs import Motif, motifs
from .shapley import ShapleyValues, shapley
from .variant_effects import VariantEffects, variant_effects

__all__ = [
    "BootstrapWeights",
    "HeldOutTest",
    "Importance",
    "InfluentialExamples",
    "KmerWeights",
    "LetterScores",
    "MKLKernelPCA",
    "Motif",
    "ShapleyValues",
    "VariantEffects",
    "all_words",
    "bootstrap_weights",
    "combined_kernel",
    "held_out_test",
    "importance",
    "influential_examples",
    "kmer_weights",
    "letter_scores",
    "match_motifs",
    "motifs",
    "poim",
    "read_meme",
    "shapley",
    "top_kmers",
    "variant_effects",
    "write_meme",
]
