"""`kernelweave scan`."""

import gzip

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


def test_what_is_written_is_what_was_asked_for(run, scanned):
    scores = all_scores(*scanned)
    above = run("scan", *scanned, "--threshold", 0.1, "-q").output.splitlines()
    assert len(above) == (scores > 0.1).sum()
    top = run("scan", *scanned, "--top", 5, "-q").output.splitlines()
    assert sorted(float(line.split("\t")[4]) for line in top) == pytest.approx(
        np.sort(scores)[-5:], rel=1e-5
    )
    run("scan", *scanned, "--all", "-q", "-o", "all.bed.gz")
    with gzip.open("all.bed.gz", "rt") as file:
        assert len(file.readlines()) == len(scores)


def test_the_name_of_the_output_says_what_it_is(run, scanned, tmp_path):
    run("scan", *scanned, "--all", "-q", "-o", "all.bedgraph")
    assert len((tmp_path / "all.bedgraph").read_text().split("\n")[0].split("\t")) == 4
    text = run("scan", *scanned, "-o", "all.doc", "-q", code=2).output
    assert "must end in one of" in text


def test_anchors_are_found_in_the_model(run, scanned):
    lines = run("scan", *scanned, "--anchor", "AG", "--all", "-q").output.splitlines()
    assert 0 < len(lines) < len(all_scores(*scanned))
