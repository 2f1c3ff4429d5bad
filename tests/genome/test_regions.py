"""BED files, and the letters behind them."""

import gzip

import numpy as np
import pytest

from kernelweave.genome import Region, Regions, cut_out, read_bed
from kernelweave.sequences import as_sequences, read_sequences

PARTNER = str.maketrans("ACGTN", "TGCAN")


@pytest.fixture
def genome(tmp_path, rng):
    """Two chromosomes as text, and as the library reads them."""
    letters = {
        name: "".join(rng.choice(list("ACGTN"), size)) for name, size in [("c1", 300), ("c2", 90)]
    }
    path = tmp_path / "genome.fa"
    path.write_text("".join(f">{name} made up\n{text}\n" for name, text in letters.items()))
    return letters, read_sequences(path)


def test_letters_of_regions_on_both_strands(genome, tmp_path):
    letters, sequences = genome
    rows = [("c1", 0, 10, "+"), ("c2", 60, 90, "-"), ("c1", 37, 200, "."), ("c1", 299, 300, "-")]
    text = "track name=x\n# remark\n" + "".join(
        f"{c}\t{a}\t{b}\tr\t0\t{s}\n" for c, a, b, s in rows
    )
    path = tmp_path / "regions.bed.gz"
    path.write_bytes(gzip.compress(text.encode()))
    regions = read_bed(path)
    plain = [letters[c][a:b] for c, a, b, _ in rows]
    wanted = [
        text[::-1].translate(PARTNER) if s == "-" else text
        for text, (*_, s) in zip(plain, rows, strict=True)
    ]
    assert list(cut_out(regions, sequences)) == wanted
    assert regions.chromosomes.tolist() == ["c1", "c2", "c1", "c1"]


def test_regions_without_names_are_called_by_their_place(tmp_path):
    (tmp_path / "a.bed").write_text("c1\t5\t9\nc1\t5\t9\tsite\n")
    assert read_bed(tmp_path / "a.bed").names == ["c1:5-9(.)", "site"]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("c1\t1\n", "line 1: a region needs"),
        ("c1\t1\t5\nc1\tx\t5\n", "line 2: start and end must be integers"),
        ("c1\t5\t5\n", "need 0 <= start < end"),
        ("c1\t-1\t5\n", "need 0 <= start < end"),
        ("c1\t1\t5\t.\t0\tx\n", "the strand must be"),
        ("c1\t1\t5\t.\t0\t+-\n", "the strand must be"),
        ("c1\t1\t5\t.\t0\t\n", "the strand must be"),
        ("# nothing\n", "contains no regions"),
    ],
)
def test_lines_that_are_no_regions_are_named(text, message, tmp_path):
    path = tmp_path / "bad.bed"
    path.write_text(text)
    with pytest.raises(ValueError, match=message) as caught:
        read_bed(path)
    assert str(path) in str(caught.value)


@pytest.mark.parametrize(
    ("row", "message"), [("c3\t0\t5", "no chromosome c3"), ("c2\t80\t91", "chromosome of 90 bases")]
)
def test_regions_outside_the_genome_are_named(row, message, genome, tmp_path):
    (tmp_path / "a.bed").write_text(row)
    with pytest.raises(ValueError, match=message):
        cut_out(read_bed(tmp_path / "a.bed"), genome[1])


def test_a_genome_without_names_has_no_chromosomes(tmp_path):
    (tmp_path / "a.bed").write_text("c1\t0\t2")
    with pytest.raises(ValueError, match="no chromosome c1"):
        cut_out(read_bed(tmp_path / "a.bed"), as_sequences(["ACGT"]))


def test_many_lengths_at_every_offset(genome, tmp_path):
    letters, sequences = genome
    places = [(start, start + size) for start in range(0, 130, 7) for size in (1, 63, 64, 65, 128)]
    (tmp_path / "a.bed").write_text("".join(f"c1\t{a}\t{b}\n" for a, b in places))
    found = cut_out(read_bed(tmp_path / "a.bed"), sequences)
    assert list(found) == [letters["c1"][a:b] for a, b in places]
    assert np.array_equal(found.lengths, [b - a for a, b in places])


def test_regions_that_exceed_the_memory_are_refused(monkeypatch, tmp_path):
    """A short file may request many letters: each line may name a whole chromosome."""
    (tmp_path / "genome.fa").write_text(">chr1\n" + "ACGT" * 1000)
    genome = read_sequences(tmp_path / "genome.fa")
    lines = Regions([Region("chr1", 0, 4000, "", "+")] * 50, "many.bed")
    monkeypatch.setattr("kernelweave.genome.regions.MANY_LETTERS", 100_000)
    monkeypatch.setattr("kernelweave.genome.regions.free_memory", lambda: 1e6)
    assert cut_out(lines, genome).n == 50
    monkeypatch.setattr("kernelweave.genome.regions.free_memory", lambda: 1e5)
    with pytest.raises(ValueError, match=r"many.bed have 200,000 letters and need .* are free"):
        cut_out(lines, genome)
