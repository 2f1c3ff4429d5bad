"""Censored times: accepted forms of y, step functions, and the concordance index."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kernelweave import MKLSurvival
from kernelweave.estimators.survival_targets import StepFunction, as_survival, concordance


def structured(event, time, names=("event", "time")):
    y = np.empty(len(time), dtype=[(names[0], np.asarray(event).dtype), (names[1], float)])
    y[names[0]], y[names[1]] = event, time
    return y


def slow_concordance(event, time, risk):
    """Harrell's index from its definition, over all pairs."""
    concordant, comparable = 0.0, 0
    for i in np.flatnonzero(event):
        for j in range(len(time)):
            later = time[j] > time[i] or (time[j] == time[i] and not event[j])
            if later and i != j:
                comparable += 1
                concordant += float(risk[i] > risk[j]) + 0.5 * float(risk[i] == risk[j])
    return concordant / comparable if comparable else None


def random_times(seed, n, values):
    rng = np.random.default_rng(seed)
    return rng.random(n) < 0.6, rng.integers(0, values, n) * 1.0, rng.integers(0, values, n) * 1.0


@given(st.integers(0, 10**6), st.integers(2, 40), st.sampled_from([2, 5, 1000]))
def test_concordance_follows_the_definition(seed, n, values):
    event, time, risk = random_times(seed, n, values)
    expected = slow_concordance(event, time, risk)
    if expected is None:
        with pytest.raises(ValueError, match="no comparable pair"):
            concordance(event, time, risk)
    else:
        assert concordance(event, time, risk) == pytest.approx(expected, rel=1e-14)


@pytest.mark.parametrize("values", [3, 30, 10**6])
def test_concordance_equals_that_of_scikit_survival(values):
    metrics = pytest.importorskip("sksurv.metrics")
    event, time, risk = random_times(1, 150, values)
    expected = metrics.concordance_index_censored(event, time, risk)[0]
    assert concordance(event, time, risk) == pytest.approx(expected, rel=1e-12)


def test_concordance_of_perfect_reversed_and_constant_orders():
    event, time = np.ones(5, bool), np.arange(5.0)
    assert concordance(event, time, -time) == 1.0
    assert concordance(event, time, time) == 0.0
    assert concordance(event, time, np.zeros(5)) == 0.5


def test_step_function_is_right_continuous():
    step = StepFunction(np.array([1.0, 2.0]), np.array([0.3, 0.7]), before=0.1)
    assert step(0.0) == 0.1
    assert step(1.0) == 0.3
    assert step(5) == 0.7
    assert isinstance(step(1.5), float)
    np.testing.assert_array_equal(step([[0.5, 1.5], [2.0, 9.0]]), [[0.1, 0.3], [0.7, 0.7]])
    assert step.domain == (1.0, 2.0)


EVENT, TIME = np.array([True, False, True]), np.array([1.0, 2.0, 0.0])


def accepted():
    pandas = pytest.importorskip("pandas")
    yield structured(EVENT, TIME)
    yield structured(EVENT, TIME, names=("status", "days"))
    yield structured(EVENT.astype(int), TIME)
    yield structured(EVENT.astype(float), TIME)
    yield np.array(list(zip(TIME, EVENT, strict=True)), dtype=[("t", float), ("e", bool)])
    yield np.array([(True, 1), (False, 2), (True, 0)], dtype=[("e", bool), ("t", int)])
    yield np.array(list(zip(EVENT, TIME, strict=True)), dtype=[("e", object), ("t", object)])
    frame = pandas.DataFrame({"event": EVENT, "time": TIME}, index=[7, 8, 9])
    yield frame.astype(object)
    yield frame
    yield frame[["time", "event"]]
    yield frame.astype({"event": int, "time": int})
    yield frame.astype({"event": "boolean", "time": "Float64"})


def test_all_accepted_forms_mean_the_same():
    for y in accepted():
        event, time = as_survival(y)
        assert event.dtype == bool
        assert time.dtype == float
        np.testing.assert_array_equal(event, EVENT)
        np.testing.assert_array_equal(time, TIME)


def test_polars_frames_are_accepted():
    polars = pytest.importorskip("polars")
    event, time = as_survival(polars.DataFrame({"time": TIME, "event": EVENT}))
    np.testing.assert_array_equal(event, EVENT)
    np.testing.assert_array_equal(time, TIME)


