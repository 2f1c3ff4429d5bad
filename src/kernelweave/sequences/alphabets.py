"""Alphabets: which letters a sequence is made of, and what becomes of the others."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ..common.cached_property import cached_property
from ..model.files.registry import stored

UNKNOWN, SKIP, ILLEGAL = 255, 254, 253  # codes that the core keeps for itself
MOST_LETTERS = 253

_IN_FILES = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz*-.?"


@stored("Alphabet")
@dataclass(frozen=True)
class Alphabet:
    """Letters, coded 0, 1, ... in their order.

    Parameters
    ----------
    name : what messages call it.
    letters : the letters, at most 253 different bytes.
    complement : for each letter its partner on the other strand; empty where there is none.
    fold_case : whether small and capital letters are the same.
    symbols_only : whether a byte that no sequence file may hold is always an error, rather than
        an unknown letter.

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
                f"alphabet: {self.name} must have 2 to {MOST_LETTERS} different letters"
            )

    @property
    def planes(self) -> bool:
        """Whether sequences are stored as two bit planes, not as bytes."""
        return len(self.letters) <= 4

    @cached_property
    def codes(self) -> bytes:
        """The code of each of the 256 bytes."""
        table = np.full(256, ILLEGAL if self.symbols_only else UNKNOWN, dtype=np.uint8)
        if self.symbols_only:
            table[list(_IN_FILES)] = UNKNOWN
        for code, letter in enumerate(self.letters):
            alike = {letter, *bytes([letter]).lower(), *bytes([letter]).upper()}
            table[list(alike) if self.fold_case else letter] = code
        return table.tobytes()

    @cached_property
    def file_codes(self) -> bytes:
        """The same for sequence files, where blanks within a line carry nothing."""
        table = np.frombuffer(self.codes, dtype=np.uint8).copy()
        table[[byte for byte in b" \t\r" if byte not in self.letters]] = SKIP
        return table.tobytes()

    @cached_property
    def strand_codes(self) -> bytes:
        """The code of the complement of each code."""
        if not self.complement:
            raise ValueError(
                f"alphabet: {self.name} has no complement; DNA and RNA have (kernels on other "
                "letters take both_strands=False)"
            )
        table = np.arange(256, dtype=np.uint8)
        table[: len(self.letters)] = [self.letters.index(letter) for letter in self.complement]
        return table.tobytes()

    def text(self, codes: bytes) -> str:
        """Return coded letters as text, with "?" (for DNA and RNA "N") for unknown ones."""
        unknown = b"N" if self.complement else b"?"
        table = self.letters.ljust(256, unknown)
        return codes.translate(table).decode("latin-1")


DNA = Alphabet("DNA", b"ACGT", complement=b"TGCA")
RNA = Alphabet("RNA", b"ACGU", complement=b"UGCA")
PROTEIN = Alphabet("protein", b"ACDEFGHIKLMNPQRSTVWY")
# All but three bytes that no UTF-8 text holds: three codes are the core's own. Eight letters of 253
# kinds fit into 64 bits.
BYTES = Alphabet(
    "bytes", bytes(sorted({*range(256)} - {0xC0, 0xC1, 0xFF})), fold_case=False, symbols_only=False
)

_NAMED = {alphabet.name.lower(): alphabet for alphabet in (DNA, RNA, PROTEIN, BYTES)}


def as_alphabet(value: Any) -> Alphabet:
    """Return an alphabet from its name, its letters, or itself.

    Parameters
    ----------
    value : Alphabet, "dna", "rna", "protein", "bytes" (in any case), or a string of letters such
        as "HP", in which case small and capital letters differ.
    """
    if isinstance(value, Alphabet):
        return value
    if isinstance(value, str) and value.lower() in _NAMED:
        return _NAMED[value.lower()]
    if isinstance(value, str) and len(value) > 1 and value.isascii():
        return Alphabet(repr(value), value.encode(), fold_case=False, symbols_only=False)
    raise ValueError(
        f"alphabet must be one of {sorted(_NAMED)}, a string of at least two letters, or an "
        f"Alphabet, not {value!r}"
    )
