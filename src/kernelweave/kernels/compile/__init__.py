"""From kernels and data to a program for the compiled core."""
