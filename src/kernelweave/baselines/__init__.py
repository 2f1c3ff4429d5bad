"""Baselines: simpler models to compare with."""

from .linearized import LinearizedMKL
from .markov_chain import MarkovChain

__all__ = ["LinearizedMKL", "MarkovChain"]
