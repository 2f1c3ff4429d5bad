"""The weighted degree kernels (Sonnenburg, Rätsch and Rieck 2007, section 4.2)."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import partial

import numpy as np

from kernelweave.common.numbers import is_whole
from kernelweave.kernels.compile.program import Expression, Layout
from kernelweave.kernels.parameters import MOST, Parameter, one_of, whole
from kernelweave.kernels.string.base import EqualLengthKernel
from kernelweave.kernels.string.wd_quantity import WdQuantity, checked_split, plane_of
from kernelweave.model.files.registry import registered

STORES = ["auto", "rows", "trie"]


@dataclass(frozen=True)
class PositionalKernel(EqualLengthKernel):
    """The base class of weighted degree kernels; see `WeightedDegree` for the parameters."""

    degree: int = 20
    weights: Parameter = field(default=None, kw_only=True)
    position_weights: Parameter = field(default=None, kw_only=True)
    split: Parameter = field(default=None, kw_only=True)
    store: str = field(default="auto", kw_only=True)

    def __post_init__(self) -> None:
        super().__post_init__()
        object.__setattr__(self, "degree", whole(self.kind, "degree", self.degree))
        object.__setattr__(self, "split", checked_split(self.kind, self.split))
        one_of(self.kind, "store", self.store, STORES)
        object.__setattr__(self, "weights", self._checked_weights())
        object.__setattr__(self, "position_weights", self._checked_position_weights())

    def _checked_weights(self) -> tuple[float, ...] | None:
        if self.weights is None:
            return None
        weights = tuple(float(weight) for weight in self.weights)
        if len(weights) != self.degree or not all(0 <= w < np.inf for w in weights):
            raise ValueError(
                f"{self.kind}: weights must be {self.degree} numbers >= 0, one for each length of "
                f"a match, got {self.weights!r}"
            )
        return weights

    def _checked_position_weights(self) -> tuple[float, ...] | None:
        if self.position_weights is None:
            return None
        weights = np.asarray(self.position_weights, dtype=float)
        if weights.ndim != 1 or not weights.size or not all(0 <= w < np.inf for w in weights):
            raise ValueError(
                f"{self.kind}: position_weights must be numbers >= 0, one for each position, got "
                f"{self.position_weights!r}"
            )
        return tuple(weights.tolist())

    @property
    def longest(self) -> int:
        """Length of the longest match: the smaller of `degree` and the length of the sequences."""
        return self.degree if self.length is None else min(self.degree, self.length)

    @property
    def match_weights(self) -> tuple[float, ...]:
        """Weight of a match of 1, 2, ..., `longest` letters."""
        if self.weights is not None:
            return tuple(self.weights[: self.longest])
        d = self.degree
        return tuple(2 * (d - k + 1) / (d * (d + 1)) for k in range(1, self.longest + 1))

    def check_length(self, length: int) -> None:
        given = self.position_weights
        if given is not None and len(given) != length:
            raise ValueError(
                f"{self.kind}: position_weights has {len(given)} values for {length} positions; "
                "pass one for each position"
            )
        if isinstance(self.split, tuple) and max(stop for _, stop in self.split) > length:
            raise ValueError(
                f"{self.kind}: the ranges of split={list(self.split)} must end at {length}, the "
                "length of the sequences, or before"
            )

    @property
    def shifts(self) -> tuple[int, ...]:
        """Largest shift of a match at each position; empty without shifts."""
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

    def label_parameters(self) -> dict[str, object]:
        """Return the parameters in the names of all members.

        Returns
        -------
        dict
        """
        return {"degree": self.degree, "position_weights": self.position_weights}

    def _parts(self) -> list[dict[str, object]]:
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
        """The sums of matches that the core computes, for all members together."""
        weights, length = self.position_weights or (), self.resolved_length
        quantity = WdQuantity(
            self.match_weights, self.shifts, self.split, length, self.store, weights
        )
        return (quantity,)

    def expressions(self, layout: Layout) -> list[Expression]:
        (quantity,) = self.quantities
        first = layout.source(quantity, self.view, quantity.planes)
        planes = [plane_of(part, quantity) for part in self._parts()]
        return [(("copy", first + plane),) for plane in planes]


@registered("WeightedDegree")
@dataclass(frozen=True)
class WeightedDegree(PositionalKernel):
    """Weighted degree kernel: matches at the same position of two sequences of equal length.

    K(x, y) = sum_{k <= degree} weights_k sum_i I(x and y agree in k letters from position i on),
    where I is 1 if the condition holds and 0 otherwise.

    Parameters
    ----------
    degree : int
        Length of the longest match that counts. A degree above the length of the sequences changes
        the default weights only.
    weights : array of shape (degree,), optional
        Weight of a match of 1, 2, ... letters. By default matches of k letters have the weight
        2 (d - k + 1) / (d (d + 1)), with d the degree (Rätsch and Sonnenburg, 2004).
    position_weights : array of shape (length,), optional
        Factor of the matches that start at each position; 1 by default.
    split : {None, "degree", "position", "both"} or list of ranges ``(start, stop)``
        Makes a family whose members sum to the kernel: one member for each match length, for each
        start of a match, for each combination of both, or for each range of starts. Positions
        outside all ranges are ignored.
    store : {"auto", "rows", "trie"}
        How sums of kernel values over many examples are computed: from each value ("rows"), from
        weights of words at each position in tries ("trie"), or by the cheaper of both ("auto").
    alphabet : {"dna", "rna", "protein", "bytes"} or a string of letters
        The letters of the sequences.
    unknown : {"mismatch", "error"}
        Whether other letters, such as N, match nothing or raise an error.
    columns : the column of sequences, if X has several
    name : str, optional
        Name of the kernel.
    length : int or None
        Length of the sequences; None before it is taken from the training data.

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


