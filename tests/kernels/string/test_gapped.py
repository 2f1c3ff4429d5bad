"""Gapped k-mer and mismatch kernels against sums over all pairs of words."""

import naive_strings as naive
import numpy as np
import pytest
from mkl_cases import uses

from kernelweave import MKLClassifier, verify
from kernelweave.common.core import _core
from kernelweave.kernels import GappedKmer, Mismatch, Spectrum, WeightedDegree, prepare
from kernelweave.optimization.inner.conjugate_gradients import ConjugateGradients
from kernelweave.sequences import Sequences
from kernelweave.sequences.weight_stores import WeightStore

PROTEIN = "ACDEFGHIKLMNPQRSTVWY"
CASES = [
    {},
    {"l": 5, "k": 3, "filter": "count"},
    {"l": 6, "k": 4, "filter": "full"},
    {"l": 8, "k": 5, "d": 2},
    {"l": 7, "k": 4, "both_strands": False},
    {"l": 6, "k": 4, "centre": (50, 10)},
    {"l": 1, "k": 1},
    {"l": 2, "k": 1},
    {"l": 3, "k": 2},
]
pytestmark = pytest.mark.filterwarnings("ignore:X:UserWarning", "ignore:GappedKmer:UserWarning")


def texts(rng, n=6, letters="ACGTACGTACGTACGTN", longest=40):
    lengths = rng.integers(3, longest, n)
    return ["".join(rng.choice(list(letters), size=length)) for length in lengths]


def expected(kernel, X, Y, letters="ACGT"):
    (member,) = kernel.members
    rule = {"both_strands": kernel.both_strands, "letters": letters}
    rule["centre"] = kernel.position_weights

    def h(m):
        return float(member.values[m])

    return np.array([[naive.hamming(x, y, member.length, h, **rule) for y in Y] for x in X])


