"""Kernels on sequences (Sonnenburg, Rätsch and Rieck 2007, section 4.2).

X is `Sequences`, or holds a column of strings. Every kernel takes ``alphabet=`` ("dna", "rna",
"protein", "bytes", or a string of letters), ``unknown=`` (whether a letter outside the alphabet,
such as N, matches nothing, "mismatch", or is refused, "error"), and ``columns=``. Those with
``store=`` say how sums over many examples are computed: "rows" (row by row), through a weight
store of that name (`kernelweave.stores`), or whichever is cheaper ("auto").
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import partial
from typing import Any

import numpy as np

from kernelweave.common.numbers import is_whole
from kernelweave.kernels.base import OnColumns
from kernelweave.kernels.compile.program import Expression, Layout
from kernelweave.kernels.data.columns import Columns, found
from kernelweave.kernels.parameters import MOST, whole
from kernelweave.kernels.string.string_columns import Strings, resolve_length
from kernelweave.kernels.string.wd_quantity import WdQuantity, checked_split, plane_of
from kernelweave.model.files.registry import stored
from kernelweave.sequences.alphabets import as_alphabet

STORES = ["auto", "rows", "trie"]


@dataclass(frozen=True)
class PositionalKernel(OnColumns):
    """Weighted matches of up to `degree` letters between sequences of one length."""

    degree: int = 20
    weights: Any = field(default=None, kw_only=True)
    position_weights: Any = field(default=None, kw_only=True)
    split: Any = field(default=None, kw_only=True)
    store: str = field(default="auto", kw_only=True)
    alphabet: Any = field(default="dna", kw_only=True)
    unknown: str = field(default="mismatch", kw_only=True)
    length: int | None = field(default=None, kw_only=True, repr=False)

    def __post_init__(self) -> None:
        super().__post_init__()
        object.__setattr__(self, "degree", whole(self.kind, "degree", self.degree))
        object.__setattr__(self, "split", checked_split(self.kind, self.split))
        if self.store not in STORES:
            raise ValueError(f"{self.kind}: store must be one of {STORES}, not {self.store!r}")
        object.__setattr__(self, "alphabet", as_alphabet(self.alphabet))
        object.__setattr__(self, "weights", self._checked_weights())
        object.__setattr__(self, "position_weights", self._checked_position_weights())

    def _checked_weights(self) -> tuple[float, ...] | None:
        if self.weights is None:
            return None
        weights = tuple(float(weight) for weight in self.weights)
        if len(weights) != self.degree or not all(0 <= w < np.inf for w in weights):
            raise ValueError(f"{self.kind}: weights must be {self.degree} numbers >= 0")
        return weights

    def _checked_position_weights(self) -> tuple[float, ...] | None:
        if self.position_weights is None:
            return None
        weights = np.asarray(self.position_weights, dtype=float)
        if weights.ndim != 1 or not weights.size or not all(0 <= w < np.inf for w in weights):
            raise ValueError(
                f"{self.kind}: position_weights must be numbers >= 0, one for each position"
            )
        return tuple(weights.tolist())

    @property
    def longest(self) -> int:
        """The longest match that there can be: no longer than the sequences, once seen."""
        return self.degree if self.length is None else min(self.degree, self.length)

    @property
    def match_weights(self) -> tuple[float, ...]:
        """Weights of matches of 1, 2, ..., `longest` letters."""
        if self.weights is not None:
            return tuple(self.weights[: self.longest])
        d = self.degree
        return tuple(2 * (d - k + 1) / (d * (d + 1)) for k in range(1, self.longest + 1))

    def resolve(self, X: Any) -> PositionalKernel:
        if self.length is not None:
            return self
        resolved: PositionalKernel = resolve_length(self, X)
        resolved._check_positions()
        return resolved

    def _check_positions(self) -> None:
        """Refuse weights and ranges of positions that do not fit the sequences."""
        given, length = self.position_weights, self.length or 0
        if given is not None and len(given) != length:
            raise ValueError(
                f"{self.kind}: position_weights has {len(given)} values for {length} positions"
            )
        if isinstance(self.split, tuple) and max(stop for _, stop in self.split) > length:
            raise ValueError(
                f"{self.kind}: split={list(self.split)} reaches beyond the {length} positions of "
                "the sequences"
            )

    @property
    def shifts(self) -> tuple[int, ...]:
        """How far matches may be apart, for each position; empty without shifts."""
        return ()

    @property
    def size(self) -> int | None:
        if self.split is None:
            return 1
        return None if self.length is None else self.n_kernels

    @property
    def labels(self) -> tuple[str, ...]:
        parameters = self.label_parameters()
        return tuple(self.label(parameters | part) for part in self._parts())

    def label_parameters(self) -> dict[str, Any]:
        """What the names of all members have in common."""
        return {"degree": self.degree}

    def _parts(self) -> list[dict[str, Any]]:
        length, degrees = self.length or 0, range(1, self.longest + 1)
        if self.split == "degree":
            return [{"k": k} for k in degrees]
        if self.split == "position":
            return [{"position": p} for p in range(length)]
        if isinstance(self.split, tuple):
            return [{"positions": bounds} for bounds in self.split]
        if self.split == "both":  # matches end inside the sequence
            return [{"k": k, "position": p} for k in degrees for p in range(length - k + 1)]
        return [{}]

    @property
    def is_family(self) -> bool:
        return self.split is not None

    @property
    def quantities(self) -> tuple[WdQuantity]:
        """What the core computes: one quantity, of which all members are parts."""
        if self.length is None:
            raise ValueError(f"{self.kind} can be compiled only after resolve(X)")
        weights = self.position_weights or ()
        quantity = WdQuantity(
            self.match_weights, self.shifts, self.split, self.length, self.store, weights
        )
        return (quantity,)

    def expressions(self, layout: Layout) -> list[Expression]:
        (quantity,) = self.quantities
        view = Strings(found(self, Columns), self.alphabet, self.unknown, quantity.length)
        first = layout.source(quantity, view, quantity.planes)
        planes = [plane_of(part, quantity) for part in self._parts()]
        return [(("copy", first + plane),) for plane in planes]


@stored("WeightedDegree")
@dataclass(frozen=True)
class WeightedDegree(PositionalKernel):
    """Matches of up to `degree` letters at the same position of two sequences of one length.

    k(x, y) = sum_{k <= degree} weights_k sum_i I(k letters of x and y from position i are equal)

    Parameters
    ----------
    degree : longest match that counts. Sequences have none that is longer than themselves, so
        that a larger degree changes the default weights only.
    weights : (degree,) weight of a match of 1, 2, ... letters; 2 (d - k + 1) / (d (d + 1)) by
        default (Rätsch and Sonnenburg, 2004).
    position_weights : (length,) factors of matches by the position at which they start; 1 by
        default.
    split : {None, "degree", "position", "both"} or ranges of positions; makes a family, whose
        members sum up to the kernel: one member for each match length, for each position at which
        matches start, for both, or for each range ``(start, stop)`` of a list. Positions in no
        range are left out.
    store : {"auto", "rows", "trie"}, how sums over many examples are computed.
    alphabet : "dna", "rna", "protein", "bytes", or a string of letters.
    unknown : {"mismatch", "error"}, what to do with other letters, such as N: let them match
        nothing, or refuse them.
    columns : the column of sequences, where X has several.
    name : what to call the kernel.
    length : the length of the sequences; found by `resolve`.

    Examples
    --------
    >>> from kernelweave.kernels import WeightedDegree
    >>> sequences = ["GATTACA", "GATTTCA", "CCCCCCC"]
    >>> print(WeightedDegree(3)(sequences).round(2))
    [[6.33 4.67 0.5 ]
     [4.67 6.33 0.5 ]
     [0.5  0.5  6.33]]
    >>> WeightedDegree(3, split="degree")(sequences).shape
    (3, 3, 3)
    """


@stored("WeightedDegreeShift")
@dataclass(frozen=True)
class WeightedDegreeShift(PositionalKernel):
    """The weighted degree kernel that also counts matches a few positions apart.

    Matches `s` positions apart count with weight 1 / (2 (s + 1)) (Rätsch, Sonnenburg and
    Schölkopf, 2005). These weights make it positive semidefinite for every shift, by an inequality
    of Rogosinski and Szegö (1928): 1/2 + sum_s cos(s t) / (s + 1) >= 0.

    Parameters
    ----------
    degree : as for `WeightedDegree`.
    shift : farthest distance between matches, or one for each position; what would lead beyond
        the end of the sequences changes nothing.
    split : {None, "degree"} or ranges of positions. A range counts the matches whose positions are
        both in it; then it is positive semidefinite, too. A single position has no room for shifts.
    columns, name, weights, store, alphabet, unknown, length : as for `WeightedDegree`.
    position_weights : as for `WeightedDegree`. The position of a match is the first one of the two;
        where these weights vary the kernel need not be positive semidefinite.

    Examples
    --------
    >>> from kernelweave.kernels import WeightedDegree, WeightedDegreeShift
    >>> moved = ["GATTACACC", "CGATTACAC"]
    >>> print(WeightedDegree(3)(moved).round(2))
    [[8.33 1.  ]
     [1.   8.33]]
    >>> print(WeightedDegreeShift(3, shift=1)(moved).round(2))
    [[8.83 3.17]
     [3.17 8.58]]
    """

    shift: Any = 3

    def __post_init__(self) -> None:
        super().__post_init__()
        several = np.ndim(self.shift) == 1 and len(self.shift) > 0
        if not several and not is_whole(self.shift):
            raise ValueError(
                f"{self.kind}: shift must be an integer >= 0 or a sequence of them, one for each "
                f"position, not {self.shift!r}"
            )
        check = partial(whole, self.kind, "shift", least=0, most=MOST)
        shift = tuple(check(s) for s in self.shift) if several else check(self.shift)
        object.__setattr__(self, "shift", shift)
        if self.split in ("position", "both"):
            raise ValueError(
                f"{self.kind}: split={self.split!r} leaves no room for shifts, since matches at "
                "two positions belong to neither; split by 'degree' or by ranges of positions such "
                "as [(0, 30), (30, 60)], or take WeightedDegree"
            )

    def resolve(self, X: Any) -> PositionalKernel:
        resolved = super().resolve(X)
        if isinstance(self.shift, tuple) and len(self.shift) != resolved.length:
            raise ValueError(
                f"{self.kind}: shift has {len(self.shift)} values for {resolved.length} positions"
            )
        return resolved

    @property
    def shifts(self) -> tuple[int, ...]:
        length = self.length or 0
        shift = self.shift if isinstance(self.shift, tuple) else (self.shift,) * length
        farthest = np.minimum(shift, length - 1)
        for start, stop in self.split if isinstance(self.split, tuple) else ():
            inside = np.arange(stop - start)[::-1]  # positions that are left in the range
            farthest[start:stop] = np.minimum(farthest[start:stop], inside)
        return tuple(farthest.tolist())

    def label_parameters(self) -> dict[str, Any]:
        shift = max(self.shift) if isinstance(self.shift, tuple) else self.shift
        return {"degree": self.degree, "shift": shift}
