"""Censored times: targets, step functions and the concordance index."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ..kernels.data.inputs import is_frame
from ..losses.comparable_pairs import ComparablePairs

ACCEPTED = (
    "a structured array with a boolean field (event) and a number (time), as scikit-survival "
    "uses, or a DataFrame with two such columns"
)


def as_survival(y: object) -> tuple[np.ndarray, np.ndarray]:
    """Return events, shape (n,), and times, shape (n,), of survival targets.

    Parameters
    ----------
    y : structured array of shape (n,), or DataFrame with two columns
        The event is the boolean one of the two; if there is none, the one with only 0 and 1, or
        the first if both are.

    Returns
    -------
    event : ndarray of bool, shape (n,)
    time : ndarray of float, shape (n,)

    Raises
    ------
    ValueError
        If y has another form, or if times are negative or not finite.
    """
    names, fields = _fields(y)
    if _likeness_to_events(fields[1]) > _likeness_to_events(fields[0]):
        fields, names = fields[::-1], names[::-1]
    time = fields[1]
    event = _as_events(names[0], fields[0])
    if time.dtype.kind not in "iuf":
        raise ValueError(
            f"y: the time {names[1]!r} must be a number, such as days since entry, got type "
            f"{time.dtype}"
        )
    time = time.astype(float)
    wrong = np.flatnonzero(~(np.isfinite(time) & (time >= 0)))
    if len(wrong):
        raise ValueError(
            f"y: times must be finite and not negative, got {time[wrong[0]]} at row {wrong[0]}; "
            f"remove such rows ({len(wrong)} of {len(time)})"
        )
    if not len(time):
        raise ValueError("y must have at least one example, got none")
    return event, time


def survival_array(event: np.ndarray, time: np.ndarray) -> np.ndarray:
    """Return events and times, both of shape (n,), as a structured array of shape (n,)."""
    y = np.empty(len(time), dtype=[("event", bool), ("time", float)])
    y["event"], y["time"] = event, time
    return y


def _fields(y: Any) -> tuple[list[str], list[np.ndarray]]:
    """Return the names and the values, shape (n,), of the two columns of y."""
    if is_frame(y):
        names = [str(name) for name in y.columns]
        if len(set(names)) == len(names) == 2:
            return names, [_typed(np.asarray(y[name])) for name in y.columns]
        raise ValueError(f"y must be {ACCEPTED}; got a frame with the columns {names}")
    y = np.asarray(y)
    if y.dtype.names is None or len(y.dtype.names) != 2 or y.ndim != 1:
        kind = f"an array of shape {y.shape} and type {y.dtype}"
        raise ValueError(f"y must be {ACCEPTED}; got {kind}")
    return list(y.dtype.names), [_typed(y[name]) for name in y.dtype.names]


def _typed(values: np.ndarray) -> np.ndarray:
    """Convert an array of objects, shape (n,), to the common type of its values, such as bool."""
    return np.asarray(values.tolist()) if values.dtype == object else values


def _likeness_to_events(values: np.ndarray) -> int:
    """Return a rank by which the column of events is chosen.

    It is 3 for booleans, 2 for only 0 and 1, 1 if values are not numbers, and 0 for other numbers.
    """
    if values.dtype == bool:
        return 3
    if values.dtype.kind not in "iuf":
        return 1
    return 2 if np.isin(values, (0, 1)).all() else 0


def _as_events(name: str, event: np.ndarray) -> np.ndarray:
    """Return events as booleans, shape (n,), given booleans or the numbers 0 and 1."""
    wrong = [one for one in event.tolist() if not (isinstance(one, int | float) and one in (0, 1))]
    if len(wrong):
        raise ValueError(
            f"y: the event {name!r} must be boolean, True for an observed event, or 0 and 1; got "
            f"{wrong[0]!r} in a column of type {event.dtype}; compare the column with the code of "
            "an event, such as status == 2"
        )
    return event.astype(bool)


def check_events(event: np.ndarray, weights: np.ndarray) -> None:
    """Raise ValueError if no event, shape (n,), has a positive weight, shape (n,)."""
    if not (event & (weights > 0)).any():
        raise ValueError(
            "y must have at least one event with a positive weight, got censored times only; "
            "check the coding of the event: True (or 1) is an observed event"
        )


@dataclass(frozen=True, eq=False)
class StepFunction:
    """A right-continuous step function, with the interface of scikit-survival.

    Attributes
    ----------
    x : ndarray of shape (K,)
        Positions of the jumps, ascending.
    y : ndarray of shape (K,)
        Values from each jump on.
    before : float
        Value before the first jump.
    """

    x: np.ndarray
    y: np.ndarray
    before: float = 0.0

    def __call__(self, x: Any) -> Any:
        """Return the values at times x, of the same shape."""
        values = np.concatenate([[self.before], self.y])
        found = values[np.searchsorted(self.x, x, side="right")]
        return float(found) if np.ndim(x) == 0 else found

    @property
    def domain(self) -> tuple[float, float]:
        """First and last time with a jump."""
        return float(self.x[0]), float(self.x[-1])


def concordance(event: np.ndarray, time: np.ndarray, risk: np.ndarray) -> float:
    """Return Harrell's concordance index.

    A pair is comparable if the earlier time is an event. It is concordant if the earlier event has
    the higher risk; equal risks count half. The sums over pairs take O(n log^2 n).

    Parameters
    ----------
    event : ndarray of bool, shape (n,)
        Whether the event was observed; False for censored times.
    time : ndarray of shape (n,)
        Time of the event or of censoring.
    risk : ndarray of shape (n,)
        Predicted risk scores; higher scores predict earlier events.

    Returns
    -------
    float

    Raises
    ------
    ValueError
        If no pair is comparable.
    """
    pairs = ComparablePairs.of(time, event, np.ones(len(time), dtype=bool))
    comparable = pairs.number()
    if comparable == 0:
        raise ValueError(
            "y has no comparable pair, since no event is earlier than another time; "
            "pass more examples"
        )
    ranks, ones = np.unique(risk, return_inverse=True)[1].astype(float), np.ones(len(time))
    # Ranks are whole numbers: margins of 1/2 include or exclude pairs with equal risks.
    with_ties, without = (pairs.active(ranks, margin).over_later(ones) for margin in (0.5, -0.5))
    return 1.0 - 0.5 * float(with_ties.sum() + without.sum()) / comparable
