"""The plan of a fit: its start and its solver.

`solver=` of an estimator names a method (`named_methods`). The method, the norm and the data
determine the engine (`engine_choice`). The problem and the costs of the engine (`EngineCosts`)
determine the plan (`make_plan`): a composition of small frozen objects, whose `repr` is the plan
itself. `solve` follows it and chooses nothing.

`INNER`, `STEPS` and `ACCURACIES` list components of plans, each with the cases that it applies to.
The first entry of each list that applies to a case is used; `compose` combines them to a plan.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Generic, TypeVar

import numpy as np

from ..common.cached_property import cached_property
from ..engines.base import Engine
from ..engines.costs import EngineCosts
from ..losses.risk import Risk
from ..norms import Norm
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
from .methods.base import Method
from .methods.hard_margin import HardMargin
from .methods.sifting import SiftedKernels
from .named_methods import AUTO, Trained
from .single_precision import SinglePrecision
from .solver import Solver
from .sparsity import DropSmallWeights
from .start import Sample, Start, Uniform
from .steps.analytic import Analytic
from .steps.base import WeightStep
from .steps.cutting_plane import CuttingPlane
from .steps.gradient import Gradient
from .steps.inner_hessian import InnerHessian
from .steps.level import Level
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
    hessian_share, hessian_blocks : the Hessian of a Newton weight step is computed from at most
        this fraction of all examples, so that its Cholesky factorisation costs no more than a pass
        over them; and bounds on their number, in units of `EngineCosts.block`.
    matrix_examples : number of examples up to which the kernel matrix is kept for Newton-CG with a
        risk that is not a sum over the examples: 200 MB.
    cheap_changes, costly_changes : KKT violation to which a working set is solved, relative to the
        largest one. With several kernels whose values are not cached, each changed alpha costs
        more (`costly_changes`), and less accurate solutions change fewer of them.
    response_kernels : number of kernels, times outputs, above which Newton steps are slower than
        analytic steps if the risk is not a sum over the examples: each kernel adds a linear system.
    active_sets : constants of growing active sets.
    adapt : maximum number of iterations that improve alpha after small weights are dropped.
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
    adapt: int = 3
    active_sets: ActiveSetTuning = ACTIVE_SETS


TUNING_OF_PLANS = PlanTuning()


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
        Name of the engine, a key of `engine_choice.ENGINES`.
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


def make_plan(
    method: Method, problem: Problem, engine: Engine, name: str, options: Options = Options()
) -> Plan:
    """Return the plan of a problem.

    Parameters
    ----------
    method : Method
        The user's choice, from `find_method`.
    problem : Problem
        The loss, the norm and the number of outputs determine which components apply.
    engine : Engine
        Stores the examples; its costs decide between components.
    name : str
        Name of the engine.
    options : Options
        Requirements besides the method.
    """
    constant = problem.constant_is_optimal(0.0)
    if isinstance(problem, HardMarginProblem) and not (method.solves_hard_margins or constant):
        soft = make_plan(method, problem.soft(1.0), engine, name, options)
        return replace(soft, solver=HardMargin(soft.solver))
    if not (isinstance(method, Trained) or constant):
        return Plan(name, method.first_stage or Uniform(), method.solver(engine.costs))
    trained, costs = method if isinstance(method, Trained) else AUTO, engine.costs
    case = Case(trained, problem, costs, engine.n, engine.n_kernels, options, TUNING_OF_PLANS)
    if costs.access != "streamed":
        return compose(case, name)
    # Sampled kernels get an engine that caches their outputs.
    cached = EngineCosts(block=costs.block, free_weights=True)
    plan = compose(replace(case, costs=cached), name)
    return replace(plan, solver=SiftedKernels(plan.solver))


def compose(case: Case, name: str) -> Plan:
    """Return the plan of a case, given the name of its engine.

    From the inside out, the solvers are: that of alpha under fixed weights, that of the weights,
    growing active sets (`ActiveSets`), exact zeros (`DropSmallWeights`), and `SinglePrecision`.
    """
    if case.step is not None:
        case.step.refuse_many(case.norm, case.M)
    inner = first_of(INNER, case)
    solver = on_all = scheduled(inner, case)
    on_parts = scheduled(first_of(INNER, case.of_parts), case)
    if case.grows:
        solver = ActiveSets(on_parts, on_all, case.working_sets, case.tuning.active_sets)
    if case.step is not None and case.norm.is_sparse:
        adapt = case.tuning.adapt if case.options.final else 0
        solver, on_all = (DropSmallWeights(one, inner, adapt) for one in (solver, on_all))
    if case.costs.single_precision:
        solver = SinglePrecision(solver, on_all)
    sampled: Start = Sample(on_parts) if case.takes_sample else Uniform()
    return Plan(name, case.method.first_stage or sampled, solver)


def scheduled(inner: Solver, case: Case) -> Solver:
    """Return the solver that alternates between weight steps and `inner`, which improves alpha."""
    step, accuracy, sets = case.step, case.accuracy, case.working_sets
    schedule: Solver
    if step is None:
        return inner
    if accuracy is not None:
        schedule = Wrapper(inner, step, accuracy)
    elif isinstance(step, CuttingPlane):
        # Cuts of inexact alphas leave a gap of about 1e-5; cuts of accurate ones close it.
        schedule = Fallback(Interleaved(sets, step), Wrapper(sets, step, ACCURATE))
    else:
        schedule = Interleaved(sets, step)
    if case.takes_joint_descent:
        return Fallback(JointDescent(record=case.fixed_products), schedule, case.size)
    return schedule


@dataclass(frozen=True)
class Case:
    """A problem and an engine: everything that the choices depend on.

    Attributes
    ----------
    method : Trained
        The user's choice.
    problem : Problem
    costs : EngineCosts
        Costs of the operations of the engine.
    n, M : int
        Numbers of examples and kernels.
    options : Options
        Requirements besides the method.
    tuning : PlanTuning
        Thresholds of the choices.
    """

    method: Trained
    problem: Problem
    costs: EngineCosts
    n: int
    M: int
    options: Options
    tuning: PlanTuning = TUNING_OF_PLANS

    @property
    def risk(self) -> Risk:
        return self.problem.risk

    @property
    def norm(self) -> Norm:
        return self.problem.norm

    @property
    def compares(self) -> bool:
        """Whether the risk is no sum over the examples; then `WorkingSets` cannot solve it."""
        return not self.risk.separates

    @property
    def of_parts(self) -> Case:
        """The case for a subset of the examples: only the costs of kernel products may differ."""
        return replace(self, costs=replace(self.costs, products=self.costs.part_products))

    @property
    def fixed_products(self) -> bool:
        """Whether most of the time of a product does not depend on the number of examples."""
        return self.costs.part_products is not None and self.costs.part_products.fixed

    # How alpha is improved

    @property
    def size(self) -> int:
        """Number of examples in a working set."""
        size = self.options.working_set
        return size if isinstance(size, int) else self.costs.block

    @property
    def working_sets(self) -> WorkingSets:
        costs, tuning = self.costs, self.tuning
        cached = costs.values == "cached"
        accuracy = tuning.cheap_changes if cached or self.M == 1 else tuning.costly_changes
        largest = 0 if self.options.working_set == "auto" else costs.block
        return WorkingSets(self.size, costs.free_weights, cached, accuracy, largest)

    def or_working_sets(self, first: Solver) -> Solver:
        """Return `first`, with working sets as a fallback if it stalls or examples are few."""
        return Fallback(first, self.working_sets, self.size)

    @property
    def changes_all(self) -> bool:
        """Whether one matrix-vector product may change all alphas, instead of a working set."""
        sets_are_wanted = self.options.working_set != "auto" or self.n <= self.costs.block
        available = self.costs.products is not None and self.problem.n_outputs == 1
        return available and not sets_are_wanted

    @property
    def takes_newton_cg(self) -> bool:
        """Whether all alphas change at once, and the risk is a sum of smooth losses."""
        return self.changes_all and self.risk.is_smooth and not self.compares

    @property
    def takes_conjugate_gradients(self) -> bool:
        """Whether conjugate gradients change all alphas at once; they need quadratic conjugates.

        If alphas have bounds, steps are short and many, so that products must be cheap.
        """
        products = self.costs.products
        if products is None or not self.changes_all or self.risk.is_smooth or self.compares:
            return False
        term = self.risk.term
        return term.is_quadratic and (products.cheap or term.is_free)

    @property
    def product_kind(self) -> str:
        """How products with the kernel matrix are computed if the risk compares examples.

        "engine": by the engine; "matrix": by a cached matrix; "sample": by a Nyström
        approximation.
        """
        if self.costs.products is not None:
            return "engine"
        examples = self.n // self.problem.n_outputs
        return "matrix" if examples <= self.tuning.matrix_examples else "sample"

    # How the weights are improved

    @cached_property
    def step(self) -> WeightStep | None:
        """The weight step; None if the weights are fixed."""
        return first_of(STEPS, self)

    @property
    def has_no_hessian(self) -> bool:
        """Whether Newton weight steps lack a Hessian, or computing it takes too long.

        If the risk is not a sum over the examples, the Hessian takes one linear system per kernel
        and output, and the risk must be smooth.
        """
        systems = self.M * self.problem.n_outputs
        costly = systems > self.tuning.response_kernels or not self.risk.is_smooth
        return self.compares and costly

    @property
    def takes_newton_steps(self) -> bool:
        """Whether Newton weight steps take less time than analytic ones."""
        tuning, p = self.tuning, self.norm.exponent
        largest = tuning.newton_free if self.costs.free_weights else tuning.newton_costly
        steep = p <= largest or (np.isnan(p) and self.norm.is_curved)
        return self.norm.is_sparse or (steep and tuning.newton_kernels >= self.M)

    @cached_property
    def accuracy(self) -> Accuracy | None:
        """Accuracy of inner solutions; None for a weight step after every working set."""
        accuracy = first_of(ACCURACIES, self)
        if accuracy is None or self.costs.free_weights:
            return accuracy
        return replace(accuracy, outer_share=self.tuning.outer_share)

    @property
    def solves_at_once(self) -> bool:
        """Whether the inner problem is solved in one call, so that weights change after it only."""
        if self.costs.access == "class pairs" or self.compares or self.takes_newton_cg:
            return True
        return self.takes_conjugate_gradients and self.risk.term.is_free

    @property
    def takes_joint_descent(self) -> bool:
        """Whether conjugate gradients can improve alpha and the weights together."""
        return (
            self.method is AUTO
            and self.options.interleaved
            and self.costs.part_products is not None
            and self.costs.part_products.separate
            and self.tuning.joint_from <= self.norm.exponent < np.inf
            and self.of_parts.takes_conjugate_gradients
        )

    # Where training starts

    @property
    def takes_sample(self) -> bool:
        """Whether the first weights come from a sample."""
        accurate = self.accuracy is not None and self.accuracy.largest > 0
        costly = not (self.costs.free_weights or self.fixed_products)
        # A weight step under a risk that compares examples needs a new kernel matrix.
        costly = costly or (self.compares and self.norm.is_sparse)
        learns = self.step is not None and not self.takes_joint_descent
        return learns and accurate and costly and self.problem.n_outputs == 1

    @property
    def grows(self) -> bool:
        """Whether training uses growing active sets: n is large, and omitted alphas may be 0."""
        if self.compares or self.problem.n_outputs > 1:
            return False
        complete = self.step is not None and self.accuracy is not None and not self.accuracy.largest
        zero_is_feasible = self.risk.allows_zero and not self.risk.term.ent.any()
        many = self.n > self.tuning.active_sets.many_examples
        return many and zero_is_feasible and not complete


Component = TypeVar("Component", covariant=True)


@dataclass(frozen=True)
class Choice(Generic[Component]):
    """A component of plans, and the cases that it applies to.

    Attributes
    ----------
    applies : callable
        Returns whether the component is suitable for a case.
    build : callable
        Returns the component for a case.
    """

    applies: Callable[[Case], bool]
    build: Callable[[Case], Component]


def first_of(choices: Sequence[Choice[Component]], case: Case) -> Component:
    """Return the first component that applies to a case."""
    return next(choice.build(case) for choice in choices if choice.applies(case))


def newton_step(case: Case) -> Newton:
    """Return Newton steps, whose Hessian costs no more than a pass over the examples."""
    if case.compares:
        return Newton(ResponseHessian(case.product_kind))
    fewest, most = np.multiply(case.tuning.hessian_blocks, case.costs.block)
    share = case.tuning.hessian_share * case.n / case.problem.n_outputs
    recorded = case.costs.values == "costly"
    return Newton(InnerHessian(round(np.clip(share, fewest, most)), recorded=recorded))


def conjugate_gradients(case: Case) -> Solver:
    products = case.costs.products
    assert products is not None
    return case.or_working_sets(ConjugateGradients(products.separate, products.fixed))


WEIGHT_STEPS: dict[str, Callable[[Case], WeightStep]] = {
    "analytic": lambda case: Analytic(),
    "newton": newton_step,
    "cutting plane": lambda case: CuttingPlane(),
    "level": lambda case: Level(),
    "gradient": lambda case: Gradient(),
    "reduced gradient": lambda case: Gradient(metric=None),
}


def named_step(case: Case) -> WeightStep | None:
    """Return the weight step of the method that the user has chosen."""
    return None if case.method.step is None else WEIGHT_STEPS[case.method.step](case)


ANALYTIC, LEVEL = WEIGHT_STEPS["analytic"], WEIGHT_STEPS["level"]

# Solvers for alpha under fixed weights.
INNER: tuple[Choice[Solver], ...] = (
    Choice(lambda case: case.costs.access == "class pairs", lambda case: PairSets()),
    Choice(
        lambda case: case.compares and not case.risk.is_smooth, lambda case: ClassSets(case.size)
    ),
    Choice(
        lambda case: case.compares and case.product_kind == "sample",
        lambda case: SurrogateNewton(),
    ),
    Choice(lambda case: case.compares, lambda case: NewtonCG(case.product_kind)),
    Choice(lambda case: case.takes_newton_cg, lambda case: case.or_working_sets(NewtonCG())),
    Choice(lambda case: case.takes_conjugate_gradients, conjugate_gradients),
    Choice(lambda case: True, lambda case: case.working_sets),
)

# Weight steps; None if the weights are fixed.
STEPS: tuple[Choice[WeightStep | None], ...] = (
    Choice(lambda case: case.M == 1, lambda case: None),
    Choice(lambda case: case.method is not AUTO, named_step),
    Choice(lambda case: case.norm.is_plain_sum, lambda case: None),
    Choice(lambda case: case.has_no_hessian and case.norm.is_sparse, LEVEL),
    Choice(lambda case: case.has_no_hessian, ANALYTIC),
    Choice(lambda case: case.takes_newton_steps, newton_step),
    Choice(lambda case: True, ANALYTIC),
)

# Accuracy of inner solutions before a weight step; None for a step after every working set.
ACCURACIES: tuple[Choice[Accuracy | None], ...] = (
    Choice(lambda case: not case.options.interleaved, lambda case: COMPLETE),
    Choice(lambda case: case.method.accuracy is not None, lambda case: case.method.accuracy),
    Choice(
        lambda case: case.method is AUTO and isinstance(case.step, Newton), lambda case: ACCURATE
    ),
    Choice(lambda case: case.solves_at_once, lambda case: ACCURATE),
    Choice(lambda case: True, lambda case: None),
)
