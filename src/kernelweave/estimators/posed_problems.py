"""Sequences of problems that are created on access, so that thousands need little memory."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import overload

from ..problem.problem import Problem


class PosedProblems(Sequence[Problem]):
    """A sequence of problems, each of which is computed whenever it is accessed.

    Parameters
    ----------
    count : int
        Number of problems.
    pose : callable
        Creates the problem with a given index.
    """

    def __init__(self, count: int, pose: Callable[[int], Problem]):
        self._numbers, self._pose = range(count), pose

    def __len__(self) -> int:
        return len(self._numbers)

    def __iter__(self) -> Iterator[Problem]:
        return map(self._pose, self._numbers)

    @overload
    def __getitem__(self, at: int) -> Problem: ...
    @overload
    def __getitem__(self, at: slice) -> Sequence[Problem]: ...
    def __getitem__(self, at: int | slice) -> Problem | Sequence[Problem]:
        if isinstance(at, slice):
            return [self._pose(k) for k in self._numbers[at]]
        return self._pose(self._numbers[at])


def mapped(problems: Sequence[Problem], change: Callable[[Problem], Problem]) -> Sequence[Problem]:
    """Return the results of `change` for all problems, on access if they are `PosedProblems`."""
    if isinstance(problems, PosedProblems):
        return PosedProblems(len(problems), lambda k: change(problems[k]))
    return [change(one) for one in problems]
