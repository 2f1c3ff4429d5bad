"""Observers of a subproblem report the alpha and weights of the full problem."""

import numpy as np

from kernelweave.optimization.observers import of_examples, of_kernels
from kernelweave.optimization.run import Run

THETA = np.array([0.6, 0.8])


def listener():
    """A list, and an observer that appends its arguments to the list."""
    seen = []
    return seen, lambda alpha, weights: seen.append((alpha.copy(), weights.copy()))


def test_alphas_of_some_examples_are_observed_among_those_of_all():
    seen, observer = listener()
    alpha, examples = np.array([1.0, 2.0, 3.0, 4.0]), np.array([3, 1])
    observe = of_examples(observer, examples, alpha)
    observe(np.array([-4.0, -2.0]), THETA)
    observe(np.array([0.0, 5.0]), 2 * THETA)
    np.testing.assert_array_equal(seen[0][0], [1.0, -2.0, 3.0, -4.0])
    np.testing.assert_array_equal(seen[1][0], [1.0, 5.0, 3.0, 0.0])
    np.testing.assert_array_equal(seen[1][1], 2 * THETA)
    np.testing.assert_array_equal(alpha, [1.0, 2.0, 3.0, 4.0])


def test_weights_of_some_kernels_are_observed_among_those_of_all():
    seen, observer = listener()
    observe = of_kernels(observer, np.array([0, 3]), 5)
    observe(np.ones(2), np.array([0.25, 0.75]))
    np.testing.assert_array_equal(seen[0][0], np.ones(2))
    np.testing.assert_array_equal(seen[0][1], [0.25, 0.0, 0.0, 0.75, 0.0])


def test_some_examples_of_some_kernels_are_observed_among_all():
    seen, observer = listener()
    run = Run.start(observe=of_kernels(observer, np.array([2]), 3))
    examples = of_examples(run.inner(1e-3).observe, np.array([1]), np.zeros(3))
    examples(np.array([7.0]), np.array([1.0]))
    np.testing.assert_array_equal(seen[0][0], [0.0, 7.0, 0.0])
    np.testing.assert_array_equal(seen[0][1], [0.0, 0.0, 1.0])


def test_no_observer_means_no_copy():
    assert of_examples(None, np.arange(2), np.ones(3)) is None
    assert of_kernels(None, np.arange(2), 3) is None
