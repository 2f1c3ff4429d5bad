"""Scores of a scan equal the scores of single windows."""

import numpy as np
import pytest

from kernelweave import MKLClassifier, MKLRegressor, datasets
from kernelweave.genome import scan
from kernelweave.genome.model_windows import is_strand_symmetric
from kernelweave.genome.scanning import WINDOWS
from kernelweave.kernels import RBF, GappedKmer, Spectrum, WeightedDegree, WeightedDegreeShift
from kernelweave.sequences import as_sequences, read_sequences

PARTNER = str.maketrans("ACGTN", "TGCAN")
LENGTH = 30


@pytest.fixture(scope="module")
def examples():
    X, y = datasets.make_splice(150, positive_rate=0.4)
    return X.window(45, 45 + LENGTH), y


@pytest.fixture
def genome(tmp_path, rng):
    """The letters of two chromosomes, with a stretch of unknown ones, and their file."""
    letters = {name: rng.choice(list("ACGT"), size) for name, size in [("c1", 400), ("c2", 55)]}
    letters["c1"][180:190] = "N"
    texts = {name: "".join(found) for name, found in letters.items()}
    path = tmp_path / "genome.fa"
    path.write_text("".join(f">{name} made up\n{text}\n" for name, text in texts.items()))
    return texts, path


def by_hand(model, texts, keep):
    """Return the score of each window, one at a time, by (chromosome, strand, start)."""
    found = {}
    for name, text in texts.items():
        for start in range(len(text) - LENGTH + 1):
            window = text[start : start + LENGTH]
            for strand, read in (("+", window), ("-", window[::-1].translate(PARTNER))):
                if "N" not in read and keep(start, read):
                    found[name, strand, start] = read
    scores = model.decision_function(as_sequences(list(found.values())))
    return dict(zip(found, scores, strict=True))


def scanned(model, path, **settings):
    return {
        (block.chromosome, block.strand, int(start)): score
        for block in scan(model, path, **settings)
        for start, score in zip(block.starts, block.scores, strict=True)
    }


@pytest.mark.parametrize(
    "kernel",
    [WeightedDegree(5), WeightedDegreeShift(5, 2), Spectrum(3), GappedKmer(5, 3)],
    ids=lambda kernel: type(kernel).__name__,
)
@pytest.mark.parametrize("step", [1, 7])
def test_scanned_windows_equal_single_scores(kernel, step, examples, genome, monkeypatch):
    monkeypatch.setattr("kernelweave.genome.scanning.WINDOWS", 64)
    model = MKLClassifier(kernel).fit(*examples)
    texts, path = genome
    length = LENGTH if isinstance(kernel, Spectrum | GappedKmer) else None
    found = scanned(model, path, step=step, length=length, strands="both")
    wanted = by_hand(model, texts, lambda start, read: start % step == 0)
    assert set(found) == set(wanted)
    assert [found[key] for key in wanted] == pytest.approx(list(wanted.values()), abs=1e-12)


@pytest.mark.parametrize("normalize", ["unit", "variance"])
def test_gapped_kmers_have_the_very_bits_of_windows_alone(normalize, examples, genome):
    """Scores are equal bit for bit, although neighbouring windows share words."""
    model = MKLClassifier(GappedKmer([5, 6], [3, 4]), normalize=normalize).fit(*examples)
    found = scanned(model, genome[1], length=LENGTH, strands="both")
    assert found == by_hand(model, genome[0], lambda start, read: True)


def test_starts_go_from_left_to_right(examples, genome, monkeypatch):
    monkeypatch.setattr("kernelweave.genome.scanning.WINDOWS", 64)
    model = MKLClassifier(WeightedDegree(3)).fit(*examples)
    for block in scan(model, genome[1]):
        assert (np.diff(block.starts) > 0).all()


def test_only_some_chromosomes(examples, genome):
    model = MKLClassifier(WeightedDegree(3)).fit(*examples)
    every, some = scanned(model, genome[1]), scanned(model, genome[1], chromosomes=["c2"])
    assert some == {key: score for key, score in every.items() if key[0] == "c2"}
    with pytest.raises(ValueError, match="the genome has no c9, cX"):
        scanned(model, genome[1], chromosomes=["c9", "c2", "cX"])


@pytest.mark.parametrize("strands", ["+", "-"])
@pytest.mark.parametrize("offset", [None, 4])
def test_windows_at_an_anchor(strands, offset, examples, genome):
    X, y = examples
    model = MKLClassifier(WeightedDegree(3)).fit(X, y)
    texts, path = genome
    support = model._model.examples.tables[0].sequences
    common = [k for k in range(LENGTH - 1) if all(t.startswith("AG", k) for t in support)]
    found = scanned(model, path, anchor="AG", offset=offset, strands=strands)
    place = common[0] if offset is None else offset
    wanted = by_hand(model, texts, lambda start, read: read.startswith("AG", place))
    wanted = {key: score for key, score in wanted.items() if key[1] == strands}
    assert len(common) == 1
    assert set(found) == set(wanted)


