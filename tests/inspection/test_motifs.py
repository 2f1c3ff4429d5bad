"""Motifs of models: planted matrices are found, on either strand, and written as MEME files."""

import io

import numpy as np
import pytest

from kernelweave import MKLClassifier
from kernelweave.inspection import Motif, match_motifs, motifs, read_meme, write_meme
from kernelweave.kernels import GappedKmer, Spectrum, WeightedDegree
from kernelweave.sequences import as_sequences

PAIRS = str.maketrans("ACGT", "TGCA")
PLANTED = np.array(
    [
        [0.05, 0.90, 0.02, 0.05, 0.85, 0.10, 0.90, 0.05],
        [0.05, 0.04, 0.03, 0.05, 0.05, 0.70, 0.03, 0.05],
        [0.85, 0.03, 0.05, 0.10, 0.05, 0.10, 0.03, 0.80],
        [0.05, 0.03, 0.90, 0.80, 0.05, 0.10, 0.04, 0.10],
    ]
)  # GATTACAG


def drawn(rng):
    return "".join("ACGT"[rng.choice(4, p=column)] for column in PLANTED.T)


@pytest.fixture(scope="module")
def planted():
    """Sequences with instances of a matrix on either strand, and others."""
    rng = np.random.default_rng(1)
    X = ["".join(rng.choice(list("ACGT"), 100)) for _ in range(1000)]
    y = np.arange(1000) % 2
    for i in np.flatnonzero(y):
        at, word = rng.integers(0, 90), drawn(rng)
        word = word if i % 4 == 1 else word[::-1].translate(PAIRS)
        X[i] = X[i][:at] + word + X[i][at + 8 :]
    return as_sequences(X), y


def likeness(motif, wanted):
    """Return the largest correlation of a motif with a matrix, over shifts and strands."""
    best = -1.0
    padded = np.pad(motif.probabilities, ((0, 0), (5, 5)), constant_values=0.25)
    for read in (padded, padded[::-1, ::-1]):  # the complement of ACGT is its reverse
        for shift in range(read.shape[1] - 7):
            part = read[:, shift : shift + 8]
            best = max(best, np.corrcoef(part.ravel(), wanted.ravel())[0, 1])
    return best


@pytest.mark.parametrize(
    "kernel", [GappedKmer(l=10, k=6), GappedKmer(l=8, k=5)], ids=["l=10", "l=8"]
)
def test_the_heaviest_motif_is_the_planted_matrix(kernel, planted):
    found = motifs(MKLClassifier(kernel).fit(*planted), 3)
    assert likeness(found[0], PLANTED) > 0.9
    assert found[0].weight > 0.5
    assert sum(one.weight for one in found) <= 1 + 1e-12
    assert [one.weight for one in found] == sorted((one.weight for one in found), reverse=True)


def test_reverse_complements_are_one_motif(planted):
    found = motifs(MKLClassifier(GappedKmer(l=8, k=5)).fit(*planted), 10)
    assert sum(likeness(one, PLANTED) > 0.8 for one in found) == 1


def test_spectrum_and_positional_models_have_motifs(planted):
    X, y = planted
    both = motifs(MKLClassifier(Spectrum(6, both_strands=True)).fit(X, y), 1)[0]
    assert likeness(both, PLANTED) > 0.6
    rng = np.random.default_rng(2)
    texts = ["".join(rng.choice(list("ACGT"), 40)) for _ in range(600)]
    fixed = [x[:15] + drawn(rng) + x[23:] if k % 2 else x for k, x in enumerate(texts)]
    model = MKLClassifier(WeightedDegree(8)).fit(fixed, np.arange(600) % 2)
    assert likeness(motifs(model, 1)[0], PLANTED) > 0.8


def test_columns_are_probabilities_and_logos_are_information(planted):
    motif = motifs(MKLClassifier(GappedKmer(l=8, k=5)).fit(*planted), 1)[0]
    assert np.allclose(motif.probabilities.sum(axis=0), 1.0)
    assert (motif.probabilities > 0).all()
    entropy = -(motif.probabilities * np.log2(motif.probabilities)).sum(axis=0)
    assert np.allclose(motif.information, 2 - entropy)
    assert np.allclose(motif.heights.sum(axis=0), motif.information)
    assert motif.information[[0, -1]].min() >= 0.25


def test_meme_files_are_read_as_written(tmp_path, planted):
    found = motifs(MKLClassifier(GappedKmer(l=8, k=5)).fit(*planted), 2)
    file = io.StringIO()
    write_meme(file, found)
    (tmp_path / "a.meme").write_text(file.getvalue())
    again = read_meme(tmp_path / "a.meme")
    assert [one.name for one in again] == [one.name for one in found]
    for one, other in zip(again, found, strict=True):
        assert np.allclose(one.probabilities, other.probabilities, atol=2e-6)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("MEME version 4\n", "contains no motifs"),
        ("MOTIF a\nletter-probability matrix: w= 1\n1 0 0\n", "'a' must have rows of 4 numbers"),
        ("MOTIF a\nletter-probability matrix:\n0 0 0 0\n", "'a' must have rows of finite numbers"),
        ("MOTIF a\nletter-probability matrix:\n1 0 nan 0\n", "rows of finite numbers"),
        ("MOTIF a\nletter-probability matrix:\n1 0 -1 0\n", "rows of finite numbers"),
        ("MOTIF a\nletter-probability matrix:\n1 0 1e999 0\n", "rows of finite numbers"),
    ],
)
def test_bad_meme_files_are_named(text, message, tmp_path):
    (tmp_path / "bad.meme").write_text(text)
    with pytest.raises(ValueError, match=message) as caught:
        read_meme(tmp_path / "bad.meme")
    assert "bad.meme" in str(caught.value)


def test_known_motifs_are_matched_by_tomtom(planted):
    pytest.importorskip("memelite")
    rng = np.random.default_rng(0)
    known = [
        Motif(f"random{i}", "ACGT", rng.dirichlet(np.full(4, 0.3), 8).T, np.nan, [])
        for i in range(20)
    ]
    known.append(Motif("planted", "ACGT", PLANTED, np.nan, []))
    found = motifs(MKLClassifier(GappedKmer(l=10, k=6)).fit(*planted), 1)
    assert match_motifs(found, known)[0].known == "planted"
    flipped = [Motif("other", "ACGT", found[0].probabilities[::-1, ::-1], 1.0, [])]
    best = match_motifs(flipped, known)[0]
    assert best.known == "planted"
    assert best.strand != match_motifs(found, known)[0].strand
    with pytest.raises(ValueError, match="for DNA only"):
        match_motifs([Motif("p", "HP", np.full((2, 3), 0.5), 1.0, [])], known)


def test_models_without_words_have_no_motifs(rng):
    model = MKLClassifier().fit(rng.normal(size=(40, 2)), np.arange(40) % 2)
    with pytest.raises(ValueError, match="no spectrum or gapped k-mer kernel"):
        motifs(model)
