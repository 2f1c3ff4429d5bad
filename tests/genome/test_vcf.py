"""Variants in VCF files: what is read, and what is written back."""

import gzip
import io

import numpy as np
import pytest

from kernelweave.genome import Variant, VariantScores, read_vcf, vcf, write_vcf


def test_a_file_of_variants(tmp_path):
    text = "##fileformat=VCFv4.2\n#CHROM\tPOS\tID\tREF\tALT\nc1\t5\trs1\tA\tG,<DEL>,AT\tq\n"
    (tmp_path / "a.vcf.gz").write_bytes(gzip.compress(text.encode()))
    found = read_vcf(tmp_path / "a.vcf.gz")
    assert found == [Variant("c1", 4, "rs1", "A", allele) for allele in ("G", "<DEL>", "AT")]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("c1\tx\t.\tA\tG\n", "line 1: a variant"),
        ("c1 5 . A G\n", "line 1"),
        ("c1\t²\t.\tA\tG\n", "line 1: a variant"),
        ("#x\n", "no variants"),
        ("c1\t5\t.\tA\t<DEL>,*\n", "no variants that are written as letters"),
    ],
)
def test_other_files_are_named(text, message, tmp_path):
    (tmp_path / "a.vcf").write_text(text)
    with pytest.raises(ValueError, match=message):
        read_vcf(tmp_path / "a.vcf")


def test_a_reference_is_read_once_for_all_alleles(tmp_path, monkeypatch):
    """A line of 2 MB may have a reference of 1 MB and 500,000 alleles."""
    read = []
    in_letters = vcf.in_letters
    monkeypatch.setattr(vcf, "in_letters", lambda one: read.append(one) or in_letters(one))
    (tmp_path / "a.vcf").write_text("c1\t5\t.\tACGTN\t" + ",".join(["<DEL>", "", "act"] * 50))
    assert len(read_vcf(tmp_path / "a.vcf")) == 150
    assert read.count("ACGTN") == 1


def rewritten(path):
    found = read_vcf(path)
    scores = np.arange(len(found), dtype=float)
    scores[[not vcf.in_letters(one.alternative) for one in found]] = np.nan
    file = io.StringIO()
    write_vcf(file, path, VariantScores(found, scores, 10 * scores + 0.5))
    return file.getvalue().splitlines()


def test_scores_stand_in_the_column_info(tmp_path):
    text = (
        "##fileformat=VCFv4.2\n#CHROM\tPOS\tID\tREF\tALT\tQUAL\tFILTER\tINFO\tFORMAT\tme\n"
        "c1\t5\trs1\tA\tG\t30\tPASS\tDP=3\tGT\t0/1\n"
        "c1\t7\trs2\tA\t<DEL>,G,AT\t.\tPASS\t.\tGT\t1/2\n"
        "c1\t9\trs3\tA\t*\t.\tPASS\t.\tGT\t1/2\n"
    )
    (tmp_path / "a.vcf").write_text(text)
    lines = rewritten(tmp_path / "a.vcf")
    assert lines[0] == "##fileformat=VCFv4.2"
    assert [line[:15] for line in lines[1:4]] == [
        "##INFO=<ID=KW_R",
        "##INFO=<ID=KW_A",
        "##INFO=<ID=KW_D",
    ]
    rows = [line.split("\t") for line in lines[4:]]
    assert [row[:7] + row[8:] for row in rows] == [
        row.split("\t")[:7] + row.split("\t")[8:] for row in text.splitlines()[1:]
    ]
    assert [row[7] for row in rows] == [
        "INFO",
        "DP=3;KW_REF=0;KW_ALT=0.5;KW_DIFF=0.5",
        "KW_REF=2;KW_ALT=.,20.5,30.5;KW_DIFF=.,18.5,27.5",
        "KW_REF=.;KW_ALT=.;KW_DIFF=.",
    ]


def test_missing_columns_are_filled(tmp_path):
    (tmp_path / "a.vcf").write_text("#CHROM\tPOS\tID\tREF\tALT\nc1\t5\t.\tA\tG\n")
    head, row = rewritten(tmp_path / "a.vcf")[-2:]
    assert head == "#CHROM\tPOS\tID\tREF\tALT\tQUAL\tFILTER\tINFO"
    assert row == "c1\t5\t.\tA\tG\t.\t.\tKW_REF=0;KW_ALT=0.5;KW_DIFF=0.5"
