"""`kernelweave negatives`."""

import json
from pathlib import Path

import numpy as np
import pytest

from kernelweave.genome import read_bed
from kernelweave.sequences import read_sequences


@pytest.fixture
def files(tmp_path):
    letters = "".join(np.random.default_rng(0).choice(list("ACGTacgt"), 20_000))
    (tmp_path / "genome.fa").write_text(f">c1\n{letters}\n")
    rows = [f"c1\t{start}\t{start + 50}\tpeak\t0\t-\n" for start in range(0, 5000, 500)]
    (tmp_path / "peaks.bed").write_text("".join(rows))
    return "peaks.bed", "--genome", "genome.fa"


def test_negatives_are_a_bed_file(run, files):
    result = run("negatives", *files, "-o", "other.bed", "--gc", 0.1, "--repeats", 0.1)
    found = read_bed("other.bed")
    assert [region.stop - region.start for region in found] == [50] * 10
    assert "10 of 10 regions matched" in result.stderr
    assert result.stdout == ""


def test_the_match_as_json(run, files):
    printed = json.loads(run("negatives", *files, "-o", "other.bed", "--json").stdout)
    assert printed["matched"] + printed["unmatched"] == 10
    assert max(printed["farthest"]) <= 0.02


def test_shuffled_regions_are_sequences(run, files):
    run("negatives", *files, "-o", "other.fa", "--shuffle", "dinucleotide")
    assert read_sequences("other.fa").length == 50


def test_bad_files_are_named(run, files, tmp_path):
    (tmp_path / "peaks.bed").write_text("c7\t0\t50\n")
    text = run("negatives", *files, "-o", "other.bed", code=2).output
    assert "the genome has no chromosome c7; the file has c7, the genome has c1" in text
    assert not (tmp_path / "other.bed").exists()


def test_unmatched_regions_are_counted_and_named(run, files):
    text = Path("genome.fa").read_text()
    Path("genome.fa").write_text(text[:4] + "G" * 50 + text[54:])  # the first peak, like no other
    result = run("negatives", *files, "-o", "n.bed", "--gc", 0.1, "--repeats", 0.1)
    assert len(read_bed("n.bed")) == 9
    assert "9 of 10 regions matched" in result.stderr
    assert "1 regions have no negative, the first is peak" in result.stderr
    printed = json.loads(run("negatives", *files, "-o", "n.bed", "--gc", 0.1, "--json").stdout)
    assert printed["without_match"][0] == "peak"
    assert printed["gc_of_all"] > printed["gc"][0]
    assert run("negatives", *files, "-o", "n.bed", "--gc", 0.1, "-q").stderr == ""


def test_output_is_sorted_and_named_after_the_regions(run, files):
    run("negatives", *files, "-o", "n.bed", "--gc", 0.2, "--repeats", 0.2, "-q")
    found = read_bed("n.bed").items
    assert [one.start for one in found] == sorted(one.start for one in found)
    assert {one.name for one in found} == {"peak_negative"}


def test_negatives_avoid_the_whole_regions_of_windows(run, files):
    """`--width` cuts windows out of the regions, all of which stay excluded."""
    for start, stop in ((0, 5000), (9000, 19_000)):
        with open("peaks.bed", "a") as file:
            file.write(f"c1\t{start}\t{stop}\tlong\t0\t+\n")
    loose = ("--gc", 1, "--repeats", 1, "--width", 60)
    run("negatives", *files, *loose, "-o", "n.bed", "-q")
    taken = [(one.start, one.stop) for one in read_bed("peaks.bed")]
    found = read_bed("n.bed").items
    assert len(found) == 11  # the window of the first peak leaves the chromosome
    assert all(one.stop <= low or one.start >= high for one in found for low, high in taken)
