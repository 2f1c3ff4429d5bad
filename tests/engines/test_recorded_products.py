"""Recorded products: quadratic forms of all moves, and most of their products."""

import numpy as np
import pytest

from kernelweave.engines import recorded_products as module
from kernelweave.engines.quadratic_model import QuadraticModelEngine
from kernelweave.engines.recorded_products import RecordedProducts

N, M = 30, 3
WEIGHTS = np.array([0.5, 0.2, 0.8])


@pytest.fixture
def matrices(rng):
    factors = rng.normal(size=(M, N, 6))
    return factors @ factors.transpose(0, 2, 1) + np.array([0.5, 0.7, 0.9])[:, None, None] * np.eye(
        N
    )


def seen_by(matrices, moves, weights=WEIGHTS, *, each):
    seen = RecordedProducts()
    for move in moves:
        products = matrices[weights != 0] @ move
        seen.add(move, products if each else weights[weights != 0] @ products, weights)
    return seen


def dense(matrix):
    return np.array([matrix @ unit for unit in np.eye(N)])


def check(model, K, moves):
    """Check quadratic forms, and products except in the direction of the smallest form."""
    basis = np.linalg.qr(np.transpose(moves))[0]
    values, vectors = np.linalg.eigh(basis.T @ K @ basis)
    main, found = basis @ vectors, dense(model)
    np.testing.assert_allclose(main.T @ found @ main, np.diag(values), atol=1e-9)
    np.testing.assert_allclose(found @ main[:, 1:], K @ main[:, 1:], atol=1e-9)
    np.testing.assert_allclose(found @ main[:, 0], model.sigma * main[:, 0], atol=1e-9)


@pytest.mark.parametrize("each", [False, True])
def test_moves_are_multiplied_as_the_matrix_does(matrices, rng, each):
    moves = rng.normal(size=(5, N))
    model = seen_by(matrices, moves, each=each).matrix(WEIGHTS)
    K = np.tensordot(WEIGHTS, matrices, 1)
    check(model, K, moves)
    found = dense(model)
    np.testing.assert_allclose(found, found.T, atol=1e-9)
    smallest = np.linalg.eigvalsh(found)[0]
    assert smallest == pytest.approx(model.sigma)
    assert smallest >= np.linalg.eigvalsh(K)[0] - 1e-9


def test_products_of_single_kernels_serve_all_weights(matrices, rng):
    moves, other = rng.normal(size=(5, N)), np.array([0.1, 0.9, 0.0])
    seen = seen_by(matrices, moves, each=True)
    assert seen.covers(other)
    K = np.tensordot(other, matrices, 1)
    check(seen.matrix(other), K, moves)


def test_kernels_that_lose_their_weight_are_left_out(matrices, rng):
    moves, fewer = rng.normal(size=(4, N)), np.array([0.5, 0.0, 0.8])
    seen = seen_by(matrices, moves, each=True)
    more = rng.normal(size=N)
    seen.add(more, matrices[fewer != 0] @ more, fewer)
    assert len(seen) == 5
    assert seen.covers(fewer)
    assert not seen.covers(WEIGHTS)
    K = np.tensordot(fewer, matrices, 1)
    check(seen.matrix(fewer), K, [*moves, more])
    seen.add(more, matrices @ more, WEIGHTS)  # a kernel is back of which the others know nothing
    assert len(seen) == 1


def test_sums_are_known_well_under_their_own_weights(matrices, rng):
    moves, other = rng.normal(size=(3, N)), np.array([0.1, 0.9, 0.3])
    sums, single = (seen_by(matrices, moves, each=each) for each in (False, True))
    assert sums.covers(other)
    assert [sums.matches(weights) for weights in (WEIGHTS, other)] == [True, False]
    assert single.matches(other)
    sums.add(more := rng.normal(size=N), other @ (matrices @ more), other)
    assert not sums.matches(WEIGHTS)
    assert not RecordedProducts().matches(WEIGHTS)


def test_known_directions_are_not_recorded(matrices, rng):
    moves = rng.normal(size=(3, N))
    again = moves.sum(axis=0)
    assert len(seen_by(matrices, [*moves, again, np.zeros(N)], each=False)) == 3


def test_last_moves_are_recorded(matrices, rng, monkeypatch):
    moves = rng.normal(size=(6, N))
    monkeypatch.setattr(module, "MOST_MOVES", 4)
    assert len(seen_by(matrices, moves, each=False)) == 4
    monkeypatch.setattr(module, "MOST_BYTES", 2 * M * N * 8)
    seen = seen_by(matrices, moves, each=True)
    assert len(seen) == 2
    seen.forget()
    assert not seen.covers(WEIGHTS)


def test_an_engine_of_the_model_starts_from_given_outputs(matrices, rng):
    model = seen_by(matrices, rng.normal(size=(4, N)), each=False).matrix(WEIGHTS)
    alpha, outputs, change = rng.normal(size=(3, N))
    K, ones = dense(model), np.ones(1)
    engine = QuadraticModelEngine(model, alpha, outputs)
    engine.move_to(alpha + change)
    np.testing.assert_allclose(engine.combined(ones), outputs + K @ change)
    np.testing.assert_allclose(engine.quadratic(), [engine.alpha @ engine.outputs()[0]])
    engine.change(np.array([3, 7]), np.array([1.0, -1.0]))
    expected = outputs + K @ (engine.alpha - alpha)
    np.testing.assert_allclose(engine.combined(2 * ones), 2 * expected)
    np.testing.assert_allclose(engine.matvec(change, 2 * ones), 2 * K @ change)
    engine.move_to(alpha, 2 * outputs, 2 * ones)
    np.testing.assert_allclose(engine.outputs(np.array([0])), outputs[None])
