"""The headers of the records of a sequence file, in one array of bytes."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np


class Names:
    """The headers of n records in one array of bytes; ``names[i]`` is a string."""

    def __init__(self, text: np.ndarray, ends: np.ndarray):
        self._text = text
        self._ends = ends

    def __len__(self) -> int:
        return len(self._ends)

    def __getitem__(self, index: int) -> str:
        i = range(len(self))[index]
        start = self._ends[i - 1] if i > 0 else 0
        return self._text[start : self._ends[i]].tobytes().decode("utf-8", "replace")

    def __iter__(self) -> Iterator[str]:
        return (self[i] for i in range(len(self)))

    @classmethod
    def concatenated(cls, parts: list[Names]) -> Names:
        """Return the headers of all parts, in order."""
        sizes = np.cumsum([0, *(len(part._text) for part in parts)])
        ends = [part._ends + before for part, before in zip(parts, sizes[:-1], strict=True)]
        return cls(np.concatenate([part._text for part in parts]), np.concatenate(ends))

    def take(self, index: np.ndarray) -> Names:
        """Return the headers at the positions `index` (integers)."""
        starts = np.concatenate([[0], self._ends[:-1]])[index]
        ends = self._ends[index]
        return Names(joined(self._text, starts, ends), np.cumsum(ends - starts))


def joined(values: np.ndarray, starts: np.ndarray, stops: np.ndarray) -> np.ndarray:
    """Return the concatenation of the slices ``values[starts[i]:stops[i]]``."""
    pieces = [values[start:stop] for start, stop in zip(starts, stops, strict=True)]
    return np.concatenate([values[:0], *pieces])
