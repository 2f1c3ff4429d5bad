"""What a fitted model has learned: scores of letters, effects of variants."""

from .letter_scores import LetterScores, letter_scores
from .variant_effects import VariantEffects, variant_effects

__all__ = ["LetterScores", "VariantEffects", "letter_scores", "variant_effects"]
