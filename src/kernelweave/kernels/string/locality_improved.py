"""The locality-improved kernel, in which matches close to each other count more."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import partial
from typing import Any

from kernelweave.common.core import _core
from kernelweave.common.types import Data
from kernelweave.kernels.base import Kernel, OnColumns
from kernelweave.kernels.compile.program import Expression, Layout
from kernelweave.kernels.data.columns import Columns, found
from kernelweave.kernels.parameters import whole
from kernelweave.kernels.string.string_columns import Strings, resolve_length
from kernelweave.model.files.registry import registered
from kernelweave.sequences.alphabets import as_alphabet


@dataclass(frozen=True)
class LocalityQuantity:
    """The sum over windows that the core computes.

    Attributes
    ----------
    half_window, degree : int
    """

    half_window: int
    degree: int

    def source(self) -> _core.Source:
        """Return the source of the core that computes the quantity."""
        return _core.locality_improved(self.half_window, self.degree)


@registered("LocalityImproved")
@dataclass(frozen=True)
class LocalityImproved(OnColumns):
    """Locality-improved kernel: powers of the fraction of matches in windows (Zien et al., 2000).

    k(x, y) = (sum_p (fraction of matches within `half_window` letters of p) ^ inner_degree)
    ^ outer_degree. The sum is over the centres p of all windows inside the sequences, which have
    equal length.

    Parameters
    ----------
    half_window : int
        Number of letters on either side of the centre of a window, at most 31.
    inner_degree, outer_degree : int >= 1
    alphabet : {"dna", "rna", "protein", "bytes"} or a string of letters
        The letters of the sequences.
    unknown : {"mismatch", "error"}
        Whether other letters, such as N, match nothing or raise an error.
    columns : the column of sequences, if X has several
    name : str, optional
        Name of the kernel.
    length : int or None
        Length of the sequences; determined by `resolve`.

    Examples
    --------
    >>> from kernelweave.kernels import LocalityImproved
    >>> kernel = LocalityImproved(half_window=1, inner_degree=2)
    >>> print(kernel(["GATTACA", "GATTTCA", "CCCCCCC"]).round(2))
    [[5.   3.33 0.22]
     [3.33 5.   0.22]
     [0.22 0.22 5.  ]]
    """

    half_window: int = 3
    inner_degree: int = 3
    outer_degree: int = 1
    alphabet: Any = field(default="dna", kw_only=True)
    unknown: str = field(default="mismatch", kw_only=True)
    length: int | None = field(default=None, kw_only=True, repr=False)

    def __post_init__(self) -> None:
        check = partial(whole, "LocalityImproved")
        object.__setattr__(self, "half_window", check("half_window", self.half_window, 0, 31))
        object.__setattr__(self, "inner_degree", check("inner_degree", self.inner_degree))
        object.__setattr__(self, "outer_degree", check("outer_degree", self.outer_degree))
        object.__setattr__(self, "alphabet", as_alphabet(self.alphabet))
        super().__post_init__()

    def resolve(self, X: Data) -> Kernel:
        if self.length is not None:
            return self
        resolved = resolve_length(self, X)
        if resolved.length < 2 * self.half_window + 1:
            raise ValueError(
                f"LocalityImproved: half_window={self.half_window} makes windows of "
                f"{2 * self.half_window + 1} letters, but the sequences have {resolved.length}; "
                "take a smaller half_window"
            )
        kernel: Kernel = resolved
        return kernel

    @property
    def labels(self) -> tuple[str, ...]:
        names = ("half_window", "inner_degree", "outer_degree")
        parameters = {name: getattr(self, name) for name in names}
        return (self.label(parameters),)

    def expressions(self, layout: Layout) -> list[Expression]:
        columns = found(self, Columns)
        if self.length is None:
            raise ValueError("LocalityImproved can be compiled only after resolve(X)")
        quantity = LocalityQuantity(self.half_window, self.inner_degree)
        view = Strings(columns, self.alphabet, self.unknown, self.length)
        source = layout.source(quantity, view)
        return [(("power", source, 1.0, 0.0, self.outer_degree),)]
