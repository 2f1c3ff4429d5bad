"""String kernels against their formulas, at every SIMD level, and the laws they obey."""

import subprocess
import sys
from dataclasses import replace

import naive_strings as naive
import numpy as np
import pytest

from kernelweave.common.core import _core
from kernelweave.kernels import (
    RBF,
    CompiledKernels,
    LocalityImproved,
    WeightedDegree,
    WeightedDegreeShift,
    prepare,
)
from kernelweave.kernels.compose.algebra import Scaled, Sum
from kernelweave.sequences import as_sequences

LENGTHS = [1, 5, 63, 64, 65, 141, 200, 300]


def texts(rng, length, n=7, letters="ACGTN"):
    """Random texts, two of which share their first half, with few unknown letters."""
    chances = np.full(len(letters), 1.0)
    chances[-1] = 0.05
    drawn = rng.choice(list(letters), size=(n, length), p=chances / chances.sum())
    drawn[1, : length // 2] = drawn[0, : length // 2]
    return ["".join(row) for row in drawn]


def pairwise(function, X, *args):
    return np.array([[function(x, y, *args) for y in X] for x in X])


@pytest.mark.parametrize("length", LENGTHS)
def test_weighted_degree(length, level, rng):
    X, kernel = texts(rng, length), WeightedDegree(min(9, length))
    expected = pairwise(naive.weighted_degree, X, kernel.match_weights)
    np.testing.assert_allclose(kernel(X), expected, rtol=1e-12)
    np.testing.assert_allclose(kernel.diagonal(X), np.diag(expected), rtol=1e-12)


@pytest.mark.parametrize("length", LENGTHS)
def test_shifts(length, level, rng):
    X, degree = texts(rng, length), min(9, length)
    for shift in (0, 3, rng.integers(0, 5, length).tolist()):
        kernel = WeightedDegreeShift(degree, shift)
        shifts = [shift] * length if isinstance(shift, int) else shift
        expected = pairwise(naive.weighted_degree_shift, X, kernel.match_weights, shifts)
        np.testing.assert_allclose(kernel(X), expected, rtol=1e-12)
        np.testing.assert_allclose(kernel.diagonal(X), np.diag(expected), rtol=1e-12)


def test_shifts_beyond_a_word(rng):
    X = texts(rng, 200, n=4)
    kernel = WeightedDegreeShift(3, 70)
    expected = pairwise(naive.weighted_degree_shift, X, kernel.match_weights, [70] * 200)
    np.testing.assert_allclose(kernel(X), expected, rtol=1e-12)


def test_members_of_families(level, rng):
    X = texts(rng, 70)
    kernel = WeightedDegree(5, weights=[3, 2, 2, 1, 0.5])
    degrees = WeightedDegree(5, weights=kernel.match_weights, split="degree")(X)
    for k, weight in enumerate(kernel.match_weights, 1):
        expected = weight * pairwise(naive.degree_part, X, k)
        np.testing.assert_allclose(degrees[k - 1], expected, rtol=1e-12)
    positions = WeightedDegree(5, weights=kernel.match_weights, split="position")(X)
    for i in range(70):
        expected = pairwise(naive.position_part, X, kernel.match_weights, i)
        np.testing.assert_allclose(positions[i], expected, rtol=1e-12)
    both = WeightedDegree(5, weights=kernel.match_weights, split="both").resolve(X)
    names, values = both.names, both(X)
    for k in range(1, 6):
        of_k = [f"k={k} " in name for name in names]
        assert sum(of_k) == 70 - k + 1
        np.testing.assert_allclose(values[of_k].sum(axis=0), degrees[k - 1], rtol=1e-12)
    for i in range(70):
        of_i = [name.endswith(f"position={i}") for name in names]
        np.testing.assert_allclose(values[of_i].sum(axis=0), positions[i], rtol=1e-12)
    shifted = WeightedDegreeShift(5, 3, split="degree")(X)
    np.testing.assert_allclose(shifted.sum(axis=0), WeightedDegreeShift(5, 3)(X), rtol=1e-12)


def position_part_shift(x, y, weights, shifts, i):
    """What matches whose first position is i add to the shifted kernel."""
    total = 0.0
    for k, weight in enumerate(weights, 1):
        for s in range(min(shifts[i], len(x) - k - i) + 1):
            ahead = naive.same(x[i + s : i + s + k], y[i : i + k])
            behind = naive.same(x[i : i + k], y[i + s : i + s + k])
            total += weight * (ahead + behind) / (2 * (s + 1))
    return total


def shifted_parts(X, kernel, stop=70):
    """The matrices of all positions of a shifted kernel whose matches end before `stop`."""
    shifts = [min(s, stop - 1 - i) for i, s in enumerate(kernel.shifts)]
    return np.array(
        [
            pairwise(position_part_shift, X, kernel.match_weights, shifts, i)
            for i in range(min(stop, 70))
        ]
    )


@pytest.mark.parametrize("shift", [3, [0, 1, 2, 5, 9, 0, 70] * 10])
def test_ranges_of_shifted_kernels_count_the_matches_inside_them(shift, level, rng):
    X = texts(rng, 70, n=6)
    whole = WeightedDegreeShift(3, shift).resolve(X)
    np.testing.assert_allclose(shifted_parts(X, whole).sum(axis=0), whole(X), rtol=1e-12)
    ranges = WeightedDegreeShift(3, shift, split=[(25, 70), (0, 20)])(X)
    expected = [
        shifted_parts(X, whole, stop)[start:].sum(axis=0) for start, stop in [(25, 70), (0, 20)]
    ]
    np.testing.assert_allclose(ranges, expected, rtol=1e-12)


@pytest.mark.parametrize("shift", [1, 2, 5, 11])
@pytest.mark.parametrize("split", [None, "degree", [(0, 3), (3, 12)], [(1, 3), (5, 9), (0, 1)]])
def test_members_of_shifted_kernels_are_positive_semidefinite(split, shift, rng):
    X = texts(rng, 12, n=200)
    for K in np.reshape(WeightedDegreeShift(3, shift, split=split)(X), (-1, 200, 200)):
        eigenvalues = np.linalg.eigvalsh(K)
        assert eigenvalues[0] >= -1e-12 * eigenvalues[-1]


@pytest.mark.parametrize("split", ["position", "both"])
def test_single_positions_have_no_room_for_shifts(split):
    with pytest.raises(ValueError, match=r"is not supported.*ranges of positions"):
        WeightedDegreeShift(3, 1, split=split)


@pytest.mark.parametrize("kind", [WeightedDegree, WeightedDegreeShift])
def test_positions_have_weights(kind, level, rng):
    X = texts(rng, 70, n=9, letters="ACGTN")
    whole = kind(4).resolve(X)
    parts = shifted_parts(X, whole) if whole.shifts else kind(4, split="position")(X)
    factors = rng.random(70) * rng.choice([0, 1], 70)
    weighed = kind(4, position_weights=factors)
    np.testing.assert_allclose(weighed(X), np.tensordot(factors, parts, 1), rtol=1e-12)
    np.testing.assert_allclose(weighed.diagonal(X), np.diag(weighed(X)), rtol=1e-12)
    degrees = kind(4, position_weights=factors, split="degree")(X)
    np.testing.assert_allclose(degrees.sum(axis=0), weighed(X), rtol=1e-12)
    each = kind(4, split=[(3, 70)], position_weights=factors)(X)[0]
    np.testing.assert_allclose(each, np.tensordot(factors[3:], parts[3:], 1), rtol=1e-12)


def test_ranges_of_positions(level, rng):
    X = texts(rng, 70, n=9, letters="ACGTN")
    parts = WeightedDegree(4, split="position")(X)
    ranges = WeightedDegree(4, split=[(60, 70), (3, 40), (40, 41)])
    expected = [parts[60:].sum(axis=0), parts[3:40].sum(axis=0), parts[40]]
    np.testing.assert_allclose(ranges(X), expected, rtol=1e-12)
    assert "positions=(3, 40)" in ranges.resolve(X).names[1]


def test_positions_that_do_not_fit_are_refused(rng):
    X = texts(rng, 20, n=4)
    for split in ([(0, 5), (4, 8)], [(5, 5)], [(-1, 3)], [3, 4], [], [(0.5, 2)], "letter"):
        with pytest.raises(ValueError, match=r"split must be|must be disjoint"):
            WeightedDegree(3, split=split)
    with pytest.raises(ValueError, match="must end at 20"):
        WeightedDegree(3, split=[(0, 21)])(X)
    with pytest.raises(ValueError, match="19 values for 20 positions"):
        WeightedDegreeShift(3, 1, position_weights=np.ones(19))(X)
    for weights in ([-1.0], [np.nan], [], [[1.0]]):
        with pytest.raises(ValueError, match="position_weights must be numbers >= 0"):
            WeightedDegree(3, position_weights=weights)


def test_other_alphabets(rng):
    letters = "ACDEFGHIKLMNPQRSTVWY"
    X = texts(rng, 66, letters=letters + "X")
    kernel = WeightedDegree(4, alphabet="protein")
    expected = pairwise(naive.weighted_degree, X, kernel.match_weights, letters)
    np.testing.assert_allclose(kernel(X), expected, rtol=1e-12)


def test_locality_improved(rng):
    for length in (7, 64, 141):
        X = texts(rng, length)
        expected = pairwise(naive.locality_improved, X, 3, 2, 3)
        np.testing.assert_allclose(LocalityImproved(3, 2, 3)(X), expected, rtol=1e-12)


@pytest.mark.parametrize(
    "kernel", [WeightedDegree(20), WeightedDegreeShift(6, 2), LocalityImproved()], ids=str
)
def test_kernels_are_positive_semidefinite(kernel, rng):
    values = np.linalg.eigvalsh(kernel(texts(rng, 50, n=30)))
    assert values[0] > -1e-10 * values[-1]


def by_store_and_by_rows(kernel, compute):
    """Return results of a kernel with a weight store, and row by row."""
    return [compute(stored(kernel, store)) for store in ("trie", "rows")]


def stored(kernel, store):
    """Return the kernel, or the parts that it is made of, with another store."""
    if isinstance(kernel, Sum):
        return replace(kernel, left=stored(kernel.left, store), right=stored(kernel.right, store))
    if isinstance(kernel, Scaled):
        return replace(kernel, kernel=stored(kernel.kernel, store))
    return replace(kernel, store=store)


def outputs(kernel, X, idx, delta):
    """Sums over some examples."""
    compiled = CompiledKernels((kernel.resolve(X),))
    engine = _core.Engine(compiled.program, compiled.training(X).side, 0, 2)
    engine.add(idx, delta)
    return engine.outputs.copy()


FAMILIES = [
    WeightedDegree(20),
    WeightedDegree(3),
    WeightedDegree(20, split="degree"),
    WeightedDegree(6, split="position"),
    WeightedDegree(6, split="both"),
    WeightedDegreeShift(12, 3),
    WeightedDegreeShift(8, 2, split="degree"),
    2.0 * WeightedDegree(8) + WeightedDegree(2),
]


@pytest.mark.parametrize("kernel", FAMILIES, ids=lambda kernel: kernel.resolve(["A" * 70]).names[0])
@pytest.mark.parametrize("masked", [False, True])
@pytest.mark.parametrize("count", [1, 300])
def test_sums_through_a_store(kernel, masked, count, level, rng):
    X = as_sequences(texts(rng, 70, n=500, letters="ACGTN" if masked else "ACGT"))
    idx = np.sort(rng.choice(500, count, replace=False))
    delta = rng.normal(size=count)
    sums, rows = by_store_and_by_rows(kernel, lambda k: outputs(k, X, idx, delta))
    np.testing.assert_allclose(sums, rows, rtol=1e-9, atol=1e-9 * np.abs(rows).max())


@pytest.mark.parametrize("how", [None, "unit", "variance"])
@pytest.mark.parametrize("number", range(7))
def test_blocks_combine_the_members(number, how, rng):
    X = as_sequences(texts(rng, 40, n=150, letters="ACGT"))
    compiled, examples = prepare(FAMILIES[number], how, X)
    engine = _core.Engine(compiled.program, examples.side, 0, 2)
    idx, weights = np.arange(3, 150, 2), rng.random(compiled.n_kernels)
    chosen = examples.take(idx).side
    expected = np.tensordot(weights, _core.evaluate(compiled.program, chosen, chosen, 1), 1)
    np.testing.assert_allclose(engine.block(idx, weights), expected, rtol=1e-9, atol=1e-12)


def test_a_store_of_sequences_that_are_all_alike(rng):
    X = as_sequences(["ACGTTGCA" * 11 + "AC"] * 200 + texts(rng, 90, n=300, letters="ACGT"))
    idx, delta = np.arange(250), rng.normal(size=250)
    sums, rows = by_store_and_by_rows(WeightedDegree(30), lambda k: outputs(k, X, idx, delta))
    np.testing.assert_allclose(sums, rows, rtol=1e-9, atol=1e-9 * np.abs(rows).max())


@pytest.mark.parametrize(
    ("degree", "alphabet"), [(24, "dna"), (25, "dna"), (63, "dna"), (12, "protein"), (9, "bytes")]
)
@pytest.mark.parametrize("masked", [False, True])
def test_matches_longer_than_a_word_of_the_store(degree, alphabet, masked, rng):
    letters = {"dna": "ACGT", "protein": "ACDEFGHIKLMNPQRSTVWY", "bytes": "ACgt 19+"}[alphabet]
    relatives = rng.choice(list(letters), size=(5, 90))[rng.integers(0, 5, 400)]
    changed = rng.random(relatives.shape) < 0.02
    relatives[changed] = rng.choice(list(letters), size=changed.sum())
    if masked and alphabet != "bytes":
        relatives[::3, rng.integers(0, 90, 2)] = "N" if alphabet == "dna" else "X"
    X = as_sequences(["".join(row) for row in relatives], alphabet)
    idx, delta = np.arange(0, 400, 2), rng.normal(size=200)
    kernel = WeightedDegree(degree, weights=rng.random(degree), alphabet=alphabet)
    sums, rows = by_store_and_by_rows(kernel, lambda k: outputs(k, X, idx, delta))
    np.testing.assert_allclose(sums, rows, rtol=1e-9, atol=1e-9 * np.abs(rows).max())


def test_a_store_of_proteins(rng):
    X = as_sequences(texts(rng, 40, n=300, letters="ACDEFGHIKLMNPQRSTVWYX"), "protein")
    kernel = WeightedDegree(6, alphabet="protein")
    idx, delta = np.arange(200), rng.normal(size=200)
    sums, rows = by_store_and_by_rows(kernel, lambda k: outputs(k, X, idx, delta))
    np.testing.assert_allclose(sums, rows, rtol=1e-9, atol=1e-9 * np.abs(rows).max())


@pytest.mark.parametrize("how", [None, "unit"])
@pytest.mark.parametrize("number", range(6))
def test_predictions_through_a_store(number, how, rng):
    kernel = FAMILIES[number]
    X = as_sequences(texts(rng, 40, n=200, letters="ACGT"))
    new = as_sequences(texts(rng, 40, n=300))
    coef = rng.normal(size=(2, 200))
    weights = rng.random((2, kernel.resolve(X).n_kernels))

    def decide(kernel):
        compiled, examples = prepare(kernel, how, X)
        sides = examples.side, compiled.examples(new).side
        return _core.decide(compiled.program, *sides, coef, weights, 2)

    sums, rows = by_store_and_by_rows(kernel, decide)
    np.testing.assert_allclose(sums, rows, rtol=1e-8, atol=1e-9 * np.abs(rows).max())


@pytest.mark.parametrize("degree", [40, 10**9])
@pytest.mark.parametrize("split", [None, "degree", "position", "both"])
def test_no_match_is_longer_than_the_sequences(degree, split, rng):
    X = texts(rng, 12)
    large, least = WeightedDegree(degree, split=split).resolve(X), WeightedDegree(12, split=split)
    shown = [2 * (degree - k + 1) / (degree * (degree + 1)) for k in range(1, 13)]
    least = replace(least, weights=shown).resolve(X)
    np.testing.assert_array_equal(large(X), least(X))
    assert large.names == tuple(
        name.replace("degree=12", f"degree={degree}") for name in least.names
    )


@pytest.mark.parametrize("split", [None, "degree"])
def test_no_shift_leads_beyond_the_sequences(split, rng):
    X = texts(rng, 12)
    expected = WeightedDegreeShift(3, 11, split=split)(X)
    np.testing.assert_array_equal(WeightedDegreeShift(3, 10**9, split=split)(X), expected)
    each = WeightedDegreeShift(3, [10**9] * 12, split=split)
    np.testing.assert_array_equal(each(X), expected)


def test_integers_of_numpy_are_integers(rng):
    X = texts(rng, 12)
    for ours, theirs in [
        (WeightedDegree(3), WeightedDegree(np.int64(3))),
        (WeightedDegreeShift(3, 2), WeightedDegreeShift(np.uint8(3), np.int32(2))),
        (WeightedDegreeShift(3, [2] * 12), WeightedDegreeShift(3, np.full(12, 2))),
        (LocalityImproved(3, 2, 3), LocalityImproved(np.int64(3), np.int8(2), np.int16(3))),
    ]:
        assert ours == theirs
        np.testing.assert_array_equal(ours(X), theirs(X))


def test_products_with_kernels_on_numbers(rng):
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({"site": texts(rng, 30), "score": rng.normal(size=7)})
    string, number = WeightedDegree(5, columns="site"), RBF(0.5, columns="score")
    expected = string(frame) * number(frame)
    np.testing.assert_allclose((string * number)(frame), expected, rtol=1e-12)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: WeightedDegree(0), "degree must be an integer from 1 to 2,147,483,647, got 0"),
        (lambda: WeightedDegree(2**31), "degree must be .*, got 2147483648"),
        (lambda: WeightedDegree(10**400), "degree must be an integer from 1 to"),
        (lambda: WeightedDegree(2.5), "degree must be an integer from 1 to .*, got 2.5"),
        (lambda: WeightedDegree(True), "degree must be an integer from 1 to .*, got True"),
        (lambda: WeightedDegree(3, weights=[1, 2]), "weights must be 3 numbers >= 0"),
        (lambda: WeightedDegree(3, split="letter"), "split must be one of"),
        (lambda: WeightedDegree(3, store="hash"), "store must be one of .*'trie'.*, got 'hash'"),
        (lambda: WeightedDegreeShift(3, -1), "shift must be an integer from 0 to .*, got -1"),
        (lambda: WeightedDegreeShift(3, [1, -1]), "shift must be an integer from 0 to .*, got -1"),
        (lambda: WeightedDegreeShift(3, []), "shift must be an integer .* or a sequence of them"),
        (lambda: WeightedDegreeShift(3, "far"), "shift must be an integer .*, got 'far'"),
        (lambda: WeightedDegreeShift(3, [1, 2])(["ACG"]), "2 values for 3 positions"),
        (lambda: WeightedDegree(3)(["ACGT", "ACG"]), "sequence 1 has 3 letters.* here 4"),
        (lambda: WeightedDegree(3)(["ACG"], ["ACGT"]), "sequence 0 has 3 letters.* here 4"),
        (lambda: WeightedDegree(3)(["ACGT", ""]), "sequence 1 is empty"),
        (lambda: WeightedDegree(3, unknown="error")(["ACGN"]), "'N' is not a letter"),
        (lambda: LocalityImproved(40), "half_window must be an integer from 0 to 31, got 40"),
        (lambda: LocalityImproved(3, 0), "inner_degree must be an integer from 1 to"),
        (lambda: LocalityImproved(3, 1, 2**31), "outer_degree must be .*, got 2147483648"),
        (lambda: LocalityImproved(3)(["ACGT"]), "windows of 7 letters"),
    ],
)
def test_bad_input_is_named(make, message):
    with pytest.raises(ValueError, match=message):
        make()


def test_memory_of_long_shifts_is_linear_in_the_length():
    """Numbers for every shift and position would be 25 GB."""
    code = """
import resource
from kernelweave import kernels
before = int(open("/proc/self/statm").read().split()[0]) * resource.getpagesize()
resource.setrlimit(resource.RLIMIT_AS, (before + 2**30,) * 2)
length = 40_000
kernel = kernels.WeightedDegreeShift(3, shift=length).resolve(["A" * length])
program = kernels.prepare([kernel], None, ["A" * length])[0].listing.program
print(program.n_kernels)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stdout.split() == ["1"]


def test_names_show_the_weights_of_positions():
    (name,) = WeightedDegree(4, position_weights=[1, 2, 0.5]).labels
    assert name == "WeightedDegree degree=4 position_weights=(1, 2, 0.5)"
    (name,) = WeightedDegreeShift(4, shift=2, position_weights=np.arange(9)).labels
    assert name == "WeightedDegreeShift degree=4 position_weights=(0, ..., 8) shift=2"
