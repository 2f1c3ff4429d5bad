"""Variants: windows without and with them, scored as any other sequences."""

import numpy as np
import pytest

from kernelweave import MKLClassifier
from kernelweave.genome import Variant, variant_scores, variants
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


def test_alleles_of_a_line_compare_their_reference_once(letters, genome, model, monkeypatch):
    compared, compare = [], variant_scores._of_reference
    monkeypatch.setattr(
        variant_scores, "_of_reference", lambda *given: compared.append(given) or compare(*given)
    )
    places = [(50, "A"), (50, "C"), (50, "AT"), (60, "A"), (50, "A"), (9, "A"), (9, "AA")]
    given = [Variant("c1", s, "x", letters[s], allele) for s, allele in places]
    found = variants(model, given, genome, length=LENGTH)
    assert found.status == [
        variants(model, [one], genome, length=LENGTH).status[0] for one in given
    ]
    assert len(compared) == 4 + len(given)


def test_variants_of_another_genome_are_counted_and_named(letters, genome, model):
    other = "A" if letters[50] != "A" else "C"
    given = [Variant("c1", 50, "x", other, "G"), Variant("c9", 1, "y", "A", "G")]
    with pytest.raises(
        ValueError, match=rf"2 of 2 .* differs: 1, the first is c1:51 {other}>G; .*: 1, .* c9:2"
    ):
        variants(model, given, genome, length=LENGTH)


def test_files_are_taken_as_well(letters, genome, model, tmp_path):
    path = tmp_path / "a.vcf"
    path.write_text(f"c1\t51\t.\t{letters[50]}\tT\n")
    found = variants(model, path, tmp_path / "genome.fa", length=LENGTH)
    again = variants(model, found.variants, genome, length=LENGTH)
    assert found.alternative.tolist() == again.alternative.tolist()


def test_variants_of_another_genome_can_be_skipped(letters, genome, model):
    """Others keep their scores; statuses say which variants have none, and why."""
    other = "A" if letters[50] != "A" else "C"
    good = Variant("c1", 60, "x", letters[60], "A")
    given = [
        Variant("c1", 50, "x", other, "G"),
        good,
        Variant("c9", 1, "y", "A", "G"),
        Variant("c1", 500, "z", "A", "G"),
        Variant("c1", 2, "w", letters[2], "G"),
        Variant("c1", 70, "v", "N", "<DEL>"),
        Variant("c9", 70, "u", "A", "*"),
    ]
    alone = variants(model, [good], genome, length=LENGTH)
    found = variants(model, given, genome, length=LENGTH, on_mismatch="skip")
    assert found.status == [
        "reference differs",
        "scored",
        "no such chromosome",
        "beyond the end",
        "window leaves the chromosome",
        "not written as letters",
        "not written as letters",
    ]
    assert found.difference[1] == alone.difference[0]
    assert np.isnan(np.delete(found.difference, 1)).all()
    with pytest.warns(UserWarning, match="3 of 7 variants are not of this genome"):
        variants(model, given, genome, length=LENGTH, on_mismatch="warn")
    with pytest.raises(ValueError, match="on_mismatch must be 'error', 'skip' or 'warn'"):
        variants(model, given, genome, length=LENGTH, on_mismatch="no")


def test_chromosome_aliases_are_the_same_variants(letters, genome, model):
    given = [Variant("c1", 60, "x", letters[60], "A")]
    alias = [given[0]._replace(chromosome="chrc1")]
    with pytest.warns(UserWarning, match="matched to the genome by alias, such as 'chrc1'"):
        found = variants(model, alias, genome, length=LENGTH)
    assert found.alternative == variants(model, given, genome, length=LENGTH).alternative


def test_p_values_are_ranks_among_matched_substitutions(letters, genome, model):
    """With all positions of one trinucleotide drawn many times, ranks approach the exact ones."""
    size, before = len(letters), (LENGTH - 1) // 2
    start = next(s for s in range(60, 120) if letters[s] != "T")
    triple = letters[start - 1 : start + 2]
    given = [Variant("c1", start, "x", letters[start], "T"), Variant("c1", 70, "y", "A", "AT")]
    given[1] = given[1]._replace(reference=letters[70], alternative=letters[70] + "T")
    found = variants(model, given, genome, length=LENGTH, null=20_000, seed=1)
    places = [
        s for s in range(before, size - LENGTH + before + 1) if letters[s - 1 : s + 2] == triple
    ]
    same = variants(
        model, [Variant("c1", s, "", letters[s], "T") for s in places], genome, length=LENGTH
    )
    sizes, own = np.abs(same.difference), abs(found.difference[0])
    exact = np.mean(sizes >= own * (1 - 1e-9))
    assert found.p_values[0] == pytest.approx(exact, abs=0.02)
    assert np.isnan(found.p_values[1])
    again = variants(model, given, genome, length=LENGTH, null=20_000, seed=1)
    assert again.p_values[0] == found.p_values[0]


def test_p_values_of_random_substitutions_are_not_below_uniform(rng, model, tmp_path):
    """P(p <= level) <= level under the null distribution, up to the noise of 400 draws."""
    text = "".join(rng.choice(list("ACGT"), 20_000))
    (tmp_path / "g.fa").write_text(f">c1\n{text}\n")
    genome = read_sequences(tmp_path / "g.fa")
    starts = rng.integers(50, 19_900, 400)
    given = [
        Variant("c1", int(s), "", text[s], str(rng.choice([a for a in "ACGT" if a != text[s]])))
        for s in starts
    ]
    found = variants(model, given, genome, length=LENGTH, null=300)
    levels = np.linspace(0.1, 0.9, 9)
    shares = [(found.p_values <= level).mean() for level in levels]
    assert (np.array(shares) - levels).max() < 0.1
