"""Kernels made of other kernels: sums, products, one kernel per column."""
