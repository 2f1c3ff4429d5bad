"""Tasks made of tasks: fewer examples, fixed weights."""

from dataclasses import replace

import numpy as np
import pytest
from mkl_cases import hinge_case

from kernelweave import norms
from kernelweave.kernels import RBF
from kernelweave.solvers.chunking import chunking
from kernelweave.solvers.start import first_task
from kernelweave.steps.base import keep_weights

KERNELS = RBF([0.01, 0.1, 1.0])


@pytest.fixture
def case(load_real):
    return hinge_case(load_real("wdbc"), norms.Lp(np.inf), KERNELS, n=120)


def test_some_examples_are_a_task_like_any_other(case):
    even = np.arange(120) % 2 == 0
    part = chunking(case.task(tol=1e-8).subset(np.flatnonzero(even)), keep_weights)
    without = replace(case.problem, C=even.astype(float))  # without costs they are as good as none
    alone = chunking(first_task(without, case.engine, tol=1e-8), keep_weights)
    assert part.primal == pytest.approx(alone.primal, rel=1e-7)
    np.testing.assert_allclose(part.alpha, alone.alpha[even], atol=1e-3)


def test_examples_set_aside_leave_the_sum_of_alphas_as_it_is(case):
    task = case.task(tol=1e-3)
    done = chunking(task, keep_weights)
    task = replace(task, alpha=done.alpha, tol=1e-8)
    part = chunking(task.subset(np.arange(60), float(done.alpha[60:].sum())), keep_weights)
    assert part.n_iter > 0
    assert part.alpha.sum() == pytest.approx(done.alpha[:60].sum(), abs=1e-9)


def test_nobody_is_told_of_a_part(case):
    told = []
    chunking(case.task(watch=told.append).subset(np.arange(60)), keep_weights)
    assert told == []


def test_fixed_weights_are_certified_as_one_machine(load_real):
    case = hinge_case(load_real("wdbc"), norms.Lp(1), KERNELS, n=120)
    theta = np.array([0.0, 0.9, 0.1])
    result = chunking(case.task(tol=1e-6).with_weights(theta), keep_weights)
    assert result.converged
    np.testing.assert_array_equal(result.weights, theta)
    assert chunking(case.task(max_iter=50), keep_weights).gap > 1e-3  # p = 1 has better ones
