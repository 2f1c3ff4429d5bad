"""Alphabets: the letters of sequences, and the treatment of other characters."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..common.cached_property import cached_property
from ..model.files.registry import registered

# Codes that the compiled core reserves: for unknown letters, for characters that are skipped, and
# for characters that are an error.
UNKNOWN, SKIP, ILLEGAL = 255, 254, 253
MOST_LETTERS = 253  # of an alphabet: one byte per letter, without the reserved codes

_IN_FILES = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz*-.?"


@registered("Alphabet")
@dataclass(frozen=True)
class Alphabet:
    """The letters of sequences; the code of a letter is its position, from 0 on.

    Parameters
    ----------
    name : str
        Name in messages.
    letters : bytes
        At most 253 different letters.
    complement : bytes
        Letters that pair with `letters` on the other strand, in the same order; empty if there are
        none.
    fold_case : bool
        Whether upper and lower case are equal.
    symbols_only : bool
        Whether bytes that sequence files do not allow, such as digits, are an error; otherwise
        they are unknown letters.

    Examples
    --------
    >>> from kernelweave.kernels import Spectrum
    >>> from kernelweave.sequences import Alphabet
    >>> polarity = Alphabet("polarity", b"HP")
    >>> print(Spectrum(2, alphabet=polarity)(["HHPPH", "HPHPH"]))
    [[4. 4.]
     [4. 8.]]
    """

    name: str
    letters: bytes
    complement: bytes = b""
    fold_case: bool = True
    symbols_only: bool = True

    def __post_init__(self) -> None:
        if not 1 < len(self.letters) <= MOST_LETTERS or len(set(self.letters)) < len(self.letters):
            raise ValueError(
                f"alphabet: {self.name} must have 2 to {MOST_LETTERS} different letters, "
                f"got {self.letters.decode('latin-1')!r}"
            )

    @property
    def planes(self) -> bool:
        """Whether letters take two bits, one in each of two bit planes, instead of a byte."""
        return len(self.letters) <= 4

    @cached_property
    def codes(self) -> bytes:
        """The code of each of the 256 byte values, as a translation table."""
        table = np.full(256, ILLEGAL if self.symbols_only else UNKNOWN, dtype=np.uint8)
        if self.symbols_only:
            table[list(_IN_FILES)] = UNKNOWN
        for code, letter in enumerate(self.letters):
            alike = {letter, *bytes([letter]).lower(), *bytes([letter]).upper()}
            table[list(alike) if self.fold_case else letter] = code
        return table.tobytes()

    @cached_property
    def file_codes(self) -> bytes:
        """The same table as `codes` for sequence files, in which white space is skipped."""
        table = np.frombuffer(self.codes, dtype=np.uint8).copy()
        table[[byte for byte in b" \t\r" if byte not in self.letters]] = SKIP
        return table.tobytes()

    @cached_property
    def strand_codes(self) -> bytes:
        """The code of the complementary letter for each code, as a translation table."""
        if not self.complement:
            raise ValueError(
                f"alphabet: {self.name} has no complement; DNA and RNA have (kernels on other "
                "letters take both_strands=False)"
            )
        table = np.arange(256, dtype=np.uint8)
        table[: len(self.letters)] = [self.letters.index(letter) for letter in self.complement]
        return table.tobytes()

    def text(self, codes: bytes) -> str:
        """Return the letters of codes as a string; unknown ones are "?", or "N" for DNA and RNA.

        Parameters
        ----------
        codes : bytes
            Positions in the alphabet.

        Returns
        -------
        str
        """
        unknown = b"N" if self.complement else b"?"
        table = self.letters.ljust(256, unknown)
        return codes.translate(table).decode("latin-1")


DNA = Alphabet("DNA", b"ACGT", complement=b"TGCA")
RNA = Alphabet("RNA", b"ACGU", complement=b"UGCA")
PROTEIN = Alphabet("protein", b"ACDEFGHIKLMNPQRSTVWY")
# All bytes but three that are not valid in UTF-8, since the core reserves three codes. Eight
# letters of 253 kinds fit into 64 bits.
BYTES = Alphabet(
    "bytes", bytes(sorted({*range(256)} - {0xC0, 0xC1, 0xFF})), fold_case=False, symbols_only=False
)

_NAMED = {alphabet.name.lower(): alphabet for alphabet in (DNA, RNA, PROTEIN, BYTES)}


def as_alphabet(value: object) -> Alphabet:
    """Return an alphabet from its name, its letters, or itself.

    Parameters
    ----------
    value : Alphabet, "dna", "rna", "protein", "bytes" (in any case), or str
        A string of letters, such as "HP", is a case-sensitive alphabet.
    """
    if isinstance(value, Alphabet):
        return value
    if isinstance(value, str) and value.lower() in _NAMED:
        return _NAMED[value.lower()]
    if isinstance(value, str) and len(value) > 1 and value.isascii():
        return Alphabet(repr(value), value.encode(), fold_case=False, symbols_only=False)
    raise ValueError(
        f"alphabet must be one of {sorted(_NAMED)}, a string of at least two letters, or an "
        f"Alphabet, got {value!r}"
    )
