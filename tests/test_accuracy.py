"""The accuracy of the next inner problem follows from what the last step is to gain."""

import numpy as np
import pytest

from kernelweave.training.loop import ACCURATE, COMPLETE, Accuracy, Turn

OLD, NEW, TOL = np.array([0.5, 0.5]), np.array([1.0, 0.0]), 1e-3


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


def test_complete_solutions_are_asked_for_whatever_a_step_gains():
    asked = Accuracy(COMPLETE, TOL)
    assert asked.gap == pytest.approx(COMPLETE.least * TOL)
    asked.follow(turn(100.0, 99.0), NEW, 0.1)
    assert asked.gap == pytest.approx(COMPLETE.least * TOL)
    assert COMPLETE.most == 0.0
    assert COMPLETE.least > ACCURATE.least


@pytest.mark.parametrize("pace", [ACCURATE, COMPLETE], ids=lambda pace: pace.name)
def test_solutions_become_more_accurate_where_the_gap_does_not_fall(pace):
    accuracy, asked = Accuracy(pace, TOL), []
    for gap in (0.5, 0.4, 0.4, 0.45, 0.3):
        accuracy.follow(turn(10.0, 9.0), OLD, gap)  # a step that gains nothing
        asked.append(accuracy.gap / (pace.least * TOL))
    np.testing.assert_allclose(asked, [1.0, 1.0, 0.5, 0.25, 0.25])
