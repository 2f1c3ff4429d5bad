"""Variants: windows without and with them, scored as any other sequences."""

import numpy as np
import pytest

from kernelweave import MKLClassifier
from kernelweave.genome import Variant, variants
from kernelweave.kernels import Spectrum, WeightedDegree
from kernelweave.sequences import as_sequences, read_sequences

LENGTH = 21


@pytest.fixture
def letters(rng):
    return "".join(rng.choice(list("ACGT"), 200))


@pytest.fixture
def genome(letters, tmp_path):
    (tmp_path / "genome.fa").write_text(f">c1 made up\n{letters}\n")
    return read_sequences(tmp_path / "genome.fa")


@pytest.fixture(params=[WeightedDegree(3), Spectrum(2)], ids=["wd", "spectrum"])
def model(request, rng):
    texts = ["".join(rng.choice(list("ACGT"), LENGTH)) for _ in range(40)]
    return MKLClassifier(request.param).fit(as_sequences(texts), np.repeat([0, 1], 20))


def by_hand(letters, start, reference, alternative):
    changed = letters[:start] + alternative + letters[start + len(reference) :]
    first = start - (LENGTH - 1) // 2
    return [text[first : first + LENGTH] for text in (letters, changed)]


@pytest.mark.parametrize(("deleted", "inserted"), [(1, "T"), (1, "TTA"), (4, "A"), (1, "A" * 30)])
def test_windows_without_and_with_a_variant(deleted, inserted, letters, genome, model):
    starts = [30, 63, 64, 120]
    given = [Variant("c1", s, "x", letters[s : s + deleted], inserted) for s in starts]
    found = variants(model, given, genome, length=LENGTH)
    for i, one in enumerate(given):
        texts = by_hand(letters, one.start, one.reference, one.alternative)
        wanted = model.decision_function(as_sequences(texts))
        assert [found.reference[i], found.alternative[i]] == pytest.approx(wanted.tolist())
        assert found.difference[i] == pytest.approx(wanted[1] - wanted[0])


def test_windows_that_leave_the_chromosome_have_no_score(letters, genome, model):
    given = [Variant("c1", s, "x", letters[s], "A") for s in (0, 9, 10, 189, 190, 199)]
    found = variants(model, given, genome, length=LENGTH)
    assert np.isnan(found.difference).tolist() == [True, True, False, False, True, True]


def test_variants_of_another_genome_are_counted_and_named(letters, genome, model):
    other = "A" if letters[50] != "A" else "C"
    given = [Variant("c1", 50, "x", other, "G"), Variant("c9", 1, "y", "A", "G")]
    with pytest.raises(ValueError, match=rf"2 of 2 .* first is c1:51 {other}, where the genome"):
        variants(model, given, genome, length=LENGTH)


def test_files_are_taken_as_well(letters, genome, model, tmp_path):
    path = tmp_path / "a.vcf"
    path.write_text(f"c1\t51\t.\t{letters[50]}\tT\n")
    found = variants(model, path, tmp_path / "genome.fa", length=LENGTH)
    again = variants(model, found.variants, genome, length=LENGTH)
    assert found.alternative.tolist() == again.alternative.tolist()
