"""The plan of a fit: which engine, which start, which solver. All choices are made here.

`solver=` of an estimator names a method (`METHODS`). The method, the norm and the data determine
the engine (`choose_engine`). The problem and the costs of the engine (`EngineCosts`) determine the
plan (`make_plan`): a composition of small frozen objects, whose `repr` is the plan itself.
`solve` follows it and chooses nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from .. import engines
from ..common.cached_property import cached_property
from ..engines.base import Engine, TrainingSet
from ..engines.costs import EngineCosts
from ..losses import Loss
from ..norms import Lp, Norm
from ..problem.hard_margin import HardMarginProblem
from ..problem.problem import Problem
from .active_sets import ActiveSets, ActiveSetTuning
from .fallback import Fallback
from .inner.class_sets import ClassSets
from .inner.conjugate_gradients import ConjugateGradients
from .inner.joint_gradients import JointDescent
from .inner.newton_cg import NewtonCG
from .inner.pair_sets import PairSets
from .inner.surrogate_newton import SurrogateNewton
from .inner.working_sets import WorkingSets
from .interleaved import Interleaved
from .methods.alignment import Aligned
from .methods.base import Method
from .methods.easymkl import EasyMKL
from .methods.hard_margin import HardMargin
from .methods.mwu import MWU
from .methods.qcqp import QCQP
from .methods.sifting import SiftedKernels
from .methods.skm import SKM
from .single_precision import OnlySinglePrecision, SinglePrecision
from .solver import Solver
from .sparsity import DropSmallWeights
from .start import ActiveSetStart, Sample, Start, Uniform
from .steps.analytic import Analytic
from .steps.base import WeightStep
from .steps.cutting_plane import CuttingPlane
from .steps.gradient import Gradient
from .steps.inner_hessian import InnerHessian
from .steps.level import Level
from .steps.master import refuse_many
from .steps.newton import Newton
from .steps.response_hessian import ResponseHessian
from .summary import PlanSummary
from .wrapper import ACCURATE, COMPLETE, Accuracy, Wrapper

ACTIVE_SETS = ActiveSetTuning()


@dataclass(frozen=True)
class PlanTuning:
    """Thresholds of the choices, from the ablation in benchmarks/notes/ablation.md.

    Attributes
    ----------
    newton_free, newton_costly : largest p for which Newton steps are faster than analytic steps, if
        new weights cost no kernel evaluation, and if they cost a pass over the support vectors.
    newton_kernels : number of kernels M above which Newton steps, with M^3 operations, are slower
        than analytic steps.
    joint_from : p from which on the best weights change slowly enough for joint descent.
    outer_share : if a change of alpha costs a pass over the examples, inner problems are not solved
        below this fraction of the outer gap.
    hessian_share, hessian_blocks : number of free examples from which a Hessian is computed, as a
        fraction of all examples, so that its Cholesky factorisation costs no more than a pass over
        them; and bounds on that number, in units of the largest kernel block.
    matrix_examples : number of examples up to which the kernel matrix is kept for Newton-CG with a
        risk that is not a sum over the examples: 200 MB.
    cheap_changes, costly_changes : KKT violation to which a working set is solved, relative to the
        largest one. With several kernels whose values are not cached a changed alpha costs more,
        and less accurate solutions change fewer of them.
    response_kernels : number of kernels, times outputs, above which Newton steps are slower than
        analytic steps with such a risk: each kernel adds a linear system.
    sift_kernels : number of kernels at p = 1 from which on they are sifted.
    active_sets : constants of growing active sets.
    adapt : iterations in which alpha adapts when small weights of a final model are dropped.
    """

    newton_free: float = 1.3
    newton_costly: float = 2.0
    newton_kernels: int = 500
    joint_from: float = 1.3
    outer_share: float = 0.1
    hessian_share: float = 0.1
    hessian_blocks: tuple[float, float] = (0.3, 1.2)
    matrix_examples: int = 5000
    cheap_changes: float = 0.1
    costly_changes: float = 0.3
    response_kernels: int = 100
    sift_kernels: int = 300
    adapt: int = 3
    active_sets: ActiveSetTuning = ACTIVE_SETS


TUNING_OF_PLANS = PlanTuning()

ENGINES: dict[str, Callable[[TrainingSet], Engine]] = {
    "family": engines.FamilyEngine.of,
    "linear": engines.LinearEngine.of,
    "plain sum": engines.DenseEngine.of_sum,
    "streamed": engines.StreamedEngine,
    "stacked": engines.StackedEngine.of,
    "dense": engines.DenseEngine.of,
}


@dataclass(frozen=True)
class Trained(Method):
    """A method of the general training loop.

    Attributes
    ----------
    norms : callable
        Returns whether the method supports a norm.
    step : str or None
        Weight step, a key of `STEPS`; None if the weights are fixed.
    accuracy : Accuracy or None
        Accuracy of inner solutions; None if every working set is followed by a weight step.
    stage : Start or None
        Rule that fixes the weights before training.
    """

    norms: Callable[[Norm], bool]
    step: str | None = None
    accuracy: Accuracy | None = None
    stage: Start | None = None

    @property
    def first_stage(self) -> Start | None:
        return self.stage

    @property
    def shares(self) -> bool:
        return self.stage is None

    @property
    def combines(self) -> bool:
        return self.stage is None

    def serves(self, norm: Norm) -> bool:
        return self.norms(norm)

    def streams(self, M: int, n: int) -> bool:
        """Whether p = 1 is solved on some of M kernels at a time."""
        sifts = self.stage is None and self.accuracy is not COMPLETE
        return sifts and TUNING_OF_PLANS.sift_kernels < M

    def serves_loss(self, loss: Loss) -> bool:
        return self.stage is None or loss.kind not in ("one-class", "survival")


AUTO = Trained(lambda norm: True)
NEWTON = Trained(lambda norm: norm.is_curved or norm.is_sparse, "newton", ACCURATE)

METHODS: dict[str, Method] = {
    "analytic": Trained(lambda norm: not norm.is_sparse, "analytic"),
    "newton": NEWTON,
    "hessian": NEWTON,  # the name of the method in Chapelle and Rakotomamonjy (2008)
    "cutting-plane": Trained(lambda norm: norm.has_ball, "cutting plane"),
    "level": Trained(lambda norm: norm.has_ball, "level"),
    "gradient": Trained(lambda norm: norm.is_sparse, "gradient", COMPLETE),
    "simplemkl": Trained(lambda norm: norm.is_sparse, "reduced gradient", COMPLETE),
    "uniform": Trained(lambda norm: norm.is_plain_sum),
    "alignment": Trained(lambda norm: norm.allows_zeros, stage=Aligned("plain")),
    "centered-alignment": Trained(lambda norm: norm.allows_zeros, stage=Aligned("centred")),
    "easymkl": EasyMKL(),
    "qcqp": QCQP(),
    "skm": SKM(),
    "mwu": MWU(),
}


@dataclass(frozen=True)
class Options:
    """Requirements that a plan must meet.

    Attributes
    ----------
    interleaved : bool
        Whether weight steps may be taken before the inner problem is solved.
    working_set : int or "auto"
        Number of examples in a working set. A number also rules out methods without working sets.
    final : bool
        Whether the model is returned to the user. Then iterations are spent on dropping small
        weights.
    """

    interleaved: bool = True
    working_set: int | str = "auto"
    final: bool = True


@dataclass(frozen=True)
class Plan:
    """The engine, the start and the solver of a problem.

    Attributes
    ----------
    engine : str
        Name of the engine, a key of `ENGINES`.
    start : Start
        Rule for the first weights.
    solver : Solver
        Improves alpha and the weights.
    """

    engine: str
    start: Start
    solver: Solver

    @property
    def certifies(self) -> str:
        """Text that states what the duality gap of the result certifies."""
        return "model with fixed weights" if self.start.fixes_weights else "weights and model"

    def for_file(self) -> PlanSummary:
        """Return the summary of the plan that model files contain."""
        return PlanSummary(repr(self), self.certifies)


def find_method(choice: object, norm: Norm, loss: Loss, *, shared: bool = False) -> Method:
    """Return the method of a name, or an object such as `SKM(...)` as it is.

    Raises
    ------
    ValueError
        If there is no such method, or if it does not support the norm, the loss, or (`shared`)
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
            f"solver={choice!r} does not support norm={norm!r} with loss={loss.name!r}{sharing}; "
            f"these do: {[name for name, other in known.items() if able(other)]}"
        )
    return method


