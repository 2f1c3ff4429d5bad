"""Baselines: simpler models for comparison."""

from .linearized import LinearizedMKL
from .markov_chain import MarkovChain

__all__ = ["LinearizedMKL", "MarkovChain"]
