"""Plans: the composition of engine, start and solver for each kind of problem, and refusals."""

from dataclasses import replace

import numpy as np
import pytest
from mkl_cases import parts, uses

from kernelweave import (
    MKLClassifier,
    MKLClassifierCV,
    MKLOneClass,
    MKLRegressor,
    losses,
    norms,
)
from kernelweave.datasets import make_splice
from kernelweave.engines.costs import EngineCosts
from kernelweave.kernels import RBF, Laplacian, Linear, Polynomial, WeightedDegree
from kernelweave.optimization.active_sets import ActiveSets
from kernelweave.optimization.inner.conjugate_gradients import ConjugateGradients
from kernelweave.optimization.inner.working_sets import WorkingSets
from kernelweave.optimization.interleaved import Interleaved
from kernelweave.optimization.methods.hard_margin import HardMargin
from kernelweave.optimization.methods.mwu import MWU, MWURounds
from kernelweave.optimization.methods.qcqp import QCQP
from kernelweave.optimization.methods.skm import SKM, SiftedSKM
from kernelweave.optimization.plan import (
    AUTO,
    METHODS,
    Options,
    Plan,
    find_method,
    make_plan,
    suited_norm,
)
from kernelweave.optimization.single_precision import OnlySinglePrecision, SinglePrecision
from kernelweave.optimization.sparsity import DropSmallWeights
from kernelweave.optimization.start import ActiveSetStart, Aligned, Sample, Uniform
from kernelweave.optimization.steps.analytic import Analytic
from kernelweave.optimization.steps.cutting_plane import CuttingPlane
from kernelweave.optimization.steps.gradient import Gradient
from kernelweave.optimization.steps.inner_hessian import InnerHessian
from kernelweave.optimization.steps.level import Level
from kernelweave.optimization.steps.newton import Newton
from kernelweave.optimization.wrapper import ACCURATE, COMPLETE, Wrapper
from kernelweave.problem.hard_margin import HardMarginProblem
from kernelweave.problem.problem import Problem

FAMILY = RBF(gamma=list(np.geomspace(1e-3, 1.0, 12)))
MIXED = [RBF(0.1), Polynomial(degree=2), Laplacian(0.1)]


class Planned(Exception):
    """Ends a fit once it has a plan."""


@pytest.fixture
def plan_of(monkeypatch):
    """Return a function from an estimator and data to the plan of its fit, which it ends."""

    def refuse(*given, **named):
        raise Planned

    for name in ("solve", "solve_confirmed"):
        monkeypatch.setattr(f"kernelweave.estimators.base.{name}", refuse, raising=False)

    def plan(model, X, y=None):
        with pytest.raises(Planned):
            model.fit(X, y)
        return model.plan_

    return plan


@pytest.fixture
def data(rng):
    X = rng.normal(size=(1200, 4))
    return X, np.where(X[:, 0] > 0, 1.0, -1.0)


# Families of kernels: new weights cost a pass over the support vectors, and single precision pays.
FAMILY_SETS = WorkingSets(1000, free_weights=False)
DENSE_SETS = WorkingSets(1000)
STACKED_SETS = WorkingSets(1000, cached_values=True)
NEWTON = Newton(InnerHessian(1200, 1000))
LANDMARKS = Newton(InnerHessian(1200, 1000, landmarks=True))
COSTLY = replace(ACCURATE, outer_share=0.1)
COSTLY_COMPLETE = replace(COMPLETE, outer_share=0.1)


def twice(single, double):
    """A solver in single, then in double precision."""
    return SinglePrecision(single, double)


def dropped(solver, sets):
    return DropSmallWeights(solver, sets, 3)


UNIFORM = Uniform()


def family_plan(solver, start=UNIFORM):
    """The plan of a family with the same solver in both precisions."""
    return Plan("family", start, twice(solver, solver))


def wrapper(sets, step, accuracy):
    return Wrapper(sets, sets, step, accuracy)