@dataclass(frozen=True)
class Workload:
    """The problems that one engine will serve.

    Attributes
    ----------
    methods : sequence of Method
    norms : sequence of Norm
    shared : bool
        Whether several outputs, each with its own alpha, share their weights.
    fits : int
        Number of problems that will be solved.
    """

    methods: Sequence[Method]
    norms: Sequence[Norm]
    shared: bool = False
    fits: int = 1

    @property
    def combines(self) -> bool:
        """Whether the outputs of single kernels are not needed."""
        return not self.shared and all(method.combines for method in self.methods)

    def streams(self, M: int, n: int) -> bool:
        """Return whether every problem is solved on some of M kernels at a time."""
        sparse = not self.shared and all(norm.is_sparse for norm in self.norms)
        return sparse and all(method.streams(M, n) for method in self.methods)


def choose_engine(training_set: TrainingSet, workload: Workload) -> str:
    """Return the name of the engine that suits the kernels, the examples, and the problems."""
    kernels, n = training_set.kernels, training_set.examples.n
    if workload.combines and engines.FamilyEngine.serves(training_set):
        return "family"
    if workload.combines and engines.LinearEngine.serves(training_set):
        return "linear"
    plain_sum = all(norm.is_plain_sum for norm in workload.norms)
    if workload.combines and plain_sum and engines.DenseEngine.sums(training_set):
        return "plain sum"
    if workload.streams(kernels.n_kernels, n):
        return "streamed"
    several = workload.fits > 1
    return "stacked" if several and engines.StackedEngine.serves(training_set) else "dense"


