"""Conjugate gradients: the optimum of working sets, with the same support, for quadratic losses."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from kernel_cases import dense
from mkl_cases import Unreached, check_optimum, planned, uses
from mkl_cases import splice_case as make

from kernelweave import MKLClassifier, MKLRegressor, losses, norms, verify
from kernelweave.engines import DenseEngine, LinearEngine
from kernelweave.kernels import RBF, GappedKmer, Linear, WeightedDegree, per_feature
from kernelweave.optimization.certifier import certified
from kernelweave.optimization.fallback import Fallback
from kernelweave.optimization.inner.conjugate_gradients import (
    ConjugateGradients,
    ConjugateGradientTuning,
)
from kernelweave.optimization.inner.descent import first_zero, project
from kernelweave.optimization.inner.working_sets import Decomposition, WorkingSets
from kernelweave.optimization.run import Run
from kernelweave.optimization.stopping import StallTuning
from kernelweave.problem.problem import Problem

WORKING_SETS = WorkingSets(50)
ALONE = Fallback(ConjugateGradients(), Unreached(), 50)
RECORDING = Fallback(ConjugateGradients(record=True), Unreached(), 50)
WITH_SETS = Fallback(ConjugateGradients(), WORKING_SETS, 50)


every_loss = pytest.mark.parametrize(
    "loss", ["hinge", "squared_hinge", "one_class", "squared", "epsilon_insensitive"]
)


@every_loss
@pytest.mark.parametrize("C", [0.1, 1.0, 100.0])
def test_the_same_optimum_as_working_sets(loss, C):
    check_optimum(ALONE, loss, C, 1e-4)


@pytest.fixture
def costly_products(monkeypatch):
    """Plans are made for few products, so that models are made of them."""

    def costly(costs):
        def changed(engine):
            own = costs(engine)
            products, part_products = (
                None if one is None else replace(one, fixed=True)
                for one in (own.products, own.part_products)
            )
            return replace(own, products=products, part_products=part_products, values="costly")

        return property(changed)

    for engine in (DenseEngine, LinearEngine):
        monkeypatch.setattr(engine, "costs", costly(engine.costs.fget))


@every_loss
@pytest.mark.parametrize("C", [0.1, 1.0, 100.0])
def test_the_same_optimum_with_recorded_products(loss, C):
    check_optimum(RECORDING, loss, C, 1e-4)


@pytest.mark.parametrize("C", [1.0, 10.0])
def test_recorded_products_save_products(C):
    modelled = RECORDING.solve(*make(C=C), Run.start(1e-4))
    plain = ALONE.solve(*make(C=C), Run.start(1e-4))
    assert modelled.n_iter < 0.8 * plain.n_iter


def test_the_number_of_recorded_products_is_bounded():
    few = ConjugateGradients(record=True, tuning=ConjugateGradientTuning(most_products=3))
    recording = replace(RECORDING, first=few)
    problem, engine, weights = make(C=100.0)
    found = recording.solve(problem, engine, weights, Run.start(1e-4))
    assert found.gap <= 1e-4
    assert len(engine.recorded) <= 3


@pytest.mark.parametrize("normalize", ["unit", "variance"])
@pytest.mark.parametrize("p", [1.0, 2.0])
def test_weights_are_those_of_other_methods(normalize, p, costly_products, rng):
    X = ["".join(rng.choice(list("ACGT"), 40)) for _ in range(1100)]
    y = np.array(["GATTA" in x or "CCC" in x for x in X])
    family, ways = GappedKmer([5, 5, 6], [3, 4, 4]), {"norm": p, "normalize": normalize}
    found = MKLClassifier(family, tol=1e-5, **ways).fit(X, y)
    assert uses(found.plan_, ConjugateGradients)
    assert found.duality_gap_ <= 1e-5
    assert verify(found, X, y).agree
    other = MKLClassifier(family, tol=1e-5, working_set=300, **ways).fit(X, y)
    np.testing.assert_allclose(found.weights_, other.weights_, atol=0.02)
    assert found.primal_objective_ == pytest.approx(other.primal_objective_, rel=2e-5)


@pytest.mark.parametrize("loss", ["hinge", "epsilon_insensitive"])
def test_alphas_reach_their_bounds_exactly(loss):
    found = ALONE.solve(*make(loss), Run.start(1e-6))
    expected = WORKING_SETS.solve(*make(loss), Run.start(1e-6))
    counts = [np.count_nonzero(result.alpha) for result in (found, expected)]
    assert abs(counts[0] - counts[1]) <= 0.02 * counts[1]
    at_bound = [np.count_nonzero(np.abs(result.alpha) == 1.0) for result in (found, expected)]
    assert abs(at_bound[0] - at_bound[1]) <= 0.02 * counts[1]


def test_from_an_alpha_that_is_not_zero():
    problem, engine, weights = make()
    first = ALONE.solve(problem, engine, weights, Run.start(1e-2))
    engine.move_to(first.alpha)
    found = ALONE.solve(problem, engine, weights, Run.start(1e-5))
    assert found.gap <= 1e-5
    assert found.history[0].gap == pytest.approx(first.gap, rel=1e-6)
    again = ALONE.solve(problem, engine, weights, Run.start(1e-5))
    assert again.n_iter == 0
    np.testing.assert_array_equal(again.alpha, found.alpha)


@pytest.mark.parametrize("most", [0, 1, 5])
def test_a_bounded_number_of_moves(most):
    found = ALONE.solve(*make(), Run.start(1e-9, most))
    assert not found.converged
    assert found.n_iter == most == len(found.history) - 1


NO_PATIENCE = ConjugateGradientTuning(patience=1, moves_per_free=0.0)  # every descent is slow
IMPATIENT = ConjugateGradients(tuning=NO_PATIENCE)


def test_working_sets_take_over_if_the_gap_falls_slowly():
    with pytest.raises(AssertionError, match="gave way"):
        replace(ALONE, first=IMPATIENT).solve(*make(C=1000.0), Run.start(1e-4))
    watched = []
    impatient = replace(WITH_SETS, first=IMPATIENT)
    found = impatient.solve(*make(C=1000.0), Run.start(1e-4, watch=watched.append))
    assert found.gap <= 1e-4
    assert watched == found.history
    assert found.n_iter >= 2


def test_working_sets_take_over_after_a_stall(monkeypatch):
    """The next solver does not stop because of the log of the stalled one."""

    def idle(descent, run):
        certificate = certified(descent.problem, descent.engine, descent.weights)
        for _ in range(StallTuning().patience + 1):
            run.record(certificate, descent.weights)
        return run.result(certificate, descent.engine.alpha, descent.weights)

    monkeypatch.setattr("kernelweave.optimization.inner.conjugate_gradients.descended", idle)
    found = WITH_SETS.solve(*make(), Run.start(1e-4))
    assert found.gap <= 1e-4


def test_working_sets_use_the_iterations_left():
    found = replace(WITH_SETS, first=IMPATIENT).solve(*make(C=1000.0), Run.start(1e-9, 4))
    assert found.n_iter == 4


@pytest.mark.parametrize(
    "other",
    [
        {"loss": "logistic"},
        {"kernel": WeightedDegree(4, split="degree")},
        {"kernel": WeightedDegree(4, store="rows")},
        {"n": 1000},
    ],
    ids=str,
)
def test_conjugate_gradients_are_planned_only_for_cheap_products(other):
    suited, others = make(n=1100)[:2], make(**{"n": 1100, **other})[:2]
    assert uses(planned("auto", *suited), ConjugateGradients)
    assert not uses(planned("auto", *suited, working_set=50), ConjugateGradients)
    assert not uses(planned("auto", *others), ConjugateGradients)


def test_problems_of_few_examples_are_left_to_working_sets():
    solver = Fallback(ConjugateGradients(), WorkingSets(800), 800)
    found = solver.solve(*make(), Run.start(1e-4))
    assert found.gap <= 1e-4
    expected = WorkingSets(800).solve(*make(), Run.start(1e-4))
    np.testing.assert_array_equal(found.alpha, expected.alpha)
    with pytest.raises(AssertionError, match="gave way"):
        Fallback(ConjugateGradients(), Unreached(), 800).solve(*make(), Run.start(1e-4))


def test_kernels_without_fast_products_are_left_to_working_sets(rng):
    X = rng.normal(size=(1100, 3))
    y = np.where(X[:, 0] > 0, 1.0, -1.0)
    problem = Problem.of(losses.get("hinge", "classifier"), norms.Lp(2.0), y, np.ones(1100))
    plan = planned("auto", problem, dense(RBF(0.5), X))
    assert isinstance(plan.solver, WorkingSets)


@given(k=st.integers(1, 20), seed=st.integers(0, 2**32 - 1))
def test_where_a_slope_with_jumps_reaches_zero(k, seed):
    rng = np.random.default_rng(seed)
    value, rate = -rng.exponential(3.0), rng.exponential()
    places, jumps = rng.exponential(size=k), rng.exponential(size=k)
    found = first_zero(value, rate, places, jumps)

    def slope(t):
        return value + rate * t + jumps[places <= t].sum()

    assert slope(found * (1 - 1e-9)) <= 1e-6
    assert slope(found * (1 + 1e-9)) >= -1e-6


@given(n=st.integers(2, 30), seed=st.integers(0, 2**32 - 1))
def test_a_projection_with_kinks_is_the_best_feasible_point(n, seed):
    """No move of one alpha against another one is better."""
    rng = np.random.default_rng(seed)
    lo, hi, kinks, wish = -rng.random(n), rng.random(n), rng.random(n), rng.normal(size=n)
    found = project(wish, lo, hi, 0.0, kinks)
    assert np.all((found >= lo) & (found <= hi))
    assert found.sum() == pytest.approx(0.0, abs=1e-12 * n)

    def value(alpha):
        return 0.5 * np.sum((alpha - wish) ** 2) + kinks @ np.abs(alpha)

    for _ in range(20):
        i, j = rng.choice(n, 2, replace=False)
        other = found.copy()
        room = min(hi[i] - found[i], found[j] - lo[j])
        other[[i, j]] += np.array([1.0, -1.0]) * rng.choice([1e-4, 1.0]) * room
        assert value(found) <= value(other) + 1e-12


@given(n=st.integers(1, 40), seed=st.integers(0, 2**32 - 1), open_ended=st.booleans())
def test_a_projection_is_the_nearest_feasible_point(n, seed, open_ended):
    rng = np.random.default_rng(seed)
    lo, hi = -rng.random(n), rng.random(n)
    total = rng.uniform(lo.sum(), hi.sum())
    hi = np.where(rng.random(n) < 0.3, np.inf, hi) if open_ended else hi
    wish = 3 * rng.normal(size=n)
    found = project(wish, lo, hi, total)
    assert np.all((found >= lo) & (found <= hi))
    assert found.sum() == pytest.approx(total, abs=1e-12 * n)
    # Optimal: what is not at a bound has been shifted by one number, what is would go further.
    shift = found - wish
    free = (found > lo) & (found < hi)
    level = shift[free].mean() if free.any() else 0.5 * (shift.min() + shift.max())
    if free.any():
        np.testing.assert_allclose(shift[free], level, atol=1e-9)
        assert np.all(shift[found == hi] <= level + 1e-9)
        assert np.all(shift[found == lo] >= level - 1e-9)


@pytest.mark.parametrize(
    ("kernels", "norm"),
    [(Linear(), 2), (per_feature(Linear()), 1), (per_feature(Linear()), 2), (Linear(), np.inf)],
    ids=["one", "sparse", "many", "sum"],
)
def test_squared_losses_of_linear_kernels(kernels, norm, rng):
    """No alpha has a bound, and all examples are support vectors."""
    X = rng.normal(size=(1300, 9))
    y = X @ rng.normal(size=9) + rng.normal(size=1300)
    found = MKLRegressor(kernels, loss="squared", norm=norm, tol=1e-5).fit(X, y)
    assert uses(found.plan_, ConjugateGradients)
    assert found.duality_gap_ <= 1e-5
    slow = MKLRegressor(kernels, loss="squared", norm=norm, tol=1e-5, working_set=400).fit(X, y)
    assert not uses(slow.plan_, ConjugateGradients)
    assert found.primal_objective_ == pytest.approx(slow.primal_objective_, rel=2e-5)
    np.testing.assert_allclose(found.weights_, slow.weights_, atol=2e-2)


def test_linear_kernels_with_bounds_are_left_to_working_sets(rng):
    X = rng.normal(size=(1300, 9))
    plan = MKLClassifier(Linear()).fit(X, X[:, 0] > 0).plan_
    assert not uses(plan, ConjugateGradients)


def test_dual_terms_report_their_kind():
    y, C = np.array([1.0, -1.0, 1.0]), np.array([1.0, 2.0, 0.0])
    kinds = {
        "hinge": (True, False, False),
        "squared_hinge": (True, False, False),
        "logistic": (False, False, True),
        "smooth_hinge": (False, False, True),
    }
    for name, expected in kinds.items():
        term = losses.get(name, "classifier").dual_term(y, C)
        assert (term.is_quadratic, term.is_free, term.is_entropy) == expected
    squared = losses.get("squared", "regressor").dual_term(y, C)
    assert (squared.is_quadratic, squared.is_free, squared.is_entropy) == (True, True, False)
    other = losses.get("epsilon_insensitive", "regressor").dual_term(y, C)
    assert (other.is_quadratic, other.is_free, other.is_entropy) == (True, False, False)


@pytest.mark.parametrize("epsilon", [0.0, 1e-3, 0.1, 1.0])
@pytest.mark.parametrize("C", [0.1, 100.0])
def test_regression_on_sequences(epsilon, C, rng):
    """Targets are numbers, and alphas inside the tube are zero, as many as by working sets."""
    letters = rng.integers(0, 4, size=(1300, 30))
    y = (letters[:, 3] == 2) + 2.0 * (letters[:, 9] == 1) + 0.5 * rng.normal(size=1300)
    X = ["".join(np.array(list("ACGT"))[row]) for row in letters]
    kinds = [
        MKLRegressor(WeightedDegree(4), C=C, epsilon=epsilon, working_set=size).fit(X, y)
        for size in ("auto", 500)
    ]
    assert [uses(model.plan_, ConjugateGradients) for model in kinds] == [True, False]
    assert all(verify(model, X, y).agree for model in kinds)
    found, expected = (model.primal_objective_ for model in kinds)
    assert found == pytest.approx(expected, rel=2e-3)
    support = [len(model.support_) for model in kinds]
    assert abs(support[0] - support[1]) <= 0.03 * len(y)


@pytest.mark.parametrize("norm", [1, 2])
def test_many_free_alphas_are_not_left_to_working_sets(norm, monkeypatch):
    """Far fewer features than examples and a large C: the gap halves late, but it does."""
    rng = np.random.default_rng(0)
    X = ["".join(rng.choice(list("ACGT"), 40)) for _ in range(1200)]
    y = np.array([x.count("GAT") + 0.5 * x.count("CC") for x in X]) + 0.3 * rng.normal(size=1200)
    kernels = [GappedKmer(l=5, k=3), GappedKmer(l=7, k=4)]
    advance = Decomposition.advance

    def on_a_sample_only(method, *given, **how):
        assert method.engine.n < len(X)
        advance(method, *given, **how)

    monkeypatch.setattr(Decomposition, "advance", on_a_sample_only)
    model = MKLRegressor(kernels, norm=norm, C=176.0).fit(X, y)
    assert len(model.history_) > 1
    assert model.duality_gap_ <= 1e-3
    assert verify(model, X, y).agree
