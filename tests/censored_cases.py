"""Censored times for tests of survival models and of their risks."""

import numpy as np

CASES = ("plain", "ties", "zero costs", "costs", "one time", "one event", "all events", "early")


def survival(event, time):
    """A structured array of events and times, shape (n,)."""
    y = np.empty(len(time), dtype=[("event", bool), ("time", float)])
    y["event"], y["time"] = event, time
    return y


def make_study(rng):
    """Censored times that depend on two of four columns, with ties, shapes (90, 4) and (90,)."""
    X = rng.normal(size=(90, 4))
    time = np.ceil(20 * rng.exponential(np.exp(-X[:, 0] + 0.5 * X[:, 1] ** 2)))
    return X, survival(rng.random(90) < 0.7, time)


def make_times(case, rng, n):
    """Random times, events and costs by the name of a case, shape (n,) each.

    The first example is an event; it is the earliest one except with ties.
    """
    time, event, C = rng.exponential(size=n), rng.random(n) < 0.6, np.full(n, 0.7)
    event[0], time[0] = True, 1e-3
    if case in ("ties", "zero costs", "costs"):
        time = rng.integers(1, 9, size=n).astype(float)
    if case == "zero costs":
        C[rng.permutation(n - 1)[:4] + 1] = 0.0
    elif case == "costs":
        C = rng.uniform(0.1, 3.0, size=n)
    elif case == "one time":
        time[:] = 2.0
    elif case == "one event":
        event[1:] = False
    elif case == "all events":
        event[:] = True
    elif case == "early":  # some are censored before the first event
        time[1:4], event[1:4] = 1e-4, False
    return time, event, C
