"""A patient step waits while the machine is far from its optimum, and not for ever."""

import numpy as np
import pytest

from kernelweave import norms
from kernelweave.steps.base import Turn
from kernelweave.steps.patient import MOST_TURNS, SHARE, Patient

OLD, NEW = np.array([0.5, 0.5]), np.array([1.0, 0.0])


def turn(primal, value, dual):
    """Return a turn with these three values: s is such that theta . s and max s fit them."""
    largest = 2 * (value - dual) + 1.0  # 1/2 (max s - theta . s) = value - dual
    s = np.array([largest + 1.0, largest + 1.0 - 4 * (value - dual)])
    linear = value + 0.5 * float(OLD @ s)
    return Turn(OLD, s, linear, lambda: primal, lambda: np.zeros((2, 2)))


def patient():
    return Patient(lambda seen: NEW, norms.Lp(1))


def test_the_values_of_a_turn():
    seen = turn(10.0, 6.0, 4.0)
    assert seen.value == pytest.approx(6.0)
    assert seen.linear - 0.5 * seen.s.max() == pytest.approx(4.0)


def test_a_machine_near_its_optimum_gets_new_weights():
    assert patient()(turn(10.0, 10.0 - 0.9 * SHARE * 5.0, 5.0)) is NEW


def test_others_wait_a_few_turns():
    step, far = patient(), turn(10.0, 10.0 - 1.1 * SHARE * 5.0, 5.0)
    taken = [step(far) is NEW for _ in range(2 * (MOST_TURNS + 1))]
    assert taken == 2 * [*[False] * MOST_TURNS, True]


def test_nobody_waits_near_the_end():
    assert patient()(turn(10.0, 9.99, 9.99)) is NEW
