"""Weights of k-mers against every word, and against the decision values of every sequence."""

from itertools import product

import numpy as np
import pytest

from kernelweave import MKLClassifier, MKLOneClass, MKLRegressor, inspection
from kernelweave.datasets import make_motifs
from kernelweave.inspection import importance, kmer_weights, poim, top_kmers
from kernelweave.kernels import RBF, Linear, Spectrum, WeightedDegree, WeightedDegreeShift
from kernelweave.sequences.weight_stores import WeightStore

LENGTH = 6
BACKGROUND = np.array([0.4, 0.1, 0.2, 0.3])
KERNELS = {
    "plain": WeightedDegree(4),
    "degrees": WeightedDegree(4, split="degree"),
    "positions": WeightedDegree(3, split="position"),
    "both": WeightedDegree(3, split="both"),
    "ranges": WeightedDegree(3, split=[(4, 6), (0, 3)]),
    "weights by position": WeightedDegree(3, position_weights=[1, 0, 2, 0.5, 3, 1]),
    "shifts": WeightedDegreeShift(3, 2),
    "shifts by position": WeightedDegreeShift(3, [0, 1, 2, 3, 0, 1]),
    "shifts in ranges": WeightedDegreeShift(2, 1, split=[(0, 2), (2, 6)]),
    "a sum": WeightedDegree(4) + WeightedDegreeShift(2, 1),
    "two": [WeightedDegree(4, split="both"), WeightedDegreeShift(2, 1)],
}


def texts(rng, n, letters="ACGT", length=LENGTH):
    return np.array(["".join(rng.choice(list(letters), size=length)) for _ in range(n)])


def fitted(kernels, rng, letters="ACGT", **parameters):
    X = texts(rng, 40, letters)
    y = np.where([x[1:3] in ("AC", "GG", "TA", "CC") for x in X], 1, -1)
    y[:2] = 1, -1
    return MKLClassifier(kernels, **parameters).fit(X, y)


def every_text(letters="ACGT", length=LENGTH):
    return np.array(["".join(word) for word in product(letters, repeat=length)])


def expected_scores(model, k, p, background, target=None):
    """E[f(x) | u at p] - E[f(x)] for every u, over all sequences there are."""
    X = every_text()
    codes = np.array([["ACGT".index(letter) for letter in x] for x in X])
    chances = background[codes].prod(axis=1)
    scores = model.decision_function(X)
    scores = scores if target is None else scores[:, target]
    word = codes[:, p : p + k] @ 4 ** np.arange(k)[::-1]
    given = np.bincount(word, chances * scores) / np.bincount(word, chances)
    return given - chances @ scores


@pytest.mark.parametrize("kernels", KERNELS.values(), ids=KERNELS)
@pytest.mark.parametrize("normalize", [None, "variance"])
def test_importance_matrices_are_expected_scores(kernels, normalize, rng):
    model = fitted(kernels, rng, normalize=normalize)
    for k in (1, 2):
        Q = poim(model, k, background=BACKGROUND)
        assert Q.W.shape == (4**k, LENGTH - k + 1)
        expected = [expected_scores(model, k, p, BACKGROUND) for p in Q.positions]
        np.testing.assert_allclose(Q.W, np.transpose(expected), atol=1e-10)


@pytest.mark.parametrize("kernels", KERNELS.values(), ids=KERNELS)
def test_words_longer_than_the_degree(kernels, rng):
    model = fitted(kernels, rng)
    for k in (5, LENGTH):
        Q = poim(model, k, background=BACKGROUND)
        expected = [expected_scores(model, k, p, BACKGROUND) for p in Q.positions]
        np.testing.assert_allclose(Q.W, np.transpose(expected), atol=1e-10)
    best = every_text()[model.decision_function(every_text()).argmax()]
    assert best in [word for word, _, _ in top_kmers(model, 3, k=LENGTH)]


