"""Costs of engines: facts that follow from the kind of engine, and operations that they promise."""

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
    training_set,
)

from kernelweave.engines import DenseEngine, LinearEngine, StreamedEngine
from kernelweave.engines.base import MatVec, mat_vec
from kernelweave.engines.costs import EngineCosts
from kernelweave.engines.sharded import ShardedEngine
from kernelweave.kernels import GappedKmer, Linear, Spectrum, WeightedDegree, per_feature

KINDS = {  # an engine, and which of its costs are not the default
    "dense": (CASES["distances and dot products"], {"free_weights", "all_outputs"}),
    "family": (COMBINED["family of two quantities, normalised by None"], {"all_outputs"}),
    "linear": (LINEAR["matches by degree"], {"products", "part_products", "all_outputs"}),
    "outputs": (OUTPUTS["outputs of distances and dot products"], {"free_weights", "all_outputs"}),
    "shards": (SHARDED["shards of distances and dot products"], {"access"}),
    "stacked": (
        STACKED["stacked distances and dot products"],
        {"free_weights", "values", "all_outputs"},
    ),
    "streamed": (STREAMED["streamed distances and dot products"], {"access"}),
}
every_kind = pytest.mark.parametrize("kind", KINDS)
every_case = pytest.mark.parametrize("case", EVERY_ENGINE.values(), ids=EVERY_ENGINE)


@every_kind
def test_costs_of_each_kind_of_engine(kind, rng):
    case, expected = KINDS[kind]
    costs = case.engine(case.data(rng, case.n)).costs
    assert costs.block > 0
    least = vars(EngineCosts(costs.block))
    assert {name for name, cost in vars(costs).items() if cost != least[name]} == expected


@every_kind
def test_reading_costs_changes_nothing(kind, rng):
    case, _ = KINDS[kind]
    engine = case.engine(case.data(rng, case.n))
    engine.move_to(rng.normal(size=engine.n))
    theta = np.ones(engine.n_kernels)
    before = engine.alpha.copy(), engine.combined(theta).copy()
    assert engine.costs == engine.costs
    np.testing.assert_array_equal(engine.alpha, before[0])
    np.testing.assert_array_equal(engine.combined(theta), before[1])


@every_case
def test_costs_are_consistent_with_the_operations(case, rng):
    engine = case.engine(case.data(rng, case.n))
    costs, theta = engine.costs, np.ones(engine.n_kernels)
    assert (costs.access == "streamed") == isinstance(engine, StreamedEngine)
    assert (costs.access == "remote") == isinstance(engine, ShardedEngine)
    assert costs.single_precision == engine.has_single_precision
    engine.single_precision = True
    assert engine.single_precision == costs.single_precision
    engine.single_precision = False
    if costs.access != "streamed":
        q = min(costs.block, engine.n)
        assert engine.block(np.arange(q), theta).shape == (q, q)
    if costs.products is None:
        with pytest.raises(TypeError, match="cannot multiply with its kernel matrix cheaply"):
            mat_vec(engine).matvec(np.ones(engine.n), theta)
    if costs.values == "costly":  # then the Hessian follows from recorded products
        assert costs.products is not None
        assert costs.products.cheap
        assert costs.products.fixed


@every_case
def test_free_weights_cost_no_kernel_evaluation(case, rng):
    engine = case.engine(case.data(rng, case.n))
    engine.move_to(rng.normal(size=engine.n))
    engine.combined(np.ones(engine.n_kernels))
    engine.work.clear()
    engine.combined(rng.random(engine.n_kernels))
    engine.quadratic()
    assert not (engine.costs.free_weights and engine.work.pairs)


LETTERS = list("ACGT")
GAPPED = GappedKmer([4, 5, 5, 6], [3, 3, 4, 4], store="table")
SHORT_AND_LONG = GappedKmer([6, 7, 10], [4, 5, 6])
PRODUCTS = {  # kernels, normalisation, and the costs of their products
    "degrees": (WeightedDegree(6), "unit", "cheap"),
    "words": (Spectrum(3), "unit", "linear"),
    "gapped words": (GappedKmer(6, 4), "unit", "cheap"),
    "several kinds": ([Spectrum(3), WeightedDegree(4), Spectrum(2)], "unit", "linear"),
    "family of degrees": (WeightedDegree(6, split="degree"), None, "cheap"),
    "family of positions": (WeightedDegree(3, split="position"), "variance", "cheap"),
    "family of gapped words": (GAPPED, "unit", "cheap"),
    "family of gapped words, one scale": (GAPPED, "variance", "cheap"),
    "short and long words": (SHORT_AND_LONG, "unit", "cheap"),
    "columns": (per_feature(Linear()), "variance", "linear"),
}
with_products = pytest.mark.parametrize("name", PRODUCTS)
N = 600  # sums over words pay only if there are many examples


def engine_with_products(name, rng):
    kernels, how, products = PRODUCTS[name]
    X = ["".join(rng.choice(LETTERS, size=30)) for _ in range(N)]
    given = training_set(kernels, rng.normal(size=(N, 5)) if name == "columns" else X, how)
    return (LinearEngine if LinearEngine.serves(given) else DenseEngine).of(given), products


@with_products
def test_products_are_those_of_the_kernel_matrices(name, rng):
    engine, products = engine_with_products(name, rng)
    assert engine.costs.products.cheap == (products == "cheap")
    assert isinstance(engine, MatVec)
    K, v = engine.blocks(np.arange(N)), rng.normal(size=N)
    theta = rng.random(engine.n_kernels)
    theta[1::3] = 0.0
    expected = np.einsum("m,mij,j->i", theta, K, v)
    np.testing.assert_allclose(mat_vec(engine).matvec(v, theta), expected, rtol=1e-9, atol=1e-9)
    if engine.costs.products.separate:
        each = engine.matvec(v, theta, each=True)
        np.testing.assert_allclose(each, K[theta != 0] @ v, rtol=1e-9, atol=1e-9)


@with_products
def test_products_of_subsets_are_those_of_their_kernel_matrices(name, rng):
    engine, _ = engine_with_products(name, rng)
    idx = np.arange(0, N, 2)
    part, v, theta = engine.subset(idx), rng.normal(size=len(idx)), rng.random(engine.n_kernels)
    assert part.costs.products.cheap == engine.costs.part_products.cheap
    expected = np.einsum("m,mij,j->i", theta, engine.blocks(idx), v)
    np.testing.assert_allclose(mat_vec(part).matvec(v, theta), expected, rtol=1e-9, atol=1e-9)


def test_separate_products_are_planned_for_kernels_with_norms_of_their_own(rng):
    found = {name: engine_with_products(name, rng)[0].costs.products.separate for name in PRODUCTS}
    assert found["family of gapped words"]
    assert found["short and long words"]
    assert not found["family of degrees"]


@with_products
def test_costs_build_no_tables(name, rng):
    engine, _ = engine_with_products(name, rng)
    held = set(vars(engine))
    assert engine.costs == engine.costs
    assert set(vars(engine)) - held <= {"_multiplies"}
