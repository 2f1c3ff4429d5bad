"""Weight stores against a dictionary of words, and against each other."""

from collections import Counter
from dataclasses import replace

import numpy as np
import pytest

from kernelweave.common.core import _core
from kernelweave.kernels import (
    CompiledKernels,
    NGram,
    Spectrum,
    Substring,
    WeightedDegree,
    WeightedDegreeShift,
)
from kernelweave.sequences.weight_stores import WeightStore

COMPLEMENT = str.maketrans("ACGT", "TGCA")
KINDS = ["table", "sorted", "hash", "suffix"]
KERNELS = [
    Spectrum(1),
    Spectrum(3),
    Spectrum(8),
    Spectrum(9),
    Spectrum(4, both_strands=True),
    Spectrum(5, both_strands=True),
    Spectrum(3, alphabet="protein"),
    NGram(2),
    NGram(8),
]
CASES = [
    replace(kernel, store=kind)
    for kernel in KERNELS
    for kind in KINDS
    if not (kind == "suffix" and kernel.both_strands)
    and not (kind == "table" and kernel == NGram(8))
]
LONG = [
    Spectrum(32, store="suffix"),
    Spectrum(16, alphabet="protein", store="suffix"),
    NGram(9, store="suffix"),
    Substring(0.7),
    Substring(1.0, longest=5, store="suffix"),
    Substring(0.9, shortest=3, longest=20, alphabet="protein"),
    Substring(weights=[0, 2, 0, 0.5, 0]),
    Substring(0.5, alphabet="bytes"),
]
POSITIONAL = [
    WeightedDegree(1),
    WeightedDegree(6),
    WeightedDegree(20),
    WeightedDegree(3, weights=[0, 0, 2.5]),
    WeightedDegreeShift(4, 2),
    WeightedDegree(3, alphabet="protein"),
]


def texts(rng, kernel, n=12, length=None):
    """Random texts with unknown letters, some of them alike, some shorter than any word."""
    letters = [*kernel.alphabet.letters[:20].decode("latin-1")]
    unknown = "X" if len(letters) > 4 else "N"
    drawn = []
    for _ in range(n):
        size = length or int(rng.integers(1, 60))
        drawn.append("".join(rng.choice([*letters, *letters, unknown], size=size)))
    drawn[1] = drawn[0]
    return [*drawn, letters[0] * (length or 30)]


def words(x, kernel):
    """Return the words of x and their counts, as the kernel counts them."""
    letters = kernel.alphabet.letters.decode("latin-1")
    if isinstance(kernel, Substring):
        return Counter(
            x[i:j]
            for i in range(len(x))
            for j in range(i + 1, len(x) + 1)
            if set(x[i:j]) <= set(letters) and length_weight(kernel, j - i)
        )
    if isinstance(kernel, Spectrum):
        found = [x[i : i + kernel.k] for i in range(len(x) - kernel.k + 1)]
        found = [u for u in found if set(u) <= set(letters)]
        if kernel.both_strands:  # the first of the two in the order of the alphabet
            found = [min(u, u.translate(COMPLEMENT)[::-1]) for u in found]
        return Counter(found)
    found = Counter()
    for k in range(1, kernel.degree + 1):
        for i in range(len(x) - k + 1):
            if set(x[i : i + k]) <= set(letters):
                found[i, x[i : i + k]] += 1
    return found


def length_weight(kernel, length):
    """Return the weight of substrings of a length."""
    if kernel.weights is not None:
        return kernel.weights[length - 1] if length <= len(kernel.weights) else 0.0
    inside = kernel.shortest <= length <= (kernel.longest or 65534)
    return kernel.decay**length if inside else 0.0


