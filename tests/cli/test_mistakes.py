"""Errors are one line on standard error with exit code 2, and leave no partial file."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from kernelweave import load
from kernelweave.model.files.checkpoint import Checkpoint

CALL = [sys.executable, "-c", "from kernelweave.cli import main; main(prog_name='kernelweave')"]
FILES = {
    "empty.fa": "",
    "none.fa": "ACGT\n",
    "odd.fa": ">a\nACGT\n>b\n>c\nACGT\n",
    "cut.fq": "@r\nACGT\n+\nII\n",
    "short.fa": ">a\nACGT\n",
    "empty.bed": "# nothing\n",
    "back.bed": "a\t1\t2\na\t5\t3\n",
    "beyond.bed": "a\t0\t99\n",
    "other.bed": "b\t0\t2\n",
    "empty.vcf": "##fileformat=VCFv4.2\n",
    "semicolons.csv": "age;back\n30;yes\n",
    "odd.vcf": "#CHROM\na\t1\tx\n",
}


@pytest.fixture
def models(run, table, two_files, tmp_path):
    """Files that are wrong in some way, and models of a table and of sequences."""
    for name, text in FILES.items():
        (tmp_path / name).write_text(text)
    run("fit", table, "--target", "back", "-k", "rbf(columns=age)", "-q", "-o", "table.kw")
    sites, decoys = two_files
    run("fit", "--positive", sites, "--negative", decoys, "-k", "wd(3)", "-q", "-o", "sites.kw")
    return tmp_path


CALLS = {
    "predict sites.kw empty.fa -o out": "empty.fa: line 1: holds no records",
    "predict sites.kw none.fa -o out": "none.fa: line 1: starts with 'A'",
    "predict sites.kw odd.fa -o out": "odd.fa: line 4, record 2 ('b')",
    "predict sites.kw cut.fq -o out": "cut.fq: line 5, record 1 ('r')",
    "predict sites.kw short.fa -o out": "sequence 0 has 4 letters",
    "predict sites.kw table.csv -o out": "the model was trained on sequences, not on a table",
    "predict table.kw sites.fa -o out": "the model was trained on a table with the columns age",
    "predict table.csv sites.fa -o out": "'table.csv' is not a kernelweave model",
    "predict sites.kw sites.fa -o no/out": "no/out: there is no folder",
    "predict sites.kw sites.fa -o .": ".: is a folder",
    "predict sites.kw absent.fa": "absent.fa: No such file",
    "predict sites.kw sites.fa -o out.xyz": "--out: out.xyz must end in one of .tsv .txt .tsv.gz",
    "predict sites.kw sites.fa -o out.csv": "columns of text are separated by tabs",
    "variants sites.kw odd.vcf --genome short.fa -o out.csv": "one of .tsv .txt .tsv.gz .txt.gz",
    "scan sites.kw empty.fa -o out.bed": "empty.fa: line 1: holds no records",
    "scan sites.kw short.fa -o out.bed": "no chromosome has the 141 letters of a window",
    "scan table.kw sites.fa -o out.bed": "needs a model trained on sequences",
    "scan sites.kw sites.fa -o out.bed --chrom x": "the genome has no x",
    "negatives empty.bed --genome short.fa -o out": "empty.bed: contains no regions",
    "negatives back.bed --genome short.fa -o out": "back.bed: line 2: need 0 <= start < end",
    "negatives beyond.bed --genome short.fa -o out": "a:0-99 ends beyond its chromosome of 4 bases",
    "negatives other.bed --genome short.fa -o out": "the file has b, the genome has a",
    "negatives back.bed --genome none.fa -o out": "back.bed: line 2",
    "variants sites.kw empty.vcf --genome short.fa -o out": "empty.vcf: contains no variants",
    "variants sites.kw odd.vcf --genome short.fa -o out": "odd.vcf, line 2: a variant has the",
    "explain table.kw -o out": "`kernelweave report` and `inspection.shapley` explain models of",
    "explain sites.kw empty.fa -o out": "empty.fa: line 1: holds no records",
    "report sites.kw -o no/out": "no/out: there is no folder",
    "report sites.kw table.csv --target back -o out": "the model was trained on sequences",
    "fit table.csv --target back -o no/out": "no/out: there is no folder",
    "fit --positive empty.fa --negative sites.fa -o out": "empty.fa: line 1: holds no records",
    "fit sites.fa --task one-class --cv 3 -o out": "--cv scores predictions of targets, which one",
    "compare empty.fa --target x": "empty.fa: line 1: holds no records",
    "fit semicolons.csv --target back": "has one column, 'age;back'; separate columns by commas",
    "info table.csv": "'table.csv' is not a kernelweave model",
}


def test_every_mistake_is_one_line_and_leaves_no_file(models, run):
    for call, message in CALLS.items():
        before = sorted(os.listdir(models))
        result = run(*call.split(), code=2)
        assert message in result.stderr, call
        assert len(result.stderr.splitlines()) == 1, call
        assert result.stdout == "", call
        assert sorted(os.listdir(models)) == before, call


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="needs /dev/full")
def test_a_full_disk_is_reported(models, run):
    """A device is written to and not replaced."""
    text = run("predict", "sites.kw", "sites.fa", "-o", "/dev/full", code=2).stderr
    assert "No space left on device" in text
    assert Path("/dev/full").is_char_device()
    with open("/dev/full", "wb") as full:
        call = [*CALL, "predict", "sites.kw", "sites.fa"]
        found = subprocess.run(call, stdout=full, stderr=subprocess.PIPE, text=True, cwd=models)
    assert found.returncode == 2
    assert found.stderr.splitlines() == ["kernelweave predict: [Errno 28] No space left on device"]


def test_interrupted_training_keeps_its_checkpoint(run, table, monkeypatch):
    """Ctrl-C ends a fit with exit code 130; the next fit resumes."""
    kernels = "-k", "per_feature(rbf(columns=age, spend))"
    fit = ["fit", table, "--target", "back", *kernels, "--checkpoint", "kept", "-q"]
    keep = Checkpoint.keep

    def interrupted(self, alpha, weights):
        keep(self, alpha, weights)
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(Checkpoint, "keep", interrupted)
        assert run(*fit, code=130).stderr == "kernelweave: interrupted\n"
    assert Path("kept.0").exists()
    assert not Path("model.kw").exists()
    run(*fit)
    assert load("model.kw").duality_gap_ <= 1e-3
    assert not Path("kept.0").exists()


def test_colours_follow_the_terminal_and_no_color(models, run, monkeypatch):
    assert "\x1b" not in run("info", "table.kw").output
    monkeypatch.setenv("FORCE_COLOR", "1")
    coloured = run("info", "table.kw", color=True).output
    monkeypatch.setenv("NO_COLOR", "1")
    plain = run("info", "table.kw", color=True).output
    assert "\x1b[3" not in plain
    assert load("table.kw").kernel_names_[0] in plain
    assert len(plain) <= len(coloured)


def test_quiet_prints_nothing(models, run):
    for call in (
        "scan sites.kw sites.fa --top 1",
        "explain sites.kw sites.fa",
        "predict sites.kw sites.fa",
    ):
        assert run(*call.split(), "-q").stderr == ""