def suited_norm(norm: Norm, engine: str, M: int) -> Norm:
    """Return the norm for an engine; a plain sum is a single kernel, so that M = 1."""
    norm.start(M)  # raises ValueError if the norm is for another number of kernels
    return Lp(np.inf) if engine == "plain sum" else norm


def make_plan(
    method: Method, problem: Problem, engine: Engine, name: str, options: Options = Options()
) -> Plan:
    """Return the plan of a problem.

    Parameters
    ----------
    method : Method
        The user's choice, from `find_method`.
    problem : Problem
    engine : Engine
    name : str
        Name of the engine.
    options : Options
    """
    if isinstance(problem, HardMarginProblem) and not (
        method.solves_hard_margins or problem.constant_is_optimal(0.0)
    ):
        soft = make_plan(method, problem.soft(1.0), engine, name, options)
        return replace(soft, solver=HardMargin(soft.solver))
    if not isinstance(method, Trained) and not problem.constant_is_optimal(0.0):
        return Plan(name, method.first_stage or Uniform(), method.solver(engine.costs))
    if not isinstance(method, Trained):
        method = AUTO
    costs, n, M = engine.costs, engine.n, engine.n_kernels
    if costs.streamed:  # sampled kernels get an engine that caches their outputs
        held = EngineCosts(block=costs.block, free_weights=True)
        plan = _Planner(method, problem, held, n, M, options, TUNING_OF_PLANS).plan(name)
        return replace(plan, solver=SiftedKernels(plan.solver))
    return _Planner(method, problem, costs, n, M, options, TUNING_OF_PLANS).plan(name)


