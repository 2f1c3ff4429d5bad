"""Costs of engines: facts that follow from the kind of engine, reported without side effects."""

import numpy as np
import pytest
from kernel_cases import CASES, COMBINED, LINEAR, OUTPUTS, SHARDED, STACKED, STREAMED

KINDS = {  # an engine, and which of its costs are not the default
    "dense": (CASES["distances and dot products"], {"free_weights"}),
    "family": (COMBINED["family of two quantities, normalised by None"], set()),
    "linear": (LINEAR["matches by degree"], {"products", "part_products"}),
    "outputs": (OUTPUTS["outputs of distances and dot products"], {"free_weights"}),
    "shards": (SHARDED["shards of distances and dot products"], {"remote"}),
    "stacked": (STACKED["stacked distances and dot products"], {"free_weights", "cached_values"}),
    "streamed": (STREAMED["streamed distances and dot products"], {"streamed"}),
}
every_kind = pytest.mark.parametrize("kind", KINDS)


@every_kind
def test_costs_of_each_kind_of_engine(kind, rng):
    case, expected = KINDS[kind]
    costs = vars(case.engine(case.data(rng, case.n)).costs)
    assert costs.pop("block") > 0
    assert {name for name, cost in costs.items() if cost not in (False, "none")} == expected


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
