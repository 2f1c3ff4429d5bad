"""A patient step acts at once, and says how good the next machine must be."""

import numpy as np
import pytest

from kernelweave.steps.base import Turn
from kernelweave.steps.patient import ROUGH, Patient, complete

OLD, NEW = np.array([0.5, 0.5]), np.array([1.0, 0.0])


def turn(primal, value):
    """Return a turn with these two values."""
    s = np.array([3.0, 1.0])  # from OLD to NEW the value falls by 1/2, to first order
    return Turn(
        OLD, s, value + 0.5 * float(OLD @ s), lambda: primal, lambda: np.zeros((2, 2)), tol=1e-3
    )


def move(seen):
    return NEW


def test_the_value_of_a_turn():
    assert turn(10.0, 6.0).value == pytest.approx(6.0)


def test_the_first_machine_may_be_rough():
    assert Patient(move).accuracy == ROUGH


@pytest.mark.parametrize(
    ("primal", "accuracy"), [(100.0, 0.005), (-100.0, 0.005), (10.0, ROUGH), (0.0, ROUGH)]
)
def test_the_gain_of_a_step_must_be_seen(primal, accuracy):
    step = Patient(move)
    assert step(turn(primal, primal - 1.0)) is NEW
    assert step.accuracy == pytest.approx(accuracy)


def test_complete_machines_are_asked_for_whatever_a_step_gains():
    step = complete(move)
    assert step(turn(100.0, 99.0)) is NEW
    assert step.accuracy == 0.0
    assert step.least > Patient(move).least
