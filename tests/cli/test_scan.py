"""`kernelweave scan`."""

import itertools

import numpy as np
import pytest

from kernelweave import load
from kernelweave.genome import scan


@pytest.fixture
def scanned(run, two_files, tmp_path):
    """A model of sites and a genome."""
    sites, decoys = two_files
    run("fit", "--positive", sites, "--negative", decoys, "-k", "wd(3)", "-o", "sites.kw", "-q")
    letters = "".join(np.random.default_rng(0).choice(list("ACGT"), 600))
    (tmp_path / "genome.fa").write_text(f">c1\n{letters}\n")
    return "sites.kw", "genome.fa"


def all_scores(model, genome):
    return np.concatenate([block.scores for block in scan(load(model), genome)])


def test_scan_options_select_the_output(run, scanned):
    scores = all_scores(*scanned)
    above = run("scan", *scanned, "--threshold", 0.1, "-q").output.splitlines()
    assert len(above) == (scores > 0.1).sum()
    top = run("scan", *scanned, "--top", 5, "-q").output.splitlines()
    assert sorted(float(line.split("\t")[4]) for line in top) == pytest.approx(
        np.sort(scores)[-5:], rel=1e-5
    )
    run("scan", *scanned, "--all", "-q", "-o", "all.bed")
    with open("all.bed") as file:
        assert len(file.readlines()) == len(scores)


def test_the_output_name_selects_the_format(run, scanned, tmp_path):
    run("scan", *scanned, "--all", "-q", "-o", "all.bedgraph")
    assert len((tmp_path / "all.bedgraph").read_text().split("\n")[0].split("\t")) == 4
    text = run("scan", *scanned, "-o", "all.doc", "-q", code=2).output
    assert "must end in one of" in text


def test_anchors_are_found_in_the_model(run, scanned):
    lines = run("scan", *scanned, "--anchor", "AG", "--all", "-q").output.splitlines()
    assert 0 < len(lines) < len(all_scores(*scanned))


def bed(text):
    rows = [line.split("\t") for line in text.splitlines()]
    return [(c, int(a), int(b), float(score), strand) for c, a, b, _, score, strand in rows]


def test_bed_is_sorted_by_position(run, scanned):
    for more in (("--all",), ("--top", 40), ("--threshold", -0.5)):
        found = bed(run("scan", *scanned, *more, "-q").output)
        assert {hit[4] for hit in found} == {"+", "-"}
        assert [hit[1] for hit in found] == sorted(hit[1] for hit in found)


@pytest.fixture
def symmetric(run, two_files, scanned):
    sites, decoys = two_files
    run("fit", "--positive", sites, "--negative", decoys, "-k", "gkm(l=6,k=4)", "-o", "g.kw", "-q")
    return "g.kw", scanned[1], "--length", 50, "-q"


def test_strand_symmetric_models_give_each_hit_once(run, symmetric):
    once = bed(run("scan", *symmetric, "--all").output)
    both = bed(run("scan", *symmetric, "--all", "--strand", "both").output)
    assert {hit[4] for hit in once} == {"."}
    assert [hit[:4] for hit in both] == [hit[:4] for hit in once for _ in range(2)]


def test_merged_hits_do_not_overlap_and_keep_the_best_scores(run, symmetric):
    every = bed(run("scan", *symmetric, "--threshold", 1.2).output)
    found = bed(run("scan", *symmetric, "--threshold", 1.2, "--merge").output)
    assert len(every) > len(found) > 1
    assert all(a[2] <= b[1] for a, b in itertools.pairwise(found))
    assert max(hit[3] for hit in found) == max(hit[3] for hit in every)
    top = bed(run("scan", *symmetric, "--threshold", 1.2, "--merge", "--top", 2).output)
    assert sorted(hit[3] for hit in top) == sorted(hit[3] for hit in found)[-2:]
    assert "--merge is for BED" in run("scan", *symmetric, "--merge", "-o", "a.bw", code=2).stderr


def test_tracks_have_the_value_of_a_window_at_its_centre(run, symmetric, tmp_path):
    every = bed(run("scan", *symmetric, "--all", "--step", 10).output)
    run("scan", *symmetric, "--all", "--step", 10, "-o", "c.bedgraph")
    rows = [line.split("\t") for line in (tmp_path / "c.bedgraph").read_text().splitlines()]
    assert [(int(a), int(b)) for _, a, b, _ in rows] == [(h[1] + 20, h[1] + 30) for h in every]
    run("scan", *symmetric, "--all", "--step", 10, "--track-at", "start", "-o", "s.bedgraph")
    rows = [line.split("\t") for line in (tmp_path / "s.bedgraph").read_text().splitlines()]
    assert [(int(a), int(b)) for _, a, b, _ in rows] == [(h[1], h[1] + 10) for h in every]


def test_track_values_equal_variant_scores(run, symmetric, tmp_path):
    run("scan", *symmetric, "--all", "-o", "c.bedgraph")
    rows = [line.split("\t") for line in (tmp_path / "c.bedgraph").read_text().splitlines()]
    track = {int(a): float(value) for _, a, _, value in rows}
    letters = (tmp_path / "genome.fa").read_text().split("\n")[1]
    (tmp_path / "v.vcf").write_text(f"c1\t301\tone\t{letters[300]}\tA\n")
    call = ("variants", symmetric[0], "v.vcf", "--genome", symmetric[1], "--length", 50, "-q")
    score = run(*call).output.splitlines()[-1].split("\t")[5]
    assert track[300] == pytest.approx(float(score), rel=1e-5)


def test_swapped_arguments_are_recognised(run, symmetric):
    for call in (("scan", "genome.fa", "g.kw"), ("predict", "sites.fa", "g.kw")):
        text = run(*call, code=2).stderr
        assert f"'{call[1]}' is not a kernelweave model; did you swap the arguments?" in text
        assert "'g.kw' looks like one" in text


def test_absent_chromosomes_are_listed_with_those_of_the_genome(run, symmetric):
    text = run("scan", *symmetric, "--chrom", "X", code=2).stderr
    assert "the genome has no X; it has c1" in text
