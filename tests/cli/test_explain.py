"""`kernelweave explain` and `kernelweave variants`."""

import sys

import numpy as np
import pandas as pd
import pytest

from kernelweave import inspection, load
from kernelweave.sequences import as_sequences, read_sequences


@pytest.fixture
def sites(run, two_files):
    """Return a function that trains a model with a kernel."""

    def train(kernel):
        positive, negative = two_files
        run("fit", "--positive", positive, "--negative", negative, "-k", kernel, "-q")
        return "model.kw"

    return train


def test_positions_and_letters_of_a_weighted_degree_model(run, sites, two_files, tmp_path):
    model = sites("wd(4)")
    run("explain", model, two_files[0], "-q", "--top", 7)
    words = pd.read_csv(tmp_path / "explained" / "kmers.tsv", sep="\t")
    wanted = inspection.top_kmers(load(model), 7, k=4)
    assert words["k-mer"].tolist() == [word for word, *_ in wanted]
    letters = pd.read_csv(tmp_path / "explained" / "letters.tsv", sep="\t")
    totals = letters.groupby("name", sort=False)["score"].sum()
    fitted = load(model)
    decisions = fitted.decision_function(read_sequences(two_files[0])) - fitted.intercept_
    assert totals.tolist() == pytest.approx(decisions.tolist())
    assert (tmp_path / "explained" / "importance.tsv").exists()
    with np.load(tmp_path / "explained" / "letters_hypothetical.npz") as arrays:
        assert arrays["arr_0"].shape[1:] == (4, 141)


def test_words_of_a_spectrum_model(run, sites, tmp_path):
    run("explain", sites("spectrum(3)"), "-q")
    words = pd.read_csv(tmp_path / "explained" / "kmers.tsv", sep="\t")
    assert list(words) == ["k-mer", "weight"]
    assert (words["k-mer"].str.len() == 3).all()


@pytest.fixture
def three_classes(run, tmp_path):
    """A model of three classes of sequences in a column of a table, and that table."""
    rng = np.random.default_rng(0)
    letters = rng.choice(list("ACGT"), size=(90, 30))
    classes = np.arange(90) % 3 + 7
    letters[classes == 8, 10:14] = list("GATA")
    letters[classes == 9, 20:24] = list("CCGC")
    frame = pd.DataFrame({"class": classes, "site": ["".join(row) for row in letters]})
    frame.to_csv(tmp_path / "three.csv", index=False)
    run(
        "fit",
        "three.csv",
        "--target",
        "class",
        "-k",
        "wd(4, columns=site)",
        "-q",
        "--columns",
        "site",
    )
    return "model.kw", frame


def test_a_class_of_several_in_a_table(run, three_classes, tmp_path):
    model, frame = three_classes
    assert "choose one of 7, 8, 9" in run("explain", model, code=2).output
    run("explain", model, "three.csv", "--target", "8", "-q", "--top", 1)
    words = pd.read_csv(tmp_path / "explained" / "kmers.tsv", sep="\t")
    assert words.iloc[0, :2].tolist() == ["GATA", 10]
    letters = pd.read_csv(tmp_path / "explained" / "letters.tsv", sep="\t")
    fitted = load(model)
    decisions = fitted.decision_function(frame[["site"]])[:, 1] - fitted.intercept_[1]
    totals = letters.groupby("name", sort=False)["score"].sum()
    assert totals.tolist() == pytest.approx(decisions.tolist())
    assert "".join(letters["letter"][:30]) == frame["site"][0]


def test_a_class_of_several_along_a_genome(run, three_classes, tmp_path):
    model, frame = three_classes
    genome = "".join(frame["site"][:4])
    (tmp_path / "genome.fa").write_text(f">c1\n{genome}\n")
    assert "choose one of" in run("scan", model, "genome.fa", "--all", code=2).output
    found = run("scan", model, "genome.fa", "--target", "9", "--all", "--strand", "+", "-q").stdout
    scores = [float(line.split("\t")[4]) for line in found.splitlines()]
    windows = pd.DataFrame({"site": [genome[at : at + 30] for at in range(len(genome) - 29)]})
    expected = load(model).decision_function(windows)[:, 2]
    assert scores == pytest.approx(expected.tolist(), rel=1e-4, abs=1e-5)
    (tmp_path / "v.vcf").write_text(f"#CHROM\nc1\t51\tone\t{genome[50]}\tA\n")
    run("variants", model, "v.vcf", "--genome", "genome.fa", "--target", "9", "-o", "effects.tsv")
    effects = pd.read_csv(tmp_path / "effects.tsv", sep="\t", comment="#")
    assert effects["reference score"].tolist() == pytest.approx([expected[50 - 14]])


def test_sequences_for_a_model_of_one_column(run, three_classes, tmp_path):
    model, frame = three_classes
    lines = [f">{i}\n{text}\n" for i, text in enumerate(frame["site"])]
    (tmp_path / "three.fa").write_text("".join(lines))
    from_file, from_table = (
        run("predict", model, name, "-q").stdout for name in ("three.fa", "three.csv")
    )
    assert from_file == from_table