@dataclass(frozen=True)
class _Planner:
    """The choices for one problem, each a method that reads the costs of the engine."""

    method: Trained
    problem: Problem
    costs: EngineCosts
    n: int
    M: int
    options: Options
    tuning: PlanTuning = TUNING_OF_PLANS

    def plan(self, name: str) -> Plan:
        refuse_many(self._step_name, self.problem.norm, self.M)
        start: Start = Sample(self._on_samples()) if self._samples else Uniform()
        if self._grows:
            start = ActiveSetStart(start, self.tuning.active_sets)
        if self.method.first_stage is not None:
            start = self.method.first_stage
        return Plan(name, start, self._solver())

    def _solver(self) -> Solver:
        """Return the solver on all examples."""
        solver = self._schedule(self._inner(self.costs.products))
        growing = self._sparse(self._growing(solver))
        if not self.costs.single_precision:
            return growing
        return SinglePrecision(growing, self._sparse(solver))

    def _growing(self, solver: Solver) -> Solver:
        """Return the solver, preceded by growing active sets if there are many examples."""
        if not self._grows:
            return solver
        on_sets = self._schedule(self._inner(self.costs.part_products))
        return ActiveSets(on_sets, solver, self._sets, self.tuning.active_sets)

    def _sparse(self, solver: Solver) -> Solver:
        """Return the solver, followed by dropping small weights if the norm is sparse."""
        if self._step_name is None or not self.problem.norm.is_sparse:
            return solver
        iterations = self.tuning.adapt if self.options.final else 0
        return DropSmallWeights(solver, self._inner(self.costs.products), iterations)

    def _on_samples(self) -> Solver:
        solver = self._schedule(self._inner(self.costs.part_products))
        return OnlySinglePrecision(solver) if self.costs.single_precision else solver

    def _schedule(self, inner: Solver) -> Solver:
        """Return the solver that alternates between alpha and the weights."""
        name = self._step_name
        if name is None:
            return inner
        step, accuracy = self._step(name), self._accuracy
        schedule: Solver
        if accuracy is None and name == "cutting plane":
            # Cuts of inexact alphas leave a gap of about 1e-5; cuts of accurate ones close it.
            accurate = Wrapper(self._sets, step, ACCURATE)
            schedule = Fallback(Interleaved(self._sets, step), accurate)
        elif accuracy is None:
            schedule = Interleaved(self._sets, step)
        else:
            schedule = Wrapper(inner, step, accuracy)
        if not self._joint:
            return schedule
        descent = JointDescent(record=self.costs.fixed_products)
        return Fallback(descent, schedule, self._size)

    def _inner(self, products: str) -> Solver:
        """Return the solver for alpha under fixed weights; see `EngineCosts.products`."""
        if self.costs.class_pairs:
            return PairSets()
        if not self.problem.risk.separates and not self.problem.risk.is_smooth:
            return ClassSets(self._size)
        if not self.problem.risk.separates:
            kind = self._product_kind(products)
            return SurrogateNewton() if kind == "sample" else NewtonCG(kind)
        at_once = self._at_once(products)
        return self._sets if at_once is None else Fallback(at_once, self._sets, self._size)

    def _at_once(self, products: str) -> NewtonCG | ConjugateGradients | None:
        """Return the method that changes all alphas at once, if products are cheap enough."""
        single = self.problem.n_outputs == 1 and self.options.working_set == "auto"
        if products == "none" or not single or self.n <= self.costs.block:
            return None
        if self.problem.risk.is_smooth:
            return NewtonCG()
        term = self.problem.term
        if term.is_quadratic and (products == "cheap" or term.is_free):
            return ConjugateGradients(self.costs.separate_products, self.costs.fixed_products)
        return None

    def _product_kind(self, products: str) -> str:
        """Return how matrix-vector products are computed if the risk is no sum over examples."""
        if products != "none":
            return "engine"
        examples = self.n // self.problem.n_outputs
        return "matrix" if examples <= self.tuning.matrix_examples else "sample"

    def _step(self, name: str) -> WeightStep:
        """Return the weight step of a name."""
        if name == "newton" and not self.problem.risk.separates:
            return Newton(ResponseHessian(self._product_kind(self.costs.products)))
        if name == "newton":
            fewest, most = np.multiply(self.tuning.hessian_blocks, self.costs.block)
            share = self.tuning.hessian_share * self.n / self.problem.n_outputs
            examples = round(np.clip(share, fewest, most))
            recorded = self.costs.costly_pairs and self.costs.fixed_products
            return Newton(InnerHessian(examples, recorded=recorded))
        steps: dict[str, Callable[[], WeightStep]] = {
            "analytic": Analytic,
            "cutting plane": CuttingPlane,
            "level": Level,
            "gradient": Gradient,
            "reduced gradient": partial(Gradient, metric=None),
        }
        return steps[name]()

    @cached_property
    def _step_name(self) -> str | None:
        """Name of the weight step, None if the weights are fixed."""
        if self.M == 1:
            return None
        norm = self.problem.norm
        if self.method is not AUTO:
            return self.method.step
        if norm.is_plain_sum:
            return None
        # Each kernel would add a linear system, or there are no blocks of single kernels.
        risk, systems = self.problem.risk, self.M * self.problem.n_outputs
        many = not risk.separates and self.tuning.response_kernels < systems
        if many or self.costs.class_pairs or not (risk.separates or risk.is_smooth):
            return "level" if norm.is_sparse else "analytic"
        if norm.is_sparse:
            return "newton"
        tuning = self.tuning
        limit = tuning.newton_free if self.costs.free_weights else tuning.newton_costly
        steep = norm.exponent <= limit or (np.isnan(norm.exponent) and norm.is_curved)
        newton = steep and tuning.newton_kernels >= self.M
        return "newton" if newton else "analytic"

    @cached_property
    def _accuracy(self) -> Accuracy | None:
        """Accuracy of inner solutions; None for a weight step after every working set."""
        accuracy = self.method.accuracy
        if self.method is AUTO and self._step_name == "newton":
            accuracy = ACCURATE
        if not self.options.interleaved:
            accuracy = COMPLETE
        if self.costs.class_pairs:
            accuracy = accuracy or ACCURATE
        if accuracy is None and not isinstance(self._inner(self.costs.products), WorkingSets):
            # There are no iterations before the inner problem is solved.
            risk = self.problem.risk
            joint = risk.is_smooth or not risk.separates
            accuracy = ACCURATE if joint or risk.term.is_free else None
        if accuracy is None or self.costs.free_weights:
            return accuracy
        return replace(accuracy, outer_share=self.tuning.outer_share)

    @cached_property
    def _joint(self) -> bool:
        return (
            self.method is AUTO
            and self.options.interleaved
            and self.problem.risk.separates
            and self.costs.separate_products
            and self.tuning.joint_from <= self.problem.norm.exponent < np.inf
            and isinstance(self._at_once(self.costs.part_products), ConjugateGradients)
        )

    @cached_property
    def _size(self) -> int:
        working_set = self.options.working_set
        return working_set if isinstance(working_set, int) else self.costs.block

    @cached_property
    def _sets(self) -> WorkingSets:
        costs, tuning = self.costs, self.tuning
        cheap = self.M == 1 or costs.cached_values
        accuracy = tuning.cheap_changes if cheap else tuning.costly_changes
        return WorkingSets(self._size, costs.free_weights, costs.cached_values, accuracy)

    @cached_property
    def _grows(self) -> bool:
        """Whether active sets grow from a sample."""
        risk = self.problem.risk
        if not risk.separates:
            return False
        zero = risk.allows_zero and not risk.term.ent.any()  # alpha = 0 is feasible
        complete = self._step_name is not None and (
            self._accuracy is not None and self._accuracy.largest == 0
        )
        many = self.n > self.tuning.active_sets.many_examples and self.problem.n_outputs == 1
        return zero and many and not complete

    @cached_property
    def _samples(self) -> bool:
        """Whether the first weights come from a sample."""
        accuracy = self._accuracy
        accurate = self._step_name is not None and accuracy is not None and accuracy.largest > 0
        pays = not (self.costs.free_weights or self.costs.fixed_products)
        if self.problem.norm.is_sparse and not self.problem.risk.separates:
            pays = True  # every step needs a new kernel matrix, even if new weights are free
        return self.problem.n_outputs == 1 and accurate and pays and not self._joint