def oracle(X, delta, kernel):
    """Return the weights of all words as a dictionary."""
    w = Counter()
    for x, d in zip(X, delta, strict=True):
        for u, count in words(x, kernel).items():
            if isinstance(kernel, Spectrum):
                w[u] += d * count
                continue
            if isinstance(kernel, Substring):
                w[u] += d * count * length_weight(kernel, len(u))
                continue
            position, word = u
            most = max(kernel.shifts, default=0)
            for shift in range(-most, most + 1):
                if 0 <= position + shift <= len(x) - len(word):
                    part = 1.0 if shift == 0 else 1 / (2 * (abs(shift) + 1))
                    w[position + shift, word] += (
                        d * count * part * kernel.match_weights[len(word) - 1]
                    )
    return {u: weight for u, weight in w.items() if weight != 0}


def looked_up(w, X, kernel):
    return np.array([sum(w.get(u, 0.0) * c for u, c in words(x, kernel).items()) for x in X])


def check(store, w, X, kernel):
    """Compare a store with a dictionary."""
    found = store.items()
    assert found.keys() == w.keys()
    np.testing.assert_allclose([found[u] for u in w], list(w.values()), rtol=1e-12)
    np.testing.assert_allclose(store.lookup(X), looked_up(w, X, kernel), rtol=1e-11, atol=1e-12)


@pytest.mark.parametrize("kernel", [*CASES, *LONG], ids=str)
def test_words_anywhere(kernel, rng):
    X, new = texts(rng, kernel), texts(rng, kernel)
    delta = rng.random(len(X)) + 0.5
    store = WeightStore(kernel)
    assert store.lookup(new).tolist() == [0.0] * len(new)
    store.add(X[:5], delta[:5])
    check(store, oracle(X[:5], delta[:5], kernel), new, kernel)
    store.add(X[5:], delta[5:])
    check(store, oracle(X, delta, kernel), new, kernel)
    assert store.kind == ("suffix" if isinstance(kernel, Substring) else kernel.store)
    assert store.nbytes > 0
    store.clear()
    check(store, {}, new, kernel)
    store.add(X, delta)
    check(store, oracle(X, delta, kernel), new, kernel)


@pytest.mark.parametrize("kernel", POSITIONAL, ids=str)
def test_words_with_positions(kernel, rng):
    X, new = texts(rng, kernel, length=30), texts(rng, kernel, length=30)
    kernel = kernel.resolve(X)
    delta = rng.random(len(X)) + 0.5
    store = WeightStore(kernel)
    assert store.lookup(new).tolist() == [0.0] * len(new)
    store.add(X[:5], delta[:5])
    check(store, oracle(X[:5], delta[:5], kernel), new, kernel)
    store.add(X[5:], delta[5:])
    check(store, oracle(X, delta, kernel), new, kernel)
    store.clear()
    check(store, {}, new, kernel)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("other", KINDS)
def test_merging_stores_of_all_kinds(kind, other, rng):
    kernel = Spectrum(4)
    X = texts(rng, kernel)
    delta = rng.random(len(X)) + 0.5
    first, second = (WeightStore(replace(kernel, store=name)) for name in (kind, other))
    first.add(X[:7], delta[:7])
    second.add(X[7:], delta[7:])
    first.merge(second)
    check(first, oracle(X, delta, kernel), X, kernel)
    empty = WeightStore(kernel)
    empty.merge(second)
    check(empty, oracle(X[7:], delta[7:], kernel), X, kernel)


@pytest.mark.parametrize(
    "kernel", [WeightedDegree(5), Spectrum(3, store="suffix"), Substring(0.8)], ids=str
)
def test_merging_a_store_with_itself_doubles_weights(kernel, rng):
    X = texts(rng, kernel, length=30)
    store = WeightStore(kernel)
    store.add(X, np.ones(len(X)))
    store.merge(store)
    check(store, oracle(X, np.full(len(X), 2.0), store.kernel), X, store.kernel)


def test_words_of_whole_sequences_are_the_same_with_and_without_positions(rng):
    X = ["".join(rng.choice(list("ACGT"), size=6)) for _ in range(50)] * 2
    delta = rng.normal(size=100)
    kernels = [Spectrum(6, store=kind) for kind in KINDS]
    kernels.append(WeightedDegree(6, weights=[0, 0, 0, 0, 0, 1]))
    values = []
    for kernel in kernels:
        store = WeightStore(kernel)
        store.add(X, delta)
        values.append(store.lookup(X))
    for value in values[1:]:
        np.testing.assert_allclose(value, values[0], rtol=1e-12)


