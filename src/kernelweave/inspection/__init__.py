"""What a fitted model has learned: words, positions, letters, and how sure their weights are."""

from .bootstrap import BootstrapWeights, bootstrap_weights
from .importance import Importance, importance
from .influence import InfluentialExamples, influential_examples
from .kmers import KmerWeights, kmer_weights, poim, top_kmers
from .letter_scores import LetterScores, letter_scores
from .shapley import ShapleyValues, shapley
from .variant_effects import VariantEffects, variant_effects

__all__ = [
    "BootstrapWeights",
    "Importance",
    "InfluentialExamples",
    "KmerWeights",
    "LetterScores",
    "ShapleyValues",
    "VariantEffects",
    "bootstrap_weights",
    "importance",
    "influential_examples",
    "kmer_weights",
    "letter_scores",
    "poim",
    "shapley",
    "top_kmers",
    "variant_effects",
]
