"""The wrapper schedule: a weight step after every solution of the inner problem.

J(theta) denotes the optimal value of the inner problem, in which the weights are fixed. The inner
gap is the duality gap of this problem, the outer gap that of the problem with free weights. Weight
steps that build a model of J, such as Newton steps, need an alpha close to the inner optimum.
Otherwise they go too far in a wrong direction, and it is unknown whether the last step decreased J.
The inner problem is solved as accurately as a step needs it, and no better.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from ..engines.base import Engine
from ..norms import Norm
from ..norms.base import clip
from ..problem.problem import Problem
from .certifier import Certifier
from .iterate import Iterate
from .result import Result
from .run import Run
from .solver import Solver
from .steps.base import WeightStep


@dataclass(frozen=True)
class WrapperTuning:
    """Constants of the wrapper schedule. Gaps are relative duality gaps.

    Attributes
    ----------
    inner_iterations : maximum number of iterations of one inner problem.
    inner_failures : stalled inner problems in a row after which the fit stops.
    probes : maximum number of weights tested in a row for which the constant model is optimal. A
        fit that exceeds it stops, since such dual values are rounding errors.
    inner_decrease : fraction of its first value to which the inner gap must fall. Otherwise a
        weight step might be repeated at the same alpha.
    good_weights : if better weights would reduce the outer gap by less than this fraction of the
        tolerance, the next iteration improves only alpha.
    """

    inner_iterations: int = 1000
    inner_failures: int = 3
    probes: int = 100
    inner_decrease: float = 0.3
    good_weights: float = 0.8


@dataclass(frozen=True)
class Accuracy:
    """Required accuracy of inner solutions for a weight step.

    Attributes
    ----------
    largest : float
        Largest inner gap that the step accepts.
    least : float
        Fraction of the tolerance below which the inner gap need not fall.
    outer_share : float
        Fraction of the outer gap below which the inner gap need not fall, if a change of alpha is
        expensive.
    """

    largest: float
    least: float
    outer_share: float = 0.0


ACCURATE = Accuracy(largest=0.03, least=0.03)
COMPLETE = Accuracy(largest=0.0, least=0.3)


class InnerGap:
    """The relative duality gap to which the next inner problem is solved.

    After a weight step it is the decrease of the inner optimal value that the step predicts to
    first order, clipped to the bounds in `Accuracy`.
    """

    def __init__(self, accuracy: Accuracy, tol: float):
        self._largest, self._least = accuracy.largest, accuracy.least * tol
        self._tol, self._share = tol, accuracy.outer_share
        self._wanted, self._narrowest = accuracy.largest, np.inf

    @property
    def value(self) -> float:
        return max(self._least, self._wanted)

    def after_same_weights(self, gap_due_to_weights: float) -> None:
        """Set the next inner gap after an iteration that changed only alpha.

        `gap_due_to_weights` is the part of the outer gap that better weights would close.
        """
        self._wanted = 0.5 * (self._tol - gap_due_to_weights)

    def after_step(self, iterate: Iterate, theta: np.ndarray, gap: float) -> None:
        """Set the next inner gap after a weight step.

        Parameters
        ----------
        iterate : Iterate
            The start of the step.
        theta : ndarray of shape (M,)
            The weights after the step.
        gap : float
            Outer gap of the iterate.
        """
        if gap >= self._narrowest:  # the last inner solution may have lacked accuracy
            self._least, self._share = 0.5 * self._least, 0.5 * self._share
        self._narrowest = min(self._narrowest, gap)
        gain = 0.5 * abs(iterate.s @ (theta - iterate.theta))  # decrease of J to first order
        self._wanted = min(self._largest, max(gain / iterate.scale, self._share * gap))


class ProbeWeights:
    """Weights used to test whether the constant model is optimal for every theta.

    The inner problem hardly depends on kernels with small weights. The first test uses equal
    weights, which is enough if kernels are few or similar. In later tests, kernels whose squared
    block norm stays large get larger weights.
    """

    def __init__(self, norm: Norm):
        self._norm = norm
        self._last: np.ndarray | None = None

    def next(self, s: np.ndarray) -> np.ndarray:
        """Return the next weights to test, shape (M,), given s, shape (M,), at the last ones."""
        if self._last is None:
            self._last = self._norm.start(len(s))
        else:
            self._last = self._last + clip(s) / self._norm.value(clip(s))
        return np.asarray(self._last / self._norm.value(self._last))


@dataclass(frozen=True)
class Wrapper:
    """Alternate between inner solutions of a given accuracy and weight steps.

    Parameters
    ----------
    inner : Solver
        Solves the inner problem.
    step : WeightStep
        Computes the next weights from an inner solution.
    accuracy : Accuracy
        Inner gap that each weight step requires.
    """

    inner: Solver
    step: WeightStep
    accuracy: Accuracy = ACCURATE
    tuning: WrapperTuning = field(default=WrapperTuning(), repr=False)

    def solve(self, problem: Problem, engine: Engine, weights: np.ndarray, run: Run) -> Result:
        """Improve alpha and the weights, shape (M,), until the run is finished."""
        tuning, norm, failures = self.tuning, problem.norm, 0
        certifier, step = Certifier(problem, engine), self.step.begin(problem, engine)
        inner_gap, probes = InnerGap(self.accuracy, run.tol), ProbeWeights(norm)

        def solve_inner(theta: np.ndarray) -> Iterate:
            nonlocal failures
            inner = run.inner(
                inner_gap.value,
                tuning.inner_iterations,
                decrease=tuning.inner_decrease,
            )
            found = self.inner.solve(problem.with_weights(theta), engine, theta, inner)
            failures = 0 if found.converged or inner.budget.spent else failures + 1
            return Iterate.of(certifier, theta, solve_inner, run.tol)

        iterate = Iterate.of(certifier, weights, solve_inner, run.tol)
        iterations = tested = 0
        while True:
            certificate = certifier.certify(weights, iterate.s)
            run.record(certificate, weights, iterations, engine.alpha)
            if run.finished(engine) or failures >= tuning.inner_failures:
                return run.result(certificate, engine.alpha, weights)
            constant = problem.constant_is_optimal(iterate.value)
            tested = tested + 1 if constant else 0
            if tested > tuning.probes:
                return run.result(certificate, engine.alpha, weights)
            if constant:  # for these weights; test others
                weights = probes.next(iterate.s)
            elif iterations:
                due = iterate.gap_due_to_weights(norm, certificate)
                if due <= tuning.good_weights * run.tol:
                    inner_gap.after_same_weights(due)
                else:
                    weights = step(iterate)
                    inner_gap.after_step(iterate, weights, certificate.gap)
            iterate, iterations = solve_inner(weights), 1
