"""The matches that the compiled core counts for weighted degree kernels.

A kernel may be split into a family: the matches of each length, position or range of positions. The
values of its members for a pair of sequences are called planes.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

from kernelweave.common.core import _core
from kernelweave.common.numbers import is_whole
from kernelweave.kernels.parameters import Parameter, Parameters

SPLITS = (None, "degree", "position", "both")
Split = str | tuple[tuple[int, int], ...] | None


@dataclass(frozen=True)
class WdQuantity:
    """The weighted sums of matches that the core computes for a weighted degree kernel.

    Attributes
    ----------
    weights : tuple of floats
        Weight of a match of 1, 2, ... letters.
    shifts : tuple of int
        Largest shift of each position; empty without shifts.
    split : None, "degree", "position", "both", or ranges of positions
        The members of the family: one for each match length, start, or combination of both, or for
        each range of starts; None for a single kernel.
    length : int
        Length of the sequences.
    store : {"auto", "rows", "trie"}
        How sums over many examples are computed: from each value ("rows"), from words in tries
        ("trie"), or by the cheaper of both ("auto").
    position_weights : tuple of floats
        Factor of each position; empty if all are 1.
    """

    weights: tuple[float, ...]
    shifts: tuple[int, ...]
    split: Split
    length: int
    store: str
    position_weights: tuple[float, ...] = ()

    def source(self) -> _core.Source:
        """Return the compiled object that computes the sums for a pair of examples."""
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
        """Number of planes (values for each pair of sequences)."""
        if isinstance(self.split, tuple):
            return len(self.split)
        degree = len(self.weights)
        sizes = {"degree": degree, "position": self.length, "both": degree * self.length}
        return sizes.get(self.split or "", 1)

    def plane(self, position: int, k: int) -> int | None:
        """Return the number of the plane to which matches of k + 1 letters at a position add.

        It is None if the position is outside all ranges.
        """
        if isinstance(self.split, tuple):
            member = self._groups()[position]
            return None if member < 0 else member
        planes = {"degree": k, "position": position, "both": k * self.length + position}
        return planes.get(self.split or "", 0)

    def _groups(self) -> list[int]:
        """Return for each position the index of its range in `split`, or -1 if it is in none.

        The list is empty if `split` does not consist of ranges.
        """
        if not isinstance(self.split, tuple):
            return []
        groups: list[int] = [-1] * self.length
        for member, (start, stop) in enumerate(self.split):
            groups[start:stop] = [member] * (stop - start)
        return groups


def plane_of(part: Parameters, quantity: WdQuantity) -> int:
    """Return the number of the plane of a member, given the parameters in its name."""
    start, _ = part.get("positions", (part.get("position", 0), None))
    plane = quantity.plane(start, part.get("k", 1) - 1)
    assert plane is not None  # the first position of a range belongs to it
    return plane


def checked_split(name: str, split: Parameter) -> Split:
    """Return a validated `split`: one of `SPLITS`, or disjoint ranges of positions.

    Raises
    ------
    ValueError
        If `split` is neither.
    """
    if split is None or isinstance(split, str):
        if split not in SPLITS:
            raise ValueError(
                f"{name}: split must be one of {list(SPLITS)}, or ranges of positions such as "
                f"[(0, 30), (30, 60)], got {split!r}"
            )
        return split
    try:
        ranges = tuple((start, stop) for start, stop in split)
    except (TypeError, ValueError):
        ranges = ()
    whole_numbers = all(is_whole(end) for pair in ranges for end in pair)
    if not ranges or not whole_numbers or any(not 0 <= start < stop for start, stop in ranges):
        raise ValueError(
            f"{name}: split must be ranges (start, stop) of positions with 0 <= start < stop, "
            f"got {split!r}"
        )
    ranges = tuple((int(start), int(stop)) for start, stop in ranges)
    ordered = sorted(ranges)
    for (_, stop), (start, _) in pairwise(ordered):
        if start < stop:
            raise ValueError(
                f"{name}: the ranges of split={list(ranges)} must be disjoint, but position "
                f"{start} is in two of them"
            )
    return ranges
