"""Compressed genome formats are BGZF, which tabix reads."""

import gzip

import numpy as np
import pytest

pysam = pytest.importorskip("pysam")


@pytest.fixture
def files(run, two_files, tmp_path):
    sites, decoys = two_files
    run("fit", "--positive", sites, "--negative", decoys, "-k", "wd(3)", "-o", "sites.kw", "-q")
    letters = "".join(np.random.default_rng(0).choice(list("ACGT"), 900))
    (tmp_path / "genome.fa").write_text(f">c1\n{letters}\n>c2\n{letters[::-1]}\n")
    head = "##fileformat=VCFv4.2\n##contig=<ID=c1,length=900>\n#CHROM\tPOS\tID\tREF\tALT\n"
    rows = [f"c1\t{p + 1}\tv{p}\t{letters[p]}\tA\n" for p in (200, 300, 400)]
    (tmp_path / "v.vcf").write_text(head + "".join(rows))
    (tmp_path / "unsorted.vcf").write_text(head + "".join(rows[::-1]))
    return tmp_path


def test_variants_are_bgzf_with_an_index(run, files):
    call = ("variants", "sites.kw", "v.vcf", "--genome", "genome.fa", "-q")
    run(*call, "-o", "s.vcf.gz", "--index")
    run(*call, "-o", "s.vcf")
    with gzip.open("s.vcf.gz", "rt") as file:
        assert file.read() == (files / "s.vcf").read_text()
    found = list(pysam.TabixFile("s.vcf.gz").fetch("c1", 250, 350))
    assert [row.split("\t")[2] for row in found] == ["v300"]
    with pysam.VariantFile("s.vcf.gz") as variants:
        assert [round(one.info["KW_REF"], 4) for one in variants] != []
    assert sorted(path.name for path in files.glob("s.vcf*")) == [
        "s.vcf",
        "s.vcf.gz",
        "s.vcf.gz.tbi",
    ]


@pytest.mark.parametrize("name", ["all.bed.gz", "all.bedgraph.gz"])
def test_scans_are_sorted_bgzf_with_an_index(name, run, files):
    run("scan", "sites.kw", "genome.fa", "--all", "-q", "-o", name, "--index")
    with pysam.TabixFile(name) as file:
        assert file.contigs == ["c1", "c2"]
        starts = [int(row.split("\t")[1]) for row in file.fetch("c2")]
    assert starts == sorted(starts)
    assert len(starts) == (2 if "bed.gz" in name else 1) * (900 - 141 + 1)


def test_negatives_are_sorted_bgzf_with_an_index(run, files):
    (files / "p.bed").write_text("c2\t100\t150\nc1\t500\t550\nc1\t100\t150\n")
    call = ("negatives", "p.bed", "--genome", "genome.fa", "--gc", 1, "--repeats", 1, "-q")
    run(*call, "-o", "n.bed.gz", "--index")
    with pysam.TabixFile("n.bed.gz") as file:
        assert len(list(file.fetch())) == 3


def test_unsorted_records_have_no_index_and_leave_no_file(run, files):
    call = ("variants", "sites.kw", "unsorted.vcf", "--genome", "genome.fa", "-q")
    text = run(*call, "-o", "u.vcf.gz", "--index", code=2).stderr
    assert "must be sorted by chromosome and position" in text
    assert list(files.glob("u.vcf*")) == []
    run(*call, "-o", "u.vcf.gz")


def test_an_index_needs_a_compressed_output(run, files):
    call = ("scan", "sites.kw", "genome.fa", "-q", "--index")
    assert "--index: the output must end in .bed.gz" in run(*call, "-o", "a.bed", code=2).stderr
    assert "--index: the output must end in" in run(*call, code=2).stderr
    assert "contains its own index; leave it out" in run(*call, "-o", "a.bw", code=2).stderr