ACCURATE_FAMILY = wrapper(FAMILY_SETS, NEWTON, COSTLY)
SPARSE_FAMILY = Plan(
    "family",
    Sample(OnlySinglePrecision(wrapper(FAMILY_SETS, LANDMARKS, COSTLY))),
    twice(
        dropped(wrapper(FAMILY_SETS, LANDMARKS, COSTLY), FAMILY_SETS),
        dropped(ACCURATE_FAMILY, FAMILY_SETS),
    ),
)
SAMPLED_FAMILY = family_plan(ACCURATE_FAMILY, Sample(OnlySinglePrecision(ACCURATE_FAMILY)))
# New weights cost nothing: Newton steps may use landmarks at p = 1.
SPARSE_DENSE = Plan(
    "dense", Uniform(), dropped(wrapper(DENSE_SETS, LANDMARKS, ACCURATE), DENSE_SETS)
)
ANALYTIC_DENSE = Plan("dense", Uniform(), Interleaved(DENSE_SETS, Analytic()))

PLANS = {  # kernels, settings, and the plan
    "one RBF": (RBF(0.1), {}, Plan("dense", Uniform(), DENSE_SETS)),
    "family, p = 1": (FAMILY, {"norm": 1}, SPARSE_FAMILY),
    "family, p = 1.5": (FAMILY, {"norm": 1.5}, SAMPLED_FAMILY),
    "family, p = 2": (FAMILY, {"norm": 2}, SAMPLED_FAMILY),
    "family, p = 4": (FAMILY, {"norm": 4}, family_plan(Interleaved(FAMILY_SETS, Analytic()))),
    "family, p = inf": (FAMILY, {"norm": np.inf}, family_plan(FAMILY_SETS)),
    "mixed, p = 1": (MIXED, {"norm": 1}, SPARSE_DENSE),
    "mixed, p = 1.2": (
        MIXED, {"norm": 1.2}, Plan("dense", Uniform(), wrapper(DENSE_SETS, NEWTON, ACCURATE))
    ),
    "mixed, p = 2": (MIXED, {"norm": 2}, ANALYTIC_DENSE),
    "mixed, p = inf": (MIXED, {"norm": np.inf}, Plan("plain sum", Uniform(), DENSE_SETS)),
    "logistic": (FAMILY, {"loss": "logistic", "norm": 2}, SAMPLED_FAMILY),
    "complete Newton": (
        FAMILY,
        {"norm": 2, "interleaved": False},
        family_plan(wrapper(FAMILY_SETS, NEWTON, COSTLY_COMPLETE)),
    ),
    "complete analytic": (
        MIXED,
        {"norm": 2, "interleaved": False},
        Plan("dense", Uniform(), wrapper(DENSE_SETS, Analytic(), COMPLETE)),
    ),
    "a working set": (
        MIXED,
        {"norm": 2, "working_set": 77},
        Plan("dense", Uniform(), Interleaved(WorkingSets(77), Analytic())),
    ),
}  # fmt: skip


@pytest.mark.parametrize(("kernels", "settings", "expected"), PLANS.values(), ids=PLANS)
def test_plan_of_each_kind_of_problem(kernels, settings, expected, data, plan_of):
    assert plan_of(MKLClassifier(kernels, **settings), *data) == expected


def test_values_of_few_examples_are_cached_for_several_outputs(data, plan_of):
    X, y = data
    classes = np.where(X[:, 1] > 0, y, 2.0)
    expected = Plan("stacked", Uniform(), Interleaved(STACKED_SETS, Analytic()))
    assert plan_of(MKLClassifier(MIXED), X, classes) == expected
    assert plan_of(MKLClassifierCV(MIXED, norms=[2.0]), X, y) == expected
    for other in (
        MKLClassifier(MIXED, cache_mb=30),  # three kernels take 33 MB
        MKLClassifier(RBF(0.1)),
        MKLClassifier([Linear(columns=[0]), Linear(columns=[1])]),
    ):
        assert plan_of(other, X, classes).engine == "dense"


def interleaved(step, sparse):
    """The plans of a family and of a mixed list with a step after every working set."""

    def solver(sets):
        schedule = Interleaved(sets, step)
        return dropped(schedule, sets) if sparse else schedule

    return family_plan(solver(FAMILY_SETS)), Plan("dense", Uniform(), solver(DENSE_SETS))


