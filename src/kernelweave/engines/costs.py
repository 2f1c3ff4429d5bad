"""Costs of the operations of an engine: the only properties of engines that the plan uses."""

from __future__ import annotations

import math
from dataclasses import dataclass


@dataclass(frozen=True)
class EngineCosts:
    """Costs of the operations of an engine, on which the choice of algorithms is based.

    `optimization.plan` chooses solvers; `model.model` chooses how contributions are summarised.

    Attributes
    ----------
    block : int
        Number of examples whose kernel block costs no more than a few matrix-vector products.
    costly_pairs : bool
        Whether the kernel block of some hundred examples costs as much as a matrix-vector product
        with all examples (gapped k-mers).
    products : {"none", "linear", "cheap"}
        Matrix-vector products with the kernel: not available; in time linear in n; or far cheaper
        than all rows of the kernels, since their tables fit in memory.
    part_products : {"none", "linear", "cheap"}
        The same for subsets of the examples.
    fixed_products : bool
        Whether most of the time of a product does not depend on n.
    separate_products : bool
        Whether the products of all single kernels cost no more than that of their sum.
    free_weights : bool
        Whether new kernel weights cost no kernel evaluation.
    cached_values : bool
        Whether all kernel values are in memory.
    single_precision : bool
        Whether the engine is faster in single precision.
    streamed : bool
        Whether kernels are evaluated in blocks, since there are more than fit in memory.
    all_outputs : float
        If the outputs of at least this many kernels are needed, it is faster to compute those of
        all kernels at once.
    remote : bool
        Whether examples are on other machines.
    class_pairs : bool
        Whether the engine solves the two-class problems of all pairs of classes itself.
    """

    block: int
    costly_pairs: bool = False
    products: str = "none"
    part_products: str = "none"
    fixed_products: bool = False
    separate_products: bool = False
    free_weights: bool = False
    cached_values: bool = False
    single_precision: bool = False
    streamed: bool = False
    all_outputs: float = math.inf
    remote: bool = False
    class_pairs: bool = False
