"""Simpler ways to combine kernels and to score sequences, to be compared with."""

from .linearized import LinearizedMKL
from .markov_chain import MarkovChain

__all__ = ["LinearizedMKL", "MarkovChain"]
