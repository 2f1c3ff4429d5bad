"""A patient step waits while the machine is far from its optimum, and not for ever."""

import numpy as np
import pytest

from kernelweave.steps.base import Turn
from kernelweave.steps.patient import MOST_TURNS, ROUGH, Patient

OLD, NEW = np.array([0.5, 0.5]), np.array([1.0, 0.0])


def turn(primal, value):
    """Return a turn with these two values."""
    s = np.array([3.0, 1.0])  # from OLD to NEW the value falls by 1/2, to first order
    return Turn(OLD, s, value + 0.5 * float(OLD @ s), lambda: primal, lambda: np.zeros((2, 2)))


def patient():
    return Patient(lambda seen: NEW)


def test_the_value_of_a_turn():
    assert turn(10.0, 6.0).value == pytest.approx(6.0)


def test_a_machine_near_its_optimum_gets_new_weights():
    assert patient()(turn(10.0, 10.0 * (1 - 0.9 * ROUGH))) is NEW


@pytest.mark.parametrize("sign", [1, -1])
def test_others_wait_a_few_turns(sign):
    step, far = patient(), turn(sign * 10.0, sign * 10.0 - 11.0 * ROUGH)
    taken = [step(far) is NEW for _ in range(2 * (MOST_TURNS + 1))]
    assert taken == 2 * [*[False] * MOST_TURNS, True]


def test_the_gain_of_the_last_step_must_be_seen():
    step = patient()
    assert step(turn(100.0, 99.0)) is NEW
    assert step(turn(100.0, 100.0 - 1.1 * 0.5)) is OLD
    assert step(turn(100.0, 100.0 - 0.9 * 0.5)) is NEW