SOLVERS = {  # p, and the plans of a family and of a mixed list
    "analytic": (2, *interleaved(Analytic(), sparse=False)),
    "newton": (
        2, SAMPLED_FAMILY, Plan("dense", Uniform(), wrapper(DENSE_SETS, NEWTON, ACCURATE))
    ),
    "hessian": (1, SPARSE_FAMILY, SPARSE_DENSE),
    "cutting-plane": (1, *interleaved(CuttingPlane(), sparse=True)),
    "level": (1, *interleaved(Level(), sparse=True)),
    "gradient": (
        1,
        family_plan(dropped(wrapper(FAMILY_SETS, Gradient(), COSTLY_COMPLETE), FAMILY_SETS)),
        Plan("dense", Uniform(), dropped(wrapper(DENSE_SETS, Gradient(), COMPLETE), DENSE_SETS)),
    ),
    "uniform": (np.inf, family_plan(FAMILY_SETS), Plan("plain sum", Uniform(), DENSE_SETS)),
    "alignment": (2, *[Plan("dense", Aligned("plain"), DENSE_SETS)] * 2),
    "centered-alignment": (2, *[Plan("dense", Aligned("centred"), DENSE_SETS)] * 2),
    "qcqp": (1, *[Plan("dense", Uniform(), QCQP())] * 2),
    "skm": (
        1, Plan("streamed", Uniform(), SiftedSKM(SKM())), Plan("dense", Uniform(), SKM())
    ),
    "mwu": (1, *[Plan("dense", Uniform(), MWURounds(MWU()))] * 2),
}  # fmt: skip


def test_every_method_has_its_plan():
    assert list(SOLVERS) == list(METHODS)


@pytest.mark.parametrize("solver", SOLVERS)
def test_plan_of_each_named_solver(solver, data, plan_of):
    p, *plans = SOLVERS[solver]
    for kernels, expected in zip((FAMILY, MIXED), plans, strict=True):
        model = MKLClassifier(kernels, norm=p, solver=solver, loss="squared_hinge")
        assert plan_of(model, *data) == expected


@pytest.mark.parametrize(
    ("kernels", "settings", "grows"),
    [
        (RBF(0.1), {}, True),
        (FAMILY, {"norm": 1}, True),
        (FAMILY, {"norm": 1, "interleaved": False}, False),
        (RBF(0.1), {"loss": "logistic"}, False),
    ],
    ids=["one RBF", "family", "complete", "no alpha is zero"],
)
def test_active_sets_grow_if_examples_are_many(kernels, settings, grows, rng, plan_of):
    X = rng.normal(size=(20_001, 3))
    y = np.sign(X[:, 0])
    model = MKLClassifier(kernels, **settings)
    many, few = plan_of(model, X, y), plan_of(model, X[:20_000], y[:20_000])
    assert uses(many, ActiveSets) == isinstance(many.start, ActiveSetStart) == grows
    assert not uses(few, ActiveSets)
    assert not isinstance(few.start, ActiveSetStart)
    if grows:
        assert many.start.start == few.start
        sets = [part for part in parts(many.solver) if isinstance(part, ActiveSets)]
        assert len(sets) == 1
        assert sets[0].on_sets == sets[0].then
        assert sets[0].larger_samples == isinstance(few.start, Sample)
    else:
        assert many == few


def test_active_sets_are_for_single_precision_only_in_a_family(rng, plan_of):
    X = rng.normal(size=(20_001, 3))
    solver = plan_of(MKLClassifier(FAMILY, norm=4), X, np.sign(X[:, 0])).solver
    assert isinstance(solver, SinglePrecision)
    assert isinstance(solver.first, ActiveSets)
    assert solver.first.then == solver.then


def test_conjugate_gradients_are_for_kernels_with_fast_products(plan_of):
    X, y = make_splice(1200, 0.3)
    expected = ConjugateGradients(DENSE_SETS, 1000)
    plan = plan_of(MKLClassifier(WeightedDegree(8)), X, y)
    assert plan == Plan("dense", Uniform(), expected)
    sets_of_50 = plan_of(MKLClassifier(WeightedDegree(8), working_set=50), X, y)
    assert sets_of_50 == Plan("dense", Uniform(), WorkingSets(50))
    several = plan_of(MKLClassifier(WeightedDegree(8, split="degree"), norm=2), X, y)
    inner = ConjugateGradients(FAMILY_SETS, 1000)
    schedule = Wrapper(inner, FAMILY_SETS, NEWTON, COSTLY)
    assert several == Plan("linear", Sample(schedule), schedule)


def test_plan_of_one_class_and_of_a_regression(data, plan_of):
    X, _ = data
    assert plan_of(MKLOneClass(FAMILY, norm=2), X) == SAMPLED_FAMILY
    assert plan_of(MKLRegressor(FAMILY, norm=2), X, X[:, 0]) == SAMPLED_FAMILY


