"""Scores of windows as files."""

import io

import numpy as np
import pytest

from kernelweave.genome import Scores
from kernelweave.genome.tracks import best, write_bed, write_bedgraph, write_bigwig


@pytest.fixture
def blocks(rng):
    """Scores of both strands of two chromosomes, in several blocks from left to right."""
    found = []
    for name, total in (("c1", 90), ("c2", 40)):
        for first in range(0, total, 30):
            for strand in "+-":
                size = min(30, total - first)
                starts = first + np.sort(rng.choice(size, size=min(10, size), replace=False))
                scores = np.round(rng.normal(size=len(starts)), 1)  # equal ones occur
                found.append(Scores(name, strand, starts, 10, scores))
    return found


def rows(blocks):
    return [
        (block.chromosome, int(start), block.strand, float(score))
        for block in blocks
        for start, score in zip(block.starts, block.scores, strict=True)
    ]


@pytest.mark.parametrize("count", [1, 5, 33, 99, 100, 500])
def test_the_best_are_the_highest_in_their_order(blocks, count):
    every = rows(blocks)
    order = sorted(range(len(every)), key=lambda i: (-every[i][3], i))[:count]
    assert rows(best(iter(blocks), count)) == [every[i] for i in sorted(order)]


def test_bed_has_six_columns(blocks):
    file = io.StringIO()
    write_bed(file, blocks)
    lines = [line.split("\t") for line in file.getvalue().splitlines()]
    found = [(name, int(a), strand, float(score)) for name, a, b, _, score, strand in lines]
    assert found == rows(blocks)
    assert all(int(line[2]) - int(line[1]) == 10 for line in lines)


def test_bedgraph_has_the_higher_strand_once_a_position(blocks):
    file = io.StringIO()
    write_bedgraph(file, blocks)
    lines = [line.split("\t") for line in file.getvalue().splitlines()]
    wanted = {}
    for name, start, _, score in rows(blocks):
        wanted[name, start] = max(score, wanted.get((name, start), -np.inf))
    assert [(line[0], int(line[1]), float(line[3])) for line in lines] == [
        (*key, wanted[key]) for key in sorted(wanted)
    ]


def test_bigwig_holds_what_bedgraph_says(blocks, tmp_path):
    pybigtools = pytest.importorskip("pybigtools")
    (tmp_path / "genome.fa").write_text(f">c1 x\n{'A' * 100}\n>c2\n{'C' * 50}\n")
    path = tmp_path / "scores.bw"
    write_bigwig(str(path), blocks, tmp_path / "genome.fa")
    with pybigtools.open(str(path)) as file:
        assert file.chroms() == {"c1": 100, "c2": 50}
        found = {("c2", start): value for start, _, value in file.records("c2")}
    wanted = {}
    for name, start, _, score in rows(blocks):
        if name == "c2":
            wanted[name, start] = max(score, wanted.get((name, start), -np.inf))
    assert found == pytest.approx(wanted, abs=1e-6)
    assert sorted(one.name for one in tmp_path.iterdir()) == ["genome.fa", "scores.bw"]


def test_what_goes_wrong_while_a_bigwig_is_written_is_told(blocks, tmp_path):
    pytest.importorskip("pybigtools")
    (tmp_path / "genome.fa").write_text(f">c1 x\n{'A' * 100}\n>c2\n{'C' * 50}\n")

    def failing():
        yield blocks[0]
        raise ValueError("the model is for other windows")

    with pytest.raises(ValueError, match="the model is for other windows"):
        write_bigwig(str(tmp_path / "scores.bw"), failing(), tmp_path / "genome.fa")
    assert [one.name for one in tmp_path.iterdir()] == ["genome.fa"]