def test_a_genome_in_memory_is_a_genome(examples, genome):
    model = MKLClassifier(WeightedDegree(3)).fit(*examples)
    assert scanned(model, read_sequences(genome[1])) == scanned(model, genome[1])


def test_windows_are_scored_in_blocks():
    assert WINDOWS * 141 < 100e6  # bytes of letters


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"length": 31}, "windows of 30 letters, got 31"),
        ({"step": 0}, "step must be"),
        ({"strands": "x"}, "strands must be"),
        ({"anchor": "AG", "offset": 29}, "does not fit"),
        ({"anchor": "GATTACA"}, "share it at 0 positions"),
        ({"anchor": "A!", "offset": 3}, "letters outside DNA"),
    ],
)
def test_bad_parameters_are_named(settings, message, examples, genome):
    model = MKLClassifier(WeightedDegree(3)).fit(*examples)
    with pytest.raises(ValueError, match=message):
        list(scan(model, genome[1], **settings))


def test_windows_have_the_length_of_the_support_vectors(examples, genome):
    X, y = examples
    model = MKLClassifier(Spectrum(3)).fit(X, y)
    assert next(scan(model, genome[1])).length == len(X[0])
    model.fit([x[: len(x) - i % 2] for i, x in enumerate(X)], y)
    with pytest.raises(ValueError, match="must be the number of letters"):
        list(scan(model, genome[1]))


def test_regressions_scan(examples, genome):
    X, y = examples
    model = MKLRegressor(WeightedDegree(3)).fit(X, y.astype(float))
    found = scanned(model, genome[1], strands="+")
    text = genome[0]["c2"]
    windows = [text[start : start + LENGTH] for start in range(len(text) - LENGTH + 1)]
    wanted = model.predict(as_sequences(windows))
    assert [found["c2", "+", i] for i in range(len(wanted))] == pytest.approx(wanted.tolist())


def test_one_class_of_several_must_be_chosen(examples, genome):
    X, _ = examples
    model = MKLClassifier(WeightedDegree(3)).fit(X, np.arange(len(X)) % 3)
    with pytest.raises(ValueError, match="target must be one of the classes"):
        list(scan(model, genome[1]))


def test_models_on_numbers_cannot_scan(genome, rng):
    model = MKLClassifier(RBF(1.0)).fit(rng.normal(size=(20, 2)), np.repeat([0, 1], 10))
    with pytest.raises(ValueError, match="model trained on sequences"):
        list(scan(model, genome[1], length=30))


@pytest.mark.parametrize(
    ("kernel", "length", "symmetric"),
    [
        (GappedKmer(5, 3), 30, True),
        (GappedKmer(5, 3, both_strands=False), 30, False),
        (GappedKmer(5, 3, centre=(50, 50)), 31, True),
        (GappedKmer(5, 3, centre=(50, 50)), 30, False),
        (Spectrum(3, both_strands=True), 30, True),
        (Spectrum(3), 30, False),
        (WeightedDegree(3), 30, False),
    ],
    ids=repr,
)
def test_strand_symmetry_is_that_of_the_scores(kernel, length, symmetric, examples, genome):
    model = MKLClassifier(kernel).fit(*examples)
    found = {strand: [] for strand in "+-"}
    for block in scan(model, genome[1], length=length, strands="both") if length == 30 else ():
        found[block.strand].append(block.scores)
    assert is_strand_symmetric(model, length) == symmetric
    if symmetric and length == 30:
        same = [np.concatenate(found[strand]) for strand in "+-"]
        assert np.allclose(*same, rtol=0, atol=1e-12)


def test_a_genome_of_unknown_letters_only_is_refused(examples, tmp_path):
    model = MKLClassifier(WeightedDegree(3)).fit(*examples)
    (tmp_path / "n.fa").write_text(f">c1\n{'N' * 100}\n")
    with pytest.raises(ValueError, match="every window of 30 letters contains letters outside DNA"):
        list(scan(model, tmp_path / "n.fa"))


def test_chromosomes_are_found_by_alias(examples, genome):
    model = MKLClassifier(WeightedDegree(3)).fit(*examples)
    with pytest.warns(UserWarning, match="such as 'chrc2' to 'c2'"):
        found = scanned(model, genome[1], chromosomes=["chrc2"])
    assert found == scanned(model, genome[1], chromosomes=["c2"])
