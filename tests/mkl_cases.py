"""Real problems for solvers, with the engine that they run on and naive kernels next to it."""

from dataclasses import dataclass, fields, is_dataclass

import naive_mkl
import numpy as np
from kernel_cases import dense

from kernelweave import losses, norms
from kernelweave.common.core import single_threaded_blas
from kernelweave.datasets import make_splice
from kernelweave.engines import DenseEngine
from kernelweave.kernels import RBF, Polynomial, WeightedDegree
from kernelweave.optimization.inner.working_sets import WorkingSets
from kernelweave.optimization.named_methods import find_method
from kernelweave.optimization.plan import Options, make_plan
from kernelweave.optimization.run import Run
from kernelweave.optimization.solve import solve
from kernelweave.problem.problem import Problem

CLASSIFICATION = ("wdbc", "pima", "sonar", "ionosphere")
REGRESSION = ("boston_housing", "concrete", "abalone", "cpusmall")


@dataclass(frozen=True)
class Case:
    """A problem and both ways to its kernels: K has shape (M, n, n)."""

    problem: Problem
    engine: DenseEngine
    K: np.ndarray

    def solve(self, solver, *, max_iter=400, working_set=60, interleaved=True, **limits):
        """Solve the problem by a named solver; `limits` are those of `Run.start`."""
        options = {"working_set": working_set, "interleaved": interleaved}
        plan = planned(solver, self.problem, self.engine, **options)
        with single_threaded_blas():
            return solve(self.problem, self.engine, plan, Run.start(max_iter=max_iter, **limits))

    def naive_gap(self, result):
        return naive_mkl.certificate(self.K, self.problem, result)[2]


def planned(solver, problem, engine, name="dense", **options):
    """Return the plan of a problem for a named solver, on an engine of some name."""
    method = find_method(solver, problem.norm, problem.loss, shared=problem.n_outputs > 1)
    return make_plan(method, problem, engine, name, Options(**options))


def parts(solver):
    """Yield a solver, and all solvers, weight steps and settings that it contains."""
    yield solver
    if is_dataclass(solver):
        for field in fields(solver):
            yield from parts(getattr(solver, field.name))


def uses(plan, kind):
    """Return whether the solver of a plan contains an object of a class."""
    return any(isinstance(part, kind) for part in parts(plan.solver))


def working_sets(engine, size=1000):
    """Return working sets of a size, with the costs of an engine."""
    costs = engine.costs
    return WorkingSets(size, costs.free_weights, costs.values == "cached")


class Unreached:
    """A solver that must not be called: the solver in front of it solves the problem itself."""

    def solve(self, problem, engine, weights, run):
        raise AssertionError("the first solver gave way to another one")


def begin(problem, engine):
    """Move an engine to a feasible alpha, and return equal weights."""
    engine.move_to(problem.risk.feasible_alpha())
    return problem.norm.start(engine.n_kernels)


KINDS = {"one_class": "one-class", "epsilon_insensitive": "regressor", "squared": "regressor"}


def splice_case(loss="hinge", C=1.0, kernel=None, n=800):
    """Return a problem of many sequences, an engine at a feasible alpha, and equal weights."""
    X, y = make_splice(n, 0.3, random_state=1)
    kind = KINDS.get(loss, "classifier")
    cost = np.where(np.arange(n) % 7 == 0, 0.0, C)
    tau = 0.2 * cost.sum() if kind == "one-class" else 0.0
    problem = Problem.of(losses.get(loss, kind), norms.Lp(2.0), y.astype(float), cost, tau)
    engine = dense(kernel or WeightedDegree(8), X, "unit")
    return problem, engine, begin(problem, engine)


def check_optimum(solver, loss, C, tol):
    """A solver finds the optimum of working sets; the engine ends at its alpha and outputs."""
    problem, engine, weights = splice_case(loss, C)
    found = solver.solve(problem, engine, weights, Run.start(tol))
    expected = WorkingSets(50).solve(*splice_case(loss, C), Run.start(1e-4))
    assert found.converged
    assert found.gap <= tol
    np.testing.assert_allclose(found.primal, expected.primal, rtol=2e-4)
    np.testing.assert_array_equal(engine.alpha, found.alpha)
    outputs = engine.outputs().copy()
    engine.move_to(found.alpha)
    np.testing.assert_allclose(outputs, engine.outputs(), rtol=0, atol=1e-9 * max(C, 1.0))


def standardised(X):
    return (X - X.mean(axis=0)) / (X.std(axis=0) + 1e-12)


def hinge_case(table, norm, kernels, *, n=None, normalize=None):
    """The first n examples of a table with two classes under any kernels, without naive ones."""
    X, y = standardised(table["X"][:n].astype(float)), table["y"][:n]
    engine = dense(kernels, X, normalize)
    y = np.where(y == y.max(), 1.0, -1.0)
    return Case(Problem.of(losses.Hinge(), norm, y, np.ones(len(y))), engine, np.empty(0))


def make_case(table, loss, norm, *, n=100, M=5, C=1.0):
    """n random examples of a real table, under M - 1 RBF kernels and a polynomial."""
    kind = next(kind for kind in ("classifier", "regressor", "one-class") if _has(loss, kind))
    X, y = table["X"].astype(float), table["y"].astype(float)
    chosen = np.random.default_rng(0).permutation(len(y))[:n]
    X, y = X[chosen], y[chosen]
    X = standardised(X)
    y = (y - y.mean()) / y.std() if kind == "regressor" else np.where(y == y.max(), 1.0, -1.0)
    tau = 0.3 * n if kind == "one-class" else 0.0
    gammas = list(np.geomspace(0.01, 10.0, M - 1) / X.shape[1])
    problem = Problem.of(losses.get(loss, kind), norm, y, np.full(n, 1.0 if tau else C), tau)
    kernels = [Polynomial(degree=2, gamma=1 / X.shape[1], coef0=1.0)]
    if gammas:
        kernels = [RBF(gamma=gammas), *kernels]
    engine = dense(kernels, X)
    return Case(problem, engine, naive_mkl.kernel_stack(X, gammas))


def _has(loss, kind):
    try:
        losses.get(loss, kind)
    except ValueError:
        return False
    return True


def table_for(loss, number, load_real):
    """One of the real tables that suit a loss."""
    regression = _has(loss, "regressor")
    return load_real((REGRESSION if regression else CLASSIFICATION)[number % 4])
