"""Sequences: packing, files of all kinds, and bad input that must be named."""

import bz2
import gzip
import io
import lzma
import pickle
from contextlib import suppress

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

from kernelweave import kernels
from kernelweave.sequences import (
    Sequences,
    as_sequences,
    files,
    read_blocks,
    read_sequences,
    write_sequences,
)
from kernelweave.sequences.alphabets import BYTES, DNA, PROTEIN, RNA, Alphabet, as_alphabet

LENGTHS = [1, 63, 64, 65, 128, 141]


def random_texts(rng, letters, lengths):
    return ["".join(rng.choice(list(letters), size=length)) for length in lengths]


@pytest.fixture
def written(tmp_path):
    """Return a function that writes bytes to a file and gives its path."""

    def write(content, opened=open):
        path = tmp_path / "sequences.fa"
        with opened(path, "wb") as file:
            file.write(content)
        return path

    return write


@pytest.mark.parametrize("alphabet", [DNA, RNA, PROTEIN], ids=lambda a: a.name)
@pytest.mark.parametrize("same_length", [True, False])
def test_packed_sequences_unpack_to_their_texts(alphabet, same_length, rng):
    lengths = [141] * 20 if same_length else rng.integers(1, 200, 20)
    texts = random_texts(rng, alphabet.letters.decode(), lengths)
    sequences = as_sequences(texts, alphabet)
    assert list(sequences) == texts
    assert list(sequences.lengths) == [len(text) for text in texts]
    assert sequences.length == (141 if same_length else None)


