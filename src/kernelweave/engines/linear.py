"""The engine for string families: linear kernels with cheap matrix-vector products.

One pass over tries of all sequences computes K v for the weighted sum K of the kernels; another one
computes v' K_m v for every kernel. The number of passes does not depend on the number of kernels.
Usually only the combined outputs are cached.

If every kernel needs a separate product (kernels that are normalised separately), the products of
all single kernels cost no more than that of their sum. If kernels share tables of words, a few
products compute the outputs of all kernels. In both cases the outputs of single kernels are cached.
Combined outputs under new weights, and squared block norms, then need no kernel evaluation.
"""

from __future__ import annotations

import numpy as np

from ..common.cached_property import cached_property
from ..common.core import _core
from .base import COSTLY_PAIR, LARGEST_BLOCK, Engine, TrainingSet
from .costs import EngineCosts, Products
from .recorded_products import RecordedProducts
from .snapshot import Snapshot

LITTLE = 1 / 6  # products are cheap if their tables are at most this fraction of all tables


class LinearEngine(Engine):
    """Engine for string families on local examples; the combined outputs are cached.

    Parameters
    ----------
    core : _core.LinearEngine
        The engine of the compiled core that does the work; `of` creates it.
    quick : LinearEngine, optional
        An engine of only the kernels with cheap products, such as those on short words. Its
        products approximate those of all kernels (`recorded`).
    """

    def __init__(self, core: _core.LinearEngine, quick: LinearEngine | None = None):
        super().__init__(core.n, core.n_kernels)
        self._core, self.quick = core, quick
        self._weighed = self._theta  # weights under which the tables for products were built
        self._outputs = np.zeros((0, self.n))  # of single kernels, valid where `_known`
        self._known = np.zeros(self.n_kernels, dtype=bool)
        self._offset = False  # whether examples outside a subset contribute to the outputs

    @classmethod
    def of(cls, training_set: TrainingSet) -> LinearEngine:
        """Return an engine at alpha = 0.

        Parameters
        ----------
        training_set : TrainingSet

        Returns
        -------
        LinearEngine
        """
        core = training_set.core(_core.LinearEngine)
        chosen = quick_kernels(core.product_bytes())
        if not (core.products_are_fixed and len(chosen)):
            return cls(core)
        return cls(core, cls(training_set.part(chosen).core(_core.LinearEngine)))

    @staticmethod
    def serves(training_set: TrainingSet) -> bool:
        """Return whether there are several kernels, and products with them are cheap.

        Parameters
        ----------
        training_set : TrainingSet

        Returns
        -------
        bool
        """
        kernels, examples = training_set.kernels, training_set.examples
        if kernels.n_kernels == 1 or not kernels.is_linear:
            return False
        return _core.LinearEngine.serves(kernels.program, examples.side)

    @property
    def costs(self) -> EngineCosts:
        part = self._core.subset(np.arange(min(2, self.n)))
        products, part_products = (
            Products(core.keeps_products, self._core.products_are_fixed, self._separates)
            for core in (self._core, part)
        )
        recorded = products.cheap and products.fixed
        return EngineCosts(
            block=LARGEST_BLOCK,
            products=products if self._core.has_products else None,
            part_products=part_products,
            values="costly" if recorded and self._core.reads > COSTLY_PAIR else "computed",
            all_outputs=0,  # one product gives those of all kernels
        )

    @cached_property
    def recorded(self) -> RecordedProducts:
        costs = self._core.product_bytes()
        return RecordedProducts(self.quick, costs > costs[quick_kernels(costs)].max(initial=0.0))

    @cached_property
    def _products(self) -> _core.Products:
        """The kernel matrices as tables for products; they exist if they fit in memory."""
        return self._core.products(keep=True)

    @property
    def _separates(self) -> bool:
        """Whether products with all single kernels cost no more than one with their sum."""
        return (self._core.products_are_separate or self.quick is not None) and not self._offset

    @property
    def _keeps_single(self) -> bool:
        """Whether the outputs of single kernels are cached, for all examples."""
        fixed = self._core.products_are_fixed and not self._offset
        return (fixed or self._separates) and self._core.has_products

    def matvec(self, v: np.ndarray, theta: np.ndarray, *, each: bool = False) -> np.ndarray:
        if not self._core.has_products:
            raise self._cannot("keep the tables for products in memory")
        if not np.array_equal(theta, self._weighed):
            self._products.weigh(theta)
            self._weighed = theta.copy()
        if not each:
            return self._products @ v
        every = self._products.outputs(v, np.arange(self.n), weighed=True)
        return every[theta != 0]

    def _know(self, wanted: np.ndarray) -> None:
        """Cache the outputs of the kernels that the mask `wanted`, shape (M,), selects."""
        missing = wanted & ~self._known
        if not missing.any():
            return
        if not self._known.any():
            self._outputs = np.zeros((self.n_kernels, self.n))
            self.accumulated_update[:] = np.abs(self._alpha)
        if not self._separates:  # one pass gives all of them
            missing[:] = True
        if self._alpha.any():
            self._outputs[missing] = self.matvec(self._alpha, missing.astype(float), each=True)
        self._known = self._known | missing

    def quadratic(self) -> np.ndarray:
        if self._keeps_single:
            return self.outputs() @ self._alpha
        if self._core.has_products:
            return self._products.quadratic(self._alpha)
        support = np.flatnonzero(self._alpha)
        if not len(support):
            return np.zeros(self.n_kernels)
        return self._core.subset(support).products(keep=False).quadratic(self._alpha[support])

    def outputs(self, kernels: np.ndarray | None = None) -> np.ndarray:
        """Return the outputs of all kernels, or of k of them.

        Parameters
        ----------
        kernels : ndarray of shape (k,), optional
            Indices of these kernels; all by default.

        Returns
        -------
        ndarray of shape (k, n), a copy
        """
        if self._keeps_single:
            chosen = np.arange(self.n_kernels) if kernels is None else kernels
            self._know(np.isin(np.arange(self.n_kernels), chosen))
            return self._outputs[chosen]
        outputs = self.outputs_at(np.arange(self.n))
        return outputs if kernels is None else outputs[kernels]

    def outputs_at(self, idx: np.ndarray) -> np.ndarray:
        if self._keeps_single:
            return self.outputs()[:, idx]
        if self._core.has_products:
            return self._products.outputs(self._alpha, idx)
        needed = np.union1d(np.flatnonzero(self._alpha), idx)
        part = self._core.subset(needed).products(keep=False)
        return part.outputs(self._alpha[needed], np.searchsorted(needed, idx))

    def combined(self, theta: np.ndarray) -> np.ndarray:
        if self._stale or not np.array_equal(theta, self._theta):
            self._cache(self._combine(theta), theta)
        return self._combined

    def _combine(self, theta: np.ndarray) -> np.ndarray:
        """Return the combined outputs, shape (n,), from cached outputs or from scratch."""
        if self._known.all() or (self._separates and self._core.has_products):
            return theta[theta != 0] @ self.outputs(np.flatnonzero(theta))
        self.accumulated_update[:] = np.abs(self._alpha)
        return self._sum(np.flatnonzero(self._alpha), self._alpha, theta)

    def change(self, idx: np.ndarray, values: np.ndarray) -> None:
        change = np.zeros(self.n)
        change[idx] = self._set(idx, values)
        if self._known.any() and self._separates:
            self._outputs[self._known] += self.matvec(change, self._known.astype(float), each=True)
            self._stale = True
            return
        self._known = np.zeros(self.n_kernels, dtype=bool)
        if not self._stale:
            self._combined = self._combined + self._sum(np.sort(idx), change, self._theta)

    def _follow(self, outputs: np.ndarray | None, theta: np.ndarray | None) -> None:
        self._known = np.zeros(self.n_kernels, dtype=bool)
        if outputs is None or outputs.ndim == 1:
            super()._follow(outputs, theta)
            return
        self._stale, self._known[:] = True, True if theta is None else theta != 0
        self._outputs = np.zeros((self.n_kernels, self.n))
        self._outputs[self._known] = outputs

    def snapshot(self) -> Snapshot:
        if self._known.all():
            return Snapshot(self._alpha.copy(), self._outputs.copy(), origin=self.origin)
        return super().snapshot()

    def block(self, idx: np.ndarray, theta: np.ndarray, *, exact: bool = True) -> np.ndarray:
        return self._core.block(idx, theta)

    def blocks(self, idx: np.ndarray) -> np.ndarray:
        return self._core.blocks(idx)

    def diagonal(self) -> np.ndarray:
        return self._core.diagonal()

    def _subset(self, examples: np.ndarray) -> LinearEngine:
        """Return an engine for some of the examples.

        Its weights may change only if the alphas of the other examples are 0.
        """
        quick = None if self.quick is None else self.quick._subset(examples)
        smaller = LinearEngine(self._core.subset(examples), quick)
        if self._known.any() and not np.isnan(self._theta).any():
            self.combined(self._theta)  # cheap: from the outputs of single kernels
        smaller._combined = self._combined[examples]
        smaller._theta, smaller._stale = self._theta, self._stale
        smaller._offset = self._offset or bool(np.delete(self._alpha, examples).any())
        return smaller

    def _sum(self, idx: np.ndarray, alpha: np.ndarray, theta: np.ndarray) -> np.ndarray:
        """Return sum_m theta_m K_m alpha, shape (n,), for an alpha that is nonzero only at idx."""
        if self._core.has_products:
            return self.matvec(alpha, theta)
        return self._core.combined(idx, alpha[idx], theta)


def quick_kernels(costs: np.ndarray) -> np.ndarray:
    """Return the indices of kernels with cheap products, given the costs of all, shape (M,).

    Costs are the sizes of tables. Kernels of equal cost, such as those on words of one length, form
    a group. Of the groups whose total cost is at most `LITTLE` times that of all kernels, the
    result is the one with the largest cost of a kernel. It is empty if there is no such group.
    """
    for cost in np.unique(costs)[::-1]:
        alike = np.flatnonzero(costs == cost)
        if costs[alike].sum() <= LITTLE * costs.sum():
            return alike
    return np.flatnonzero([])
