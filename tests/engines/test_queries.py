"""Queries of engines have no side effects: results do not depend on earlier queries."""

import numpy as np
import pytest
from kernel_cases import EVERY_ENGINE

from kernelweave.engines import OutputsEngine
from kernelweave.engines.base import MatVec, mat_vec

every_case = pytest.mark.parametrize("case", EVERY_ENGINE.values(), ids=EVERY_ENGINE)


def queries(engine, rng):
    """Return all queries that an engine serves, by name, with arguments drawn at random."""
    of_one = engine.of_one if isinstance(engine, OutputsEngine) else engine
    idx = rng.choice(of_one.n, size=6, replace=False)  # of the first output
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
    if costs.access != "streamed":
        found["block"] = lambda: engine.block(idx, theta)
        found["blocks"] = lambda: engine.blocks(idx)
        found["diagonal"] = engine.diagonal
    if isinstance(engine, MatVec) and costs.products is not None:
        found["matvec"] = lambda: mat_vec(engine).matvec(v, theta)
        found["matvec, other weights"] = lambda: mat_vec(engine).matvec(v, other)
    return found


def answers(engine, order):
    """Return the results of all queries of an engine, in a given order."""
    asked = queries(engine, np.random.default_rng(1))
    return {name: np.array(asked[name]()) for name in order(list(asked))}


def check_same_up_to_rounding(found, expected):
    """Compare answers; cached outputs may have been updated or computed from scratch."""
    np.testing.assert_array_equal(found.pop("costs"), expected["costs"])
    for name, answer in found.items():
        size = max(np.abs(expected[name]).max(), 1e-300)
        np.testing.assert_allclose(answer / size, expected[name] / size, atol=1e-13, err_msg=name)


@every_case
def test_answers_do_not_depend_on_earlier_queries(case, rng):
    X = case.data(rng, case.n)
    one, other = case.engine(X), case.engine(X)
    alpha = rng.normal(size=one.n)
    for engine in (one, other):
        engine.move_to(alpha)
    first, backwards = answers(one, list), answers(other, lambda names: names[::-1])
    for name, again in answers(one, list).items():
        np.testing.assert_array_equal(again, first[name], err_msg=name)
    check_same_up_to_rounding(backwards, first)


@every_case
def test_queries_change_no_later_answer(case, rng):
    X = case.data(rng, case.n)
    one, other = case.engine(X), case.engine(X)
    alpha, idx = rng.normal(size=one.n), rng.choice(one.n, size=5, replace=False)
    for engine in (one, other):
        engine.move_to(alpha)
        if engine is one:
            answers(engine, list)
        engine.change(idx, np.zeros(5))
    found, expected = answers(one, list), answers(other, list)
    np.testing.assert_array_equal(one.alpha, other.alpha)
    check_same_up_to_rounding(found, expected)
