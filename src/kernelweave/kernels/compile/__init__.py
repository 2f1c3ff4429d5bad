"""Normalise kernels, and compile kernels and data to a program for the C++ core."""
