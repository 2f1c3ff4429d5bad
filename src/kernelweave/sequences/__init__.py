"""Sequences, such as DNA, packed in memory; read from files, lists and columns of strings."""

from .alphabets import Alphabet
from .files import read_blocks, read_sequences, write_sequences
from .packed import Sequences
from .texts import as_sequences

__all__ = [
    "Alphabet",
    "Sequences",
    "as_sequences",
    "read_blocks",
    "read_sequences",
    "write_sequences",
]