@registered("WeightedDegreeShift")
@dataclass(frozen=True)
class WeightedDegreeShift(PositionalKernel):
    """Weighted degree kernel with shifts, which also counts matches at different positions.

    Matches that are s positions apart have the factor 1 / (2 (s + 1)) (Rätsch, Sonnenburg and
    Schölkopf, 2005). With these factors the kernel is positive semidefinite for every shift, by an
    inequality of Rogosinski and Szegö (1928): 1/2 + sum_s cos(s t) / (s + 1) >= 0.

    Parameters
    ----------
    degree, weights, store, alphabet, unknown, columns, name, length : as for `WeightedDegree`
    position_weights : array of shape (length,), optional
        Factor of the matches at each position; 1 by default. A match has the factor of the smaller
        of its two positions. If the factors differ, the kernel need not be positive semidefinite.
    split : {None, "degree"} or list of ranges ``(start, stop)``
        As for `WeightedDegree`. Both positions of a match must be in the range.
    shift : int >= 0, or array of shape (length,)
        Largest distance of the two positions of a match, for all positions or for each.

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

    shift: Parameter = 3

    def __post_init__(self) -> None:
        super().__post_init__()
        several = np.ndim(self.shift) == 1 and len(self.shift) > 0
        if not several and not is_whole(self.shift):
            raise ValueError(
                f"{self.kind}: shift must be an integer >= 0 or a sequence of them, one for each "
                f"position, got {self.shift!r}"
            )
        check = partial(whole, self.kind, "shift", least=0, most=MOST)
        shift = tuple(check(s) for s in self.shift) if several else check(self.shift)
        object.__setattr__(self, "shift", shift)
        if self.split in ("position", "both"):
            raise ValueError(
                f"{self.kind}: split={self.split!r} is not supported, because matches at two "
                "positions belong to neither; take split='degree', ranges of positions such as "
                "[(0, 30), (30, 60)], or WeightedDegree"
            )

    def check_length(self, length: int) -> None:
        super().check_length(length)
        if isinstance(self.shift, tuple) and len(self.shift) != length:
            raise ValueError(
                f"{self.kind}: shift has {len(self.shift)} values for {length} positions; "
                "pass one for each position"
            )

    @property
    def shifts(self) -> tuple[int, ...]:
        length = self.length or 0
        shift = self.shift if isinstance(self.shift, tuple) else (self.shift,) * length
        farthest = np.minimum(shift, length - 1)
        for start, stop in self.split if isinstance(self.split, tuple) else ():
            inside = np.arange(stop - start)[::-1]  # positions up to the end of the range
            farthest[start:stop] = np.minimum(farthest[start:stop], inside)
        return tuple(farthest.tolist())

    def label_parameters(self) -> dict[str, object]:
        shift = max(self.shift) if isinstance(self.shift, tuple) else self.shift
        return super().label_parameters() | {"shift": shift}