@pytest.mark.parametrize("case", CASES, ids=str)
def test_gapped_kmers(case, rng):
    X, Y = [*texts(rng), "ACGT" * 10, "A" * 30], texts(rng, 3)
    kernel = GappedKmer(**case)
    K = expected(kernel, X, X)
    np.testing.assert_allclose(kernel(X), K, rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(kernel.diagonal(X), np.diag(K), rtol=1e-12)
    np.testing.assert_allclose(kernel(X, Y), expected(kernel, X, Y), rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("letters", ["ACGT", "HP", PROTEIN])
@pytest.mark.parametrize(("k", "m"), [(1, 0), (3, 1), (4, 2), (4, 4)])
def test_mismatches_of_any_alphabet(letters, k, m, rng):
    X = texts(rng, letters=letters + "X")
    kernel = Mismatch(k, m, alphabet={"ACGT": "dna", PROTEIN: "protein"}.get(letters, letters))
    K = expected(kernel, X, X, letters)
    np.testing.assert_allclose(kernel(X), K)
    np.testing.assert_allclose(kernel.diagonal(X), np.diag(K))


def test_kernels_without_mismatches_are_spectrum_kernels(rng):
    X = texts(rng)
    np.testing.assert_allclose(Mismatch(4, 0)(X), Spectrum(4)(X))
    np.testing.assert_allclose(GappedKmer(4, 4, both_strands=False)(X), Spectrum(4)(X))


def test_counters_of_long_sequences_do_not_overflow():
    """Words of one letter agree everywhere, and with the other strand nowhere."""
    X, kernel = ["A" * 900, "A" * 300], GappedKmer(6, 3, filter="full")
    h = kernel.members[0].values
    each = float(h[0] + h[6])
    np.testing.assert_allclose(kernel(X), each * np.outer([895, 295], [895, 295]), rtol=1e-13)
    np.testing.assert_allclose(kernel.diagonal(X), each * np.array([895.0, 295.0]) ** 2)


@pytest.mark.parametrize("level", _core.simd_levels())
def test_every_simd_level_counts_the_same(level, rng):
    X, v = texts(rng, longest=200), rng.normal(size=6)
    kernel = GappedKmer(l=7, k=4, filter="full", store="table")
    best = kernel(X)
    before = _core.simd_level()
    try:
        _core.use_simd(level)
        np.testing.assert_array_equal(kernel(X), best)
        np.testing.assert_allclose(kernel.diagonal(X), np.diag(best), rtol=1e-14)
        np.testing.assert_allclose(products(kernel, X) @ v, best @ v, atol=1e-9)
    finally:
        _core.use_simd(before)


def products(kernel, X, weights=(1.0,), n_jobs=1):
    compiled, examples = prepare(kernel, None, X)
    engine = _core.LinearEngine(compiled.program, examples.side, 1 << 30, n_jobs)
    found = engine.products(keep=True)
    found.weigh(np.array(weights))
    return found


@pytest.mark.parametrize("n_jobs", [1, 2])
@pytest.mark.parametrize("case", [*CASES, {"l": 9, "k": 6}], ids=str)
def test_products_by_tables_equal_those_with_the_matrix(case, n_jobs, rng):
    X = texts(rng, 40)
    kernel, v = GappedKmer(**case, store="table"), rng.normal(size=40)
    product, K = products(kernel, X, n_jobs=n_jobs), kernel(X)
    close = {"rtol": 1e-9, "atol": 1e-9 * abs(K @ v).max()}
    np.testing.assert_allclose(product @ v, K @ v, **close)
    np.testing.assert_allclose(product.quadratic(v), [v @ K @ v], **close)
    np.testing.assert_allclose(product.outputs(v, np.array([3, 7])), (K @ v)[None, [3, 7]], **close)


def test_products_of_families_equal_weighted_matrices(rng):
    X, v, weights = texts(rng, 40), rng.normal(size=40), np.array([0.3, 0.0, 2.0])
    kernel = GappedKmer(l=[5, 6, 6], k=[3, 4, 5], store="table")
    product, K = products(kernel, X, weights), kernel(X)
    np.testing.assert_allclose(product @ v, np.tensordot(weights, K, 1) @ v, atol=1e-9)
    np.testing.assert_allclose(product.quadratic(v), [v @ k @ v for k in K], atol=1e-9)


@pytest.mark.parametrize("letters", ["HP", "ABC", PROTEIN])
def test_products_are_exact_for_any_alphabet(letters, rng):
    X = texts(rng, 40, letters)
    kernel = Mismatch(3, 1, alphabet=letters, store="table")
    v = rng.normal(size=40)
    np.testing.assert_allclose(products(kernel, X) @ v, kernel(X) @ v, atol=1e-9)


def test_products_of_many_words_add_both_strands_in_parts(rng):
    """So many that the other strand is added in the table, in parts."""
    X = Sequences.from_codes(rng.integers(0, 4, (90_000, 100)).astype(np.uint8))
    kernel, v = GappedKmer(5, 3), np.zeros(90_000)
    v[::1000] = rng.normal(size=90)
    product = products(kernel, X) @ v
    some = X[::10_000]
    np.testing.assert_allclose(product[::10_000], kernel(some, X[::1000]) @ v[::1000], rtol=1e-9)


@pytest.mark.parametrize("case", CASES, ids=str)
def test_merged_stores_equal_kernel_sums(case, rng):
    X, Y, delta = texts(rng, 8), texts(rng, 5), rng.normal(size=8)
    kernel = GappedKmer(**case, store="table")
    store = WeightStore(kernel)
    store.add(X[:5], delta[:5])
    other = WeightStore(kernel)
    other.add(X[5:], delta[5:])
    store.merge(other)
    np.testing.assert_allclose(store.lookup(Y), kernel(Y, X) @ delta, atol=1e-9)
    assert store.kind == "table"


def test_families_share_their_words(rng):
    X = texts(rng)
    family = GappedKmer(
        l=[6, 6, 8, 6], k=[3, 4, 5, 4], filter=["count", "full", "full", "truncated"]
    )
    assert len(family.quantities) == 2
    single = [GappedKmer(6, 3, None, "count"), GappedKmer(6, 4, None, "full")]
    single += [GappedKmer(8, 5, None, "full"), GappedKmer(6, 4)]
    for values, kernel in zip(family(X), single, strict=True):
        np.testing.assert_array_equal(values, kernel(X))
    assert family.names[0] == "GappedKmer l=6 k=3 filter='count'"


def test_short_sequences_are_counted_and_have_value_0(rng):
    X = ["ACGT" * 5, "ACG", "ACGTACGTAC", "TTGCA" * 4]
    with pytest.warns(UserWarning, match="2 of 4 sequences are shorter than 11 letters"):
        K = GappedKmer()(X)
    assert not K[1:3].any()
    assert K[0, 0] > 0
    with pytest.warns(UserWarning, match="shorter"):
        compiled, examples = prepare(GappedKmer(), "unit", X)
    np.testing.assert_allclose(_core.diagonal(compiled.program, examples.side), [[1, 0, 0, 1]])


def test_limits_of_mismatches_that_make_kernels_indefinite_are_warned_of():
    with pytest.warns(UserWarning, match=r"d=3 is not positive semidefinite.*-0.0003 of"):
        GappedKmer(11, 7, 3)
    with pytest.warns(UserWarning, match="not positive semidefinite"):
        GappedKmer(8, 6, 2, "full")


def test_resolve_does_not_repeat_the_warning_of_an_indefinite_kernel(rng, recwarn):
    kernel = GappedKmer(6, 4, 1)
    assert len(recwarn) == 1
    prepare(kernel, "unit", ["".join(rng.choice(list("ACGT"), 30)) for _ in range(5)])
    assert len(recwarn) == 1


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"l": 4, "k": 5}, "k, which is at most l, must be an integer from 1 to 4"),
        ({"l": 4, "k": 2, "d": 5}, "d, which is at most l, must be an integer from 0 to 4"),
        ({"l": 0}, "l must be an integer from 1"),
        ({"l": 32}, "fewer than 2\\^64"),
        ({"l": []}, "empty sequence"),
        ({"l": [5, 6], "k": [3, 3, 3]}, "the same length"),
        ({"filter": "half"}, "filter must be one of"),
        ({"centre": (0, 5)}, "centre must be"),
        ({"centre": 5}, "centre must be"),
        ({"store": "hash"}, "store must be one of"),
        ({"l": 15, "store": "table"}, "8 GB for 4\\^15 words.*at most 14 letters"),
        ({"alphabet": "protein"}, "no complement"),
    ],
)
def test_bad_parameters_are_named(arguments, message):
    with pytest.raises(ValueError, match=message):
        GappedKmer(**arguments)