@pytest.mark.parametrize("length", LENGTHS)
def test_dna_takes_two_bits_a_letter_up_to_whole_words(length):
    sequences = as_sequences(["ACGT" * length][:1] * 3, DNA)
    assert sequences.nbytes == 3 * 2 * 8 * -(-4 * length // 64)


def test_a_mask_is_stored_only_where_letters_are_unknown():
    assert as_sequences(["ACGT", "GGGG"]).unknown is None
    masked = as_sequences(["ACGT", "GNNG"])
    assert list(masked) == ["ACGT", "GNNG"]
    assert masked.unknown is not None


def test_case_is_folded_but_not_for_letters_of_ones_own():
    assert list(as_sequences(["acGT"])) == ["ACGT"]
    assert list(as_sequences(["HPh"], "HP")) == ["HP?"]


def test_bytes_hold_any_text():
    text = "Fünf €uro, bitte."
    sequences = as_sequences([text, "x y"], BYTES)
    assert sequences[0].encode("latin-1").decode() == text


@pytest.mark.parametrize("index", [slice(2, 5), [4, 0], np.array([1, 1]), np.arange(6) % 2 == 0])
@pytest.mark.parametrize("lengths", [[70] * 6, [3, 70, 1, 64, 65, 128]])
def test_choosing_sequences(index, lengths, rng):
    texts = random_texts(rng, "ACGTN", lengths)
    chosen = as_sequences(texts)[index]
    assert list(chosen) == list(np.array(texts, dtype=object)[index])


def test_scikit_learn_splits_sequences(rng):
    from sklearn.model_selection import train_test_split

    texts = random_texts(rng, "ACGT", [30] * 10)
    first, second = train_test_split(as_sequences(texts), test_size=0.3, random_state=0)
    assert isinstance(first, Sequences)
    assert sorted([*first, *second]) == sorted(texts)


def test_windows_and_strands(rng):
    texts = random_texts(rng, "ACGTN", [141, 90, 200])
    sequences = as_sequences(texts)
    assert list(sequences.window(60, 80)) == [text[60:80] for text in texts]
    other = str.maketrans("ACGTN", "TGCAN")
    strand = sequences.reverse_complement()
    assert list(strand) == [text.translate(other)[::-1] for text in texts]
    assert list(strand.reverse_complement()) == texts
    with pytest.raises(ValueError, match="stop <= 90"):
        sequences.window(60, 91)
    with pytest.raises(ValueError, match="protein has no complement"):
        as_sequences(["MK"], "protein").reverse_complement()


@pytest.mark.parametrize("letters", ["ACGT", "ACGTN", "ACDEFGHIKLMNPQRSTVWY"])
@pytest.mark.parametrize("length", LENGTHS)
def test_windows_from_given_positions(letters, length, rng):
    alphabet = "protein" if "P" in letters else "dna"
    texts = random_texts(rng, letters, [700, 901])
    starts = np.array([0, 1, 63, 64, 65, 901 - length])
    windows = as_sequences(texts, alphabet).windows(1, starts, length)
    assert list(windows) == [texts[1][start : start + length] for start in starts]
    assert windows.length == length


@pytest.mark.parametrize(("start", "length"), [(-1, 5), (96, 5), (0, 101), (0, 0)])
def test_windows_beyond_a_sequence_are_refused(start, length):
    with pytest.raises(ValueError, match="does not lie within"):
        as_sequences(["ACGT" * 25]).windows(0, np.array([start]), length)


@pytest.mark.parametrize("letters", ["ACGT", "ACGTN", "ACDEFGHIKLMNPQRSTVWY"])
@pytest.mark.parametrize("lengths", [[70, 70], [70, 65], [3, 200]])
def test_parts_are_put_together(letters, lengths, rng):
    alphabet = "protein" if "P" in letters else "dna"
    texts = [random_texts(rng, letters[: 4 + k], [length] * 5) for k, length in enumerate(lengths)]
    parts = [as_sequences(part, alphabet) for part in texts]
    whole = Sequences.concatenated(parts)
    assert list(whole) == texts[0] + texts[1]
    assert list(whole.take(np.array([9, 0]))) == [texts[1][4], texts[0][0]]
    assert whole.length == (lengths[0] if lengths[0] == lengths[1] else None)


def test_names_are_put_together(tmp_path):
    paths = []
    for name in ("one", "two"):
        paths.append(tmp_path / f"{name}.fa")
        paths[-1].write_text(f">{name} a\nACGT\n>{name} b\nGG\n")
    whole = Sequences.concatenated([read_sequences(path) for path in paths])
    assert list(whole.names) == ["one a", "one b", "two a", "two b"]


def test_parts_of_different_alphabets_stay_apart():
    with pytest.raises(ValueError, match="different alphabets"):
        Sequences.concatenated([as_sequences(["ACGT"]), as_sequences(["ACGU"], "rna")])


def test_sequences_survive_pickling(rng):
    texts = random_texts(rng, "ACGTN", [5, 80])
    assert list(pickle.loads(pickle.dumps(as_sequences(texts)))) == texts


def test_columns_of_frames_and_arrays(rng):
    pandas, polars = pytest.importorskip("pandas"), pytest.importorskip("polars")
    texts = random_texts(rng, "ACGT", [9, 9, 9])
    for column in (
        pandas.Series(texts), polars.Series(texts), np.array(texts), np.array(texts, dtype="S"),
        tuple(texts), [text.encode() for text in texts],
    ):  # fmt: skip
        assert list(as_sequences(column)) == texts


@pytest.mark.parametrize(
    ("values", "error", "message"),
    [
        (["ACGT", ""], ValueError, "sequence 1 is empty"),
        (["ACGT", None], TypeError, "sequence 1 is None, not a string"),
        (["ACGT", float("nan")], TypeError, "sequence 1 is nan"),
        (["AC\x00T"], ValueError, "sequence 0, position 2: byte 0x00 is not a letter"),
        (["ACGT", "AC GT"], ValueError, "sequence 1, position 2: ' '"),
        (["ACGÜ"], ValueError, "sequence 0, position 3: byte 0xc3"),
        ("ACGT", TypeError, "one string"),
        (np.array([["AC"], ["GT"]]), ValueError, "one column"),
    ],
)
def test_bad_values_are_named(values, error, message):
    with pytest.raises(error, match=message):
        as_sequences(values)


def test_unknown_letters_may_be_refused():
    with pytest.raises(ValueError, match="sequence 1, position 2: 'N' is not a letter"):
        as_sequences(["ACGT", "ACNT"], unknown="error")
    for text, alphabet in [("ACNT", "dna"), ("ACDX", "protein")]:
        with pytest.raises(ValueError, match="letters outside the alphabet"):
            as_sequences(as_sequences([text], alphabet), alphabet, unknown="error")
    with pytest.raises(ValueError, match="unknown must be one of"):
        as_sequences(["ACGT"], unknown="ignore")


def test_alphabets_by_name_and_letters():
    assert as_alphabet("DNA") is DNA
    assert as_alphabet("HP").letters == b"HP"
    assert as_alphabet(Alphabet("two", b"01")).planes
    with pytest.raises(ValueError, match="alphabet must be one of"):
        as_alphabet("x")
    with pytest.raises(ValueError, match="different letters"):
        as_alphabet("AAB")
    with pytest.raises(ValueError, match="alphabet must be"):
        as_sequences(as_sequences(["ACGT"]), "protein")


FASTA = b">one first\nACGT\nAC\n\n>two\r\nac gt\r\nNN\n"
FASTQ = b"@one first\nACGTAC\n+\nIIII@+\n@two\r\nACGTNN\r\n+two\r\n>@+III\r\n"


@pytest.mark.parametrize("content", [FASTA, FASTQ], ids=["fasta", "fastq"])
@pytest.mark.parametrize("opened", [open, gzip.open, bz2.open, lzma.open])
def test_files_of_all_kinds(content, opened, written):
    sequences = read_sequences(written(content, opened))
    assert list(sequences) == ["ACGTAC", "ACGTNN"]
    assert list(sequences.names) == ["one first", "two"]
    assert list(sequences[[1]].names) == ["two"]


def test_written_sequences_are_read_back(tmp_path, rng):
    texts = random_texts(rng, "ACGTN", [5, 80])
    write_sequences(tmp_path / "two.fa", as_sequences(texts))
    found = read_sequences(tmp_path / "two.fa")
    assert (list(found), list(found.names)) == (texts, ["0", "1"])
    write_sequences(tmp_path / "one.fa", found[[1]])
    assert list(read_sequences(tmp_path / "one.fa").names) == ["1"]


@pytest.mark.parametrize("mark", [">", "@"])
@pytest.mark.parametrize("records", [1, 7, 100])
def test_blocks_of_a_file_are_the_file(mark, records, written, monkeypatch, rng):
    texts = random_texts(rng, "ACGTN", rng.integers(1, 90, 40))
    tail = [f"\n+\n{'I' * len(text)}" if mark == "@" else "" for text in texts]
    lines = [f"{mark}r{i}\n{text}{tail[i]}\n" for i, text in enumerate(texts)]
    path = written("".join(lines).encode())
    monkeypatch.setattr("kernelweave.sequences.files.PIECE", 50)
    blocks = list(read_blocks(path, records=records))
    assert [text for block in blocks for text in block] == texts
    assert [name for block in blocks for name in block.names] == [f"r{i}" for i in range(40)]
    assert all(len(block) >= records for block in blocks[:-1])


@pytest.mark.parametrize("pack", [bytes, gzip.compress, bz2.compress, lzma.compress])
def test_streams_are_read_as_files_are(pack):
    stream = io.BytesIO(pack(b">a\nACGT\n>b\nGG\n"))
    (block,) = read_blocks(stream)
    assert list(block) == ["ACGT", "GG"]


def test_names_can_be_dropped(written):
    assert read_sequences(written(FASTA), names=False).names is None


def test_pieces_of_any_size_give_the_same(written, monkeypatch, rng):
    texts = random_texts(rng, "ACGTN", rng.integers(1, 40, 30))
    content = "".join(f">r{i}\r\n{text[:7]}\n{text[7:]}\n" for i, text in enumerate(texts))
    path = written(content.encode())
    for size in (1, 2, 3, 17):
        monkeypatch.setattr("kernelweave.sequences.files.PIECE", size)
        sequences = read_sequences(path)
        assert list(sequences) == texts
        assert sequences.names[-1] == "r29"


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "line 1: holds no records"),
        (b"\n\n", "holds no records"),
        (b"ACGT\n", "line 1: starts with 'A'; a FASTA record begins with '>'"),
        (b">one\n>two\nACGT\n", r"line 2, record 1 \('one'\): the record before this line has no"),
        (b">one\nACGT\n>two\n", r"line 4, record 2 \('two'\): the record before this line has no"),
        (b">one\nAC\x07GT\n", r"line 2, record 1 \('one'\): byte 0x07 is not a letter"),
        (b">one\nACGT\nAC1T\n", r"line 3, record 1 \('one'\): '1' is not a letter"),
        (b"@one\nACGT\n+\nII\n@two\nACGT\n+\nIIII\n", "more quality values than letters"),
        (b"@one\nACGT\n+\nIIIIII\n", "line 4, record 1 .* more quality values"),
        (b"@one\nACGT\n", "cut: 4 letters, 0 quality values"),
        (b"@one\nACGT\n+\nIIII\n>two\nACGT\n", "'>' in a file whose records begin with '@'"),
    ],
)
def test_bad_files_are_named_with_line_and_record(content, message, written):
    with pytest.raises(ValueError, match=message):
        read_sequences(written(content))


