"""The run of a solver: its log, budget, stopping rule and observer, passed along as one object.

One run belongs to a fit. Subproblems, such as inner problems, have separate runs (`Run.inner`) that
share the clock and the observer.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np

from ..common.core import Work
from ..engines.base import Engine
from ..problem.certificate import Certificate
from .best_model import BestModel
from .budget import Budget
from .log import Log, Watch
from .observers import Observer
from .result import Result
from .stopping import StoppingRule


@dataclass(frozen=True, eq=False)
class Run:
    """The state of a run: solvers log each model and its duality gap, and query when to stop.

    Attributes
    ----------
    rule : StoppingRule
        Has the tolerance, and detects stalled solvers.
    budget : Budget
        Iterations and time left.
    log : Log
        Entries of the models so far.
    observe : callable, optional
        Is called with alpha, shape (n,), and the weights, shape (M,), whenever they have changed.
    best : BestModel, optional
        Stores the model with the smallest gap. A fit returns it if the budget is spent.
    """

    rule: StoppingRule
    budget: Budget = field(default_factory=Budget)
    log: Log = field(default_factory=lambda: Log(Work()))
    observe: Observer | None = None
    best: BestModel | None = None

    @classmethod
    def start(
        cls,
        tol: float = 1e-3,
        max_iter: int | None = None,
        deadline: float = np.inf,
        *,
        watch: Watch | None = None,
        observe: Observer | None = None,
    ) -> Run:
        """Return a run that starts now."""
        log = Log(Work(), watch)
        return cls(StoppingRule(tol), Budget(max_iter, deadline), log, observe)

    def inner(
        self,
        tol: float,
        max_iter: int | None = None,
        *,
        decrease: float = 1.0,
        observe: Observer | None = None,
    ) -> Run:
        """Return the run of a subproblem, such as an inner problem.

        Parameters
        ----------
        tol, decrease : float
            Gap to reach, see `StoppingRule`.
        max_iter : int, optional
            Maximum number of iterations.
        observe : callable, optional
            Observer of that problem's alpha and weights; this run's observer by default.
        """
        return Run(
            StoppingRule(tol, decrease),
            Budget(max_iter, self.budget.deadline),
            Log(self.log.work, started=self.log.started),
            observe or self.observe,
        )

    def unobserved(self, tol: float, max_iter: int | None = None) -> Run:
        """Return the run of a subproblem that is not observed, such as that of a sample."""
        return replace(self.inner(tol, max_iter), observe=None)

    def in_single_precision(self, tol: float) -> Run:
        """Return a run of the same problem in single precision, with the same `watch` callback."""
        log = Log(self.log.work, self.log.watch, "single precision", self.log.started)
        budget = Budget(self.budget.iterations_left, self.budget.deadline)
        return Run(StoppingRule(tol), budget, log, self.observe)

    def absorb(self, other: Run) -> None:
        """Take over the log of a run in single precision, except for its last entry.

        The last model is certified again in double precision.
        """
        self.log.extend(other.log.entries[:-1])
        self.budget.used += other.budget.used

    def with_tol(self, tol: float) -> Run:
        """Return this run with another tolerance; log and budget are shared."""
        return replace(self, rule=replace(self.rule, tol=tol))

    def continued(self) -> Run:
        """Return this run for another solver, with the record of stalls reset."""
        return replace(self, log=self.log.continued())

    @property
    def tol(self) -> float:
        """Relative duality gap to reach."""
        return self.rule.target(self.log)

    def record(
        self,
        certificate: Certificate,
        weights: np.ndarray,
        iterations: int = 1,
        alpha: np.ndarray | None = None,
    ) -> None:
        """Log the duality gap of a model.

        Parameters
        ----------
        certificate : Certificate
            The primal and dual value of the model.
        weights : ndarray of shape (M,)
        iterations : int
            Number of iterations since the last recorded model.
        alpha : ndarray of shape (n,), optional
            If given, the fit may return this model when its budget is spent.
        """
        self.log.add(certificate, weights)
        self.budget.used += iterations
        if self.best is not None and alpha is not None:
            self.best.note(certificate, alpha, weights)

    def notify(self, alpha: np.ndarray, weights: np.ndarray) -> None:
        """Call the observer, if any, with alpha, shape (n,), and weights, shape (M,)."""
        if self.observe is not None:
            self.observe(alpha, weights)

    @property
    def converged(self) -> bool:
        """Whether the last model has reached the tolerance."""
        return self.log.last.gap <= self.tol

    def stalled(self, engine: Engine) -> bool:
        """Return whether further iterations would not improve the engine's alpha."""
        return self.rule.stalled(self.log, engine)

    def finished(self, engine: Engine) -> bool:
        """Return whether to stop at the last logged model, which has the engine's alpha."""
        return self.converged or self.budget.spent or self.stalled(engine)

    def result(self, certificate: Certificate, alpha: np.ndarray, weights: np.ndarray) -> Result:
        """Return the result with alpha, shape (n,), and weights, shape (M,)."""
        converged = certificate.gap <= self.tol
        return Result(
            **vars(certificate),
            alpha=alpha.copy(),
            weights=weights,
            n_iter=self.budget.used,
            history=self.log.entries,
            converged=converged,
            late=self.budget.out_of_time and not converged,
        )
