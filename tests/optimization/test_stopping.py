"""The stopping rule: the gap to reach, and progress without which a solver has stalled."""

import numpy as np
import pytest

from kernelweave.common.core import Work
from kernelweave.optimization.log import Log
from kernelweave.optimization.stopping import StallTuning, StoppingRule
from kernelweave.problem.certificate import Certificate

THETA = np.array([0.6, 0.8])
TUNING = StallTuning()


class Engine:
    """Two alphas, and two kernels with values of at most 1."""

    alpha = np.array([1.0, -1.0])
    largest_values = np.ones(2)


def certificate(gap, dual=1.0):
    return Certificate(primal=dual / (1 - gap), dual=dual, constant=np.inf, gap=gap, bias=0.5)


def values(primal, dual, gap=2.0, constant=0.0):
    return Certificate(primal=primal, dual=dual, constant=constant, gap=gap, bias=0.0)


def logged(*certificates):
    log = Log(Work())
    for one in certificates:
        log.add(one, THETA)
    return log


def idle(gap, count):
    """Return certificates with a gap whose dual values change without getting better."""
    return [certificate(gap, dual=1.0 - 1e-6 * (i % 2)) for i in range(count)]


def stalled(log, tuning=TUNING):
    return StoppingRule(1e-3, tuning=tuning).stalled(log, Engine())


def test_target_is_the_tolerance_unless_the_gap_must_decrease():
    assert StoppingRule(0.1).target(logged(certificate(1e-20))) == 0.1
    assert StoppingRule(0.1, decrease=0.3).target(Log(Work())) == 0.1


@pytest.mark.parametrize(
    ("first", "target"), [(0.5, 0.1), (0.1, 0.03), (1e-20, TUNING.inner_rounding)]
)
def test_target_is_at_most_a_part_of_the_first_gap(first, target):
    rule = StoppingRule(0.1, decrease=0.3)
    assert rule.target(logged(certificate(first))) == pytest.approx(target)
    later = logged(certificate(first), certificate(0.2 * first))
    assert rule.target(later) == pytest.approx(target)


def test_target_is_never_below_rounding():
    """If little can be gained, the rounding of the values is a larger part of the gap."""
    first = values(2.0, 2.0, gap=0.0, constant=2.0 + 1e-6)
    target = StoppingRule(0.1, decrease=0.3).target(logged(first))
    assert target == pytest.approx(2e6 * TUNING.inner_rounding)


@pytest.mark.parametrize("patience", [TUNING.patience, 20])
@pytest.mark.parametrize(
    ("gap", "dual", "expected"), [(0.1, 1.0, True), (0.09, 1.0, False), (0.1, 1.1, False)]
)
def test_patience_without_a_better_value_is_a_stall(gap, dual, expected, patience):
    tuning = StallTuning(patience=patience)
    log = logged(*idle(0.1, patience))
    assert not stalled(log, tuning)
    log.add(certificate(gap, dual), THETA)
    assert stalled(log, tuning) == expected


def test_few_iterations_are_a_stall_if_rounding_may_make_up_the_gap():
    few = TUNING.noisy_patience + 1
    assert not stalled(logged(*idle(0.1, few)))
    assert stalled(logged(*[certificate(1e-15)] * few))
    assert not stalled(logged(*[certificate(1e-15)] * (few - 1)))


def test_few_iterations_without_any_change_are_a_stall():
    """Primal values that vary by rounding alone do not pass for progress."""
    few, primal = TUNING.noisy_patience + 1, [1.4, 1.3, 1.5, 1.25] * 3
    log = logged(*[values(one, dual=1.0, gap=one - 1.0) for one in primal[: few - 1]])
    assert not stalled(log)
    log.add(values(1.25, dual=1.0, gap=0.25), THETA)
    assert stalled(log)


def test_few_iterations_that_change_the_weights_are_no_stall():
    log = Log(Work())
    for i in range(TUNING.noisy_patience + 1):
        log.add(certificate(0.1), THETA * (1.0 + 1e-6 * (i % 2)))
    assert not stalled(log)


def test_values_that_fall_to_rounding_of_zero_are_a_stall():
    log = logged(values(5.0, -5.0))
    for iteration in range(TUNING.patience + 1):
        dual = -1e-14 * (1 - 1e-4 * iteration)  # rising, relative to itself
        log.add(values(1e-12, dual, gap=1 + 1e-8 * (TUNING.patience - iteration)), THETA)
    assert stalled(log)


@pytest.mark.parametrize(
    ("primal", "dual", "expected"),
    [
        (4e-15, -4e-15, True),
        (4e-14, -4e-14, False),
        (4e-15, 3e-15, False),  # the optimum is above 0: a large C makes it small
        (0.0, 0.0, False),
    ],
)
def test_one_class_objective_of_zero_is_a_stall(primal, dual, expected):
    log = logged(values(5.0, -5.0))
    assert not stalled(log)
    log.add(values(primal, dual), THETA)
    assert stalled(log) == expected


@pytest.mark.parametrize("feasible", [False, True])
def test_iterations_without_a_feasible_alpha_are_a_stall(feasible):
    log = logged(*[values(1.0, -np.inf, gap=np.inf)] * (TUNING.patience + 1))
    if feasible:
        log.add(values(1.0, 0.5, gap=0.5), THETA)
    assert stalled(log) != feasible


class NotRead(list):
    """Entries of which only the first and the last one may be read."""

    def __getitem__(self, index):
        assert index in (0, -1)
        return super().__getitem__(index)

    def __iter__(self):
        raise AssertionError("the cost of the rule would grow with the number of models")


def test_stall_is_found_without_reading_all_models_again():
    log = logged(*[certificate(0.1)] * (TUNING.patience + 1))
    log.entries = NotRead(log.entries)
    assert stalled(log)
