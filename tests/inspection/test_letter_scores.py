"""Scores of letters: sums of decision values, and all pairs of words."""

import numpy as np
import pytest

from kernelweave import MKLClassifier
from kernelweave.inspection import letter_scores, variant_effects
from kernelweave.kernels import (
    Exponential,
    GappedKmer,
    Mismatch,
    Spectrum,
    WeightedDegree,
    WeightedDegreeShift,
)

KERNELS = [
    GappedKmer(5, 3),
    GappedKmer(4, 2, filter="full"),
    GappedKmer(5, 3, centre=(20, 4)),
    GappedKmer([4, 5], 3, filter="count", both_strands=False),
    Mismatch(4, 1),
    Spectrum(3),
    Spectrum(4, both_strands=True),
    WeightedDegree(4),
    WeightedDegree(3, split="degree"),
    WeightedDegree(3, split="both"),
    WeightedDegreeShift(3, 1),
    [GappedKmer([5, 5], [3, 4]), Spectrum(2), WeightedDegree(2)],
]


@pytest.fixture
def data(rng):
    X = ["".join(rng.choice(list("ACGT"), 14)) for _ in range(30)]
    return X, np.array([x.count("A") > 3 for x in X]), ["ACGTTGCATGACCA", "TTNTTACGTACGTA"]


@pytest.mark.parametrize("normalize", ["unit", "variance"])
@pytest.mark.parametrize("kernel", KERNELS, ids=str)
def test_contributions_add_up_to_decision_values(kernel, normalize, data):
    X, y, new = data
    model = MKLClassifier(kernel, normalize=normalize).fit(X, y)
    scores = letter_scores(model, new)
    assert scores.hypothetical.shape == (2, 4, 14)
    np.testing.assert_allclose(
        scores.contributions.sum(axis=(1, 2)), model.decision_function(new) - model.intercept_
    )
    near = letter_scores(model, new, near=True)
    np.testing.assert_allclose(near.contributions, scores.contributions, atol=1e-12)


@pytest.mark.parametrize("near", [False, True])
def test_letter_scores_divide_word_weights_among_matching_letters(near, data):
    X, y, new = data
    model = MKLClassifier(GappedKmer(5, 3, both_strands=False), normalize=None).fit(X, y)
    (member,) = GappedKmer(5, 3).members
    support = [X[i] for i in model.support_]
    expected = np.zeros((4, 14))
    for i in range(10):
        for p in range(5):
            for a, letter in enumerate("ACGT"):
                u = new[0][i : i + p] + letter + new[0][i + p + 1 : i + 5]
                for x, coef in zip(support, model.dual_coef_[0], strict=True):
                    for v in (x[j : j + 5] for j in range(len(x) - 4)):
                        m = sum(b != c for b, c in zip(u, v, strict=True))
                        before = m + (letter != new[0][i + p])
                        if u[p] == v[p] and (not near or before <= 2):
                            share = float(member.values[m]) / (5 - m)
                            expected[a, i + p] += model.weights_[0] * coef * share
    found = letter_scores(model, new[:1], near=near).hypothetical[0]
    np.testing.assert_allclose(found, expected, atol=1e-9)


def replaced(text, at, letter):
    return text[:at] + letter + text[at + 1 :]


@pytest.mark.parametrize("kernel", [WeightedDegree(3), WeightedDegreeShift(3, 1)], ids=str)
def test_hypothetical_scores_are_those_of_the_changed_sequence(kernel, data):
    """A hypothetical score is that of the sequence with one letter changed."""
    X, y, new = data
    model = MKLClassifier(kernel).fit(X, y)
    hypothetical = letter_scores(model, new[:1]).hypothetical[0]
    for p in range(14):
        changed = [replaced(new[0], p, letter) for letter in "ACGT"]
        own = letter_scores(model, changed).contributions[:, :, p].sum(axis=1)
        np.testing.assert_allclose(hypothetical[:, p], own, atol=1e-12)


def test_one_of_several_classes(data):
    X, _, new = data
    y = np.arange(len(X)) % 3
    model = MKLClassifier(WeightedDegree(3)).fit(X, y)
    for c in range(3):
        total = letter_scores(model, new, target=c).contributions.sum(axis=(1, 2))
        np.testing.assert_allclose(total, model.decision_function(new)[:, c] - model.intercept_[c])
    with pytest.raises(ValueError, match="target must be one of"):
        letter_scores(model, new)


def test_files_for_motif_discovery(data, tmp_path):
    X, y, new = data
    scores = letter_scores(MKLClassifier(Spectrum(3)).fit(X, y), new)
    scores.save(tmp_path / "letters.npz", tmp_path / "scores.npz")
    with np.load(tmp_path / "letters.npz") as letters, np.load(tmp_path / "scores.npz") as found:
        np.testing.assert_array_equal(letters["arr_0"].sum(axis=1)[0], np.ones(14))
        np.testing.assert_array_equal(found["arr_0"], scores.hypothetical)


def test_letter_scores_refuse_kernels_that_are_no_sum_over_words(data):
    X, y, new = data
    model = MKLClassifier(Exponential(Spectrum(3), 1.0)).fit(X, y)
    with pytest.raises(ValueError, match="sums over words"):
        letter_scores(model, new)


@pytest.mark.parametrize("kernel", [GappedKmer(5, 3), WeightedDegree(3)], ids=str)
def test_effects_of_variants_are_differences_of_decision_values(kernel, data):
    X, y, new = data
    model = MKLClassifier(kernel, normalize="unit").fit(X, y)
    indels = 2 if isinstance(kernel, GappedKmer) else 0
    effects = variant_effects(model, new, indels=indels)
    before = model.decision_function(new)[0]
    changed = new[0][:3] + "G" + new[0][4:]
    expected = model.decision_function([changed])[0] - before
    np.testing.assert_allclose(effects.substitutions[0, 2, 3], expected, atol=1e-12)
    assert effects.substitutions[0, 0, 0] == pytest.approx(0.0, abs=1e-12)
    if indels:
        shorter = model.decision_function([new[0][:5] + new[0][7:]])[0] - before
        longer = model.decision_function([new[0][:5] + "T" + new[0][5:]])[0] - before
        np.testing.assert_allclose(effects.deletions[0, 1, 5], shorter, atol=1e-12)
        np.testing.assert_allclose(effects.insertions[0, 3, 5], longer, atol=1e-12)
    with pytest.raises(ValueError, match="indels must be"):
        variant_effects(model, new, indels=-1)
