"""All classes in one problem: the multinomial logistic loss, or the hinge of Crammer and Singer."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from ..common.cached_property import cached_property
from ..common.warnings import warn
from ..losses import Hinge, Logistic, Loss
from ..losses.class_risk import ClassRisk
from ..losses.crammer_singer import CrammerSingerRisk
from ..losses.multinomial import MultinomialRisk
from ..norms import Norm
from ..optimization.methods.base import Method
from ..problem.problem import Problem
from .classes import Classes
from .fit import Fit
from .formulation import Formulation, Solution
from .merged_examples import MergedExamples

LARGE = 1_000_000  # number of dual variables from which on a fit warns about its time
RISKS: dict[type, type[ClassRisk]] = {Logistic: MultinomialRisk, Hinge: CrammerSingerRisk}


@dataclass(frozen=True, eq=False)
class JointClasses(Formulation):
    """One problem of all classes, which share the kernel weights.

    Attributes
    ----------
    classes : Classes
        The loss is logistic or the hinge; it selects the joint loss.
    """

    classes: Classes

    shared = True
    keeps_kernels = True
    fits = 1
    explained = False

    @property
    def targets(self) -> np.ndarray:  # type: ignore[override]
        return self.classes.codes

    @property
    def costs(self) -> np.ndarray:  # type: ignore[override]
        return self.classes.costs

    @cached_property
    def outputs(self) -> Sequence[Problem]:
        return self.classes.against_rest()

    @cached_property
    def on_all(self) -> Sequence[Problem]:
        """The one problem of all classes."""
        known = self.classes
        kind = RISKS[type(known.loss)]
        risk = kind.of(known.loss, known.codes, known.costs, known.n_classes, known.tau)
        return [Problem(risk, known.norm)]

    @property
    def norms(self) -> list[Norm]:
        return [self.classes.norm]

    @property
    def loss(self) -> Loss:
        return self.classes.loss

    @property
    def is_hard_margin(self) -> bool:
        return False

    def method(self, solver: object) -> Method:
        if isinstance(self.classes.loss, Hinge) and solver in ("newton", "hessian"):
            raise ValueError(
                f"solver={solver!r} needs a smooth loss with multi_class='joint'; pass "
                "loss='logistic', or solver='auto'"
            )
        return super().method(solver)

    def merged(self, merged: MergedExamples) -> JointClasses:
        return replace(self, classes=self.classes.merged(merged))

    def scaled(self, factor: float) -> JointClasses:
        return replace(self, classes=self.classes.scaled(factor))

    def solve(self, fit: Fit) -> Solution:
        problems, engine = fit.prepared.suited(self.on_all)
        return Solution(fit.solve_each(problems, engine), problems, engine)


def leads(values: np.ndarray) -> np.ndarray:
    """Return by how much the output of each class exceeds the largest of the other classes.

    Outputs of a joint loss have a meaning only relative to each other, so that these differences
    are calibrated.

    Parameters
    ----------
    values : ndarray of shape (n, n_classes)
        Decision values.

    Returns
    -------
    ndarray of shape (n, n_classes)
    """
    second, first = np.sort(values, axis=1)[:, -2:].T
    best_other = np.where(values == first[:, None], second[:, None], first[:, None])
    return np.asarray(values - best_other)


def warn_of_large(classes: np.ndarray, n: int) -> None:
    """Warn if a joint problem of n examples has so many classes that it takes long."""
    count = len(classes)
    if count * n > LARGE:
        warn(
            f"multi_class='joint' trains {count:,} classes on {n:,} examples as one problem of "
            f"{count * n:,} dual variables, which takes {16 * count * n / 1e9:.1f} GB or more; "
            "multi_class='ovr' trains one class after the other",
            UserWarning,
        )
