"""Kernels on vectors and on precomputed similarities."""
