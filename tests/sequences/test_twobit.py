"""2bit files: sequences are read as written, and damaged files are errors."""

import contextlib
import io
import itertools

import numpy as np
import pytest

from kernelweave.genome import read_letters
from kernelweave.sequences import read_sequences, twobit

CODES = {"T": 0, "C": 1, "A": 2, "G": 3, "N": 0}


def ranges(letters, chosen, order):
    """Where letters are chosen: number, starts and sizes."""
    found = [(key, len(list(run))) for key, run in itertools.groupby(letters, chosen)]
    starts = np.cumsum([0, *(size for _, size in found)])[:-1]
    kept = [(start, size) for start, (key, size) in zip(starts, found, strict=True) if key]
    numbers = [len(kept), *(start for start, _ in kept), *(size for _, size in kept)]
    return np.array(numbers, f"{order}u4").tobytes()


def written(genome, order="<", version=0):
    """Return the bytes of a 2bit file, put together letter by letter."""
    parts = []
    for letters in genome.values():
        codes = [CODES[letter] for letter in letters.upper()] + [0] * (-len(letters) % 4)
        packed = bytes(
            a << 6 | b << 4 | c << 2 | d for a, b, c, d in zip(*[iter(codes)] * 4, strict=True)
        )
        size = np.array([len(letters)], f"{order}u4").tobytes()
        unknown = ranges(letters, lambda letter: letter in "Nn", order)
        parts.append(size + unknown + ranges(letters, str.islower, order) + bytes(4) + packed)
    word = 4 * (1 + version)
    header = np.array([0x1A412743, version, len(genome), 0], f"{order}u4").tobytes()
    at, index = len(header) + sum(1 + len(name) + word for name in genome), b""
    for name, part in zip(genome, parts, strict=True):
        place = np.array([at], f"{order}u{word}").tobytes()
        index, at = index + bytes([len(name)]) + name.encode() + place, at + len(part)
    return header + index + b"".join(parts)


@pytest.fixture
def genome(rng):
    sizes = {"chr1": 1, "chr2": 5, "chrM": 4 * 25 + 3, "scaffold 7": 1000}
    return {name: "".join(rng.choice(list("ACGTacgtNn"), size)) for name, size in sizes.items()}


@pytest.mark.parametrize("order", "<>")
@pytest.mark.parametrize("version", [0, 1])
@pytest.mark.parametrize("piece", [1 << 20, 8])
def test_all_letters_are_read(order, version, piece, genome, tmp_path, monkeypatch):
    monkeypatch.setattr(twobit, "PIECE", piece)
    path = tmp_path / "genome.2bit"
    path.write_bytes(written(genome, order, version))
    found = read_sequences(path)
    assert list(found.names) == list(genome)
    assert list(found) == [letters.upper() for letters in genome.values()]
    as_written = {name: bytes(letters).decode() for name, letters in read_letters(path).items()}
    assert as_written == {name.split()[0]: letters for name, letters in genome.items()}


def test_streams_are_read_too(genome):
    text = twobit.open_twobit(io.BytesIO(written(genome))).read().decode()
    assert text == "".join(f">{name}\n{letters}\n" for name, letters in genome.items())


def test_files_that_are_cut_or_damaged_are_answered(genome, tmp_path, rng):
    data = written(genome)
    path = tmp_path / "genome.2bit"
    for size in rng.integers(4, len(data), 50):
        path.write_bytes(data[:size])
        with pytest.raises(ValueError, match=r"genome\.2bit: the 2bit file is truncated"):
            read_sequences(path)
        with pytest.raises(ValueError, match=r"genome\.2bit: the 2bit file is truncated"):
            read_letters(path)
    for _ in range(200):  # numbers that say something else: another genome, or an answer
        damaged = bytearray(data)
        damaged[rng.integers(4, 250)] = rng.integers(256)
        path.write_bytes(damaged)
        with contextlib.suppress(ValueError):
            read_sequences(path)
    path.write_bytes(data[:4] + b"\7" + data[5:])
    with pytest.raises(ValueError, match="version 0 or 1, got 7"):
        read_sequences(path)


def with_entries(count, size=4000):
    """Return a file whose index has many entries for one record."""
    letters = np.array([size, 0, 0, 0], "<u4").tobytes() + bytes(size // 4)
    header = np.array([0x1A412743, 0, count, 0], "<u4").tobytes()
    place = np.array([16 + 6 * count], "<u4").tobytes()
    return header + (b"\x01a" + place) * count + letters


def test_overlapping_records_are_refused(tmp_path):
    path = tmp_path / "genome.2bit"
    path.write_bytes(with_entries(1))
    assert len(read_sequences(path)[0]) == 4000
    path.write_bytes(with_entries(2))
    with pytest.raises(ValueError, match="record 'a' overlaps record 'a'"):
        read_sequences(path)
    path.write_bytes(with_entries(1)[:18] + np.array([4], "<u4").tobytes() + with_entries(1)[22:])
    with pytest.raises(ValueError, match=r"overlaps the index|truncated|ends after"):
        read_sequences(path)


def test_unsorted_ranges_are_refused(tmp_path):
    path = tmp_path / "genome.2bit"
    head = np.array([0x1A412743, 0, 1, 0], "<u4").tobytes() + b"\x01a"
    for ranges, message in (([2, 8, 0, 4, 4], "sorted"), ([2, 0, 2, 4, 4], "disjoint")):
        numbers = np.array([22, 16, *ranges, 0, 0], "<u4").tobytes()
        path.write_bytes(head + numbers + bytes(4))
        with pytest.raises(ValueError, match=message):
            read_sequences(path)
