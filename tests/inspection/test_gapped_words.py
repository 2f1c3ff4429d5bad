"""Weights of the words of gapped k-mer models: sequences score the sum over their words."""

from itertools import product

import numpy as np
import pytest

from kernelweave import MKLClassifier
from kernelweave.inspection import all_words, top_kmers
from kernelweave.inspection.gapped_words import gapped_words
from kernelweave.kernels import GappedKmer, Mismatch, Spectrum
from kernelweave.sequences import as_sequences

KERNELS = {
    "gapped": GappedKmer(4, 2),
    "both strands": GappedKmer(4, 2, both_strands=True),
    "family": GappedKmer([4, 4, 3], [2, 3, 2]),
    "mismatch": Mismatch(3, 1),
}


def fitted(kernel, rng, normalize="variance"):
    texts = ["".join(rng.choice(list("ACGT"), size)) for size in rng.integers(8, 20, 40)]
    y = np.arange(40) % 2
    return MKLClassifier(kernel, normalize=normalize, C=3.0).fit(as_sequences(texts), y)


@pytest.mark.parametrize("kernel", KERNELS.values(), ids=KERNELS)
@pytest.mark.parametrize("normalize", ["variance", None])
def test_a_sequence_scores_the_sum_of_its_words(kernel, normalize, rng):
    model = fitted(kernel, rng, normalize)
    text = "".join(rng.choice(list("ACGT"), 30))
    total = float(model.intercept_[0])
    for quantity, weights in gapped_words(model):
        for start in range(len(text) - quantity.length + 1):
            word = text[start : start + quantity.length]
            total += weights[int("".join(str("ACGT".index(letter)) for letter in word), 4)]
    assert total == pytest.approx(float(model.decision_function(as_sequences([text]))[0]), abs=1e-9)


def test_the_largest_weights_come_first(rng):
    model = fitted(GappedKmer(4, 2), rng)
    ((_, weights),) = gapped_words(model)
    found = top_kmers(model, 5)
    words = ["".join(letters) for letters in product("ACGT", repeat=4)]
    pairs = str.maketrans("ACGT", "TGCA")
    once = [weights[i] for i, word in enumerate(words) if word <= word[::-1].translate(pairs)]
    assert [weight for _, weight in found] == pytest.approx(sorted(once, reverse=True)[:5])
    alone = fitted(GappedKmer(4, 2, both_strands=False), rng)
    ((_, weights),) = gapped_words(alone)
    expected = np.sort(weights)[::-1][:5].tolist()
    assert [weight for _, weight in top_kmers(alone, 5)] == pytest.approx(expected)
    assert all(len(word) == 4 for word, _ in found)
    both = top_kmers(fitted([GappedKmer(4, 2), Spectrum(2)], rng), 300)
    assert {len(word) for word, _ in both} == {2, 4}


def test_tables_that_would_not_fit_are_refused(rng, monkeypatch):
    monkeypatch.setattr("kernelweave.inspection.gapped_words.MOST_BYTES", 1000)
    with pytest.raises(ValueError, match=r"4\^4 words would take 0\.0 GB"):
        top_kmers(fitted(GappedKmer(4, 2), rng))


@pytest.mark.parametrize("kernel", [KERNELS["both strands"], KERNELS["mismatch"], Spectrum(3)])
def test_a_table_of_all_words_gives_decision_values(kernel, rng):
    """Sum over the words of a sequence, reverse complements looked up as one word."""
    model = fitted(kernel, rng)
    table = dict(all_words(model))
    pairs = str.maketrans("ACGT", "TGCA")
    length = len(next(iter(table)))
    text = "".join(rng.choice(list("ACGT"), 30))
    total = float(model.intercept_[0])
    for start in range(len(text) - length + 1):
        word = text[start : start + length]
        total += table.get(word, table.get(word[::-1].translate(pairs), 0.0))
    assert total == pytest.approx(float(model.decision_function(as_sequences([text]))[0]), abs=1e-9)
    assert list(table) == sorted(table) or isinstance(kernel, Spectrum)


def test_a_table_of_words_needs_one_length(rng):
    with pytest.raises(ValueError, match="several lengths"):
        all_words(fitted(KERNELS["family"], rng))
