"""Solvers: how alpha and the kernel weights are found, one file each."""