@pytest.mark.parametrize(
    ("norm", "solver"),
    [
        (1, dropped(wrapper(DENSE_SETS, LANDMARKS, ACCURATE), DENSE_SETS)),
        (2, Interleaved(DENSE_SETS, Analytic())),
        (np.inf, DENSE_SETS),
    ],
)
def test_plan_of_shared_weights(norm, solver, data, plan_of):
    X, _ = data
    model = MKLClassifier(FAMILY, norm=norm, share_weights=True)
    assert plan_of(model, X, np.arange(len(X)) % 3) == Plan("stacked", Uniform(), solver)


def test_fitted_estimators_have_their_plan(data):
    X, y = data[0][:60], data[1][:60]
    for model, engine, sets in (
        (MKLClassifier(MIXED, norm=2), "dense", DENSE_SETS),
        (MKLClassifierCV(MIXED, norms=[2], Cs=[1.0], cv=2), "stacked", STACKED_SETS),
        (MKLRegressor(MIXED, norm=2), "dense", DENSE_SETS),
    ):
        expected = Plan(engine, Uniform(), Interleaved(sets, Analytic()))
        assert model.fit(X, y).plan_ == expected
        assert model.plan_.certifies == "weights and machine"
    aligned = MKLClassifier(MIXED, norm=2, solver="alignment").fit(X, y)
    assert aligned.plan_.certifies == "machine at given weights"


def test_repr_of_a_plan_is_its_composition():
    text = repr(SPARSE_DENSE)
    assert text.startswith("Plan(engine='dense', start=Uniform(), solver=DropSmallWeights(")
    assert "Wrapper(inner=WorkingSets(size=1000), step=Newton(" in text
    summary = SPARSE_DENSE.for_file()
    assert (repr(summary), summary.certifies) == (text, "weights and machine")


class Examples:
    """An engine of which a plan knows the costs and the numbers of examples and kernels."""

    def __init__(self, M=9, n=100, **costs):
        self.n, self.n_kernels, self.costs = n, M, EngineCosts(block=1000, **costs)


def hinge(norm):
    return Problem.of(losses.Hinge(), norm, np.array([-1.0, 1.0]), np.ones(2))


def step_of(norm, engine):
    """The class of the weight step that is planned, or None."""
    plan = make_plan(AUTO, hinge(norm), engine, "dense")
    steps = {type(part) for part in parts(plan.solver) if isinstance(part, Newton | Analytic)}
    assert len(steps) <= 1
    return next(iter(steps), None)


CHOICES = [  # norm, where new weights cost little, where they cost a pass over the support
    (norms.Lp(1), Newton, Newton),
    (norms.Lp(1, (1.0, 2.0)), Newton, Newton),
    (norms.Lp(1.2), Newton, Newton),
    (norms.Lp(1.5), Analytic, Newton),
    (norms.Lp(2), Analytic, Newton),
    (norms.Block(4 / 3), Analytic, Newton),
    (norms.Lp(3), Analytic, Analytic),
    (norms.Lp(1e6), Analytic, Analytic),
    (norms.Elliptic(np.eye(2)), Analytic, Analytic),
    (norms.Block(3), Analytic, Analytic),
    (norms.Lp(np.inf), None, None),
    (norms.Block(2), None, None),
]


@pytest.mark.parametrize(("norm", "free", "costly"), CHOICES, ids=str)
def test_auto_takes_the_fastest_step_for_the_norm(norm, free, costly):
    M = 2 if norm in (CHOICES[1][0], CHOICES[8][0]) else 9
    assert step_of(norm, Examples(M, free_weights=True)) is free
    assert step_of(norm, Examples(M, free_weights=False)) is costly
    assert find_method("auto", norm, losses.Hinge()) is AUTO


def test_many_kernels_take_the_step_whose_cost_grows_least():
    """A Newton step factorises a matrix of all weights; at p = 1 it does not."""
    for p, expected in ((1.01, Analytic), (1.5, Analytic), (2, Analytic), (1, Newton)):
        assert step_of(norms.Lp(p), Examples(501)) is expected


def test_one_kernel_has_no_weight_step():
    for norm in (norms.Lp(1), norms.Lp(2)):
        assert step_of(norm, Examples(M=1)) is None


