"""The cutting plane step: minimise the maximum of the cuts of all previous alphas.

At p = 1 this is the semi-infinite linear program of Sonnenburg et al. (2006), solved as a linear
program that grows by one row per iteration. Otherwise it is the program of Kloft et al. (2009),
whose norm constraint is expanded to second order in each iteration of `Master`.

The minimiser of a linear program is a vertex. With many kernels successive vertices lie far apart,
and the weights would oscillate for thousands of iterations. So the step covers only a fraction of
the distance from the best weights so far to the vertex (in-out separation, Ben-Ameur and Neto,
2007).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.optimize import linprog

from ...engines.base import Engine
from ...norms import Norm
from ...problem.problem import Problem
from ..iterate import Iterate, Step
from .base import WeightStep
from .cuts import Cuts

TIGHT = 1e-10  # smallest feasibility tolerance of HiGHS
# Vertices are refined if the slope of the last cut along feasible changes is below this. Violations
# of cuts are of the order of its square, which is then near the feasibility tolerance.
REFINED = 3e-5
ACCURATE = 0.3  # vertices are refined only if the inner gap is below this fraction of the outer gap
FAR = 1e4  # distance, in units of the refined program, beyond which cuts and weights are left out
PART = 0.3  # fraction of the way from the best weights to the vertex


@dataclass(frozen=True)
class CuttingPlane(WeightStep):
    """Cutting plane steps; a component of a `Plan`."""

    def begin(self, problem: Problem, engine: Engine) -> Step:
        return CuttingPlaneSteps(problem.norm)

    def needs_matrices(self, norm: Norm) -> bool:
        return not norm.is_sparse  # at p = 1 cuts are rows of a linear program


class CuttingPlaneSteps:
    """The cutting plane steps of one fit: minimise the largest cut over the feasible weights.

    Parameters
    ----------
    norm : Norm
        Defines the feasible weights.
    """

    def __init__(self, norm: Norm):
        self.norm = norm
        self.cuts = Cuts()
        self.program: LinearProgram | None = None
        self.best, self.centre = np.inf, np.empty(0)

    def __call__(self, iterate: Iterate) -> np.ndarray:
        if not iterate.s.any():
            return iterate.theta
        self.cuts.add(iterate.linear, iterate.s)
        if not self.norm.is_sparse:
            theta = self.cuts.lowest(self.norm)[0]
            self.cuts.retire(theta)
            return theta
        accurate = iterate.primal() - iterate.value <= ACCURATE * iterate.gap(self.norm)
        return self._in_out(iterate, self._linear(self.cuts, refine=accurate))

    def _in_out(self, iterate: Iterate, vertex: np.ndarray) -> np.ndarray:
        """Return weights between the best ones so far and the minimum of the cuts, shape (M,)."""
        primal = iterate.primal()
        if primal < self.best:
            self.best, self.centre = primal, iterate.theta
        return self.centre + PART * (vertex - self.centre)

    def _linear(self, cuts: Cuts, *, refine: bool) -> np.ndarray:
        """Return the weights, (M,), that minimise the largest cut at p = 1."""
        if self.program is None:
            self.program = LinearProgram(self.norm.costs(cuts.s.shape[1]))
        self.program.add(cuts.linear[-1] / cuts.scale, cuts.s[-1] / cuts.scale)
        theta = self.program.solve()
        if refine:
            costs = self.norm.costs(len(theta))
            theta = refined(theta, cuts.linear / cuts.scale, cuts.s / cuts.scale, costs)
        theta /= self.norm.value(theta)
        self.program.remove(cuts.retire(theta))
        return theta


class LinearProgram:
    """The linear program that minimises the largest cut, gamma, at p = 1.

    min gamma  over  theta >= 0, costs . theta = 1,  with  gamma >= linear_t - 1/2 theta . s_t

    for all cuts t (`cuts`). The HiGHS model is kept between iterations, so that the simplex method
    has a warm start.
    """

    def __init__(self, costs: np.ndarray):
        self.M = len(costs)
        import highspy  # here, since loading it takes a fifth of the time of this package

        self.model = highspy.Highs()
        self.model.setOptionValue("output_flag", False)
        for side in ("primal", "dual"):
            self.model.setOptionValue(f"{side}_feasibility_tolerance", TIGHT)
        infinity = highspy.kHighsInf
        lower = np.append(np.zeros(self.M), -infinity)
        self.model.addVars(self.M + 1, lower, np.full(self.M + 1, infinity))
        self.model.changeColCost(self.M, 1.0)
        self.model.addRow(1.0, 1.0, self.M, np.arange(self.M, dtype=np.int32), costs)

    def add(self, linear: float, s: np.ndarray) -> None:
        """Add the cut with the values `linear` and s, shape (M,), as a row."""
        columns = np.arange(self.M + 1, dtype=np.int32)
        row = np.append(0.5 * s, 1.0)
        self.model.addRow(linear, np.inf, self.M + 1, columns, row)

    def remove(self, cuts: np.ndarray) -> None:
        """Remove cuts by their positions in the order in which they were added."""
        if len(cuts):
            self.model.deleteRows(len(cuts), cuts.astype(np.int32) + 1)

    def solve(self) -> np.ndarray:
        """Return the optimal weights, shape (M,)."""
        self.model.run()
        return np.maximum(np.array(self.model.getSolution().col_value)[: self.M], 0.0)


def refined(theta: np.ndarray, linear: np.ndarray, s: np.ndarray, costs: np.ndarray) -> np.ndarray:
    """Return the optimal vertex near theta, shape (M,), more accurately than the simplex method.

    Near the optimum the violation of a cut is of second order in the error of theta, and falls
    below the feasibility tolerance long before the duality gap, which is of first order. So the
    program is solved again for the change of theta, in units in which the last cuts are of order 1.

    Parameters
    ----------
    theta : ndarray of shape (M,)
        Solution of the linear program.
    linear, s : ndarrays of shape (T,) and (T, M)
        The cuts linear_t - theta . s_t / 2, oldest first.
    costs : ndarray of shape (M,)
        Coefficients of the constraint costs . theta = 1.
    """
    level = float(theta @ s[-1])
    slopes = -0.5 * (s - level * costs)  # restricted to changes with costs . change = 0
    unit = float(np.abs(slopes[-1][theta > 0]).max())
    if not 0 < unit < REFINED:
        return theta
    heights = linear - 0.5 * s @ theta
    heights = (heights - heights.max()) / unit**2
    near = heights > -FAR
    rows = np.hstack([slopes[near] / unit, np.full((int(near.sum()), 1), -1.0)])
    bounds = [(max(-weight / unit, -FAR), FAR) for weight in theta]
    found = linprog(
        np.append(np.zeros(len(theta)), 1.0),
        A_ub=rows,
        b_ub=-heights[near],
        A_eq=np.append(costs, 0.0)[None],
        b_eq=[0.0],
        bounds=[*bounds, (None, None)],
        method="highs",
    )
    if found.x is None:
        return theta
    return np.asarray(np.maximum(theta + unit * found.x[:-1], 0.0))