@pytest.mark.parametrize(
    "kernel", [Spectrum(6), Spectrum(11), NGram(3), WeightedDegree(9)], ids=str
)
def test_weights_that_cancel_leave_nothing(kernel, rng):
    X = texts(rng, kernel, length=40)
    store = WeightStore(kernel)
    store.add(X, np.ones(len(X)))
    store.add(X, -np.ones(len(X)))
    assert store.items() == {}
    np.testing.assert_allclose(store.lookup(X), 0.0, atol=1e-12)


def test_the_former_trie_of_kmers_is_read_as_a_hash_map():
    assert Spectrum(3, store="trie") == Spectrum(3, store="hash")
    assert NGram([2, 3], store="trie").store == "hash"


def test_the_store_follows_alphabet_length_and_number_of_words():
    few, many = ["ACGT" * 4], ["ACGT" * 10_000] * 100

    def chosen(kernel, X):
        store = WeightStore(kernel)
        assert store.kind == "auto"
        store.add(X, np.ones(len(X)))
        return store.kind

    assert chosen(Spectrum(8), few) == "table"
    assert chosen(Spectrum(10), few) == "hash"
    assert chosen(Spectrum(10), many) == "table"
    assert chosen(Spectrum(20), many) == "hash"
    assert chosen(NGram(4), few) == "hash"
    assert chosen(WeightedDegree(20), few) == "trie"


@pytest.mark.parametrize("kernel", [*CASES, *LONG], ids=str)
def test_engines_go_through_every_store(kernel, rng):
    X = texts(rng, kernel, n=60)
    idx, delta = np.arange(0, 60, 2), rng.normal(size=30)
    expected = replace(kernel, store="rows")(X)[:, idx] @ delta
    compiled = CompiledKernels((kernel.resolve(X),))
    engine = _core.Engine(compiled.program, compiled.training(X).side, 0, 2)
    engine.add(idx, delta)
    np.testing.assert_allclose(engine.outputs[0], expected, rtol=1e-9, atol=1e-9)


def test_threads_look_up_the_same(rng):
    X = ["".join(rng.choice(list("ACGT"), size=20)) for _ in range(9000)]
    for kernel in (Spectrum(5), WeightedDegree(7)):
        store = WeightStore(kernel)
        store.add(X[:100], rng.normal(size=100))
        np.testing.assert_array_equal(store.lookup(X, n_jobs=2), store.lookup(X))


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: WeightStore("dna"), "kernel must be Spectrum"),
        (lambda: WeightStore(Spectrum([1, 2])), "no family"),
        (lambda: WeightStore(Spectrum(2, store="rows")), "has no weight store"),
        (lambda: Spectrum(2, store="tree"), "store must be one of .*'hash'.*, got 'tree'"),
        (lambda: Spectrum(2, store="suffix", both_strands=True), "does not support both_strands"),
        (lambda: Spectrum(15, store="table"), "but there are 4\\^15"),
        (lambda: WeightStore(Spectrum(2)).add(["ACGT"], [1, 2]), "delta must be 1 finite"),
        (lambda: WeightStore(Spectrum(2)).add(["ACGT"], [np.nan]), "delta must be 1 finite"),
        (lambda: merged(Spectrum(2), Spectrum(3)), "other must be a store of"),
        (lambda: merged(Spectrum(2), WeightedDegree(3)), "other must be a store of"),
    ],
)
def test_bad_input_is_named(make, message):
    with pytest.raises(ValueError, match=message):
        make()


def merged(*kernels):
    """Merge stores of two kernels."""
    first, second = (WeightStore(kernel) for kernel in kernels)
    first.add(["ACGT"], [1.0])
    second.add(["ACGT"], [1.0])
    first.merge(second)
