"""What the core computes for weighted degree kernels, and how families split it."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from kernelweave.common.core import _core
from kernelweave.common.numbers import is_whole

SPLITS = (None, "degree", "position", "both")
Split = str | tuple[tuple[int, int], ...] | None


@dataclass(frozen=True)
class WdQuantity:
    """What the core computes for a weighted degree kernel; equal ones are shared."""

    weights: tuple[float, ...]
    shifts: tuple[int, ...]
    split: Split
    length: int
    store: str
    position_weights: tuple[float, ...] = ()

    def source(self) -> _core.Source:
        """Return the quantity for the core."""
        return _core.weighted_degree(
            list(self.weights),
            list(self.shifts),
            "position" if isinstance(self.split, tuple) else self.split or "",
            self.length,
            self.store,
            list(self.position_weights),
            self._groups(),
        )

    @property
    def planes(self) -> int:
        """Number of values for each pair."""
        if isinstance(self.split, tuple):
            return len(self.split)
        degree = len(self.weights)
        sizes = {"degree": degree, "position": self.length, "both": degree * self.length}
        return sizes.get(self.split or "", 1)

    def plane(self, position: int, k: int) -> int | None:
        """Return which of the values counts matches of k + 1 letters from a position on."""
        if isinstance(self.split, tuple):
            member = self._groups()[position]
            return None if member < 0 else member
        planes = {"degree": k, "position": position, "both": k * self.length + position}
        return planes.get(self.split or "", 0)

    def _groups(self) -> list[int]:
        """Return the member that each position belongs to, -1 for none; empty without groups."""
        if not isinstance(self.split, tuple):
            return []
        groups: list[int] = [-1] * self.length
        for member, (start, stop) in enumerate(self.split):
            groups[start:stop] = [member] * (stop - start)
        return groups


def plane_of(part: dict[str, Any], quantity: WdQuantity) -> int:
    """Return which of the values of a pair belongs to a member of a family."""
    start, _ = part.get("positions", (part.get("position", 0), None))
    plane = quantity.plane(start, part.get("k", 1) - 1)
    assert plane is not None  # ranges begin with positions of their own
    return plane


def checked_split(name: str, split: Any) -> Split:
    """Return what `split` says: one of `SPLITS`, or ranges of positions, none of them shared."""
    if split is None or isinstance(split, str):
        if split not in SPLITS:
            raise ValueError(
                f"{name}: split must be one of {list(SPLITS)}, or ranges of positions such as "
                f"[(0, 30), (30, 60)], not {split!r}"
            )
        return split
    try:
        ranges = tuple((start, stop) for start, stop in split)
    except TypeError:
        ranges = ()
    except ValueError:
        ranges = ()
    whole_numbers = all(is_whole(end) for pair in ranges for end in pair)
    if not ranges or not whole_numbers or any(not 0 <= start < stop for start, stop in ranges):
        raise ValueError(
            f"{name}: split must be ranges (start, stop) of positions with 0 <= start < stop, "
            f"not {split!r}"
        )
    ranges = tuple((int(start), int(stop)) for start, stop in ranges)
    ordered = sorted(ranges)
    for (_, stop), (start, _) in pairwise(ordered):
        if start < stop:
            raise ValueError(f"{name}: position {start} is in two ranges of split={list(ranges)}")
    return ranges
