"""Iterates: the values that weight steps read."""

from types import SimpleNamespace

import numpy as np
import pytest
from mkl_cases import begin, make_case

from kernelweave import norms
from kernelweave.optimization.certifier import Certifier
from kernelweave.optimization.inner.working_sets import WorkingSets
from kernelweave.optimization.iterate import Iterate
from kernelweave.optimization.run import Run
from kernelweave.problem.certificate import Certificate

M = 4
NORMS = [norms.Lp(1), norms.Lp(1, (1.0, 2.0, 0.5, 1.0)), norms.Lp(2), norms.Elliptic(np.eye(M) + 1)]
every_norm = pytest.mark.parametrize("norm", NORMS, ids=repr)


def iterate(theta, s, primal, linear=10.0, constant=np.inf):
    return Iterate(theta, s, linear, lambda: primal, None, tol=1e-3, constant=constant)


def test_value_is_the_dual_value_under_the_weights():
    assert iterate(np.full(2, 0.5), np.array([3.0, 1.0]), 20.0).value == pytest.approx(9.0)


@every_norm
def test_gap_is_that_of_the_best_weights(norm, rng):
    s = rng.random(M)
    seen = iterate(norm.start(M), s, 11.0)
    assert seen.gap(norm) == pytest.approx(11.0 - 10.0 + 0.5 * norm.best(s) @ s)
    assert seen.gap(norm) >= seen.primal() - seen.value


@every_norm
def test_gap_due_to_weights_is_zero_at_the_best_weights(norm, rng):
    s = rng.random(M)
    certificate = Certificate(primal=8.0, dual=7.0, constant=20.0, gap=1 / 8, bias=0.0)
    equal, best = (iterate(theta, s, 8.0) for theta in (norm.start(M), norm.best(s)))
    assert best.gap_due_to_weights(norm, certificate) == pytest.approx(0.0, abs=1e-12)
    expected = 0.5 * (norm.dual(s) - norm.start(M) @ s) / 8.0
    assert equal.gap_due_to_weights(norm, certificate) == pytest.approx(expected)


def test_gap_due_to_weights_is_unknown_without_a_ball():
    certificate = Certificate(primal=8.0, dual=7.0, constant=20.0, gap=1 / 8, bias=0.0)
    block = norms.Block(3)
    assert iterate(block.start(M), np.ones(M), 8.0).gap_due_to_weights(block, certificate) == np.inf


def test_scale_is_the_smaller_of_objective_and_improvement():
    theta, s = np.full(2, 0.5), np.array([3.0, 1.0])  # its value is 9
    assert iterate(theta, s, 20.0).scale == 20.0
    assert iterate(theta, s, 20.0, constant=12.0).scale == pytest.approx(3.0)


@pytest.fixture
def case(load_real):
    return make_case(load_real("sonar"), "hinge", norms.Lp(2), n=40)


def test_iterate_has_the_values_of_its_engine(case):
    problem, engine = case.problem, case.engine
    theta = begin(problem, engine)
    WorkingSets(60).solve(problem.with_weights(theta), engine, theta, Run.start(1e-2))
    seen = Iterate.of(Certifier(problem, engine), theta, None, 1e-3)
    s = np.einsum("i,mij,j->m", engine.alpha, case.K, engine.alpha)
    np.testing.assert_allclose(seen.s, s, rtol=1e-9)
    dual = problem.with_weights(theta).dual(engine.alpha, s)
    assert seen.value == pytest.approx(dual, rel=1e-9)
    F = theta @ (case.K @ engine.alpha)
    primal = problem.primal(F, s, theta, problem.best_bias(F))
    assert seen.primal() == pytest.approx(primal, rel=1e-9)
    assert (seen.tol, seen.constant) == (1e-3, problem.constant)


def test_block_norms_that_are_not_finite_are_an_error(case):
    broken = SimpleNamespace(
        alpha=case.engine.alpha, n_kernels=5, quadratic=lambda: np.full(5, np.nan)
    )
    certifier = Certifier(case.problem, broken)
    with pytest.raises(FloatingPointError, match="alpha' K alpha is not finite"):
        Iterate.of(certifier, np.ones(5), None, 1e-3)
