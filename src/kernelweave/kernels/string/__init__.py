"""Kernels on sequences and texts."""
