"""Benchmarks: one module per table.

A module with a function ``run(settings) -> Table`` is a benchmark, and its name is the name of the
table: ``python -m benchmarks svm_speed``. A module with ``QUICK = False`` only runs when named.
"""
