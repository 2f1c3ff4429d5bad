"""The engine for a few kernels: rows of distances and dot products are cached."""

from __future__ import annotations

import numpy as np

from ..common.cached_property import cached_property
from ..common.core import _core
from .base import COSTLY_PAIR, LARGEST_BLOCK, TrainingSet
from .cached_outputs import CachedOutputs
from .costs import EngineCosts, Products
from .memory import check_memory
from .recorded_products import RecordedProducts


class DenseEngine(CachedOutputs):
    """Engine for a few kernels on local examples; the outputs of every kernel are cached.

    Parameters
    ----------
    core : _core.Engine
        The engine of the compiled core that does the work; `of` and `of_sum` create it.
    """

    def __init__(self, core: _core.Engine):
        super().__init__(core.n, core.n_kernels)
        self._core = core

    @classmethod
    def of(cls, training_set: TrainingSet) -> DenseEngine:
        """Return an engine at alpha = 0.

        Parameters
        ----------
        training_set : TrainingSet

        Returns
        -------
        DenseEngine

        Raises
        ------
        ValueError
            If the outputs of all kernels do not fit in memory.
        """
        check_memory(training_set.kernels.n_kernels, training_set.examples.n)
        return cls(training_set.core(_core.Engine))

    @classmethod
    def of_sum(cls, training_set: TrainingSet) -> DenseEngine:
        """Return an engine at alpha = 0 for one kernel: the sum of all, whose rows are cached.

        Parameters
        ----------
        training_set : TrainingSet

        Returns
        -------
        DenseEngine
        """
        check_memory(1, training_set.examples.n)
        return cls(training_set.core(_core.Engine.of_sum))

    @staticmethod
    def sums(training_set: TrainingSet) -> bool:
        """Return whether to use `of_sum`: whether caching the sum of the kernels saves time.

        Linear kernels are excluded, since their sums are computed without kernel values.

        Parameters
        ----------
        training_set : TrainingSet

        Returns
        -------
        bool
        """
        kernels = training_set.kernels
        return kernels.n_kernels > 1 and not kernels.is_linear

    @property
    def _outputs(self) -> np.ndarray:
        return self._core.outputs

    def _add(self, idx: np.ndarray, delta: np.ndarray) -> None:
        with self.work.on("changed alphas", len(idx) * self.n):
            self._core.add(idx, delta)

    def block(self, idx: np.ndarray, theta: np.ndarray, *, exact: bool = True) -> np.ndarray:
        with self.work.on("blocks", len(idx) ** 2 // 2):
            return self._core.block(idx, theta)

    def blocks(self, idx: np.ndarray) -> np.ndarray:
        return self._core.blocks(idx)

    def diagonal(self) -> np.ndarray:
        return self._core.diagonal()

    @property
    def costs(self) -> EngineCosts:
        products = self._products_of(self._core)
        part = self._core.subset(np.arange(min(2, self.n)))
        recorded = products is not None and products.cheap and products.fixed
        return EngineCosts(
            block=LARGEST_BLOCK,
            products=products,
            part_products=self._products_of(part),
            values="costly" if recorded and self._core.reads > COSTLY_PAIR else "computed",
            free_weights=True,
            all_outputs=0,
        )

    def _products_of(self, core: _core.Engine) -> Products | None:
        """Return the costs of matrix-vector products for the examples of `core`, a subset."""
        if not self._multiplies:
            return None
        return Products(core.keeps_products and self._has_product, self._core.products_are_fixed)

    @cached_property
    def recorded(self) -> RecordedProducts:
        return RecordedProducts()

    @cached_property
    def _multiplies(self) -> bool:
        """Whether matrix-vector products are available: only for linear kernels."""
        return self._has_product or self._core.multiply(np.zeros(self.n)) is not None

    def matvec(self, v: np.ndarray, theta: np.ndarray, *, each: bool = False) -> np.ndarray:
        if self._has_product:
            return theta[0] * (self._product @ v)
        if not self._multiplies:
            raise self._cannot("multiply with its kernel matrix cheaply")
        return theta @ self._core.multiply(v)

    @property
    def _has_product(self) -> bool:
        """Whether there is one kernel with cheap matrix-vector products."""
        return self.n_kernels == 1 and self._core.has_products

    @cached_property
    def _product(self) -> _core.Products:
        """The matrix of the only kernel, as tables for products that may be large."""
        product = self._core.products()
        product.weigh(np.ones(1))
        return product

    def _subset(self, examples: np.ndarray) -> DenseEngine:
        return DenseEngine(self._core.subset(examples))  # cached rows stay cached