BAD = [
    (None, "y must be a structured array"),
    (TIME, r"got an array of shape \(3,\) and type float64"),
    (np.column_stack([EVENT, TIME]), r"got an array of shape \(3, 2\) and type float64"),
    ([(True, 1.0), (False, 2.0), (True, 3.0)], "y must be a structured array"),
    (np.zeros(3, dtype=[("a", bool), ("b", float), ("c", float)]), "y must be a structured array"),
    (structured(EVENT, [1.0, -2.0, 3.0]), r"not negative, got -2.0 at row 1"),
    (structured(EVENT, [1.0, np.nan, 3.0]), "must be finite .* got nan at row 1"),
    (structured(EVENT, [np.inf, 1.0, 3.0]), "must be finite .* got inf at row 0"),
    (structured([0, 1, 2], TIME), "the event 'event' must be boolean.* got 2 "),
    (structured([0.0, 1.0, np.nan], TIME), "the event 'event' must be boolean.* got nan "),
    (
        structured(["dead", "alive", "dead"], TIME),
        "must be boolean.* got 'dead'.*compare the column",
    ),
    (np.zeros(3, dtype=[("event", bool), ("time", bool)]), "the time 'time' must be a number"),
    (np.zeros(3, dtype=[("event", bool), ("time", "U4")]), "the time 'time' must be a number"),
    (structured(EVENT[:2], TIME[:2]), "inconsistent numbers of samples"),
    (structured(EVENT[:0], TIME[:0]), "at least one example"),
    (structured([False] * 3, TIME), "at least one event"),
]


@pytest.mark.parametrize(("y", "message"), BAD)
def test_fit_refuses_bad_targets(y, message):
    with pytest.raises(ValueError, match=message):
        MKLSurvival().fit(np.random.default_rng(0).normal(size=(3, 2)), y)


def test_fit_refuses_bad_frames():
    pandas = pytest.importorskip("pandas")
    X, frame = np.eye(3), pandas.DataFrame({"event": EVENT, "time": TIME, "more": 1})
    with pytest.raises(ValueError, match=r"columns \['event', 'time', 'more'\]"):
        MKLSurvival().fit(X, frame)
    with pytest.raises(ValueError, match=r"'event' must be boolean.* got 'dead'"):
        MKLSurvival().fit(X, pandas.DataFrame({"event": ["dead", "alive", "dead"], "time": TIME}))
    objects = pandas.DataFrame({"event": np.array([True, None, False], object), "t": TIME})
    with pytest.raises(ValueError, match=r"'event' must be boolean.* got None"):
        MKLSurvival().fit(X, objects)
    missing = pandas.DataFrame({"event": pandas.array([True, None, False], "boolean"), "t": TIME})
    with pytest.raises(ValueError, match="'event' must be boolean"):
        MKLSurvival().fit(X, missing)


def test_events_without_weight_do_not_count_as_events():
    X, y = np.random.default_rng(0).normal(size=(3, 2)), structured(EVENT, TIME)
    with pytest.raises(ValueError, match="at least one event with a positive weight"):
        MKLSurvival().fit(X, y, sample_weight=~EVENT)


def test_score_names_a_test_set_without_comparable_pairs(rng):
    X, y = rng.normal(size=(20, 2)), structured(rng.random(20) < 0.7, rng.random(20))
    model = MKLSurvival().fit(X, y)
    with pytest.raises(ValueError, match="no comparable pair"):
        model.score(X[:3], structured([False] * 3, TIME))
    with pytest.raises(ValueError, match="inconsistent numbers of samples"):
        model.score(X[:3], y)


def test_frames_may_have_the_time_first():
    pandas = pytest.importorskip("pandas")
    y = pandas.DataFrame({"days": [3.0, 1.0, 2.0], "status": [1, 0, 1]})
    for columns in (["days", "status"], ["status", "days"]):
        event, time = as_survival(y[columns])
        assert event.tolist() == [True, False, True]
        assert time.tolist() == [3.0, 1.0, 2.0]
    with pytest.raises(ValueError, match=r"the event 'status' must be boolean.*got 'dead'"):
        as_survival(y.assign(status=["dead", "alive", "dead"]))