@pytest.mark.parametrize("normalize", ["unit", "trace", "center"])
def test_on_the_scale_of_every_normalisation(normalize, rng):
    model = fitted(WeightedDegree(4, split="degree"), rng, normalize=normalize)
    expected = [expected_scores(model, 3, p, BACKGROUND) for p in range(4)]
    Q = poim(model, 3, background=BACKGROUND, n_jobs=2)
    np.testing.assert_allclose(Q.W, np.transpose(expected), atol=1e-10)


def overlapping_words(items, k, letters, chances):
    """The definition, word by word."""
    W = np.zeros((len(letters) ** k, LENGTH - k + 1))
    for number, word in enumerate(product(letters, repeat=k)):
        for p in range(LENGTH - k + 1):
            for (q, v), weight in items.items():
                at = {q + i: letter for i, letter in enumerate(v)}
                shared = [i for i in at if p <= i < p + k]
                if shared and all(at[i] == word[i - p] for i in shared):
                    outside = [chances[letters.index(at[i])] for i in at if i not in shared]
                    W[number, p] += weight * np.prod(outside)
    return W


@pytest.mark.parametrize("kernel", [WeightedDegree(4), WeightedDegreeShift(3, 2)], ids=str)
@pytest.mark.parametrize("letters", ["ACGT", "ACGTN"])
def test_all_words_that_overlap_count(kernel, letters, rng):
    model = fitted(kernel, rng, letters, normalize=None)
    store = WeightStore(kernel)
    X = texts(np.random.default_rng(0), 1)  # the kernel learns its length
    store.add(X, np.zeros(1))
    table = model._model.examples.tables[0].sequences
    store.add(table, model.dual_coef_[0] * model.weights_[0])
    uniform = np.full(4, 0.25)
    for k in (1, 2, 3):
        W = overlapping_words(store.items(), k, "ACGT", uniform)
        found = kmer_weights(model, k)
        np.testing.assert_allclose(found.W, W, atol=1e-10)
        np.testing.assert_allclose(importance(model, 3).S[k - 1, : LENGTH - k + 1], W.max(axis=0))


def test_top_is_sorted_and_names_words_and_positions(rng):
    model = fitted(WeightedDegree(4), rng)
    found = kmer_weights(model, 2)
    top = found.top(7)
    assert [weight for _, _, weight in top] == sorted(found.W.ravel())[::-1][:7]
    word, position, weight = top[0]
    assert found.W[found.kmers.index(word), position] == weight
    assert len(found.top(10**6)) == found.W.size
    streamed = top_kmers(model, 7, k=2)
    assert [(word, p) for word, p, _ in streamed] == [(word, p) for word, p, _ in top]


def test_weights_in_pieces_are_those_of_the_whole(rng, monkeypatch):
    model = fitted(WeightedDegree(4), rng)
    whole = kmer_weights(model, 3)
    some = kmer_weights(model, 3, positions=(2, 6))
    np.testing.assert_allclose(some.W, whole.W[:, 2:4], atol=1e-12)
    np.testing.assert_array_equal(some.positions, [2, 3])
    monkeypatch.setattr(inspection.kmers, "MOST_BYTES", 4 * 1200.0)
    assert [t[:2] for t in top_kmers(model, 5, k=3)] == [t[:2] for t in whole.top(5)]


def test_the_motifs_lead():
    X, y = make_motifs(1000, 0, random_state=1)
    model = MKLClassifier(WeightedDegree(20), C=2.0).fit(X, y)
    (first, at, _), (second, there, _) = kmer_weights(model, 7).top(2)
    assert {(first, at), (second, there)} == {("GATTACA", 10), ("AGTAGTG", 30)}


