"""Costs of the operations of an engine: the only properties of engines that the plan uses."""

from __future__ import annotations

import math
from dataclasses import dataclass


@dataclass(frozen=True)
class Products:
    """Costs of products of a vector with the kernel matrix of an engine.

    Attributes
    ----------
    cheap : bool
        Whether the tables that products read fit in memory. Otherwise every product recomputes
        some or all of them.
    fixed : bool
        Whether most of the time of a product is independent of the number of examples.
    separate : bool
        Whether the products K_m v of all kernels together cost no more than the product of their
        sum with v.
    """

    cheap: bool
    fixed: bool = False
    separate: bool = False


@dataclass(frozen=True)
class EngineCosts:
    """Costs of the operations of an engine, from which algorithms are chosen.

    `optimization.plan` chooses solvers by them. `model.statistics` chooses how the contributions of
    kernels to decision values are summarised.

    Attributes
    ----------
    block : int
        Number of examples whose kernel block costs no more than a few matrix-vector products.
    products : Products or None
        Costs of matrix-vector products; None if they are not available.
    part_products : Products or None
        The same for subsets of the examples.
    values : {"cached", "computed", "costly"}
        Whether all kernel values are in memory, or computed when they are needed. They are costly
        if the kernel block of some hundred examples costs as much as a matrix-vector product with
        all examples (gapped k-mers).
    free_weights : bool
        Whether combined outputs under new weights need no kernel evaluation.
    single_precision : bool
        Whether the engine is faster in single precision.
    all_outputs : float
        If the outputs of at least this many kernels are needed, it is faster to compute those of
        all kernels at once.
    access : {"direct", "streamed", "remote", "class pairs"}
        How solvers reach kernels and examples. Usually all are in this process; "streamed" if
        kernels are evaluated in blocks, since there are more than fit in memory; "remote" if
        examples are on other machines; "class pairs" if the engine solves the two-class problems
        of all pairs of classes itself.
    """

    block: int
    products: Products | None = None
    part_products: Products | None = None
    values: str = "computed"
    free_weights: bool = False
    single_precision: bool = False
    all_outputs: float = math.inf
    access: str = "direct"
