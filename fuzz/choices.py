"""Decisions that are read from bytes."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from typing import Any, TypeVar

import numpy as np

T = TypeVar("T")


class Choices:
    """Decisions read from bytes and, when these run out, from a generator that they seed."""

    def __init__(self, data: bytes):
        self._data = data
        self._at = 0
        self._more = np.random.default_rng(list(hashlib.sha256(data).digest()))

    def byte(self) -> int:
        """Return a number below 256."""
        if self._at == len(self._data):
            return int(self._more.integers(256))
        self._at += 1
        return self._data[self._at - 1]

    def integer(self, low: int, high: int) -> int:
        """Return an integer of [low, high]."""
        value = 0
        for _ in range(((high - low).bit_length() + 7) // 8):
            value = value << 8 | self.byte()
        return low + value % (high - low + 1)

    def chance(self, probability: float) -> bool:
        """Return True with a given probability."""
        return self.integer(0, 65535) < 65536 * probability

    def pick(self, options: Sequence[T]) -> T:
        """Return one of some options."""
        return options[self.integer(0, len(options) - 1)]

    def power(self, low: float, high: float) -> float:
        """Return a power of ten with an exponent of [low, high]."""
        return float(10.0 ** (low + (high - low) * self.integer(0, 255) / 255))

    def usual(self, value: Any, odd: Sequence[Any], probability: float = 0.008) -> Any:
        """Return an ordinary value, rarely an odd one."""
        return self.pick(odd) if self.chance(probability) else value

    @property
    def generator(self) -> np.random.Generator:
        """A generator for bulk, whose seed is a decision."""
        return np.random.default_rng(self.integer(0, 2**32 - 1))
