"""Kernels on numeric vectors, and kernels given as matrices or functions.

Parameters have the meaning that they have in `sklearn.metrics.pairwise`. A sequence in place of a
parameter makes a family, with one kernel (member) for each value. Several sequences must have the
same length: member i takes the i-th value of each.
"""
