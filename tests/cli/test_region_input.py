"""Regions as input of every command: formats, windows, standard input, chromosome names."""

import gzip
import json

import numpy as np
import pandas as pd
import pytest

from kernelweave import load
from kernelweave.genome import Region, Regions, cut_out, read_bed, resize
from kernelweave.genome.model_windows import support_sequences
from kernelweave.sequences import read_sequences

WIDTH = 40
MOTIF = "GATTACAGG"


@pytest.fixture
def peaks(tmp_path, rng):
    """A genome of three chromosomes, peaks with a motif at their summit, and other regions."""
    chromosomes, lines, others = {}, [], []
    for name in ("chr1", "chr2", "chr3"):
        letters = rng.choice(list("ACGT"), 8000)
        for k, start in enumerate(range(100, 7500, 200)):
            size, offset = int(rng.integers(60, 90)), int(rng.integers(25, 50))
            letters[start + offset - 4 : start + offset + 5] = list(MOTIF)
            fields = (name, start, start + size, f"{name}_{k}", 0, ".", 1.5, -1, -1, offset)
            lines.append("\t".join(map(str, fields)))
            others.append(f"{name}\t{start + 100}\t{start + 160}")
        chromosomes[name] = "".join(letters)
    (tmp_path / "genome.fa").write_text(
        "".join(f">{name}\n{text}\n" for name, text in chromosomes.items())
    )
    (tmp_path / "peaks.narrowPeak").write_text("\n".join(lines) + "\n")
    (tmp_path / "other.bed").write_text("\n".join(others) + "\n")
    return tmp_path


WINDOWS = ("--genome", "genome.fa", "--around", "centre", "--width", WIDTH)


@pytest.fixture
def model(run, peaks):
    files = ("--positive", "peaks.narrowPeak", "--negative", "other.bed")
    run("fit", *files, *WINDOWS, "-k", "gkm(l=6,k=4)", "-q", "-o", "peaks.kw")
    return "peaks.kw"


def test_summits_of_narrow_peaks_are_read(peaks):
    regions = read_bed(peaks / "peaks.narrowPeak")
    offsets = [region.summit - region.start for region in regions]
    table = pd.read_csv(peaks / "peaks.narrowPeak", sep="\t", header=None)
    assert offsets == table[9].tolist()


