"""The substring kernel: common substrings of all lengths, with a weight for each length."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from kernelweave.common.core import _core
from kernelweave.common.numbers import as_number, not_negative
from kernelweave.kernels.parameters import Parameter, one_of, whole
from kernelweave.kernels.string.base import StringKernel
from kernelweave.kernels.string.spectrum import LONG_STORES, LONGEST
from kernelweave.model.files.registry import registered
from kernelweave.sequences.alphabets import Alphabet


@dataclass(frozen=True)
class SubstringQuantity:
    """The weighted dot product of substring counts, which the compiled core computes.

    Attributes
    ----------
    weights : tuple of floats
        Weights of substrings of 1, 2, ... letters; the last one is positive.
    alphabet : Alphabet
        The letters of the sequences.
    store : {"auto", "rows", "suffix"}
        How sums over many examples are computed: from each value ("rows"), from a suffix array
        ("suffix"), or by the cheaper of both ("auto").
    """

    weights: tuple[float, ...]
    alphabet: Alphabet
    store: str

    def source(self) -> _core.Source:
        """Return the compiled object that computes the quantity for a pair of examples."""
        return _core.substring(len(self.alphabet.letters), list(self.weights), self.store)


@registered("Substring")
@dataclass(frozen=True)
class Substring(StringKernel):
    """Substring kernel: the weighted dot product of the counts of all substrings.

    k(x, y) = sum over all strings u of w(len(u)) #u(x) #u(y), where #u(x) is how often u occurs in
    x (Vishwanathan and Smola, 2003). Substrings with an unknown letter are not counted. Sums over
    many examples, and predictions, are computed with a suffix array: the time per letter hardly
    depends on the lengths of substrings.

    Parameters
    ----------
    decay : float, or a sequence of floats, which makes a family
        Weight of a substring of l letters: ``decay**l``, with 0 < decay <= 1.
    shortest : int
        Least length of a substring.
    longest : int, optional
        Greatest length; by default 65,534 letters, the most that is possible.
    weights : sequence of floats, optional
        Weights w(1), w(2), ... in place of `decay`, `shortest` and `longest`; longer substrings
        are not counted.
    store : {"auto", "rows", "suffix"}
        How sums of kernel values over many examples are computed: from each value ("rows"), from
        weights of substrings in a suffix array ("suffix"), or by the cheaper of both ("auto").
    alphabet : {"dna", "rna", "protein", "bytes"} or a string of letters
        The letters of the sequences.
    unknown : {"mismatch", "error"}
        Whether other letters, such as N, match nothing or raise an error.
    columns : the column of sequences, if X has several
    name : str, optional
        Name of the kernel.

    Examples
    --------
    >>> from kernelweave.kernels import Spectrum, Substring
    >>> sequences = ["GATTACA", "GATTTCA", "CCCCCCC"]
    >>> print(Substring(0.5)(sequences).round(2))
    [[10.01  8.56  3.5 ]
     [ 8.56 10.51  3.5 ]
     [ 3.5   3.5  37.98]]
    >>> print(Substring(weights=[0, 1])(sequences) - Spectrum(2)(sequences))
    [[0. 0. 0.]
     [0. 0. 0.]
     [0. 0. 0.]]
    """

    decay: Parameter = 0.5
    shortest: int = field(default=1, kw_only=True)
    longest: int | None = field(default=None, kw_only=True)
    weights: tuple[float, ...] | None = field(default=None, kw_only=True)
    store: str = field(default="auto", kw_only=True)

    def __post_init__(self) -> None:
        super().__post_init__()
        one_of("Substring", "store", self.store, LONG_STORES)
        if self.weights is not None:
            self._check_weights()
        self._check_decay()
        self._check_lengths()

    def _check_weights(self) -> None:
        weights = np.asarray(self.weights, dtype=object)
        valid = weights.ndim == 1 and all(map(not_negative, weights)) and np.any(weights > 0)
        if not valid or len(weights) > LONGEST:
            raise ValueError(
                f"Substring: weights must be 1 to {LONGEST} finite numbers >= 0, one of them "
                f"positive, got {self.weights!r}"
            )
        if self.is_family or self.shortest != 1 or self.longest is not None:
            raise ValueError(
                "Substring: weights takes the place of decay, shortest and longest; pass weights "
                "alone"
            )
        object.__setattr__(self, "weights", tuple(map(float, weights)))

    def _check_decay(self) -> None:
        several = np.ndim(self.decay) == 1
        values = tuple(map(as_number, self.decay if several else (self.decay,)))
        if not values or not all(0 < value <= 1 for value in values):
            raise ValueError(
                "Substring: decay must be a number with 0 < decay <= 1, or a sequence of them, got "
                f"{self.decay!r}"
            )
        object.__setattr__(self, "decay", values if several else values[0])

    def _check_lengths(self) -> None:
        longest = LONGEST if self.longest is None else self.longest
        whole("Substring", "shortest", self.shortest, 1, LONGEST)
        whole("Substring", "longest", longest, 1, LONGEST)
        if self.shortest > longest:
            raise ValueError(
                f"Substring: shortest={self.shortest} must be at most longest={self.longest}"
            )
        for quantity in self.quantities:
            if not quantity.weights:
                raise ValueError(
                    f"Substring: decay={self.decay!r} is 0 in floating point after "
                    f"shortest={self.shortest} letters; pass a larger decay, or weights"
                )

    @property
    def is_family(self) -> bool:
        return isinstance(self.decay, list | tuple | np.ndarray)

    @property
    def _decays(self) -> tuple[float, ...]:
        return self.decay if isinstance(self.decay, tuple) else (self.decay,)

    @property
    def labels(self) -> tuple[str, ...]:
        if self.weights is not None:
            return (self.label({"longest": len(self.weights)}),)
        return tuple(self.label({"decay": decay}) for decay in self._decays)

    @property
    def quantities(self) -> tuple[SubstringQuantity, ...]:
        """The dot products that the core computes, one for each kernel of the family."""
        every = [self.weights] if self.weights else [self._powers(decay) for decay in self._decays]
        return tuple(
            SubstringQuantity(tuple(np.trim_zeros(weights, "b")), self.alphabet, self.store)
            for weights in every
        )

    def _powers(self, decay: float) -> list[float]:
        lengths = np.arange(1, (self.longest or LONGEST) + 1)
        return np.where(lengths >= self.shortest, decay**lengths, 0.0).tolist()
