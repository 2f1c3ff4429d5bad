"""Laws of all engines against einsum: any sequence of operations, any kind of kernel."""

from inspect import isfunction

import numpy as np
import pytest
from kernel_cases import (
    CASES,
    COMBINED,
    EVERY_ENGINE,
    LINEAR,
    OUTPUTS,
    SHARDED,
    STACKED,
    STREAMED,
    SUMS,
    FamilyCase,
    dense,
)

from kernelweave.engines import (
    DenseEngine,
    Engine,
    FamilyEngine,
    LinearEngine,
    OutputsEngine,
    Snapshot,
    StackedEngine,
    StreamedEngine,
)
from kernelweave.engines.base import KernelBlocks, MatVec, kernel_blocks, mat_vec
from kernelweave.engines.sharded import ShardedEngine
from kernelweave.kernels import RBF, Spectrum, WeightedDegree

ENGINES = (
    DenseEngine,
    FamilyEngine,
    LinearEngine,
    OutputsEngine,
    ShardedEngine,
    StackedEngine,
    StreamedEngine,
)
ONE_OF_EACH = {
    DenseEngine: CASES["distances and dot products"],
    FamilyEngine: COMBINED["family of two quantities, normalised by None"],
    LinearEngine: LINEAR["matches by degree"],
    OutputsEngine: OUTPUTS["outputs of distances and dot products"],
    ShardedEngine: SHARDED["shards of distances and dot products"],
    StackedEngine: STACKED["stacked distances and dot products"],
    StreamedEngine: STREAMED["streamed distances and dot products"],
}
EVALUATING = {
    **CASES,
    **SUMS,
    **COMBINED,
    **LINEAR,
    **OUTPUTS,
    **SHARDED,
    **STACKED,
}  # kernels between any examples
every_case = pytest.mark.parametrize("case", EVERY_ENGINE.values(), ids=EVERY_ENGINE)
every_engine = pytest.mark.parametrize("kind", ENGINES, ids=lambda kind: kind.__name__)


def close(actual, expected, floor=0.0):
    """Equal up to rounding, relative to the largest value of each kernel, or to a floor."""
    scale = np.abs(expected).max(axis=tuple(range(1, expected.ndim)), keepdims=True, initial=0.0)
    scale = np.maximum(scale, floor) + 1e-300
    np.testing.assert_allclose(actual / scale, expected / scale, rtol=0, atol=1e-12)


class Naive:
    """The operations of an engine, computed from all kernel matrices.

    `rounding` is 0, or the part of the largest values that rounding errors are relative to: a
    family is evaluated as a piecewise polynomial.
    """

    def __init__(self, K, rounding=0.0):
        self.K, self.alpha = K, np.zeros(K.shape[1])
        self.largest = rounding * np.abs(K).max(initial=0.0)

    @property
    def outputs(self):
        return np.einsum("mij,j->mi", self.K, self.alpha)

    def inside(self, idx):
        return self.K[:, idx[:, None], idx]

    def check(self, engine, rng):
        """Compare all results of an engine for its alpha."""
        np.testing.assert_array_equal(engine.alpha, self.alpha)
        size, theta = np.abs(self.alpha).sum(), weights(engine, rng)
        close(engine.outputs(), self.outputs, self.largest and 2 * np.abs(self.outputs).max())
        some = rng.permutation(engine.n_kernels)[:2]
        close(engine.outputs(some), self.outputs[some], 2 * np.abs(self.outputs).max())
        floor = max(theta @ np.abs(self.outputs).max(axis=1), self.largest * theta.sum() * size)
        close(engine.combined(theta)[None], (theta @ self.outputs)[None], floor)
        block_norms = np.einsum("i,mij,j->m", self.alpha, self.K, self.alpha)
        terms = np.einsum("i,mij,j->m", np.abs(self.alpha), np.abs(self.K), np.abs(self.alpha))
        floor = np.maximum(terms, self.largest * size**2)
        close(engine.quadratic()[None], block_norms[None], floor)


