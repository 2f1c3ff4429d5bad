"""The accuracy of the next inner problem follows from what the last step is to gain."""

import numpy as np
import pytest

from kernelweave.optimization.loop import ACCURATE, COMPLETE, Accuracy, Turn

OLD, NEW, TOL = np.array([0.5, 0.5]), np.array([1.0, 0.0]), 1e-3
GAPS, FALLS = np.array([0.5, 0.4, 0.4, 0.45, 0.3]), np.array([1.0, 1.0, 0.5, 0.25, 0.25])


def turn(primal, value):
    """Return a turn with these two values."""
    s = np.array([3.0, 1.0])  # from OLD to NEW the value falls by 1/2, to first order
    linear = value + 0.5 * float(OLD @ s)
    ends = {"tol": TOL, "constant": np.inf}
    return Turn(OLD, s, linear, lambda: primal, lambda: np.zeros((2, 2)), nowhere, **ends)


def nowhere(theta):
    raise AssertionError("accuracies solve nothing")


def test_the_value_of_a_turn():
    assert turn(10.0, 6.0).value == pytest.approx(6.0)


def test_the_first_solution_may_be_rough():
    assert Accuracy(ACCURATE, TOL).gap == ACCURATE.most


@pytest.mark.parametrize(
    ("primal", "accuracy"),
    [(100.0, 0.005), (-100.0, 0.005), (10.0, ACCURATE.most), (0.0, ACCURATE.most)],
)
def test_the_gain_of_a_step_must_be_seen(primal, accuracy):
    asked = Accuracy(ACCURATE, TOL)
    asked.follow(turn(primal, primal - 1.0), NEW, 0.1)
    assert asked.gap == pytest.approx(accuracy)


def test_inner_problems_are_solved_no_further_than_to_a_part_of_the_whole_gap():
    asked = Accuracy(ACCURATE, TOL, share=0.1)
    asked.follow(turn(100.0, 99.0), NEW, 0.1)  # the gain of the step is 0.005
    assert asked.gap == pytest.approx(0.1 * 0.1)


def test_weights_that_stay_leave_the_rest_of_the_tolerance_to_alpha():
    asked = Accuracy(ACCURATE, TOL)
    asked.leave(0.6 * TOL)
    assert asked.gap == pytest.approx(0.2 * TOL)


def test_complete_solutions_are_asked_for_whatever_a_step_gains():
    asked = Accuracy(COMPLETE, TOL)
    assert asked.gap == pytest.approx(COMPLETE.least * TOL)
    asked.follow(turn(100.0, 99.0), NEW, 0.1)
    assert asked.gap == pytest.approx(COMPLETE.least * TOL)
    assert COMPLETE.most == 0.0
    assert COMPLETE.least > ACCURATE.least


def asked_for(pace, share=0.0):
    """What is asked for after steps that gain nothing; the third and fourth are in vain."""
    accuracy, asked = Accuracy(pace, TOL, share), []
    for gap in GAPS:
        accuracy.follow(turn(10.0, 9.0), OLD, gap)
        asked.append(accuracy.gap)
    return asked


@pytest.mark.parametrize("pace", [ACCURATE, COMPLETE], ids=lambda pace: pace.name)
def test_solutions_become_more_accurate_where_the_gap_does_not_fall(pace):
    np.testing.assert_allclose(asked_for(pace), pace.least * TOL * FALLS)


def test_the_part_of_the_whole_gap_falls_as_well():
    shares = 0.1 * FALLS * GAPS
    np.testing.assert_allclose(asked_for(ACCURATE, 0.1), np.minimum(shares, ACCURATE.most))