@pytest.mark.parametrize("opened", [gzip.open, bz2.open, lzma.open])
def test_a_packed_file_cut_in_half(opened, written, rng):
    path = written(b">r\n" + bytes(rng.choice(list(b"ACGT"), 5000)), opened)
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])
    with pytest.raises(ValueError, match="truncated or damaged"):
        read_sequences(path)


@pytest.mark.parametrize("opened", [gzip.open, bz2.open, lzma.open])
def test_a_packed_file_with_a_changed_byte(opened, written, rng):
    content = b">r\n" + random_texts(rng, "ACGT", [2000])[0].encode() + b"\n"
    path = written(content, opened)
    whole, expected = path.read_bytes(), list(read_sequences(path))
    for place in range(2, len(whole), 7):
        changed = bytearray(whole)
        changed[place] ^= 0x55
        path.write_bytes(changed)
        with suppress(ValueError):
            assert list(read_sequences(path)) == expected  # a date, or the name of a file


@pytest.mark.parametrize("kind", [np.array, list])
def test_surrogates_are_no_letters(kind):
    with pytest.raises(ValueError, match="sequence 1 holds a surrogate"):
        as_sequences(kind(["ACGT", "AC\ud800GT"]))
    with pytest.raises(ValueError, match="sequence 0 holds a surrogate"):
        kernels.NGram(2)(["\udfff", "text"])


