"""The plan of a fit: the only place that chooses how a problem is solved.

`solver=` names a method (`METHODS`). The method, the norm and the data give the engine
(`choose_engine`). These and the problem give the plan (`make_plan`), whose `repr` is a sentence.
`training.solve` follows it; the attributes of `Plan` say where each part of the sentence is done.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from .. import engines
from ..engines.base import LARGEST_BLOCK, Engine, TrainingSet
from ..losses import Loss
from ..model.files.registry import stored
from ..norms import Lp, Norm
from ..problem.problem import Problem
from .active_sets import MANY_EXAMPLES
from .loop import ACCURATE, COMPLETE, Pace, Step, parts_multiply
from .methods.base import Method
from .methods.mwu import MWU
from .methods.qcqp import QCQP
from .methods.skm import SKM
from .steps.analytic import Analytic
from .steps.cutting_plane import CuttingPlane
from .steps.gradient import Gradient
from .steps.level import Level
from .steps.master import refuse_many
from .steps.newton import Newton

# Up to this p the analytic step takes so many turns that Newton steps are faster: where new weights
# cost no kernel evaluation, and where they cost a pass over the support.
NEWTON_UP_TO_CHEAP, NEWTON_UP_TO_EXPENSIVE = 1.3, 2.0
JOINT_FROM = 1.3  # from which on the best weights change slowly enough with alpha for gradients
NEWTON_KERNELS = 500  # from which on a Newton step, with M^3 operations, takes longer at any p > 1

ENGINES: dict[str, Callable[[TrainingSet], Engine]] = {
    "family": engines.FamilyEngine.of,
    "linear": engines.LinearEngine.of,
    "plain sum": engines.DenseEngine.of_sum,
    "streamed": engines.StreamedEngine,
    "stacked": engines.StackedEngine.of,
    "dense": engines.DenseEngine.of,
}
STEPS: dict[str, Callable[[Norm], Step]] = {
    "analytic": Analytic,
    "Newton": Newton,
    "cutting plane": CuttingPlane,
    "level": Level,
    "gradient": Gradient,
}


@dataclass(frozen=True)
class Trained(Method):
    """A method of the training loop.

    Attributes
    ----------
    norms : says which norms it serves.
    step : name of its weight step; None where the weights are given.
    pace : what an interleaved step asks of the inner problem; None where it acts on every turn.
    alignment : name of the alignment that gives the weights before the loop, or None.
    """

    norms: Callable[[Norm], bool]
    step: str | None = None
    pace: Pace | None = None
    alignment: str | None = None

    @property
    def shares(self) -> bool:
        return self.alignment is None

    @property
    def combines(self) -> bool:
        return self.alignment is None

    def serves(self, norm: Norm) -> bool:
        return self.norms(norm)

    def serves_loss(self, loss: Loss) -> bool:
        return self.alignment is None or loss.kind != "one-class"  # there are targets


AUTO = Trained(lambda norm: True)

METHODS: dict[str, Method] = {
    "analytic": Trained(lambda norm: not norm.is_sparse, "analytic"),
    "newton": Trained(lambda norm: norm.is_curved, "Newton", ACCURATE),
    "hessian": Trained(lambda norm: norm.is_sparse, "Newton", ACCURATE),
    "cutting-plane": Trained(lambda norm: norm.has_ball, "cutting plane"),
    "level": Trained(lambda norm: norm.has_ball, "level"),
    "gradient": Trained(lambda norm: norm.is_sparse, "gradient", COMPLETE),
    "uniform": Trained(lambda norm: norm.is_plain_sum),
    "alignment": Trained(lambda norm: norm.allows_zeros, alignment="plain"),
    "centered-alignment": Trained(lambda norm: norm.allows_zeros, alignment="centred"),
    "qcqp": QCQP(),
    "skm": SKM(),
    "mwu": MWU(),
}


@stored("Plan")
@dataclass(frozen=True, repr=False)
class Plan:
    """How a problem is solved.

    Attributes
    ----------
    engine : name of the engine, a key of `ENGINES`.
    algorithm : an algorithm with a loop of its own, or None for the training loop.
    step : name of the weight step, a key of `STEPS`; None where the weights are given.
    pace : what the step asks of the inner problem; None where it acts on every turn.
    alignment : what gives the weights before the loop, a key of `alignment.WEIGHTS`, or None.
    working_set : number of examples worked on in a turn (`training.working_sets`).
    conjugate, newton_cg : whether `training.conjugate_gradients`, or `training.newton_cg`, are
        tried before working sets.
    joint : whether `training.joint_gradients` are tried before the loop.
    grows : whether working sets come from an active set that grows (`training.shrinking`).
    samples : whether weights start from those of a sample (`training.solve.first_weights`).
    drops : whether small weights are dropped at the end (`training.solve.drop_small_weights`).
    rough : whether the engine works in single precision until the gap is small.
    """

    engine: str
    algorithm: Any = None
    step: str | None = None
    pace: Pace | None = None
    alignment: str | None = None
    working_set: int = LARGEST_BLOCK
    conjugate: bool = False
    newton_cg: bool = False
    joint: bool = False
    grows: bool = False
    samples: bool = False
    drops: bool = False
    rough: bool = False

    @property
    def inner(self) -> Plan:
        """The plan of the inner problem, in which the weights are given."""
        return replace(self, step=None, pace=None, joint=False)

    def make_step(self, norm: Norm) -> Step:
        """Return a new weight step: what one remembers is wrong for another problem."""
        return STEPS[str(self.step)](norm)

    @property
    def certifies(self) -> str:
        """What the duality gap of the result certifies."""
        return "weights and machine" if self.alignment is None else "machine at given weights"

    def __repr__(self) -> str:
        parts = [f"{self.engine} engine"]
        parts += ["conjugate gradients with the best weights for each alpha first"] * self.joint
        if self.algorithm is not None:
            return "; ".join([*parts, repr(self.algorithm)])
        where = " on a growing active set" if self.grows else ""
        how = "conjugate gradients, then " if self.conjugate or self.newton_cg else ""
        how = "Newton's method with " * self.newton_cg + how
        parts.append(f"{how}working sets of {self.working_set:,}{where}")
        if self.alignment is not None:
            parts.append(f"weights given by {self.alignment} alignments")
        elif self.step is None:
            parts.append("given weights")
        elif self.pace is None:
            parts.append(f"{self.step} steps after every turn")
        else:
            parts.append(f"{self.step} steps on {self.pace.name} solutions of the inner problem")
        parts += ["weights start from a sample"] * self.samples
        parts += ["small weights dropped at the end"] * self.drops
        parts += ["single precision until the gap is small"] * self.rough
        return "; ".join(parts)


def find_method(choice: Any, norm: Norm, loss: Loss, *, shared: bool = False) -> Method:
    """Return the method of a name, or an object such as `SKM(...)` as it is.

    Raises
    ------
    ValueError : when there is no such method, or it cannot serve the norm, the loss, or (`shared`)
        outputs that share their weights.
    """

    def able(method: Method) -> bool:
        return method.serves(norm) and method.serves_loss(loss) and (method.shares or not shared)

    known: dict[str, Method] = {"auto": AUTO, **METHODS}
    method = known.get(choice) if isinstance(choice, str) else choice
    if not isinstance(method, Method):
        raise ValueError(f"solver must be one of {list(known)}, got {choice!r}")
    if not able(method):
        sharing = " and share_weights=True" if shared else ""
        raise ValueError(
            f"solver={choice!r} cannot serve norm={norm!r} with loss={loss.name!r}{sharing}; "
            f"these can: {[name for name, other in known.items() if able(other)]}"
        )
    return method


def choose_engine(
    training_set: TrainingSet,
    methods: Sequence[Method],
    norms: Sequence[Norm],
    *,
    shared: bool,
    fits: int = 1,
) -> str:
    """Return the name of the engine that suits kernels and examples, and all of some methods.

    Parameters
    ----------
    shared : whether several outputs share their weights.
    fits : how many machines will be trained on it.
    """
    M, n = training_set.kernels.n_kernels, training_set.examples.n
    combines = not shared and all(method.combines for method in methods)
    if combines and engines.FamilyEngine.serves(training_set):
        return "family"
    if combines and engines.LinearEngine.serves(training_set):
        return "linear"
    if (
        combines
        and all(norm.is_plain_sum for norm in norms)
        and engines.DenseEngine.sums(training_set)
    ):
        return "plain sum"
    if not shared and all(method.streams(M, n) for method in methods):
        return "streamed"
    return "stacked" if fits > 1 and engines.StackedEngine.serves(training_set) else "dense"


def suited_norm(norm: Norm, engine: str, M: int) -> Norm:
    """Return the norm of M weights for an engine: that of a plain sum has a single kernel."""
    norm.start(M)  # refuses a norm for another number of kernels
    return Lp(np.inf) if engine == "plain sum" else norm


def make_plan(
    method: Method,
    problem: Problem,
    engine: Engine,
    name: str,
    interleaved: bool = True,
    working_set: int | str = "auto",
) -> Plan:
    """Return the plan of a problem.

    Parameters
    ----------
    engine, name : the engine, and its name.
    interleaved : whether weights may move before the inner problem is solved completely.
    working_set : number of examples; a number also rules out methods without working sets.
    """
    automatic_method = method is AUTO
    if automatic_method:
        method = METHODS[automatic(problem.norm, engine.keeps_outputs, engine.n_kernels)]
    if not isinstance(method, Trained):
        return Plan(name, algorithm=method)
    refuse_many(method.step, problem.norm, engine.n_kernels)
    single, term = problem.n_outputs == 1, problem.term
    at_once = single and working_set == "auto" and engine.n > engine.largest_block
    newton_cg = at_once and term.is_entropy and engine.multiplies_linearly
    conjugate = at_once and term.is_quadratic and parts_multiply(engine, term)
    step = None if engine.n_kernels == 1 else method.step
    pace = (method.pace if interleaved else COMPLETE) if step else None
    if step and pace is None and (newton_cg or (conjugate and term.is_free)):
        pace = ACCURATE  # there are no turns before the inner problem is solved
    joint = automatic_method and interleaved and step is not None and conjugate
    joint = joint and engine.separates and JOINT_FROM <= problem.norm.exponent < np.inf
    starts_at_zero = single and problem.tau == 0 and not term.ent.any()
    return Plan(
        name,
        step=step,
        pace=pace,
        alignment=method.alignment,
        working_set=working_set if isinstance(working_set, int) else engine.largest_block,
        conjugate=conjugate,
        newton_cg=newton_cg,
        joint=joint,
        grows=starts_at_zero and engine.n > MANY_EXAMPLES and pace is not COMPLETE,
        samples=single and pace is ACCURATE and engine.sampling_pays and not joint,
        drops=step is not None and problem.norm.is_sparse,
        rough=engine.has_rough_outputs,
    )


def automatic(norm: Norm, cheap_weights: bool, M: int) -> str:
    """Name the method that suits a norm of M kernels, and weights that cost little or not."""
    if norm.is_plain_sum:
        return "uniform"
    if norm.is_sparse:
        return "hessian"
    limit = NEWTON_UP_TO_CHEAP if cheap_weights else NEWTON_UP_TO_EXPENSIVE
    return "newton" if norm.exponent <= limit and M <= NEWTON_KERNELS else "analytic"
