"""Plans: the composition of engine, start and solver for each kind of problem, and refusals."""

from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from mkl_cases import parts, uses

from kernelweave import (
    MKLClassifier,
    MKLClassifierCV,
    MKLOneClass,
    MKLRegressor,
    MKLSurvival,
    load,
    losses,
    norms,
)
from kernelweave.datasets import make_splice
from kernelweave.engines.costs import EngineCosts
from kernelweave.kernels import (
    RBF,
    GappedKmer,
    Laplacian,
    Linear,
    Polynomial,
    WeightedDegree,
    per_feature,
)
from kernelweave.optimization.active_sets import ActiveSets
from kernelweave.optimization.engine_choice import Workload, choose_engine, suited_norm
from kernelweave.optimization.fallback import Fallback
from kernelweave.optimization.inner.conjugate_gradients import ConjugateGradients
from kernelweave.optimization.inner.joint_gradients import JointDescent
from kernelweave.optimization.inner.newton_cg import NewtonCG
from kernelweave.optimization.inner.pair_sets import PairSets
from kernelweave.optimization.inner.working_sets import WorkingSets
from kernelweave.optimization.interleaved import Interleaved
from kernelweave.optimization.methods.alignment import Aligned
from kernelweave.optimization.methods.easymkl import EasyMKL
from kernelweave.optimization.methods.hard_margin import HardMargin
from kernelweave.optimization.methods.mwu import MWU, MWURounds
from kernelweave.optimization.methods.qcqp import QCQP
from kernelweave.optimization.methods.sifting import SiftedKernels
from kernelweave.optimization.methods.skm import SKM, SiftedSKM
from kernelweave.optimization.named_methods import AUTO, METHODS, find_method
from kernelweave.optimization.plan import Options, Plan, make_plan
from kernelweave.optimization.single_precision import SinglePrecision
from kernelweave.optimization.sparsity import DropSmallWeights
from kernelweave.optimization.start import Sample, Uniform
from kernelweave.optimization.steps.analytic import Analytic
from kernelweave.optimization.steps.base import MOST_WEIGHTS
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
    """Ends a fit once it has a plan, its argument."""


@pytest.fixture
def plan_of(monkeypatch):
    """Return a function from an estimator and data to the plan of its fit, which it ends."""

    def refuse(problem, engine, plan, *others):
        raise Planned(plan)

    for name in ("solve", "solve_confirmed"):
        monkeypatch.setattr(f"kernelweave.estimators.fit.{name}", refuse)

    def plan(model, X, y=None):
        with pytest.raises(Planned) as ended:
            model.fit(X, y)
        return ended.value.args[0]

    return plan


@pytest.fixture
def data(rng):
    X = rng.normal(size=(1200, 4))
    return X, np.where(X[:, 0] > 0, 1.0, -1.0)


# Families of kernels: new weights cost a pass over the support vectors, and single precision pays.
FAMILY_SETS = WorkingSets(1000, free_weights=False, accuracy=0.3)
DENSE_SETS = WorkingSets(1000, accuracy=0.3)
STACKED_SETS = WorkingSets(1000, cached_values=True, accuracy=0.1)
ONE_KERNEL_SETS = WorkingSets(1000, accuracy=0.1)
NEWTON = Newton(InnerHessian(300))
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


GAPPED = GappedKmer([4, 5, 5, 6], [3, 3, 4, 4], store="table")
CG = ConjugateGradients(separate=False, record=False)
CG_FAMILY = Fallback(CG, FAMILY_SETS, 1000)
CG_SEPARATE = Fallback(ConjugateGradients(separate=True), FAMILY_SETS, 1000)
NEWTON_CG = Fallback(NewtonCG(), FAMILY_SETS, 1000)
ACCURATE_FAMILY = Wrapper(FAMILY_SETS, NEWTON, COSTLY)
ON_SAMPLES = Sample(ACCURATE_FAMILY)
SPARSE_FAMILY = family_plan(dropped(ACCURATE_FAMILY, FAMILY_SETS), ON_SAMPLES)
SAMPLED_FAMILY = family_plan(ACCURATE_FAMILY, ON_SAMPLES)
SPARSE = dropped(Wrapper(DENSE_SETS, NEWTON, ACCURATE), DENSE_SETS)
SPARSE_DENSE = Plan("dense", Uniform(), SPARSE)
ANALYTIC_DENSE = Plan("dense", Uniform(), Interleaved(DENSE_SETS, Analytic()))

