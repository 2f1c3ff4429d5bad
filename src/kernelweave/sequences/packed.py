"""Sequences in packed form.

With at most four letters in the alphabet, a letter takes two bits: one in each of two bit planes,
in words of 64 bits (DNA of length 141 takes 48 bytes). Otherwise it takes one byte.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np

from ..common.cached_property import cached_property
from ..common.core import _core
from ..model.files.registry import registered
from .alphabets import DNA, UNKNOWN, Alphabet, as_alphabet
from .names import Names, joined

_SAME_CODES = bytes(range(256))


def _same(length: int | None, n: int) -> np.ndarray:
    """Return an array of n equal lengths, (n,), which takes the memory of one."""
    return np.broadcast_to(np.int64(length or 0), n)


@registered("Sequences", fields=("alphabet", "n", "length", "data", "unknown", "lengths"))
class Sequences:
    """n packed sequences over one alphabet.

    They are one column of examples: ``len(s)`` is n, ``s[3]`` is a string, and ``s[index]`` (a
    slice, integers, or a mask) is a subset.

    Attributes
    ----------
    alphabet : Alphabet
        The known letters; all others match nothing.
    n : int
        Number of sequences.
    length : int or None
        Common length; None if lengths differ.
    lengths : array of shape (n,)
        Number of letters of each sequence.
    data : array of uint64, bit planes, or of uint8, codes
        The concatenated sequences.
    unknown : array of uint64 or None
        Bit mask of unknown letters in bit planes; None if all are known, or if `data` has codes.
    names : Names or None
        Headers of the records of a file.

    Examples
    --------
    >>> from kernelweave.sequences import as_sequences
    >>> sequences = as_sequences(["GATTACA", "GATTTCA", "CCCCCCC"])
    >>> len(sequences), sequences.length
    (3, 7)
    >>> sequences[1]
    'GATTTCA'
    >>> sequences[[0, 2]].reverse_complement()[0]
    'TGTAATC'
    """

    def __init__(
        self,
        alphabet: Alphabet,
        *,
        n: int,
        length: int | None,
        data: np.ndarray,
        unknown: np.ndarray | None = None,
        lengths: np.ndarray | None = None,
        names: Names | None = None,
    ):
        self.alphabet = alphabet
        self.n = n
        self.length = length
        self.data = data
        self.unknown = unknown
        self.lengths = _same(length, n) if lengths is None else lengths
        self.names = names

    @classmethod
    def from_codes(cls, codes: np.ndarray, alphabet: object = DNA) -> Sequences:
        """Return the sequences with given codes.

        Parameters
        ----------
        codes : uint8 ndarray of shape (n, length)
            Position of each letter in the alphabet.
        alphabet : Alphabet, or its name or letters
            The letters that the codes refer to.

        Returns
        -------
        Sequences
        """
        alphabet = as_alphabet(alphabet)
        codes = np.ascontiguousarray(codes, dtype=np.uint8)
        if codes.ndim != 2 or codes.size == 0 or codes.max() >= len(alphabet.letters):
            raise ValueError(
                "codes must be an array of shape (n, length) with codes from 0 to "
                f"{len(alphabet.letters) - 1}, the letters of {alphabet.name}, got shape "
                f"{codes.shape}"
            )
        return cls(alphabet, **_core.pack_codes(codes, alphabet.planes))

    @classmethod
    def join(cls, parts: Iterable[Sequences], n: int) -> Sequences:
        """Return the concatenation of parts with n sequences, each copied as soon as it is read.

        Parameters
        ----------
        parts : iterable of Sequences
            Sequences of one length and alphabet, without unknown letters.
        n : int
            Number of sequences in all parts.

        Returns
        -------
        Sequences
        """
        data = np.empty(0)
        filled = 0
        for part in parts:
            if filled == 0:
                first, data = part, np.empty(part.data.size // part.n * n, part.data.dtype)
            data[filled : filled + part.data.size] = part.data
            filled += part.data.size
        return cls(first.alphabet, n=n, length=first.length, data=data)

    @classmethod
    def concatenated(cls, parts: list[Sequences]) -> Sequences:
        """Return the concatenation of parts.

        Parameters
        ----------
        parts : list of Sequences
            Parts with the same alphabet; lengths may differ.

        Returns
        -------
        Sequences
        """
        if len({part.alphabet for part in parts}) != 1:
            found = sorted({part.alphabet.name for part in parts})
            raise ValueError(f"parts must have one alphabet, got different alphabets: {found}")
        lengths = np.concatenate([part.lengths for part in parts])
        unknown, names = None, [part.names for part in parts if part.names is not None]
        if any(part.unknown is not None for part in parts):
            empty = [np.zeros(part.data.size // 2, np.uint64) for part in parts]
            masks = [part.unknown for part in parts]
            unknown = np.concatenate(
                [none if mask is None else mask for mask, none in zip(masks, empty, strict=True)]
            )
        same = bool((lengths == lengths[0]).all())
        return cls(
            parts[0].alphabet,
            n=len(lengths),
            length=int(lengths[0]) if same else None,
            data=np.concatenate([part.data for part in parts]),
            unknown=unknown,
            lengths=None if same else lengths,
            names=Names.concatenated(names) if len(names) == len(parts) else None,
        )

    @property
    def shape(self) -> tuple[int, int]:
        """The shape (n, 1) of a table with one column."""
        return (self.n, 1)

    @property
    def has_unknown(self) -> bool:
        """Whether there are letters outside the alphabet."""
        if self.data.dtype == np.uint8:
            return bool((self.data == UNKNOWN).any())
        return self.unknown is not None

    @property
    def nbytes(self) -> int:
        """Memory of the packed letters, in bytes."""
        return self.data.nbytes + (0 if self.unknown is None else self.unknown.nbytes)

    @cached_property
    def starts(self) -> np.ndarray | None:
        """Offsets of the sequences in `data`, (n + 1,); None if all have the same length."""
        if self.length is not None:
            return None
        sizes = 2 * ((self.lengths + 63) // 64) if self.alphabet.planes else self.lengths
        return np.concatenate([[0], np.cumsum(sizes)])

    @cached_property
    def packed(self) -> _core.PackedSequences:
        """The sequences as an object of the compiled core."""
        lengths = None if self.length is not None else self.lengths
        letters = len(self.alphabet.letters)
        return _core.PackedSequences(
            self.n, self.length, self.data, letters, self.unknown, lengths, self.starts
        )

    def __len__(self) -> int:
        return self.n

    def __sizeof__(self) -> int:
        return self.nbytes  # Dask places data by their size

    def __repr__(self) -> str:
        length = f"length {self.length}" if self.length is not None else "varying lengths"
        return f"<Sequences: {self.n} of {self.alphabet.name}, {length}>"

    def __iter__(self) -> Iterator[str]:
        return (self[i] for i in range(self.n))

    def __getitem__(self, index: Any) -> Any:
        if isinstance(index, tuple) and len(index) == 2 and index[1] in (Ellipsis, slice(None)):
            index = index[0]  # the column of an array of one column
        if isinstance(index, int | np.integer):
            return self.alphabet.text(self.packed.codes(range(self.n)[index]))
        return self.take(np.arange(self.n)[index])

    def __getstate__(self) -> dict[str, object]:
        state = {k: v for k, v in self.__dict__.items() if k not in ("packed", "starts")}
        return state | ({} if self.length is None else {"lengths": None})

    def __setstate__(self, state: dict[str, object]) -> None:
        self.__dict__.update(state)
        if self.lengths is None:
            self.lengths = _same(self.length, self.n)

    def take(self, index: np.ndarray) -> Sequences:
        """Return the sequences at k positions.

        Parameters
        ----------
        index : int ndarray of shape (k,)
            Positions of sequences, which may repeat.

        Returns
        -------
        Sequences
        """
        names = None if self.names is None else self.names.take(index)
        common: dict[str, Any] = {"n": len(index), "length": self.length, "names": names}
        starts = self.starts
        if starts is None:
            data = self.data.reshape(self.n, -1)[index].ravel()
            unknown = self.unknown
            if unknown is not None:
                unknown = unknown.reshape(self.n, -1)[index].ravel()
            return Sequences(self.alphabet, data=data, unknown=unknown, **common)
        data = joined(self.data, starts[:-1][index], starts[1:][index])
        unknown = self.unknown
        if unknown is not None:
            unknown = joined(unknown, starts[:-1][index] // 2, starts[1:][index] // 2)
        return Sequences(
            self.alphabet, data=data, unknown=unknown, lengths=self.lengths[index], **common
        )

    def window(self, start: int, stop: int) -> Sequences:
        """Return letters [start, stop) of every sequence.

        Parameters
        ----------
        start, stop : int
            Positions of letters, from 0 on; `stop` is excluded.

        Returns
        -------
        Sequences

        Raises
        ------
        ValueError
            If a sequence is shorter than `stop`.
        """
        shortest = int(self.lengths.min())
        if not 0 <= start < stop <= shortest:
            raise ValueError(
                f"window: need 0 <= start < stop <= {shortest} (the shortest sequence), got "
                f"start={start}, stop={stop}"
            )
        return self._rewritten(start, stop, False, _SAME_CODES)

    def windows(self, index: int, starts: np.ndarray, length: int) -> Sequences:
        """Return windows of one sequence, `length` letters from each start.

        Parameters
        ----------
        index : int
            Position of the sequence.
        starts : array of shape (k,)
            0-based positions of the first letters.
        length : int
            Number of letters of each window.

        Returns
        -------
        Sequences
            Sequences of `length` letters, one for each start.

        Raises
        ------
        ValueError
            If a window exceeds the sequence.
        """
        starts = np.ascontiguousarray(starts, dtype=np.int64)
        return Sequences(self.alphabet, **self.packed.windows(index, starts, length))

    def reverse_complement(self) -> Sequences:
        """Return the reverse complement of each sequence.

        Returns
        -------
        Sequences
        """
        return self._rewritten(0, int(self.lengths.max()), True, self.alphabet.strand_codes)

    def _rewritten(self, start: int, stop: int, backwards: bool, mapping: bytes) -> Sequences:
        parts = self.packed.rewrite(start, stop, backwards, mapping)
        return Sequences(self.alphabet, names=self.names, **parts)