@pytest.mark.parametrize("both_strands", [False, True])
def test_spectrum_models_are_sums_of_their_words(both_strands, rng):
    model = fitted([Spectrum([1, 3], both_strands=both_strands)], rng, norm=2)
    weights = dict(top_kmers(model, 10**6))
    assert list(weights.values()) == sorted(weights.values())[::-1]
    complement = str.maketrans("ACGT", "TGCA")

    def score(x):
        words = [x[i : i + k] for k in (1, 3) for i in range(LENGTH - k + 1)]
        if both_strands:
            words = [min(word, word[::-1].translate(complement)) for word in words]
        return sum(weights.get(word, 0.0) for word in words)

    X = texts(rng, 20)
    expected = model.decision_function(X) - model.intercept_
    np.testing.assert_allclose([score(x) for x in X], expected, atol=1e-10)


def test_a_class_of_several(rng):
    X = texts(rng, 60)
    y = np.array([x[2] for x in X])
    model = MKLClassifier(WeightedDegree(2)).fit(X, y)
    for number, letter in enumerate("ACGT"):
        Q = poim(model, 1, target=letter)
        expected = expected_scores(model, 1, 2, np.full(4, 0.25), number)
        np.testing.assert_allclose(Q.W[:, 2], expected, atol=1e-10)
        assert Q.top(1)[0][:2] == (letter, 2)


def test_other_alphabets_and_estimators(rng):
    X = texts(rng, 50, "ACDEFGHIKLMNPQRSTVWY")
    y = np.array([x[3] in "KR" for x in X], dtype=float)
    y[:2] = 0, 1
    model = MKLRegressor(WeightedDegree(3, alphabet="protein")).fit(X, y)
    assert kmer_weights(model, 2).W.shape == (400, 5)
    rna = MKLOneClass(WeightedDegree(3, alphabet="rna")).fit(texts(rng, 30, "ACGU"))
    assert kmer_weights(rna, 1).kmers == ("A", "C", "G", "U")


def test_bad_input_is_named(rng):
    model = fitted(WeightedDegree(4), rng)
    with pytest.raises(ValueError, match="k must be between 1 and 6"):
        kmer_weights(model, 7)
    with pytest.raises(ValueError, match="k must be between 1 and 6"):
        importance(model, 0)
    with pytest.raises(ValueError, match="between 0 and 6"):
        kmer_weights(model, 2, positions=(3, 7))
    with pytest.raises(ValueError, match="room for 2 letters"):
        kmer_weights(model, 2, positions=(3, 4))
    with pytest.raises(ValueError, match="background must be 4 probabilities"):
        kmer_weights(model, 2, background=[0.5, 0.5])
    with pytest.raises(ValueError, match="n must be an integer >= 1"):
        kmer_weights(model, 2).top(0)
    with pytest.raises(ValueError, match="give k="):
        top_kmers(model, 3)
    with pytest.raises(TypeError, match="fitted estimator"):
        kmer_weights("model", 2)


def test_models_without_words(rng):
    X, y = rng.normal(size=(20, 2)), np.repeat([-1, 1], 10)
    with pytest.raises(ValueError, match="no weighted degree kernel"):
        kmer_weights(MKLClassifier(RBF(1.0)).fit(X, y), 2)
    with pytest.raises(ValueError, match="no weighted degree kernel"):
        kmer_weights(fitted(Spectrum(2), rng), 2)
    with pytest.raises(ValueError, match="no spectrum or gapped k-mer kernel"):
        top_kmers(MKLClassifier(Linear()).fit(X, y), 2)
    with pytest.raises(ValueError, match="not a sum over words"):
        kmer_weights(fitted(WeightedDegree(2) * WeightedDegree(3), rng), 2)


def test_results_too_large_for_memory_name_their_size(rng):
    X = texts(rng, 30, length=40)
    y = np.where([x[5] in "AC" for x in X], 1, -1)
    model = MKLClassifier(WeightedDegree(20)).fit(X, y)
    with pytest.raises(ValueError, match=r"4\^14 k-mers at 27 positions would take 54.0 GB; top"):
        kmer_weights(model, 14)
    with pytest.raises(ValueError, match="take a smaller k"):
        top_kmers(model, 1, k=14)
    with pytest.raises(ValueError, match="max_k=14 needs tables of"):
        importance(model, 14)