PLANS = {  # kernels, settings, and the plan
    "one RBF": (RBF(0.1), {}, Plan("dense", Uniform(), ONE_KERNEL_SETS)),
    "family, p = 1": (FAMILY, {"norm": 1}, SPARSE_FAMILY),
    "family, p = 1.5": (FAMILY, {"norm": 1.5}, SAMPLED_FAMILY),
    "family, p = 2": (FAMILY, {"norm": 2}, SAMPLED_FAMILY),
    "family, p = 4": (FAMILY, {"norm": 4}, family_plan(Interleaved(FAMILY_SETS, Analytic()))),
    "family, p = inf": (FAMILY, {"norm": np.inf}, family_plan(FAMILY_SETS)),
    "mixed, p = 1": (MIXED, {"norm": 1}, SPARSE_DENSE),
    "mixed, p = 1.2": (
        MIXED, {"norm": 1.2}, Plan("dense", Uniform(), Wrapper(DENSE_SETS, NEWTON, ACCURATE))
    ),
    "mixed, p = 2": (MIXED, {"norm": 2}, ANALYTIC_DENSE),
    "mixed, p = inf": (MIXED, {"norm": np.inf}, Plan("plain sum", Uniform(), ONE_KERNEL_SETS)),
    "logistic": (FAMILY, {"loss": "logistic", "norm": 2}, SAMPLED_FAMILY),
    "complete Newton": (
        FAMILY,
        {"norm": 2, "interleaved": False},
        family_plan(Wrapper(FAMILY_SETS, NEWTON, COSTLY_COMPLETE)),
    ),
    "complete analytic": (
        MIXED,
        {"norm": 2, "interleaved": False},
        Plan("dense", Uniform(), Wrapper(DENSE_SETS, Analytic(), COMPLETE)),
    ),
    "a working set": (
        MIXED,
        {"norm": 2, "working_set": 77},
        Plan(
            "dense",
            Uniform(),
            Interleaved(WorkingSets(77, accuracy=0.3, largest=1000), Analytic()),
        ),
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
        MKLClassifier(RBF(0.1), multi_class="ovr"),
        MKLClassifier([Linear(columns=[0]), Linear(columns=[1])]),
    ):
        assert plan_of(other, X, classes).engine == "dense"


def test_pairs_of_classes_have_an_engine_of_their_own(data, plan_of):
    X, y = data
    classes = np.where(X[:, 1] > 0, y, 2.0)
    single = MKLClassifier(RBF(0.1)).fit(X, classes).plan_
    assert single == Plan("class pairs", Uniform(), PairSets())
    steps = Wrapper(PairSets(), Newton(InnerHessian(154)), COSTLY)
    learned = plan_of(MKLClassifier(MIXED, multi_class="ovo"), X, classes)
    assert learned.solver == steps
    sparse = plan_of(MKLClassifier(MIXED, multi_class="ovo", norm=1), X, classes)
    assert sparse.solver.solver == steps
    smooth = plan_of(MKLClassifier(MIXED, multi_class="ovo", norm=3), X, classes)
    assert smooth.solver == Wrapper(PairSets(), Analytic(), COSTLY)


def cutting_planes(sets):
    """Interleaved cutting planes, then those of accurate inner solutions."""
    accurate = Wrapper(sets, CuttingPlane(), ACCURATE)
    return Fallback(Interleaved(sets, CuttingPlane()), accurate)


def interleaved(step, sparse):
    """The plans of a family and of a mixed list with a step after every working set."""

    def solver(sets):
        schedule = cutting_planes(sets) if isinstance(step, CuttingPlane) else None
        schedule = schedule or Interleaved(sets, step)
        return dropped(schedule, sets) if sparse else schedule

    return family_plan(solver(FAMILY_SETS)), Plan("dense", Uniform(), solver(DENSE_SETS))


REDUCED = Gradient(metric=None)
SOLVERS = {  # p, and the plans of a family and of a mixed list
    "analytic": (2, *interleaved(Analytic(), sparse=False)),
    "newton": (
        2, SAMPLED_FAMILY, Plan("dense", Uniform(), Wrapper(DENSE_SETS, NEWTON, ACCURATE))
    ),
    "hessian": (1, SPARSE_FAMILY, SPARSE_DENSE),
    "cutting-plane": (1, *interleaved(CuttingPlane(), sparse=True)),
    "level": (1, *interleaved(Level(), sparse=True)),
    "gradient": (
        1,
        family_plan(dropped(Wrapper(FAMILY_SETS, Gradient(), COSTLY_COMPLETE), FAMILY_SETS)),
        Plan("dense", Uniform(), dropped(Wrapper(DENSE_SETS, Gradient(), COMPLETE), DENSE_SETS)),
    ),
    "simplemkl": (
        1,
        family_plan(dropped(Wrapper(FAMILY_SETS, REDUCED, COSTLY_COMPLETE), FAMILY_SETS)),
        Plan("dense", Uniform(), dropped(Wrapper(DENSE_SETS, REDUCED, COMPLETE), DENSE_SETS)),
    ),
    "uniform": (np.inf, family_plan(FAMILY_SETS), Plan("plain sum", Uniform(), ONE_KERNEL_SETS)),
    "alignment": (2, *[Plan("dense", Aligned("plain"), DENSE_SETS)] * 2),
    "centered-alignment": (2, *[Plan("dense", Aligned("centred"), DENSE_SETS)] * 2),
    "easymkl": (2, *[Plan("dense", EasyMKL().first_stage, ONE_KERNEL_SETS)] * 2),
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
    assert uses(many, ActiveSets) == grows
    assert not uses(few, ActiveSets)
    if grows:
        assert many.start == few.start
        sets = [part for part in parts(many.solver) if isinstance(part, ActiveSets)]
        assert len(sets) == 1
        assert sets[0].on_sets == sets[0].then
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
    expected = Fallback(CG, ONE_KERNEL_SETS, 1000)
    plan = plan_of(MKLClassifier(WeightedDegree(8)), X, y)
    assert plan == Plan("dense", Uniform(), expected)
    sets_of_50 = plan_of(MKLClassifier(WeightedDegree(8), working_set=50), X, y)
    assert sets_of_50 == Plan("dense", Uniform(), WorkingSets(50, largest=1000))
    several = plan_of(MKLClassifier(WeightedDegree(8, split="degree"), norm=2), X, y)
    schedule = Wrapper(CG_FAMILY, NEWTON, COSTLY)
    assert several == Plan("linear", Sample(schedule), schedule)


SEQUENCES = {  # kernels, settings, and the plan of 1,200 sequences
    "logistic loss": (
        WeightedDegree(6),
        {"loss": "logistic"},
        Plan("dense", Uniform(), Fallback(NewtonCG(), ONE_KERNEL_SETS, 1000)),
    ),
    "logistic family": (
        WeightedDegree(6, split="degree"),
        {"loss": "logistic", "norm": 4},
        Plan(
            "linear",
            Sample(Wrapper(NEWTON_CG, Analytic(), COSTLY)),
            Wrapper(NEWTON_CG, Analytic(), COSTLY),
        ),
    ),
    "sparse family": (
        WeightedDegree(6, split="degree"),
        {"norm": 1},
        Plan(
            "linear",
            Sample(Wrapper(CG_FAMILY, NEWTON, COSTLY)),
            DropSmallWeights(Wrapper(CG_FAMILY, NEWTON, COSTLY), CG_FAMILY, 3),
        ),
    ),
    "separate products": (
        GAPPED,
        {"norm": 2, "normalize": "unit"},
        Plan(
            "linear",
            Uniform(),
            Fallback(JointDescent(), Wrapper(CG_SEPARATE, NEWTON, COSTLY), 1000),
        ),
    ),
    "separate products, complete": (
        GAPPED,
        {"norm": 2, "normalize": "unit", "interleaved": False},
        Plan("linear", Uniform(), Wrapper(CG_SEPARATE, NEWTON, COSTLY_COMPLETE)),
    ),
}


@pytest.mark.parametrize(("kernels", "settings", "expected"), SEQUENCES.values(), ids=SEQUENCES)
def test_plan_of_sequences(kernels, settings, expected, plan_of):
    assert plan_of(MKLClassifier(kernels, **settings), *make_splice(1200, 0.3)) == expected


SIFTED = {  # solver, loss, and the plan of 400 kernels at p = 1
    "auto": ("hinge", Plan("streamed", Uniform(), SiftedKernels(SPARSE))),
    "newton": ("logistic", Plan("streamed", Uniform(), SiftedKernels(SPARSE))),
    "cutting-plane": (
        "hinge",
        Plan(
            "streamed",
            Uniform(),
            SiftedKernels(dropped(cutting_planes(DENSE_SETS), DENSE_SETS)),
        ),
    ),
    "level": (
        "squared_hinge",
        Plan(
            "streamed",
            Uniform(),
            SiftedKernels(dropped(Interleaved(DENSE_SETS, Level()), DENSE_SETS)),
        ),
    ),
    "gradient": (
        "hinge",
        Plan("dense", Uniform(), dropped(Wrapper(DENSE_SETS, Gradient(), COMPLETE), DENSE_SETS)),
    ),
}


@pytest.mark.parametrize("solver", SIFTED)
def test_many_kernels_are_sifted_at_p_1(solver, data, plan_of):
    """Gradient steps need complete inner solutions with all kernels."""
    X, y = data[0][:150], data[1][:150]
    loss, expected = SIFTED[solver]
    many = per_feature(RBF(gamma=list(np.geomspace(0.01, 10, 100))))
    assert plan_of(MKLClassifier(many, norm=1, loss=loss, solver=solver), X, y) == expected
    few = per_feature(RBF(gamma=list(np.geomspace(0.01, 10, 75))))
    assert plan_of(MKLClassifier(few, norm=1, loss=loss, solver=solver), X, y).engine == "dense"


def test_families_beyond_the_limit_of_newton_steps_are_sifted():
    """Their Hessian would need M^2 numbers; the family engine is for large n and smaller M."""
    size = SimpleNamespace(
        kernels=SimpleNamespace(n_kernels=MOST_WEIGHTS + 1), examples=SimpleNamespace(n=5000)
    )
    assert choose_engine(size, Workload([AUTO], [norms.Lp(1)])) == "streamed"


def test_other_norms_and_shared_weights_are_not_sifted(data, plan_of):
    X, y = data[0][:150], data[1][:150]
    many = per_feature(RBF(gamma=list(np.geomspace(0.01, 10, 100))))
    assert plan_of(MKLClassifier(many, norm=2), X, y).engine == "dense"
    shared = MKLClassifier(many, norm=1, share_weights=True)
    assert not uses(plan_of(shared, X, np.arange(150) % 3), SiftedKernels)
    both = MKLClassifierCV(many, norms=[1, 2])
    assert plan_of(both, X, y).engine in ("stacked", "dense")


def test_hard_margins_of_many_kernels_are_sifted(data, plan_of):
    X = data[0][:150]
    many = per_feature(RBF(gamma=list(np.geomspace(0.01, 10, 100))))
    plan = plan_of(MKLClassifier(many, norm=1, C=np.inf), X, X[:, 0] > 0)
    assert plan == Plan("streamed", Uniform(), HardMargin(SiftedKernels(SPARSE)))


def test_squared_losses_of_linear_kernels_take_conjugate_gradients(data, plan_of):
    X, _ = data
    inner = Fallback(CG, DENSE_SETS, 1000)
    plan = plan_of(MKLRegressor(per_feature(Linear()), loss="squared", norm=2), X, X[:, 0])
    assert plan == Plan("dense", Uniform(), Wrapper(inner, Analytic(), ACCURATE))


def test_plan_of_one_class_and_of_a_regression(data, plan_of):
    X, _ = data
    assert plan_of(MKLOneClass(FAMILY, norm=2), X) == SAMPLED_FAMILY
    assert plan_of(MKLRegressor(FAMILY, norm=2), X, X[:, 0]) == SAMPLED_FAMILY


def test_sparse_weights_of_joint_risks_come_from_a_sample(data, plan_of):
    """A weight step under such a risk needs a new kernel matrix, even if new weights are free."""
    X, y = data
    times = pd.DataFrame({"event": y > 0, "time": 1.0 + np.arange(len(y))})
    for norm, start in ((1, Sample), (2, Uniform)):
        plan = plan_of(MKLSurvival(per_feature(RBF(1.0)), norm=norm), X, times)
        assert plan.engine == "dense"
        assert isinstance(plan.start, start)


@pytest.mark.parametrize(
    ("norm", "solver"),
    [
        (1, SPARSE),
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
        assert model.plan_.certifies == "weights and model"
    aligned = MKLClassifier(MIXED, norm=2, solver="alignment").fit(X, y)
    assert aligned.plan_.certifies == "model with fixed weights"


def test_repr_of_a_plan_is_its_composition():
    text = repr(SPARSE_DENSE)
    assert text.startswith("Plan(engine='dense', start=Uniform(), solver=DropSmallWeights(")
    assert "Wrapper(inner=WorkingSets(size=1000), step=Newton(" in text
    summary = SPARSE_DENSE.for_file()
    assert (repr(summary), summary.certifies) == (text, "weights and model")


OLD_PLANS = {  # files of earlier versions, and what they say of their plans
    "table-1": "None",
    "sequences-1": "None",
    "elliptic-2": "dense engine; analytic weights (version 0.2)",
}


@pytest.mark.parametrize(
    "settings",
    [
        {"norm": 1},
        {"norm": 2, "solver": "alignment"},
        {"norm": 2, "interleaved": False},
        {"norm": 1, "solver": "skm"},
        {"C": np.inf},
    ],
    ids=str,
)
def test_plan_of_a_loaded_model_prints_the_same_text(settings, data, tmp_path):
    X, y = data[0][:60], data[1][:60]
    model = MKLClassifier(MIXED, **settings).fit(X, y)
    for path in (tmp_path / "first.kw", tmp_path / "again.kw"):  # saved, loaded, saved, loaded
        text, certifies = repr(model.plan_), model.plan_.certifies
        model.save(path)
        model = load(path)
        assert repr(model.plan_) == text
        assert model.plan_.certifies == model.certifies_ == certifies


@pytest.mark.parametrize("name", OLD_PLANS)
def test_plans_of_earlier_versions_are_loaded_and_saved_again(name, tmp_path):
    model = load(Path(__file__).parents[1] / "data" / f"{name}.kw")
    model.save(tmp_path / "again.kw")
    again = load(tmp_path / "again.kw")
    for one in (model, again):
        assert repr(getattr(one, "plan_", None)) == OLD_PLANS[name]


class Examples:
    """An engine with costs and numbers of examples and kernels only."""

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
    (norms.Elliptic(np.eye(2)), Newton, Newton),
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
    with pytest.raises(ValueError, match=r"these do: \['auto', 'analytic'") as error:
        find_method("gradient", norms.Lp(2), losses.Hinge())
    assert "'gradient'" not in str(error.value).split("these do:")[1]


@pytest.mark.parametrize(
    ("solver", "norm", "loss", "shared"),
    [
        ("newton", norms.Block(3), losses.Hinge(), False),
        ("analytic", norms.Lp(1), losses.Hinge(), False),
        ("uniform", norms.Lp(2), losses.Hinge(), False),
        ("mwu", norms.Lp(1), losses.Logistic(), False),
        ("alignment", norms.Lp(2), losses.OneClass(), False),
        ("alignment", norms.Lp(2), losses.Hinge(), True),
        ("skm", norms.Lp(1), losses.Hinge(), True),
        (SKM(sparsify=True), norms.Lp(2), losses.Hinge(), False),
    ],
    ids=str,
)
def test_unserved_combinations_are_refused(solver, norm, loss, shared):
    with pytest.raises(ValueError, match=r"does not support norm=.* with loss=.*; these do: "):
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
    assert weighted.plan_ == Plan("plain sum", Uniform(), ONE_KERNEL_SETS)
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
