"""The plan of a fit: a sentence for each kind of problem, and readable refusals."""

import numpy as np
import pytest
from kernelweave.optimization.loop import COMPLETE

from kernelweave import (
    MKLClassifier,
    MKLClassifierCV,
    MKLOneClass,
    MKLRegressor,
    losses,
    norms,
)
from kernelweave.datasets import make_splice
from kernelweave.kernels import RBF, Laplacian, Linear, Polynomial, WeightedDegree
from kernelweave.optimization.methods.skm import SKM
from kernelweave.optimization.plan import AUTO, METHODS, Plan, automatic, find_method, suited_norm

FAMILY = RBF(gamma=list(np.geomspace(1e-3, 1.0, 12)))
MIXED = [RBF(0.1), Polynomial(degree=2), Laplacian(0.1)]


class Planned(Exception):
    """Ends a fit once it has a plan."""


@pytest.fixture
def plan_of(monkeypatch):
    """Return a function from an estimator and data to the plan of its fit, which it ends."""

    def refuse(*given, **named):
        raise Planned

    monkeypatch.setattr("kernelweave.estimators.base.solve", refuse)

    def plan(model, X, y=None):
        with pytest.raises(Planned):
            model.fit(X, y)
        return repr(model.plan_)

    return plan


@pytest.fixture
def data(rng):
    X = rng.normal(size=(1200, 4))
    return X, np.where(X[:, 0] > 0, 1.0, -1.0)


SETS = "working sets of 1,000"
ACCURATE_NEWTON = "Newton steps on accurate solutions of the inner problem"
COMPLETE_NEWTON = "Newton steps on complete solutions of the inner problem"
COMPLETE_GRADIENT = "gradient steps on complete solutions of the inner problem"
ANALYTIC = "analytic steps after every turn"
SAMPLE = "weights start from a sample"
DROPPED = "small weights dropped at the end"
ROUGH = "single precision until the gap is small"

PLANS = {  # kernels, settings, and the parts of the sentence
    "one RBF": (RBF(0.1), {}, ["dense engine", SETS, "given weights"]),
    "family, p = 1": (
        FAMILY, {"norm": 1}, ["family engine", SETS, ACCURATE_NEWTON, SAMPLE, DROPPED, ROUGH]
    ),
    "family, p = 1.5": (
        FAMILY, {"norm": 1.5}, ["family engine", SETS, ACCURATE_NEWTON, SAMPLE, ROUGH]
    ),
    "family, p = 2": (FAMILY, {"norm": 2}, ["family engine", SETS, ACCURATE_NEWTON, SAMPLE, ROUGH]),
    "family, p = 4": (FAMILY, {"norm": 4}, ["family engine", SETS, ANALYTIC, ROUGH]),
    "family, p = inf": (FAMILY, {"norm": np.inf}, ["family engine", SETS, "given weights", ROUGH]),
    "mixed, p = 1": (MIXED, {"norm": 1}, ["dense engine", SETS, ACCURATE_NEWTON, DROPPED]),
    "mixed, p = 1.2": (MIXED, {"norm": 1.2}, ["dense engine", SETS, ACCURATE_NEWTON]),
    "mixed, p = 2": (MIXED, {"norm": 2}, ["dense engine", SETS, ANALYTIC]),
    "mixed, p = inf": (MIXED, {"norm": np.inf}, ["plain sum engine", SETS, "given weights"]),
    "logistic": (
        FAMILY,
        {"loss": "logistic", "norm": 2},
        ["family engine", SETS, ACCURATE_NEWTON, SAMPLE, ROUGH],
    ),
    "complete Newton": (
        FAMILY, {"norm": 2, "interleaved": False}, ["family engine", SETS, COMPLETE_NEWTON, ROUGH]
    ),
    "complete analytic": (
        MIXED,
        {"norm": 2, "interleaved": False},
        ["dense engine", SETS, "analytic steps on complete solutions of the inner problem"],
    ),
    "a working set": (
        MIXED, {"norm": 2, "working_set": 77}, ["dense engine", "working sets of 77", ANALYTIC]
    ),
}  # fmt: skip