@pytest.mark.parametrize(
    "kernel", [kernels.BagOfWords(columns=0), kernels.Spectrum(2, columns=0), kernels.NGram(2)]
)
def test_sparse_matrices_hold_no_texts(kernel):
    with pytest.raises(ValueError, match="sparse matrix, which contains numbers only"):
        kernel(sp.csr_array(np.eye(3)[:, :1]))


def test_one_endless_line(written):
    sequences = read_sequences(written(b">long\n" + b"ACGT" * 25_000_000 + b"\n"))
    assert sequences.length == 100_000_000
    assert sequences.nbytes == 25_000_000


def test_unknown_letters_in_files_may_be_refused(written):
    with pytest.raises(ValueError, match=r"line 6, record 2 \('two'\): 'N'"):
        read_sequences(written(FASTA.replace(b"\n\n", b"\n")), unknown="error")


STARTS = [b"", b">a\n", b"@a\n", b">a\nAC\n>", b"@a\nA\n+\n"]


@settings(max_examples=300, deadline=None)
@given(st.binary(max_size=200), st.sampled_from(STARTS))
def test_random_bytes_are_read_or_refused(tmp_path_factory, noise, start):
    path = tmp_path_factory.mktemp("fuzz") / "noise"
    path.write_bytes(start + noise)
    with suppress(ValueError, OSError):  # refused, not crashed
        sequences = read_sequences(path)
        assert len(sequences) == len(list(sequences)) > 0
        assert all(set(text) <= set("ACGTN") and text for text in sequences)


def test_worm_acceptors_have_their_consensus(real_data):
    sequences = read_sequences(real_data("sequences/C_elegans_acc_modsel.fasta.bz2"))
    assert (sequences.n, sequences.length) == (100_000, 398)
    assert set(sequences[:2000].window(197, 199)) == {"AG"}
    assert sum("label=1" in name for name in sequences.names) == 3760


@pytest.mark.parametrize("pack", [bz2.compress, lzma.compress])
def test_expansion_of_compressed_files_is_bounded(pack, tmp_path, monkeypatch):
    monkeypatch.setattr(files, "MAX_FREE", 1 << 16)
    path = tmp_path / "s.fa.packed"
    path.write_bytes(pack(b">a\n" + b"A" * (1 << 23)))
    with pytest.raises(ValueError, match=r"packed: .* expands to more than"):
        read_sequences(path)
    path.write_bytes(pack(b">a\n" + b"ACGT" * 100))
    assert len(read_sequences(path)[0]) == 400
