"""EasyMKL: weights from one SVM on the sum of the kernels (Aiolli and Donini, 2015).

The paper looks for the kernel combination with the largest margin between the classes, in the form

    min over gamma   (1 - lam) gamma' Y (sum_m K_m) Y gamma + lam ||gamma||^2
                     with gamma >= 0 and sum gamma = 1 in each class.

Then the weights are proportional to d_m = gamma' Y K_m Y gamma, the squared distance between the
two points of the classes that gamma represents in the space of kernel m. An SVM is trained on the
weighted sum.

The problem above is the dual of an SVM with the squared hinge loss and C = (1 - lam) / (2 lam), up
to a factor t of gamma: with alpha = t Y gamma the quadratic forms agree. So the first stage has a
duality gap, too, and is solved to the tolerance of the estimator.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from ...common.numbers import as_number
from ...common.warnings import warn
from ...engines.base import Engine
from ...engines.costs import EngineCosts
from ...losses import Loss, SquaredHinge
from ...model.files.registry import registered
from ...norms import Fixed, Norm
from ...problem.problem import Problem
from ..inner.working_sets import WorkingSets
from ..result import Result
from ..run import Run
from ..solver import Solver
from .base import Method


@registered("EasyMKL")
@dataclass(frozen=True)
class EasyMKL(Method):
    """EasyMKL: weights from an SVM on the sum of the kernels, then an SVM on the weighted sum.

    Parameters
    ----------
    lam : float in (0, 1), default 0.1
        Regularisation of the first SVM: 0 is the hard margin, 1 the distance between class means.

    Attributes
    ----------
    C : float
        (1 - lam) / (2 lam). An SVM with this C and ``loss="squared_hinge"`` is equivalent to the
        problem of Aiolli and Donini (2015). The first stage solves it for the sum of the kernels.
        Pass this C to the estimator to solve it for the weighted sum, too, as they do.

    Examples
    --------
    >>> import numpy as np
    >>> from kernelweave import MKLClassifier
    >>> from kernelweave.kernels import Linear, per_feature
    >>> from kernelweave.solvers.easymkl import EasyMKL
    >>> X = np.random.default_rng(0).normal(size=(80, 3))
    >>> solver = EasyMKL(lam=0.5)
    >>> model = MKLClassifier(
    ...     per_feature(Linear()), norm=2, loss="squared_hinge", C=solver.C, solver=solver
    ... )
    >>> print(model.fit(X, X[:, 0] > 0).weights_.round(1))
    [1. 0. 0.]
    """

    lam: float = 0.1

    def __post_init__(self) -> None:
        if not 0 < as_number(self.lam) < 1:
            raise ValueError(f"lam must be a number above 0 and below 1, got {self.lam!r}")

    @property
    def C(self) -> float:
        """(1 - lam) / (2 lam), for which a squared hinge SVM solves the problem of the paper."""
        return (1.0 - self.lam) / (2.0 * self.lam)

    @property
    def first_stage(self) -> MarginOfSum:
        return MarginOfSum(self.lam, self.C)

    def serves(self, norm: Norm) -> bool:
        """Return whether a norm is supported: it must allow weights of 0.

        Parameters
        ----------
        norm : Norm

        Returns
        -------
        bool
        """
        return norm.allows_zeros

    def serves_loss(self, loss: Loss) -> bool:
        """Return whether a loss is supported: it must be one of a classifier.

        Parameters
        ----------
        loss : Loss

        Returns
        -------
        bool
        """
        return loss.kind == "classifier"

    def solver(self, costs: EngineCosts) -> Solver:
        return WorkingSets(costs.block, costs.free_weights, costs.values == "cached")


@dataclass(frozen=True)
class MarginOfSum:
    """The first stage of EasyMKL: weights that the training of the second SVM does not change.

    Parameters
    ----------
    lam : float
        Regularisation parameter of `EasyMKL`, named in a warning.
    C : float
        (1 - lam) / (2 lam), the C of the SVM with which the weights are computed.
    """

    lam: float
    C: float
    fixes_weights: ClassVar[bool] = True

    def weights(self, problem: Problem, engine: Engine, run: Run) -> np.ndarray:
        """Return the weights, shape (M,), with ||theta|| = 1."""
        counted = np.flatnonzero(problem.C)
        part = engine.subset(counted)
        result = self.solved(problem.y[counted], part, run)
        if not result.converged:
            warn(
                f"the first stage of EasyMKL(lam={self.lam:g}) stopped at a relative duality gap "
                f"of {result.gap:.2e}, above {run.tol:g}; raise lam or tol",
                ConvergenceWarning,
            )
        squares = np.maximum(part.quadratic(), 0.0)
        if not squares.any():
            return problem.norm.start(engine.n_kernels)
        return np.asarray(squares / problem.norm.value(squares))

    def solved(self, y: np.ndarray, engine: Engine, run: Run) -> Result:
        """Return the certified SVM on the sum of the kernels, for targets y, shape (n,)."""
        ones, costs = np.ones(engine.n_kernels), engine.costs
        first = Problem.of(SquaredHinge(), Fixed(ones), y, np.full(engine.n, self.C))
        engine.move_to(np.zeros(engine.n))
        sets = WorkingSets(costs.block, costs.free_weights, costs.values == "cached")
        return sets.solve(first, engine, ones, run.unobserved(run.tol, run.budget.max_iter))