def test_models_without_sequences_are_refused(run, table):
    run("fit", table, "--target", "back", "-k", "rbf(columns=age)", "-q")
    assert "needs a model trained on sequences" in run("explain", "model.kw", code=2).output


def test_variants_become_a_table(run, sites, tmp_path):
    model = sites("wd(3)")
    letters = "".join(np.random.default_rng(0).choice(list("ACGT"), 400))
    (tmp_path / "genome.fa").write_text(f">c1\n{letters}\n")
    rows = [f"c1\t{at + 1}\trs{at}\t{letters[at]}\tA" for at in (150, 200, 201)]
    (tmp_path / "v.vcf").write_text("#CHROM\n" + "\n".join(rows) + "\n")
    run("variants", model, "v.vcf", "--genome", "genome.fa", "-o", "effects.tsv", "-q")
    found = pd.read_csv(tmp_path / "effects.tsv", sep="\t", comment="#")
    assert found["position"].tolist() == [151, 201, 202]
    apart = found["alternative score"] - found["reference score"]
    assert found["difference"].tolist() == pytest.approx(apart.tolist())
    run("variants", model, "v.vcf", "--genome", "genome.fa", "-o", "scored.vcf", "-q")
    scored = (tmp_path / "scored.vcf").read_text().splitlines()[-3:]
    printed = [float(line.rsplit("KW_DIFF=", 1)[1]) for line in scored]
    assert printed == pytest.approx(found["difference"].tolist(), rel=1e-5)
    (tmp_path / "v.vcf").write_text("c1\t151\t.\tAAAAAAAA\tA\n")
    text = run("variants", model, "v.vcf", "--genome", "genome.fa", code=2).output
    assert "1 of 1 variants are not of this genome" in text


@pytest.fixture
def gapped(run, two_files):
    sites, decoys = two_files
    run("fit", "--positive", sites, "--negative", decoys, "-k", "gkm(l=6,k=4)", "-o", "g.kw", "-q")
    return "g.kw"


def test_gapped_kmer_models_have_motifs_and_logos(run, gapped, tmp_path):
    pytest.importorskip("matplotlib")
    run("explain", gapped, "-o", "found", "--meme", "m.meme", "--motifs", 2, "-q")
    table = pd.read_csv(tmp_path / "found" / "motifs.tsv", sep="\t")
    assert [one.name for one in inspection.read_meme("m.meme")] == table["name"].tolist()
    assert (tmp_path / "found" / "motifs.png").stat().st_size > 1000


def test_motifs_are_compared_with_known_ones(run, gapped, tmp_path):
    pytest.importorskip("memelite")
    run("explain", gapped, "--meme", "m.meme", "-q")
    run("explain", gapped, "-o", "found", "--compare", "m.meme", "-q")
    matches = pd.read_csv(tmp_path / "found" / "matches.tsv", sep="\t")
    best = matches.groupby("motif").first()
    assert (best.index == best["known motif"]).all()


def test_weights_of_all_words_give_scores(run, gapped, tmp_path):
    """The table of deltaSVM: the score is the sum over words of either strand."""
    run("explain", gapped, "-o", "found", "--all-words", "-q")
    table = pd.read_csv(tmp_path / "found" / "words.tsv", sep="\t", header=None, index_col=0)[1]
    assert len(table) == (4**6 + 4**3) // 2
    pairs = str.maketrans("ACGT", "TGCA")
    text = read_sequences("sites.fa")[0]
    words = [text[at : at + 6] for at in range(len(text) - 5)]
    total = sum(table[min(word, word[::-1].translate(pairs))] for word in words)
    model = load(gapped)
    assert total + model.intercept_[0] == pytest.approx(
        model.decision_function(as_sequences([text]))[0], abs=1e-5
    )


def test_errors_leave_no_output(run, gapped, tmp_path, monkeypatch):
    run("explain", gapped, "--meme", "m.meme", "-q")
    monkeypatch.setitem(sys.modules, "memelite", None)
    text = run("explain", gapped, "-o", "found", "--compare", "m.meme", code=2).stderr
    assert "pip install 'kernelweave[motifs]'" in text
    text = run("explain", gapped, "-o", "found", "--motifs", 0, "--meme", "m", code=2).stderr
    assert "--motifs 0 leaves no motif" in text
    assert not (tmp_path / "found").exists()


def test_variants_are_read_from_standard_input(run, gapped, tmp_path):
    (tmp_path / "genome.fa").write_text(">c1\n" + "GATTACA" * 40 + "\n")
    text = "#CHROM\tPOS\tID\tREF\tALT\nc1\t101\t.\tT\tA\n"
    (tmp_path / "v.vcf").write_text(text)
    options = ("--genome", "genome.fa", "--length", 31, "-q")
    for out in ("-o one.vcf", "-o one.tsv"):
        run("variants", gapped, "v.vcf", *options, *out.split())
        run("variants", gapped, "-", *options, *out.replace("one", "two").split(), input=text)
    for ending in ("vcf", "tsv"):
        one, other = ((tmp_path / f"{name}.{ending}").read_text() for name in ("one", "two"))
        assert one == other
