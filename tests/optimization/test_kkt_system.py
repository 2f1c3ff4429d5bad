"""The KKT system against the bordered matrix, written out, and the ratio test."""

import numpy as np
import pytest
from scipy.linalg import LinAlgError

from kernelweave.optimization.kkt_system import KKTSystem, longest_step, value_hessian

Q, M = 12, 4


@pytest.fixture
def kernel(rng):
    root = rng.normal(size=(Q, Q + 3))
    return root @ root.T


def bordered(kernel, diagonal):
    """[[K + diag(d), 1], [1', 0]]."""
    system = np.ones((Q + 1, Q + 1))
    system[:-1, :-1] = kernel + np.diag(diagonal)
    system[-1, -1] = 0.0
    return system


@pytest.mark.parametrize("total", [0.0, 2.5])
def test_solution_is_that_of_the_bordered_matrix(total, kernel, rng):
    diagonal, right = rng.random(Q), rng.normal(size=(Q, 3))
    x, b = KKTSystem(kernel, diagonal).solve(right, total)
    ends = np.vstack([right, np.full((1, 3), total)])
    expected = np.linalg.solve(bordered(kernel, diagonal), ends)
    np.testing.assert_allclose(x, expected[:-1], rtol=1e-8, atol=1e-10)
    np.testing.assert_allclose(b, expected[-1], rtol=1e-8, atol=1e-10)
    one, bias = KKTSystem(kernel, diagonal).solve(right[:, 0], total)
    np.testing.assert_allclose(np.append(one, bias), expected[:, 0], rtol=1e-8, atol=1e-10)


def test_indefinite_systems_are_refused(kernel):
    with pytest.raises(LinAlgError, match="not positive definite"):
        KKTSystem(-kernel, np.zeros(Q))
    with pytest.raises(LinAlgError, match="negative eigenvalues"):
        KKTSystem.definite(kernel - 2 * np.linalg.eigvalsh(kernel)[-1] * np.eye(Q), np.zeros(Q))


def test_singular_kernels_get_a_ridge(rng):
    root = rng.normal(size=(Q, 2))
    x, _ = KKTSystem.definite(root @ root.T, np.zeros(Q)).solve(root[:, 0])
    assert np.isfinite(x).all()
    assert x.sum() == pytest.approx(0.0, abs=1e-6 * np.abs(x).sum())


@pytest.mark.parametrize(
    ("x", "dx", "expected"),
    [([1.0, 2.0], [-1.0, -4.0], 0.5), ([1.0, 2.0], [1.0, 0.0], 7.0), ([0.0], [-1.0], 0.0)],
)
def test_longest_step_keeps_x_nonnegative(x, dx, expected):
    x, dx = np.array(x), np.array(dx)
    step = longest_step(x, dx, 7.0)
    assert step == expected
    assert (x + step * dx).min() >= 0


def test_hessian_is_outputs_times_their_rates(kernel, rng):
    curvature, outputs = rng.random(Q), rng.normal(size=(M, Q))
    inverse = np.linalg.inv(bordered(kernel, curvature))[:-1, :-1]
    found = value_hessian(kernel, curvature, outputs)
    np.testing.assert_allclose(found, outputs @ inverse @ outputs.T, rtol=1e-6, atol=1e-8)
    np.testing.assert_array_equal(found, found.T)


@pytest.mark.parametrize("free", [0, 1])
def test_hessian_is_zero_below_two_free_examples(free, kernel):
    """The sum of the alphas is fixed: a single free alpha cannot move."""
    part = kernel[:free, :free]
    found = value_hessian(part, np.ones(free), np.ones((M, free)))
    np.testing.assert_array_equal(found, np.zeros((M, M)))
