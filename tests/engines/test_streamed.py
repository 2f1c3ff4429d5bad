"""Streamed kernels: forms block by block, of any number of kernels, against einsum."""

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
    engine = streamed(case, X)
    engine.move_to(alpha)
    close(engine.quadratic(), expected)
