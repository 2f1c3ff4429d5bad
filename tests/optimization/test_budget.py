"""The budget of a solver: iterations and time."""

import pytest

from kernelweave.optimization.budget import Budget


@pytest.fixture
def clock(monkeypatch):
    """A clock whose time a test sets."""
    now = [0.0]
    monkeypatch.setattr("time.monotonic", lambda: now[0])
    return now


def test_iterations_are_spent_after_max_iter():
    budget = Budget(2)
    for left, spent in ((2, False), (1, False), (0, True), (0, True)):
        assert (budget.iterations_left, budget.spent) == (left, spent)
        budget.used += 1


def test_unlimited_iterations_are_never_spent():
    budget = Budget()
    budget.used = 10**9
    assert budget.iterations_left is None
    assert not budget.spent


def test_time_is_spent_at_the_deadline(clock):
    budget = Budget(deadline=10.0)
    for now, late in ((9.0, False), (10.0, True), (11.0, True)):
        clock[0] = now
        assert budget.out_of_time == budget.spent == late