def naive_for(case, X):
    return Naive(case.oracle(X), rounding=2.0 if isinstance(case, FamilyCase) else 0.0)


def weights(engine, rng):
    return rng.exponential(size=engine.n_kernels) * rng.choice([0, 1], size=engine.n_kernels)


def some(rng, n, most=40):
    return rng.choice(n, size=rng.integers(1, min(most, n)), replace=False)


def change(engine, naive, rng):
    idx = some(rng, engine.n)
    values = rng.normal(size=len(idx))
    values = np.where(rng.random(len(idx)) < 0.2, naive.alpha[idx], values)  # some stay
    values[rng.random(len(idx)) < 0.1] = 0.0
    engine.change(idx, values)
    naive.alpha[idx] = values


def change_the_same_again(engine, naive, rng):
    idx = np.arange(5)
    values = naive.alpha[idx] + 1.0
    engine.change(idx, values)
    naive.alpha[idx] = values


def move_to(engine, naive, rng):
    naive.alpha = np.zeros(engine.n)
    naive.alpha[some(rng, engine.n)] = rng.normal()
    engine.move_to(naive.alpha)


def move_to_zero(engine, naive, rng):
    naive.alpha = np.zeros(engine.n)
    engine.move_to(naive.alpha)


def scale(engine, naive, rng):
    engine.move_to(*engine.snapshot().scaled(0.3))
    naive.alpha = 0.3 * naive.alpha


def go_and_come_back(engine, naive, rng):
    theta = weights(engine, rng)
    before, kept = engine.combined(theta).copy(), engine.snapshot()
    engine.move_to(rng.normal(size=engine.n))
    engine.change(np.arange(3), np.ones(3))
    engine.combined(weights(engine, rng))
    engine.move_to(*kept)
    np.testing.assert_array_equal(engine.alpha, naive.alpha)
    np.testing.assert_array_equal(engine.combined(theta), before)  # to the last digit


def block(engine, naive, rng):
    idx = np.union1d(some(rng, engine.n), np.arange(8))
    theta = weights(engine, rng)
    inside = naive.inside(idx)
    floor = max(theta @ np.abs(inside).max(axis=(1, 2)), naive.largest * theta.sum())
    expected = np.tensordot(theta, inside, 1)
    close(engine.block(idx, theta)[None], expected[None], floor if naive.largest else 0.0)


CHANGES = [change, change_the_same_again, move_to, move_to_zero, scale, go_and_come_back]


def rows_of_memory(case, rows):
    """Megabytes with room for so many rows and a half."""
    return (rows + 0.5) * max(case.planes, 1) * case.n * 8 / 2**20


@every_case
@pytest.mark.parametrize(("rows", "n_jobs"), [(0, 1), (1, 2), (3, 1), (300, 2)])
def test_any_sequence_of_operations(case, rows, n_jobs, rng):
    X = case.data(rng, case.n)
    engine = case.engine(X, cache_mb=rows_of_memory(case, rows), n_jobs=n_jobs)
    naive = naive_for(case, X)
    assert (engine.n_kernels, engine.n) == naive.K.shape[:2]
    asked = [] if engine.costs.access == "streamed" else [block]
    operations = [change, change_the_same_again, *asked, change_the_same_again, *asked]
    operations += list(rng.choice(CHANGES + asked, size=14))
    naive.check(engine, rng)
    for operation in operations:
        operation(engine, naive, rng)
        naive.check(engine, rng)


@every_case
def test_alpha_is_exactly_the_assigned_values(case, rng):
    """Changes that nearly cancel must leave an assigned 0 exactly 0."""
    engine, idx = case.engine(case.data(rng, case.n)), np.arange(10)
    for values in (rng.normal(size=10) * 1e9, rng.normal(size=10) * 1e-9, np.zeros(10)):
        engine.change(idx, values)
        np.testing.assert_array_equal(engine.alpha[idx], values)
        assert not engine.alpha[10:].any()
    alpha = rng.normal(size=engine.n)
    engine.move_to(alpha)
    alpha[0] = 7.0  # the engine has a copy
    assert engine.alpha[0] != 7.0
    with pytest.raises(ValueError, match="read-only"):
        engine.alpha[0] = 1.0


