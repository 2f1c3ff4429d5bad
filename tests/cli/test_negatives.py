"""`kernelweave negatives`."""

import json

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
    told = json.loads(run("negatives", *files, "-o", "other.bed", "--json").stdout)
    assert told["matched"] + told["unmatched"] == 10
    assert max(told["farthest"]) <= 0.02


def test_shuffled_regions_are_sequences(run, files):
    run("negatives", *files, "-o", "other.fa", "--shuffle", "dinucleotide")
    assert read_sequences("other.fa").length == 50


def test_bad_files_are_named(run, files, tmp_path):
    (tmp_path / "peaks.bed").write_text("c7\t0\t50\n")
    text = run("negatives", *files, "-o", "other.bed", code=2).output
    assert "no such chromosome" in text
    assert not (tmp_path / "other.bed").exists()
