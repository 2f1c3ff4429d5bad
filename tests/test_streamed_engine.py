"""Streamed kernels against einsum: forms, outputs and parts of every kind of kernel."""

import numpy as np
import pytest
from kernel_cases import CASES, training_set

from kernelweave.engines.streamed import StreamedEngine

N = 60
every_case = pytest.mark.parametrize("case", CASES.values(), ids=CASES)


@pytest.fixture
def alpha(rng):
    alpha = rng.normal(size=N)
    alpha[::3] = 0.0
    return alpha


def streamed(case, X):
    return StreamedEngine(training_set(case.kernels, X, case.how, n_jobs=2))


def close(actual, expected):
    scale = np.abs(expected).max() + 1e-300
    np.testing.assert_allclose(actual / scale, expected / scale, rtol=0, atol=1e-12)


@every_case
@pytest.mark.parametrize("block", [1, 2, 1000])
def test_forms_of_any_alpha(case, block, alpha, rng, monkeypatch):
    monkeypatch.setattr("kernelweave.engines.streamed.BLOCK", block)
    X = case.data(rng, N)
    expected = np.einsum("i,mij,j->m", alpha, case.oracle(X), alpha)
    close(streamed(case, X).quadratic(alpha), expected)


@every_case
def test_outputs_of_the_alpha_it_was_told(case, alpha, rng):
    X = case.data(rng, N)
    engine, outputs = streamed(case, X), case.oracle(X) @ alpha
    theta = rng.exponential(size=engine.n_kernels) * (np.arange(engine.n_kernels) % 2 == 0)
    engine.move_to(alpha)
    kept = engine.keep()
    close(engine.combined(theta), theta @ outputs)
    engine.scale(2.0)
    close(engine.outputs(np.array([0])), 2.0 * outputs[:1])
    engine.clear()
    assert not engine.combined(theta).any()
    engine.restore(alpha, kept)
    close(engine.combined(theta), theta @ outputs)


@every_case
def test_some_of_the_examples_and_kernels(case, alpha, rng):
    X, idx = case.data(rng, N), np.arange(5, N, 2)
    engine, K = streamed(case, X), case.oracle(X)
    engine.move_to(alpha)
    smaller, inside = engine.subset(idx), K[:, idx[:, None], idx]
    last = np.array([len(K) - 1])
    close(smaller.outputs(last), inside[last] @ alpha[idx])
    part = smaller.part(last)
    assert (part.n, part.n_kernels) == (len(idx), 1)
    assert not part.outputs().any()
    close(part.blocks(np.arange(len(idx))), inside[last])
