"""Sequences of another alphabet than the model's cause a warning or an error."""

import numpy as np
import pytest

PROTEIN = "MKVLWFYHEDPQRSTNIKLMWFYHEDPQRSVLW"


@pytest.fixture
def model(run, two_files):
    sites, decoys = two_files
    run("fit", "--positive", sites, "--negative", decoys, "-k", "gkm(l=6,k=4)", "-q", "-o", "m.kw")
    return "m.kw"


def test_protein_is_refused_by_a_dna_model(run, model, tmp_path):
    (tmp_path / "p.fa").write_text("".join(f">{i}\n{PROTEIN}\n" for i in range(5)))
    for call in (("predict", model, "p.fa"), ("explain", model, "p.fa")):
        text = run(*call, code=2).stderr
        assert "of the letters are not DNA (ACGT)" in text
        assert "--alphabet" in text
    given = (tmp_path / "p.fa").read_text()
    assert "not DNA" in run("predict", model, "-", input=given, code=2).stderr
    fit = run("fit", "--positive", "p.fa", "--negative", "sites.fa", code=2)
    assert "p.fa: " in fit.stderr
    assert "no window" not in run("scan", model, "p.fa", "--length", 30, code=2).stderr
    assert "is this a genome?" in run("scan", model, "p.fa", "--length", 30, code=2).stderr


def test_protein_in_a_column_is_refused(run, tmp_path, rng):
    rows = [f"{''.join(rng.choice(list('ACGT'), 30))},{k % 2}" for k in range(40)]
    (tmp_path / "dna.csv").write_text("\n".join(["seq,y", *rows]))
    (tmp_path / "protein.csv").write_text("\n".join(["seq,y", *([f"{PROTEIN},0"] * 5)]))
    run("fit", "dna.csv", "--target", "y", "-k", "gkm(l=6,k=4,columns=seq)", "-q")
    text = run("predict", "model.kw", "protein.csv", code=2).stderr
    assert "protein.csv, column seq: " in text
    mixed = [*rows[:20], *(f"{PROTEIN},{k % 2}" for k in range(60))]
    (tmp_path / "mixed.csv").write_text("\n".join(["seq,y", *mixed]))
    kernel = ("-k", "gkm(l=6,k=4,columns=seq)", "-o", "mixed.kw")
    assert "column seq: " in run("fit", "mixed.csv", "--target", "y", *kernel, code=2).stderr
    assert not (tmp_path / "mixed.kw").exists()


@pytest.mark.parametrize(("unknown", "warned"), [(4, False), (15, True)])
def test_some_unknown_letters_are_remarked(unknown, warned, run, model, tmp_path):
    letters = np.random.default_rng(0).choice(list("ACGT"), 60)
    letters[:unknown] = "N"
    (tmp_path / "n.fa").write_text(f">a\n{''.join(letters)}\n")
    result = run("predict", model, "n.fa")
    assert ("25% of the letters are not DNA" in result.stderr) == warned
    assert run("predict", model, "n.fa", "-q").stderr == ""
