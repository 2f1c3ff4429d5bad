"""Simpler ways to combine kernels, to be compared with."""

from .linearized import LinearizedMKL

__all__ = ["LinearizedMKL"]
