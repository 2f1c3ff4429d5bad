"""The locality-improved kernel, in which matches close to each other count more."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

from kernelweave.common.core import _core
from kernelweave.kernels.compile.program import Expression, Layout
from kernelweave.kernels.parameters import whole
from kernelweave.kernels.string.base import EqualLengthKernel
from kernelweave.model.files.registry import registered


@dataclass(frozen=True)
class LocalityQuantity:
    """The sum over windows of powers of the fraction of matches, which the core computes.

    Attributes
    ----------
    half_window : int
        Number of letters on either side of the centre of a window.
    degree : int
        Exponent of the fraction of matches in a window.
    """

    half_window: int
    degree: int

    def source(self) -> _core.Source:
        """Return the compiled object that computes the quantity for a pair of examples."""
        return _core.locality_improved(self.half_window, self.degree)


@registered("LocalityImproved")
@dataclass(frozen=True)
class LocalityImproved(EqualLengthKernel):
    """Locality-improved kernel: powers of the fraction of matches in windows (Zien et al., 2000).

    k(x, y) = (sum_p (fraction of matches within `half_window` letters of p) ^ inner_degree)
    ^ outer_degree. The sum is over the centres p of all windows inside the sequences, which have
    equal length.

    Parameters
    ----------
    half_window : int
        Number of letters on either side of the centre of a window, at most 31.
    inner_degree, outer_degree : int >= 1
        Exponents of the fraction of matches in a window, and of the sum over windows.
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

    def __post_init__(self) -> None:
        super().__post_init__()
        check = partial(whole, "LocalityImproved")
        object.__setattr__(self, "half_window", check("half_window", self.half_window, 0, 31))
        object.__setattr__(self, "inner_degree", check("inner_degree", self.inner_degree))
        object.__setattr__(self, "outer_degree", check("outer_degree", self.outer_degree))

    def check_length(self, length: int) -> None:
        if length < 2 * self.half_window + 1:
            raise ValueError(
                f"LocalityImproved: half_window={self.half_window} makes windows of "
                f"{2 * self.half_window + 1} letters, but the sequences have {length}; "
                "take a smaller half_window"
            )

    @property
    def labels(self) -> tuple[str, ...]:
        names = ("half_window", "inner_degree", "outer_degree")
        parameters = {name: getattr(self, name) for name in names}
        return (self.label(parameters),)

    @property
    def quantities(self) -> tuple[LocalityQuantity]:
        return (LocalityQuantity(self.half_window, self.inner_degree),)

    def expressions(self, layout: Layout) -> list[Expression]:
        source = layout.source(*self.quantities, self.view)
        return [(("power", source, 1.0, 0.0, self.outer_degree),)]
