"""Spectrum and n-gram kernels against their formulas."""

import warnings
from dataclasses import replace

import naive_strings as naive
import numpy as np
import pytest

from kernelweave.common.core import _core
from kernelweave.kernels import GappedKmer, NGram, Spectrum, WeightedDegree, prepare


def texts(rng, n=8, letters="ACGTN"):
    lengths = rng.integers(1, 60, n)
    return ["".join(rng.choice(list(letters), size=length)) for length in lengths]


def test_integers_of_numpy_are_integers(rng):
    assert Spectrum(np.int64(3)) == Spectrum(3)
    assert Spectrum(np.array([3, 4])) == Spectrum([3, 4])
    X = texts(rng)
    np.testing.assert_array_equal(Spectrum(np.uint8(3))(X), Spectrum(3)(X))


@pytest.mark.parametrize("k", [1, 2, 5, 8, 9, 20, 31])
@pytest.mark.parametrize("both_strands", [False, True])
def test_spectrum(k, both_strands, rng):
    X = [*texts(rng), "ACGT" * 10, "ACGT" * 12]
    expected = [[naive.spectrum(x, y, k, both_strands=both_strands) for y in X] for x in X]
    kernel = Spectrum(k, both_strands=both_strands)
    np.testing.assert_allclose(kernel(X), expected)
    np.testing.assert_allclose(kernel.diagonal(X), np.diag(expected))


@pytest.mark.parametrize("k", [3, 10])
def test_new_sequences_may_have_new_words(k, rng):
    X, Y = texts(rng), [*texts(rng, 5), "ACGT" * 8]
    expected = [[naive.spectrum(x, y, k) for y in Y] for x in X]
    np.testing.assert_allclose(Spectrum(k)(X, Y), expected)


def test_families_of_lengths(rng):
    X = texts(rng)
    values = Spectrum(range(1, 5))(X)
    for k, value in enumerate(values, 1):
        np.testing.assert_allclose(value, Spectrum(k)(X))


@pytest.mark.parametrize("k", [1, 3, 7, 8])
def test_ngrams_count_every_byte(k):
    X = ["to be, or not to be", "To be or not", "nothing?", "ü", "no to no to no"]
    X += ["\x00\x01\x02" * 4, "\x01\x02\x00\x01\x02\x00\x01\x02\x00", "\U0010ffff" * 3]
    raw = [x.encode().decode("latin-1") for x in X]
    expected = [[naive.spectrum(x, y, k, letters=None) for y in raw] for x in raw]
    np.testing.assert_allclose(NGram(k)(X), expected)


@pytest.mark.parametrize("store", ["auto", "rows", "suffix"])
@pytest.mark.parametrize(
    ("kernel", "letters"),
    [
        (Spectrum(32), "ACGT"),
        (Spectrum(64), "ACGT"),
        (Spectrum(16, alphabet="protein"), "ACDEFGHIKLMNPQRSTVWY"),
        (NGram(9), "ab c"),
        (Spectrum([4, 70], alphabet="HP"), "HP"),
    ],
    ids=str,
)
def test_words_of_more_than_64_bits(kernel, letters, store, rng):
    """Copies of parts of one sequence, so that long words are shared and repeated."""
    long = "".join(rng.choice(list(letters), size=120)) * 2
    X = [long[i:j] for i, j in rng.integers(0, 240, size=(20, 2)) if i < j]
    X += [long, letters[0] * 90, letters[0]]
    kernel = replace(kernel, store=store)
    values = np.atleast_3d(kernel(X).T).T
    for k, value in zip(kernel.lengths, values, strict=True):
        expected = [[naive.spectrum(x, y, k, letters=letters) for y in X] for x in X]
        np.testing.assert_array_equal(value, expected)
        assert np.count_nonzero(np.array(expected)) > 20


def test_proteins(rng):
    letters = "ACDEFGHIKLMNPQRSTVWY"
    X = texts(rng, letters=letters + "X")
    expected = [[naive.spectrum(x, y, 4, letters=letters) for y in X] for x in X]
    np.testing.assert_allclose(Spectrum(4, alphabet="protein")(X), expected)


@pytest.mark.parametrize("how", [None, "unit", "variance"])
def test_blocks_of_many_columns(how, rng):
    X = ["".join(rng.choice(list("ACGT"), size=80)) for _ in range(40)]
    compiled, examples = prepare(Spectrum(8), how, X)
    engine = _core.Engine(compiled.program, examples.side, 0, 2)
    idx = np.arange(1, 40, 3)
    chosen = examples.take(idx).side
    (expected,) = _core.evaluate(compiled.program, chosen, chosen, 1)
    np.testing.assert_allclose(engine.block(idx, np.full(1, 0.7)), 0.7 * expected, rtol=1e-12)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Spectrum(0), "k must be an integer from 1"),
        (lambda: Spectrum(32, store="hash"), "requires fewer than 2\\^64 .* take store='suffix'"),
        (lambda: Spectrum(32, both_strands=True), "both_strands=True requires fewer than 2\\^64"),
        (lambda: Spectrum(2**70), "k must be an integer from 1"),
        (lambda: Spectrum(10**9), "k must be an integer from 1 to 65,534"),
        (lambda: Spectrum("3"), "k must be"),
        (lambda: Spectrum([3, 2.5]), "k must be"),
        (lambda: Spectrum([]), "k is an empty sequence"),
        (lambda: NGram(10**5), "n must be"),
        (lambda: Spectrum(3, alphabet="protein", both_strands=True), "no complement"),
        (lambda: Spectrum(3)(["ACGT", ""]), "sequence 1 is empty"),
    ],
)
def test_bad_input_is_named(make, message):
    with pytest.raises(ValueError, match=message):
        make()


@pytest.mark.parametrize("kernel", [Spectrum(1), WeightedDegree(2), GappedKmer(3, 2)], ids=str)
def test_letters_of_another_alphabet_are_warned_of(kernel, rng):
    """Once per fit, and not of new examples."""
    proteins = ["".join(rng.choice(list("ACDEFGHIKLMNPQRSTVWY"), 30)) for _ in range(20)]
    with pytest.warns(UserWarning, match="% of the letters are not among ACGT") as warned:
        kernels, _ = prepare(kernel, "variance", proteins)
    assert len(warned) == 1
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        kernels.examples(proteins)
        prepare(Spectrum(1, alphabet="protein"), "variance", proteins)
        prepare(kernel, "variance", ["ACGTNNNACGT", "ACGGNNNACCC"])