@pytest.mark.parametrize(("kernels", "settings", "parts"), PLANS.values(), ids=PLANS)
def test_the_plan_of_each_kind_of_problem(kernels, settings, parts, data, plan_of):
    assert plan_of(MKLClassifier(kernels, **settings), *data) == "; ".join(parts)


def test_values_of_few_examples_are_kept_for_several_machines(data, plan_of):
    X, y = data
    classes = np.where(X[:, 1] > 0, y, 2.0)
    sentence = "; ".join(["stacked engine", SETS, ANALYTIC])
    assert plan_of(MKLClassifier(MIXED), X, classes) == sentence
    assert plan_of(MKLClassifierCV(MIXED, norms=[2.0]), X, y) == sentence
    for other in (
        MKLClassifier(MIXED, cache_mb=30),  # three kernels take 33 MB
        MKLClassifier(RBF(0.1)),
        MKLClassifier([Linear(columns=[0]), Linear(columns=[1])]),
    ):
        assert plan_of(other, X, classes).startswith("dense engine")


SKM_SENTENCE = "SKM(eps1=inf, eps2=inf, sparsify=False, block_mb=64.0)"
SOLVERS = {  # p, and the parts of the sentence on a family and on a mixed list
    "analytic": (2, ["family engine", SETS, ANALYTIC, ROUGH], ["dense engine", SETS, ANALYTIC]),
    "newton": (
        2,
        ["family engine", SETS, ACCURATE_NEWTON, SAMPLE, ROUGH],
        ["dense engine", SETS, ACCURATE_NEWTON],
    ),
    "hessian": (
        1,
        ["family engine", SETS, ACCURATE_NEWTON, SAMPLE, DROPPED, ROUGH],
        ["dense engine", SETS, ACCURATE_NEWTON, DROPPED],
    ),
    "cutting-plane": (
        1,
        ["family engine", SETS, "cutting plane steps after every turn", DROPPED, ROUGH],
        ["dense engine", SETS, "cutting plane steps after every turn", DROPPED],
    ),
    "level": (
        1,
        ["family engine", SETS, "level steps after every turn", DROPPED, ROUGH],
        ["dense engine", SETS, "level steps after every turn", DROPPED],
    ),
    "gradient": (
        1,
        ["family engine", SETS, COMPLETE_GRADIENT, DROPPED, ROUGH],
        ["dense engine", SETS, COMPLETE_GRADIENT, DROPPED],
    ),
    "uniform": (
        np.inf,
        ["family engine", SETS, "given weights", ROUGH],
        ["plain sum engine", SETS, "given weights"],
    ),
    "alignment": (2, *[["dense engine", SETS, "weights given by plain alignments"]] * 2),
    "centered-alignment": (
        2, *[["dense engine", SETS, "weights given by centred alignments"]] * 2
    ),
    "qcqp": (1, *[["dense engine", "QCQP()"]] * 2),
    "skm": (1, ["streamed engine", SKM_SENTENCE], ["dense engine", SKM_SENTENCE]),
    "mwu": (1, *[["dense engine", "MWU(eps=0.1, scaling='value', rho=None)"]] * 2),
}  # fmt: skip


def test_every_method_has_its_sentence():
    assert list(SOLVERS) == list(METHODS)


@pytest.mark.parametrize("solver", SOLVERS)
def test_the_plan_of_each_named_solver(solver, data, plan_of):
    p, *sentences = SOLVERS[solver]
    for kernels, parts in zip((FAMILY, MIXED), sentences, strict=True):
        model = MKLClassifier(kernels, norm=p, solver=solver, loss="squared_hinge")
        assert plan_of(model, *data) == "; ".join(parts)


