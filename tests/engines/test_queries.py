"""Queries of engines have no side effects: no answer depends on which were asked before."""

import numpy as np
import pytest
from kernel_cases import EVERY_ENGINE

from kernelweave.engines.base import MatVec, mat_vec

every_case = pytest.mark.parametrize("case", EVERY_ENGINE.values(), ids=EVERY_ENGINE)


def queries(engine, rng):
    """Return all queries that an engine serves, by name, with arguments drawn at random."""
    idx = rng.choice(engine.n, size=6, replace=False)
    theta, other = rng.random((2, engine.n_kernels))
    v = rng.normal(size=engine.n)
    costs = engine.costs
    found = {
        "alpha": lambda: engine.alpha,
        "combined": lambda: engine.combined(theta),
        "combined, other weights": lambda: engine.combined(other),
        "quadratic": engine.quadratic,
        "outputs": engine.outputs,
        "outputs of some": lambda: engine.outputs(np.arange(engine.n_kernels)[::2]),
        "outputs at": lambda: engine.outputs_at(idx),
        "costs": lambda: np.array(list(vars(engine.costs).items()), dtype=object),
        "snapshot": lambda: engine.snapshot().alpha,
        "subset": lambda: engine.subset(np.sort(idx)).alpha,
    }
    if not costs.streamed:
        found["block"] = lambda: engine.block(idx, theta)
        found["blocks"] = lambda: engine.blocks(idx)
        found["diagonal"] = engine.diagonal
    if isinstance(engine, MatVec) and costs.products != "none":
        found["matvec"] = lambda: mat_vec(engine).matvec(v, theta)
        found["matvec, other weights"] = lambda: mat_vec(engine).matvec(v, other)
    return found


def answers(case, X, alpha, order):
    """Return the answers of a new engine at alpha, each asked twice, in an order of the names."""
    engine = case.engine(X)
    engine.move_to(alpha)
    asked = queries(engine, np.random.default_rng(1))
    names = order(list(asked))
    first = {name: np.array(asked[name]()) for name in names}
    second = {name: np.array(asked[name]()) for name in names}
    return engine, first, second


@every_case
def test_answers_do_not_depend_on_earlier_queries(case, rng):
    X, alpha = case.data(rng, case.n), rng.normal(size=case.engine(case.data(rng, case.n)).n)
    engine, first, second = answers(case, X, alpha, list)
    backwards = answers(case, X, alpha, lambda names: names[::-1])[1]
    for name, answer in first.items():
        np.testing.assert_array_equal(answer, second[name], err_msg=name)
        np.testing.assert_array_equal(answer, backwards[name], err_msg=name)
