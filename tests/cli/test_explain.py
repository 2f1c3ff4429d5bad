"""`kernelweave explain` and `kernelweave variants`."""

import gzip

import numpy as np
import pandas as pd
import pytest

from kernelweave import inspection, load
from kernelweave.sequences import read_sequences


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


def test_models_without_sequences_are_refused(run, table):
    run("fit", table, "--target", "back", "-k", "rbf(columns=age)", "-q")
    assert "needs a model on sequences" in run("explain", "model.kw", code=2).output


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
    run("variants", model, "v.vcf", "--genome", "genome.fa", "-o", "scored.vcf.gz", "-q")
    with gzip.open("scored.vcf.gz", "rt") as file:
        scored = file.read().splitlines()[-3:]
    told = [float(line.rsplit("KW_DIFF=", 1)[1]) for line in scored]
    assert told == pytest.approx(found["difference"].tolist(), rel=1e-5)
    (tmp_path / "v.vcf").write_text("c1\t151\t.\tAAAAAAAA\tA\n")
    text = run("variants", model, "v.vcf", "--genome", "genome.fa", code=2).output
    assert "1 of 1 variants are not of this genome" in text