def test_alpha_adapts_to_dropped_weights_of_final_models_only():
    for final, iterations in ((True, 3), (False, 0)):
        plan = make_plan(AUTO, hinge(norms.Lp(1)), Examples(), "dense", Options(final=final))
        assert isinstance(plan.solver, DropSmallWeights)
        assert plan.solver.iterations == iterations


def test_hard_margins_contain_the_soft_plan():
    y, counts = np.array([-1.0, 1.0]), np.ones(2, dtype=bool)
    problem = HardMarginProblem.separating(losses.Hinge(), norms.Lp(2), y, counts)
    plan = make_plan(AUTO, problem, Examples(free_weights=True), "dense")
    soft = make_plan(AUTO, problem.soft(1.0), Examples(free_weights=True), "dense")
    assert plan == replace(soft, solver=HardMargin(soft.solver))


@pytest.mark.parametrize("method", [SKM(), MWU(), QCQP()], ids=lambda method: type(method).__name__)
def test_constant_targets_are_left_to_the_general_solver(method):
    problem = Problem.of(losses.Hinge(), norms.Lp(1), np.ones(2), np.ones(2))
    plan = make_plan(method, problem, Examples(), "dense")
    assert plan == make_plan(AUTO, problem, Examples(), "dense")


def test_refusal_names_the_methods_that_serve():
    with pytest.raises(ValueError, match=r"these can: \['auto', 'analytic'") as error:
        find_method("gradient", norms.Lp(2), losses.Hinge())
    assert "'gradient'" not in str(error.value).split("these can:")[1]


@pytest.mark.parametrize(
    ("solver", "norm", "loss", "shared"),
    [
        ("newton", norms.Block(3), losses.Hinge(), False),
        ("analytic", norms.Lp(1), losses.Hinge(), False),
        ("uniform", norms.Lp(2), losses.Hinge(), False),
        ("mwu", norms.Lp(1), losses.Hinge(), False),
        ("alignment", norms.Lp(2), losses.OneClass(), False),
        ("alignment", norms.Lp(2), losses.Hinge(), True),
        ("skm", norms.Lp(1), losses.Hinge(), True),
        (SKM(sparsify=True), norms.Lp(2), losses.Hinge(), False),
    ],
    ids=str,
)
def test_unserved_combinations_are_refused(solver, norm, loss, shared):
    with pytest.raises(ValueError, match=r"cannot serve norm=.* with loss=.*; these can: "):
        find_method(solver, norm, loss, shared=shared)


@pytest.mark.parametrize("solver", ["simplex", "", None, 3, SKM], ids=str)
def test_unknown_solvers_are_refused(solver, data):
    with pytest.raises(ValueError, match=r"solver must be one of \['auto', 'analytic'"):
        MKLClassifier(RBF(0.1), solver=solver).fit(*data)


def test_method_objects_are_returned_unchanged():
    chosen = SKM(sparsify=True)
    assert find_method(chosen, norms.Lp(1), losses.Hinge()) is chosen


def test_costs_of_kernels_have_no_effect_on_the_plain_sum(data):
    """At p = inf the norm is the largest weight, whatever the costs are."""
    X, y = data[0][:200], data[1][:200]
    norm = norms.Lp(np.inf, weights=[1, 2, 3])
    weighted = MKLClassifier(MIXED, norm=norm, tol=1e-6).fit(X, y)
    plain = MKLClassifier(MIXED, norm=np.inf, tol=1e-6).fit(X, y)
    assert weighted.plan_ == Plan("plain sum", Uniform(), DENSE_SETS)
    np.testing.assert_array_equal(weighted.weights_, np.ones(3))
    assert weighted.primal_objective_ == plain.primal_objective_
    np.testing.assert_array_equal(weighted.decision_function(X), plain.decision_function(X))
    assert suited_norm(norm, "plain sum", 3) == norms.Lp(np.inf)
    assert suited_norm(norm, "dense", 3) is norm


@pytest.mark.parametrize("solver", ["auto", "uniform"])
def test_costs_of_another_number_of_kernels_are_refused(solver, data):
    model = MKLClassifier(MIXED, norm=norms.Lp(np.inf, weights=[1, 2]), solver=solver)
    with pytest.raises(ValueError, match="weights is for 2 kernels, but there are 3"):
        model.fit(*data)
