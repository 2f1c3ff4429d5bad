"""Scores of windows as files."""

import io
import itertools

import numpy as np
import pytest

from kernelweave.genome import Scores
from kernelweave.genome.tracks import best, hits, merged, write_bed, write_bedgraph, write_bigwig


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


def bed_rows(found):
    file = io.StringIO()
    write_bed(file, found)
    lines = [line.split("\t") for line in file.getvalue().splitlines()]
    return [(c, int(a), int(b), float(score), strand) for c, a, b, _, score, strand in lines]


def test_bed_is_sorted_by_position_with_both_strands_together(blocks):
    found = [(c, a, strand, score) for c, a, b, score, strand in bed_rows(hits(blocks))]
    assert found == sorted(rows(blocks))
    assert all(b - a == 10 for _, a, b, *_ in bed_rows(hits(blocks)))


def test_merged_hits_are_the_union_of_windows_with_the_best_score(blocks):
    """Each hit lies in one merged interval, whose score is the highest in it."""
    found = bed_rows(merged(hits(blocks)))
    covered = {(c, p) for c, a, *_ in rows(blocks) for p in range(a, a + 10)}
    assert {(c, p) for c, a, b, *_ in found for p in range(a, b)} == covered
    assert sum(b - a for _, a, b, *_ in found) == len(covered)
    for c, a, b, score, strand in found:
        inside = [(s, t) for d, at, t, s in rows(blocks) if d == c and a <= at < b]
        assert score == max(inside)[0]
        assert (score, strand) in inside


@pytest.mark.parametrize(("step", "length"), [(1, 10), (1, 11), (4, 10), (5, 11), (50, 10)])
def test_track_values_span_the_step_around_the_centre(step, length):
    """A base at step 1 is in the middle, where `variants` places a variant."""
    starts = np.arange(0, 200, step)
    block = Scores("c1", ".", starts, length, np.arange(len(starts)) * 1.0, step)
    file, left = io.StringIO(), io.StringIO()
    write_bedgraph(file, [block])
    write_bedgraph(left, [block], "start")
    lines = [[int(x) for x in line.split("\t")[1:]] for line in file.getvalue().splitlines()]
    span = min(step, length)
    assert [b - a for a, b, _ in lines] == [span] * len(starts)
    assert all(stop <= start for (_, stop, _), (start, *_) in itertools.pairwise(lines))
    for (a, b, value), start in zip(lines, starts, strict=True):
        assert abs((a + b) / 2 - (start + length / 2)) <= 0.5 + (span % 2 == 0) / 2
        assert starts[value] == start
    assert lines[0][0] == (length - 1) // 2 - (span - 1) // 2
    assert [int(line.split("\t")[1]) for line in left.getvalue().splitlines()] == starts.tolist()


def test_blocks_without_windows_are_skipped(blocks):
    high = [block.above(0.8) for block in blocks]
    assert any(len(block.starts) == 0 for block in high)
    file = io.StringIO()
    write_bedgraph(file, high)
    assert len(file.getvalue().splitlines()) == len({row[:2] for row in rows(high)})


def test_bedgraph_has_the_higher_strand_once_a_position(blocks):
    file = io.StringIO()
    write_bedgraph(file, blocks, "start")
    lines = [line.split("\t") for line in file.getvalue().splitlines()]
    wanted = {}
    for name, start, _, score in rows(blocks):
        wanted[name, start] = max(score, wanted.get((name, start), -np.inf))
    assert [(line[0], int(line[1]), float(line[3])) for line in lines] == [
        (*key, wanted[key]) for key in sorted(wanted)
    ]


def test_bigwig_and_bedgraph_have_equal_values(blocks, tmp_path):
    pybigtools = pytest.importorskip("pybigtools")
    (tmp_path / "genome.fa").write_text(f">c1 x\n{'A' * 100}\n>c2\n{'C' * 50}\n")
    path = tmp_path / "scores.bw"
    write_bigwig(str(path), blocks, tmp_path / "genome.fa", "start")
    with pybigtools.open(str(path)) as file:
        assert file.chroms() == {"c1": 100, "c2": 50}
        found = {("c2", start): value for start, _, value in file.records("c2")}
    wanted = {}
    for name, start, _, score in rows(blocks):
        if name == "c2":
            wanted[name, start] = max(score, wanted.get((name, start), -np.inf))
    assert found == pytest.approx(wanted, abs=1e-6)
    assert sorted(one.name for one in tmp_path.iterdir()) == ["genome.fa", "scores.bw"]


def test_a_bigwig_without_values_is_refused(blocks, tmp_path):
    """Genome browsers cannot open the file that pybigtools would write."""
    pytest.importorskip("pybigtools")
    (tmp_path / "genome.fa").write_text(">c1\nACGTACGTACGT\n")
    none = (block.above(np.inf) for block in blocks)
    with pytest.raises(ValueError, match="threshold: no window scored above it"):
        write_bigwig(str(tmp_path / "scores.bw"), none, tmp_path / "genome.fa")
    assert [one.name for one in tmp_path.iterdir()] == ["genome.fa"]


def test_errors_while_writing_bigwig_are_reported(blocks, tmp_path):
    pytest.importorskip("pybigtools")
    (tmp_path / "genome.fa").write_text(f">c1 x\n{'A' * 100}\n>c2\n{'C' * 50}\n")

    def failing():
        yield blocks[0]
        raise ValueError("the model is for other windows")

    with pytest.raises(ValueError, match="the model is for other windows"):
        write_bigwig(str(tmp_path / "scores.bw"), failing(), tmp_path / "genome.fa")
    assert [one.name for one in tmp_path.iterdir()] == ["genome.fa"]
