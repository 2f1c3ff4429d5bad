"""Substring kernels against brute-force counts."""

from dataclasses import replace

import naive_strings as naive
import numpy as np
import pytest

from kernelweave import MKLClassifier
from kernelweave.kernels import Spectrum, Substring
from kernelweave.sequences.weight_stores import WeightStore

PROTEIN = "ACDEFGHIKLMNPQRSTVWY"


def texts(rng, letters, n=6):
    """Random texts, repeats of a unit, parts of one text, runs of a letter and single letters."""
    long = "".join(rng.choice(list(letters), size=60))
    drawn = ["".join(rng.choice(list(letters), size=rng.integers(1, 40))) for _ in range(n)]
    parts = [long[i : i + 25] for i in rng.integers(0, 40, size=n)]
    return [*drawn, *parts, long, long[:4] * 9, letters[0] * 30, letters[0], letters[1]]


@pytest.mark.parametrize("letters", ["ACGT", "ACGTN", PROTEIN, "HP", "abc ü"])
@pytest.mark.parametrize(
    ("parameters", "weight"),
    [
        ({"decay": 0.5}, lambda k: 0.5**k),
        ({"decay": 1.0}, lambda k: 1.0),
        ({"decay": 0.9, "shortest": 3, "longest": 7}, lambda k: 0.9**k * (3 <= k <= 7)),
        ({"weights": [1, 0, 0, 2]}, lambda k: {1: 1, 4: 2}.get(k, 0)),
        ({"longest": 1}, lambda k: 0.5 * (k == 1)),
    ],
    ids=lambda value: str(value) if isinstance(value, dict) else "",
)
def test_kernel_counts_common_substrings(parameters, weight, letters, rng):
    X = texts(rng, letters)
    named = {"ACGT": "dna", "ACGTN": "dna", PROTEIN: "protein"}
    known = "ACGT" if letters == "ACGTN" else letters
    kernel = Substring(**parameters, alphabet=named.get(letters, "bytes"))
    seen = X
    if "ü" in letters:  # two bytes
        seen = [x.encode().decode("latin-1") for x in X]
        known = "".join(chr(i) for i in range(256))
    expected = [[naive.substring(x, y, weight, known) for y in seen] for x in seen]
    np.testing.assert_allclose(kernel(X), expected, rtol=1e-12)
    np.testing.assert_allclose(kernel.diagonal(X), np.diag(expected), rtol=1e-12)


def test_new_texts_against_old_ones(rng):
    X, Y = texts(rng, "ACGT"), [*texts(rng, "ACGTN"), "N" * 12]
    expected = [[naive.substring(x, y, lambda k: 0.8**k) for y in Y] for x in X]
    np.testing.assert_allclose(Substring(0.8)(X, Y), expected, rtol=1e-12)


def test_a_sum_of_spectra_is_a_substring_kernel(rng):
    X = ["".join(rng.choice(list("ACGT"), size=300)) for _ in range(50)]
    weights = rng.random(12)
    spectra = Spectrum(range(1, 13))(X)
    np.testing.assert_allclose(
        Substring(weights=weights)(X), np.tensordot(weights, spectra, 1), rtol=1e-12
    )


def test_family_of_decays(rng):
    X = texts(rng, "ACGT")
    for value, decay in zip(Substring([0.3, 0.9])(X), (0.3, 0.9), strict=True):
        np.testing.assert_allclose(value, Substring(decay)(X), rtol=1e-12)


@pytest.mark.parametrize(
    "kernel", [Substring([0.4, 0.8]), Spectrum([4, 33]), Spectrum(34)], ids=str
)
def test_fits_by_rows_and_by_suffix_arrays_agree(kernel, rng):
    X = texts(rng, "ACGT", n=60)
    y, new = np.array(["GA" in x for x in X]), texts(rng, "ACGT")
    values = []
    for store in ("rows", "suffix"):
        model = MKLClassifier(replace(kernel, store=store), norm=2, C=1.0, tol=1e-8).fit(X, y)
        assert model.duality_gap_ <= 1e-8
        values.append(model.decision_function(new))
    np.testing.assert_allclose(values[0], values[1], atol=1e-3)


@pytest.mark.parametrize("letters", ["ACGT", "HP", PROTEIN])
@pytest.mark.parametrize("k", [1, 2, 3, 7, 16, 33])
def test_long_words_of_altered_texts(k, letters, rng):
    known = "".join(rng.choice(list(letters), size=150))
    X = [known, known[40:100] + known[:50], "".join(rng.choice(list(letters), size=80))]
    new = [known[50:] + known[:70], known[-20:], "".join(rng.choice(list(letters), size=90))]
    for distance in (5, 17, 34, 50):  # letters between alterations; "?" is in no alphabet
        altered = np.array(list(known))
        altered[::distance] = rng.choice([*letters, "?"], size=len(altered[::distance]))
        new.append("".join(altered))
    alphabet = {"ACGT": "dna", PROTEIN: "protein"}.get(letters, "HP")
    store = WeightStore(Spectrum(k, alphabet=alphabet, store="suffix"))
    coefficients = np.array([1.0, -2.0, 0.5])
    store.add(X, coefficients)
    expected = [[naive.substring(x, y, lambda n: n == k, letters) for y in X] for x in new]
    np.testing.assert_allclose(store.lookup(new), expected @ coefficients, rtol=1e-12, atol=1e-12)


def test_real_proteins_share_long_substrings(load_real):
    table = load_real("protein_fold_seq.csv.gz")
    X = [x[:100] for x in table["sequence"][:12]]
    for kernel, weight in (
        (Substring(0.9, alphabet="protein"), lambda k: 0.9**k),
        (Substring(weights=[0] * 15 + [1.0], alphabet="protein"), lambda k: float(k == 16)),
    ):
        expected = [[naive.substring(x, y, weight, PROTEIN) for y in X] for x in X]
        np.testing.assert_allclose(kernel(X), expected, rtol=1e-12)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Substring(0.0), "decay must be a number with 0 < decay <= 1"),
        (lambda: Substring(1.5), "decay must be"),
        (lambda: Substring("a"), "decay must be"),
        (lambda: Substring([]), "decay must be"),
        (lambda: Substring(shortest=0), "shortest must be an integer from 1"),
        (lambda: Substring(longest=10**6), "longest must be an integer from 1"),
        (lambda: Substring(shortest=5, longest=4), "shortest=5 must be at most longest=4"),
        (lambda: Substring(1e-300, shortest=2), "is 0 in floating point"),
        (lambda: Substring(weights=[]), "weights must be 1 to"),
        (lambda: Substring(weights=[1, -1]), "weights must be 1 to"),
        (lambda: Substring(weights=[0, 0]), "one of them positive"),
        (lambda: Substring(weights=[1], longest=2), "pass weights alone"),
        (lambda: Substring(store="hash"), "store must be one of"),
    ],
)
def test_bad_input_is_named(make, message):
    with pytest.raises(ValueError, match=message):
        make()