@pytest.mark.parametrize(
    ("kernels", "settings", "parts"),
    [
        (RBF(0.1), {}, ["dense engine", f"{SETS} on a growing active set", "given weights"]),
        (
            FAMILY,
            {"norm": 1},
            [
                "family engine",
                f"{SETS} on a growing active set",
                ACCURATE_NEWTON,
                SAMPLE,
                DROPPED,
                ROUGH,
            ],
        ),
        (
            FAMILY,
            {"norm": 1, "interleaved": False},
            ["family engine", SETS, COMPLETE_NEWTON, DROPPED, ROUGH],
        ),
        (RBF(0.1), {"loss": "logistic"}, ["dense engine", SETS, "given weights"]),
    ],
    ids=["one RBF", "family", "complete", "no alpha is zero"],
)
def test_active_sets_grow_where_examples_are_many(kernels, settings, parts, rng, plan_of):
    X = rng.normal(size=(20_001, 3))
    y = np.sign(X[:, 0])
    model = MKLClassifier(kernels, **settings)
    assert plan_of(model, X, y) == "; ".join(parts)
    few = "; ".join(parts).replace(" on a growing active set", "")
    assert plan_of(model, X[:20_000], y[:20_000]) == few


def test_conjugate_gradients_are_for_kernels_with_fast_products(plan_of):
    X, y = make_splice(1200, 0.3)
    expected = f"dense engine; conjugate gradients, then {SETS}; given weights"
    assert plan_of(MKLClassifier(WeightedDegree(8)), X, y) == expected
    of_its_own = MKLClassifier(WeightedDegree(8), working_set=50)
    assert plan_of(of_its_own, X, y) == "dense engine; working sets of 50; given weights"
    several = MKLClassifier(WeightedDegree(8, split="degree"), norm=2)
    expected = f"linear engine; conjugate gradients, then {SETS}; {ACCURATE_NEWTON}; {SAMPLE}"
    assert plan_of(several, X, y) == expected


def test_the_plan_of_one_class_and_of_a_regression(data, plan_of):
    X, _ = data
    expected = f"family engine; {SETS}; {ACCURATE_NEWTON}; {SAMPLE}; {ROUGH}"
    assert plan_of(MKLOneClass(FAMILY, norm=2), X) == expected
    assert plan_of(MKLRegressor(FAMILY, norm=2), X, X[:, 0]) == expected


@pytest.mark.parametrize(
    ("norm", "parts"),
    [
        (1, ["stacked engine", SETS, ACCURATE_NEWTON, DROPPED]),
        (2, ["stacked engine", SETS, ANALYTIC]),
        (np.inf, ["stacked engine", SETS, "given weights"]),
    ],
)
def test_the_plan_of_shared_weights(norm, parts, data, plan_of):
    X, _ = data
    model = MKLClassifier(FAMILY, norm=norm, share_weights=True)
    assert plan_of(model, X, np.arange(len(X)) % 3) == "; ".join(parts)


def test_a_fitted_estimator_has_its_plan(data):
    X, y = data[0][:60], data[1][:60]
    for model, engine in (
        (MKLClassifier(MIXED, norm=2), "dense"),
        (MKLClassifierCV(MIXED, norms=[2], Cs=[1.0], cv=2), "stacked"),
        (MKLRegressor(MIXED, norm=2), "dense"),
    ):
        assert repr(model.fit(X, y).plan_) == f"{engine} engine; {SETS}; {ANALYTIC}"
        assert model.plan_.certifies == "weights and machine"
    aligned = MKLClassifier(MIXED, norm=2, solver="alignment").fit(X, y)
    assert aligned.plan_.certifies == "machine at given weights"


def test_the_inner_problem_of_a_plan_has_given_weights():
    plan = Plan("dense", step="Newton", pace=COMPLETE, working_set=30)
    assert repr(plan.inner) == "dense engine; working sets of 30; given weights"