@every_engine
def test_snapshot_is_not_changed_by_the_engine(kind, rng):
    case = ONE_OF_EACH[kind]
    X = case.data(rng, case.n)
    engine, naive = case.engine(X), naive_for(case, X)
    change(engine, naive, rng)
    engine.combined(np.ones(engine.n_kernels))
    kept, alpha = engine.snapshot(), naive.alpha.copy()
    known = None if kept.outputs is None else kept.outputs.copy()
    change(engine, naive, rng)
    engine.combined(np.ones(engine.n_kernels))
    np.testing.assert_array_equal(kept.alpha, alpha)
    assert known is None or np.array_equal(kept.outputs, known)
    twice = kept.scaled(2.0)
    assert isinstance(twice, Snapshot)
    np.testing.assert_array_equal(twice.alpha, 2.0 * alpha)
    assert known is None or np.array_equal(twice.outputs, 2.0 * known)
    engine.move_to(*twice)
    naive.alpha = 2.0 * alpha
    naive.check(engine, rng)


def examples_of_one_output(case, engine, rng, count):
    """Some examples, in any order: of the second decision function where there are several."""
    first = case.n if isinstance(engine, OutputsEngine) else 0
    return first + rng.permutation(case.n)[:count]


@every_case
@pytest.mark.parametrize("rows", [0, 3, 300])
def test_subset_of_examples_keeps_alphas_and_outputs(case, rows, rng):
    X = case.data(rng, case.n)
    engine, naive = case.engine(X, cache_mb=rows_of_memory(case, rows)), naive_for(case, X)
    for _ in range(3):
        change(engine, naive, rng)
    theta = rng.exponential(size=engine.n_kernels)
    before = engine.combined(theta).copy()
    idx = examples_of_one_output(case, engine, rng, 2 * case.n // 5)
    smaller = engine.subset(idx)
    assert (smaller.n, smaller.n_kernels) == (len(idx), engine.n_kernels)
    np.testing.assert_array_equal(smaller.alpha, naive.alpha[idx])
    outside = naive.alpha.copy()
    outside[idx] = 0.0
    if engine.costs.access == "streamed":  # it holds no outputs that the others could be part of
        outside[:] = 0.0
    offset = (theta @ np.einsum("mij,j->mi", naive.K, outside))[idx]
    part = Naive(naive.inside(idx), rounding=2.0 if naive.largest else 0.0)
    part.alpha = naive.alpha[idx]
    for _ in range(4):
        expected = offset + theta @ part.outputs
        size = np.abs(naive.K).max(axis=(1, 2)) @ theta
        floor = size * (np.abs(outside).sum() + np.abs(part.alpha).sum())
        close(smaller.combined(theta)[None], expected[None], floor)
        if engine.costs.access != "streamed":
            inside = np.tensordot(theta, part.K, 1)
            close(smaller.block(np.arange(len(idx)), theta)[None], inside[None], 2 * size)
        change(smaller, part, rng)
        np.testing.assert_array_equal(smaller.alpha, part.alpha)
    np.testing.assert_array_equal(engine.alpha, naive.alpha)
    np.testing.assert_array_equal(engine.combined(theta), before)


@pytest.mark.parametrize("case", STREAMED.values(), ids=STREAMED)
def test_subset_of_kernels_has_the_same_alpha(case, rng):
    X = case.data(rng, case.n)
    engine, naive = case.engine(X), naive_for(case, X)
    change(engine, naive, rng)
    idx, chosen = np.arange(5, case.n, 2), np.unique([0, engine.n_kernels - 1])
    assert engine.outputs(np.arange(0)).shape == (0, case.n)
    with pytest.raises(ValueError, match="at least one kernel"):
        engine.of_kernels(np.arange(0))
    for part, few in (
        (engine.of_kernels(chosen), np.arange(case.n)),
        (engine.subset(idx).of_kernels(chosen), idx),
    ):
        assert part.costs.free_weights
        expected = Naive(naive.inside(few)[chosen])
        expected.alpha = naive.alpha[few]
        expected.check(part, rng)
        close(part.blocks(np.arange(len(few))), expected.K)


@pytest.mark.parametrize("case", EVALUATING.values(), ids=EVALUATING)
def test_blocks_diagonal_and_outputs_of_some_examples(case, rng):
    X = case.data(rng, case.n)
    engine, naive = case.engine(X), naive_for(case, X)
    idx = some(rng, engine.n)
    close(engine.blocks(idx), naive.inside(idx))
    close(engine.diagonal(), np.einsum("mii->mi", naive.K))
    close(engine.largest_values, np.einsum("mii->mi", naive.K).max(axis=1))
    change(engine, naive, rng)
    sizes = np.abs(naive.K).max(axis=(1, 2)) * np.abs(naive.alpha).sum()
    accuracy = 1e-6 if naive.largest else 1e-12
    error = np.abs(engine.outputs_at(idx) - naive.outputs[:, idx]).max(axis=1)
    assert np.all(error <= accuracy * sizes)


def test_the_product_with_the_only_kernel(rng):
    X = np.array(["".join(rng.choice(list("ACGT"), size=20)) for _ in range(50)])
    engine, v = dense(WeightedDegree(4), X), rng.normal(size=50)
    assert engine.costs.products.cheap
    engine.move_to(v)
    np.testing.assert_allclose(
        engine.matvec(v, np.ones(1)), engine.outputs()[0], rtol=1e-12, atol=1e-12
    )


@pytest.mark.parametrize(
    "kernels", [Spectrum(3), [Spectrum(3), WeightedDegree(4), Spectrum(2)]], ids=["one", "three"]
)
def test_products_with_linear_kernels(kernels, rng):
    """Those whose tries are not kept are summed up anew."""
    X = np.array(["".join(rng.choice(list("ACGT"), size=20)) for _ in range(400)])
    engine, v = dense(kernels, X, "unit"), rng.normal(size=400)
    theta = rng.exponential(size=engine.n_kernels)
    assert not engine.costs.products.cheap
    np.testing.assert_allclose(
        engine.matvec(v, theta),
        np.einsum("mij,j,m", engine.blocks(np.arange(400)), v, theta),
        atol=1e-12,
    )
    engine.move_to(v, engine.matvec(v, theta), theta)
    np.testing.assert_allclose(engine.combined(theta), engine.matvec(v, theta), rtol=1e-12)


def test_products_with_other_kernels_are_refused(rng):
    engine = dense(RBF(0.5), rng.normal(size=(20, 3)))
    assert engine.costs.products is None
    with pytest.raises(TypeError, match="DenseEngine cannot multiply"):
        engine.matvec(np.ones(20), np.ones(1))


PROTOCOLS = {  # evaluates single kernels, may have cheap products
    DenseEngine: (True, True),
    FamilyEngine: (True, False),
    LinearEngine: (True, True),
    OutputsEngine: (True, False),
    ShardedEngine: (True, False),
    StackedEngine: (True, False),
    StreamedEngine: (True, False),
}


@every_engine
def test_optional_protocols_of_each_engine(kind, rng):
    case = ONE_OF_EACH[kind]
    engine = case.engine(case.data(rng, case.n))
    assert type(engine) is kind
    found = []
    for protocol, view in ((KernelBlocks, kernel_blocks), (MatVec, mat_vec)):
        found.append(isinstance(engine, protocol))
        if found[-1]:
            assert view(engine) is engine
        else:
            with pytest.raises(TypeError, match=f"{kind.__name__} cannot "):
                view(engine)
    assert tuple(found) == PROTOCOLS[kind]
    total = SUMS["sum of distances and dot products"]
    assert type(total.engine(total.data(rng, 20))) is DenseEngine


def test_missing_operation_names_the_engine(rng):
    case = ONE_OF_EACH[StreamedEngine]
    engine = case.engine(case.data(rng, case.n))
    with pytest.raises(TypeError, match="StreamedEngine cannot "):
        engine.block(np.arange(1), np.ones(5))


def operations(kind):
    """The public methods that a class defines, without its constructors."""
    return {name for name, value in vars(kind).items() if isfunction(value) and name[0] != "_"}


def test_engines_offer_the_operations_of_the_interface_and_of_its_protocols():
    assert operations(Engine) == {
        *("change", "move_to", "snapshot"),
        *("combined", "quadratic"),
        *("block", "diagonal"),
        "subset",
    }
    known = operations(Engine) | operations(KernelBlocks) | operations(MatVec)
    for kind in ENGINES:
        own = {"of_kernels", "among"} if kind is StreamedEngine else set()  # for sifting
        assert operations(kind) <= known | own


@every_engine
def test_no_examples_to_change_change_nothing(kind, rng):
    case = ONE_OF_EACH[kind]
    X = case.data(rng, case.n)
    engine, naive, nobody = case.engine(X), naive_for(case, X), np.empty(0, dtype=np.int64)
    change(engine, naive, rng)
    theta = np.ones(engine.n_kernels)
    before = engine.combined(theta).copy()
    engine.change(nobody, np.empty(0))
    np.testing.assert_array_equal(engine.combined(theta), before)
    np.testing.assert_array_equal(engine.alpha, naive.alpha)
    if engine.costs.access != "streamed":
        assert engine.block(nobody, theta).shape == (0, 0)


@every_engine
@pytest.mark.parametrize("ids", [[-1], [1000], [0, 2**40]])
def test_examples_that_do_not_exist_are_refused(kind, ids, rng):
    case, ids = ONE_OF_EACH[kind], np.array(ids)
    engine = case.engine(case.data(rng, case.n))
    with pytest.raises(ValueError, match="idx must be from 0 to"):
        engine.change(ids, np.ones(len(ids)))
    assert not engine.alpha.any()


@every_engine
def test_values_that_do_not_fit_are_refused(kind, rng):
    case = ONE_OF_EACH[kind]
    engine = case.engine(case.data(rng, case.n))
    for length in (1, 2):
        with pytest.raises(ValueError, match="idx and values must have the same length"):
            engine.change(np.arange(3), np.ones(length))
    assert not engine.alpha.any()


@every_engine
def test_accumulated_update_ends_where_outputs_are_recomputed(kind):
    case, rng = ONE_OF_EACH[kind], np.random.default_rng(0)
    engine = case.engine(case.data(rng, 60))
    theta = np.ones(engine.n_kernels)
    engine.combined(theta)
    alpha, idx = rng.normal(size=engine.n), np.arange(5)
    engine.change(idx, alpha[idx])
    engine.change(idx, -alpha[idx])
    ways = 1.0 if kind is StreamedEngine else 3.0  # which computes outputs whenever it is asked
    np.testing.assert_allclose(engine.accumulated_update[idx], ways * np.abs(alpha[idx]))
    assert not engine.accumulated_update[5:].any()
    engine.move_to(alpha)
    engine.combined(theta)
    np.testing.assert_array_equal(engine.accumulated_update, np.abs(alpha))


@every_engine
def test_outputs_that_are_scaled_keep_their_rounding(kind):
    case, rng = ONE_OF_EACH[kind], np.random.default_rng(0)
    engine = case.engine(case.data(rng, 60))
    engine.move_to(alpha := rng.normal(size=engine.n))
    engine.combined(np.ones(engine.n_kernels))
    before = engine.accumulated_update.copy()
    engine.move_to(*engine.snapshot().scaled(100.0))
    assert np.all(engine.accumulated_update >= (1.0 if kind is StreamedEngine else 100.0) * before)
    np.testing.assert_array_equal(engine.alpha, 100.0 * alpha)