def test_bad_mismatches_are_named():
    with pytest.raises(ValueError, match="m, which is at most k, must be an integer from 0 to 3"):
        Mismatch(3, 4)


@pytest.mark.parametrize("norm", [1, 2])
@pytest.mark.parametrize(("n", "store"), [(80, "rows"), (300, "table")])
def test_families_are_learned_with_other_kernels(n, store, norm, rng):
    """By working sets, and by products with tables: both certified anew from all pairs."""
    X = ["".join(rng.choice(list("ACGT"), 20)) for _ in range(n)]
    y = np.array(["TA" in x[8:13] for x in X])
    kernels = [GappedKmer([4, 5], [2, 3], store=store), Spectrum(3), WeightedDegree(3)]
    model = MKLClassifier(kernels, norm=norm, normalize="unit", C=0.3).fit(X, y)
    assert model.duality_gap_ <= 1e-3
    assert verify(model, X, y).gap <= 1.1e-3
    assert model.weights_.shape == (4,)


def test_families_are_trained_by_products(rng):
    X = ["".join(rng.choice(list("ACGT"), 130)) for _ in range(1100)]
    y = np.array(["TA" in x[8:13] for x in X])
    family = GappedKmer([4, 5, 5], [2, 3, 4])
    model = MKLClassifier(family, norm=2, normalize="unit").fit(X, y)
    assert model.plan_.engine == "linear"
    assert uses(model.plan_, ConjugateGradients)
    assert verify(model, X, y).gap <= 1.1e-3


@pytest.mark.parametrize(
    ("letters", "k", "m"),
    [("ACGT", 16, 9), ("ACGT", 20, 12), ("ACGT", 31, 20), ("HP", 40, 16), ("HP", 62, 30)],
)
def test_words_of_any_length_equal_the_formula(letters, k, m, level, rng):
    """Few long words begin within 64 letters, the size of a machine word."""
    X = texts(rng, 5, letters, longest=150)
    X.append(X[-1][7:] + X[0])
    kernel = Mismatch(k, m, alphabet="dna" if letters == "ACGT" else letters)
    K = expected(kernel, X, X, letters)
    np.testing.assert_allclose(kernel(X), K, rtol=1e-12)
    np.testing.assert_allclose(kernel.diagonal(X), np.diag(K), rtol=1e-12)


WINDOWED = [
    GappedKmer(6, 4),
    GappedKmer(5, 3, both_strands=False),
    GappedKmer(4, 2, filter="full"),
    GappedKmer(5, 3, centre=(20, 6)),
    GappedKmer([5, 7], [3, 4]),
    Mismatch(3, 1, alphabet="protein"),
]


@pytest.mark.parametrize("kernel", WINDOWED, ids=str)
@pytest.mark.parametrize("length", [4, 30, 65, 130])
def test_window_diagonals_equal_single_diagonals(kernel, length, rng):
    """To the last bit, with unknown letters, repeats and a break between two texts."""
    letters = kernel.alphabet.letters.decode()
    text = "".join(rng.choice(list(letters), 420))
    text = text[:150] + "A" * 20 + text[170:300] + "?" + text[301:]
    starts = [*range(len(text) - length + 1), *range(40), *range(60, 100, 7)]
    windows = [text[s : s + length] for s in starts]
    some = np.arange(0, len(windows), 7)
    alone = np.stack([np.ravel(kernel.diagonal([windows[w]])) for w in some], axis=1)
    found = np.atleast_2d(kernel.diagonal(windows))
    np.testing.assert_array_equal(found[:, some], alone)
    X = ["".join(rng.choice(list(letters), 60)) for _ in range(20)]
    store = WeightStore(kernel) if not kernel.is_family else None
    if store is not None:
        store.add(X, rng.normal(size=20))
        one = np.array([store.lookup([windows[w]])[0] for w in some])
        np.testing.assert_array_equal(store.lookup(windows)[some], one)


def test_names_show_the_weight_of_the_centre():
    names = GappedKmer((5, 6), 3, centre=(50, 12.5)).labels
    assert names[0] == "GappedKmer l=5 k=3 centre=(50, 12.5)"
    assert GappedKmer(5, 3).labels == ("GappedKmer l=5 k=3",)
