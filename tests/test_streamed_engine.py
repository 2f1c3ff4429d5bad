"""Streamed kernels: forms block by block, of any number of kernels, against einsum."""

import numpy as np
import pytest
from kernel_cases import CASES, training_set

from kernelweave import kernels
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


def test_what_energies_gain_is_their_difference(rng):
    X = rng.normal(size=(30, 3))
    engine = StreamedEngine(training_set(kernels.RBF([0.1, 1.0, 5.0]), X))
    alpha = np.where(np.arange(30) < 20, rng.normal(size=30), 0.0)
    other = alpha + np.where(np.arange(30) > 14, rng.normal(size=30), 0.0)
    engine.move_to(alpha)
    gained, before = engine.gained(other), engine.quadratic()
    engine.move_to(other)
    np.testing.assert_allclose(before + gained, engine.quadratic(), rtol=1e-12)


def test_outputs_that_are_known_are_kept(rng):
    X = rng.normal(size=(30, 3))
    engine = StreamedEngine(training_set(kernels.RBF([0.1, 1.0, 5.0]), X))
    engine.move_to(rng.normal(size=30))
    some = np.array([0, 2])
    known = engine.known(some, engine.outputs(some))
    np.testing.assert_array_equal(known.alpha, engine.alpha)
    idx = np.array([3, 7])
    known.change(idx, np.array([0.5, -0.25]))
    engine.change(idx, np.array([0.5, -0.25]))
    np.testing.assert_allclose(known.outputs(), engine.outputs(some), rtol=1e-9, atol=1e-12)