@pytest.mark.parametrize("around", ["summit", "centre"])
def test_windows_have_one_width_and_their_point_in_the_middle(peaks, around):
    regions = read_bed(peaks / "peaks.narrowPeak")
    genome = read_sequences(peaks / "genome.fa")
    found = resize(regions, around, WIDTH, dict.fromkeys(("chr1", "chr2", "chr3"), 8000))
    for old, new in zip(regions, found, strict=True):
        point = old.summit if around == "summit" else (old.start + old.stop) // 2
        assert (new.start, new.stop) == (point - WIDTH // 2, point + WIDTH // 2)
    if around == "summit":
        assert all(text[16:25] == MOTIF for text in cut_out(found, genome))


def test_windows_beyond_a_chromosome_are_dropped_with_a_count():
    items = [Region("c1", start, start + 10, "", ".") for start in (0, 50, 95)]
    with pytest.warns(UserWarning, match="2 of 3 windows of 40 bases extend beyond"):
        found = resize(Regions(items, "p.bed"), "centre", 40, {"c1": 110})
    assert [region.start for region in found] == [35]


def test_regions_without_summits_need_another_point():
    regions = Regions([Region("c1", 5, 10, "", ".")], "p.bed")
    with pytest.raises(ValueError, match=r"1 of 1 regions have no summit .*--around centre"):
        resize(regions, "summit", 4, {"c1": 100})


def scores(text):
    rows = [line.split("\t") for line in text.splitlines() if not line.startswith("#")][1:]
    return {name: float(score) for name, score, *_ in rows}


def test_every_command_reads_every_kind_of_regions(run, peaks, model):
    """narrowPeak, BED, gzip, bgz, standard input and chromosome aliases give the same scores."""
    wanted = scores(run("predict", model, "peaks.narrowPeak", *WINDOWS, "-q").stdout)
    text = (peaks / "peaks.narrowPeak").read_text()
    (peaks / "six.bed").write_text(
        "".join("\t".join(line.split("\t")[:6]) + "\n" for line in text.splitlines())
    )
    (peaks / "packed.narrowPeak.gz").write_bytes(gzip.compress(text.encode()))
    (peaks / "packed.narrowPeak.bgz").write_bytes(gzip.compress(text.encode()))
    (peaks / "bare.bed").write_text((peaks / "six.bed").read_text().replace("chr1\t", "1\t"))
    for name in ("six.bed", "packed.narrowPeak.gz", "packed.narrowPeak.bgz", "bare.bed"):
        assert scores(run("predict", model, name, *WINDOWS, "-q").stdout) == wanted, name
    for given in (text, gzip.compress(text.encode())):
        assert scores(run("predict", model, "-", *WINDOWS, "-q", input=given).stdout) == wanted
    run("explain", model, "peaks.narrowPeak", *WINDOWS, "-q")
    letters = pd.read_csv("explained/letters.tsv", sep="\t")
    assert letters.groupby("name").size().tolist() == [WIDTH] * len(wanted)
    run("negatives", "-", *WINDOWS, "-q", "--gc", 1, "-o", "n.bed", input=text)
    assert {region.stop - region.start for region in read_bed("n.bed")} == {WIDTH}


def test_background_without_summits_has_windows_around_centres(run, peaks):
    files = ("--positive", "peaks.narrowPeak", "--negative", "other.bed", "--genome", "genome.fa")
    run("fit", *files, "--around", "summit", "--width", WIDTH, "-k", "gkm(l=6,k=4)", "-q")
    regions = read_bed("other.bed")
    windows = resize(regions, "centre", WIDTH, dict.fromkeys(("chr1", "chr2", "chr3"), 8000))
    texts = set(cut_out(windows, read_sequences("genome.fa")))
    support = list(support_sequences(load("model.kw")))
    assert texts.intersection(support)
    assert len(set(support) - texts) <= 111  # the others are peaks
    swapped = ("--positive", "other.bed", "--negative", "peaks.narrowPeak", *files[4:])
    said = run("fit", *swapped, "--around", "summit", "--width", WIDTH, code=2).stderr
    assert "have no summit" in said


def test_an_alias_of_a_chromosome_is_remarked(run, peaks, model):
    (peaks / "bare.bed").write_text("1\t100\t160\n")
    remark = run("predict", model, "bare.bed", *WINDOWS).stderr
    assert "1 chromosome names were matched to the genome by alias, such as '1' to 'chr1'" in remark
    assert run("predict", model, "bare.bed", *WINDOWS, "-q").stderr == ""


def test_chromosomes_that_do_not_match_are_listed_with_those_of_the_genome(run, peaks, model):
    (peaks / "roman.bed").write_text("I\t100\t160\nII\t100\t160\n")
    text = run("predict", model, "roman.bed", *WINDOWS, code=2).stderr
    assert "no chromosome I, II; the file has I, II, the genome has chr1, chr2, chr3" in text


def test_regions_require_a_genome(run, model):
    for call in (("predict", model), ("explain", model)):
        text = run(*call, "peaks.narrowPeak", code=2).stderr
        assert "peaks.narrowPeak: regions need --genome" in text
    assert (
        "--around needs --width"
        in run(
            "predict", model, "other.bed", "--genome", "genome.fa", "--around", "centre", code=2
        ).stderr
    )
    assert (
        "--width and --around are for regions"
        in run("predict", model, "genome.fa", "--width", 5, code=2).stderr
    )


def test_test_chromosomes_are_held_out_of_training(run, peaks):
    files = ("--positive", "peaks.narrowPeak", "--negative", "other.bed", *WINDOWS)
    kernel = ("-k", "gkm(l=6,k=4)")
    call = run("fit", *files, *kernel, "--test-chrom", "chr2,3", "--json", "-q")
    found = json.loads(call.stdout)
    rows = [line for line in (peaks / "other.bed").read_text().splitlines() if "chr1" in line]
    (peaks / "one.bed").write_text("\n".join(rows))
    lines = (peaks / "peaks.narrowPeak").read_text().splitlines()
    (peaks / "one.narrowPeak").write_text("\n".join(line for line in lines if "chr1" in line))
    alone = ("--positive", "one.narrowPeak", "--negative", "one.bed", *WINDOWS)
    run("fit", *alone, *kernel, "-q", "-o", "alone.kw")
    one, other = load("model.kw"), load("alone.kw")
    assert np.array_equal(one.dual_coef_, other.dual_coef_)
    assert found["test"]["examples"] == 4 * len(rows)
    assert found["test"]["auROC"] > 0.9
    text = run("fit", *files, *kernel, "--test-chrom", "chrX", code=2).stderr
    assert "no region is on chrX; regions are on chr1, chr2, chr3" in text