CHOICES = [  # norm, where new weights cost little, where they cost a pass over the support
    (norms.Lp(1), "hessian", "hessian"),
    (norms.Lp(1, (1.0, 2.0)), "hessian", "hessian"),
    (norms.Lp(1.2), "newton", "newton"),
    (norms.Lp(1.5), "analytic", "newton"),
    (norms.Lp(2), "analytic", "newton"),
    (norms.Block(4 / 3), "analytic", "newton"),
    (norms.Lp(3), "analytic", "analytic"),
    (norms.Lp(1e6), "analytic", "analytic"),
    (norms.Elliptic(np.eye(2)), "analytic", "analytic"),
    (norms.Block(3), "analytic", "analytic"),
    (norms.Lp(np.inf), "uniform", "uniform"),
    (norms.Block(2), "uniform", "uniform"),
]


@pytest.mark.parametrize(("norm", "cheap", "expensive"), CHOICES, ids=str)
def test_auto_takes_the_fastest_that_serves_the_norm(norm, cheap, expensive):
    found = automatic(norm, cheap_weights=True, M=9), automatic(norm, cheap_weights=False, M=9)
    assert found == (cheap, expensive)
    assert METHODS[cheap].serves(norm)
    assert METHODS[expensive].serves(norm)
    assert find_method("auto", norm, losses.Hinge()) is AUTO


def test_many_kernels_take_the_step_that_grows_with_them_least():
    """A Newton step factorises a matrix of all weights; at p = 1 it does not."""
    for p, expected in ((1.01, "analytic"), (1.5, "analytic"), (2, "analytic"), (1, "hessian")):
        assert automatic(norms.Lp(p), cheap_weights=False, M=501) == expected


def test_who_cannot_serve_names_those_that_can():
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
def test_unable_combinations_are_refused(solver, norm, loss, shared):
    with pytest.raises(ValueError, match=r"cannot serve norm=.* with loss=.*; these can: "):
        find_method(solver, norm, loss, shared=shared)


@pytest.mark.parametrize("solver", ["simplex", "", None, 3, SKM], ids=str)
def test_unknown_solvers_are_refused(solver, data):
    with pytest.raises(ValueError, match=r"solver must be one of \['auto', 'analytic'"):
        MKLClassifier(RBF(0.1), solver=solver).fit(*data)


def test_an_algorithm_with_its_settings_is_taken_as_it_is():
    chosen = SKM(sparsify=True)
    assert find_method(chosen, norms.Lp(1), losses.Hinge()) is chosen


def test_costs_of_kernels_fade_in_the_plain_sum(data):
    """At p = inf the norm is the largest weight, whatever the costs are."""
    X, y = data[0][:200], data[1][:200]
    norm = norms.Lp(np.inf, weights=[1, 2, 3])
    weighted = MKLClassifier(MIXED, norm=norm, tol=1e-6).fit(X, y)
    plain = MKLClassifier(MIXED, norm=np.inf, tol=1e-6).fit(X, y)
    assert repr(weighted.plan_) == f"plain sum engine; {SETS}; given weights"
    np.testing.assert_array_equal(weighted.weights_, np.ones(3))
    assert weighted.primal_objective_ == plain.primal_objective_
    np.testing.assert_array_equal(weighted.decision_function(X), plain.decision_function(X))
    assert suited_norm(norm, "plain sum", 3) == norms.Lp(np.inf)
    assert suited_norm(norm, "dense", 3) is norm


@pytest.mark.parametrize("solver", ["auto", "uniform"])
def test_costs_of_another_number_of_kernels_are_refused_there_too(solver, data):
    model = MKLClassifier(MIXED, norm=norms.Lp(np.inf, weights=[1, 2]), solver=solver)
    with pytest.raises(ValueError, match="weights is for 2 kernels, but there are 3"):
        model.fit(*data)
