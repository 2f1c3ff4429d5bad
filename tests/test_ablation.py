"""The ablation: special cases are switched off and on again, and judged by a fixed rule."""

import inspect
from itertools import product
from pathlib import Path

import numpy as np
import pytest
from benchmarks import ablation
from benchmarks.ablation import ABLATIONS, Comparison, Run, compare, measure, summary, verdict
from benchmarks.settings import Settings

import kernelweave
from kernelweave.engines.costs import EngineCosts, Products
from kernelweave.losses import Hinge, Logistic, Squared, SquaredHinge
from kernelweave.norms import Lp
from kernelweave.optimization import plan
from kernelweave.optimization.named_methods import AUTO
from kernelweave.optimization.plan import Case, Options
from kernelweave.problem.problem import Problem

FAST, SLOW = Run(1.0, True), Run(2.0, True)
COSTS = (
    EngineCosts(1000, free_weights=True, products=Products(False), part_products=Products(False)),
    EngineCosts(1000, free_weights=True, values="cached"),
    EngineCosts(1000, single_precision=True),
    EngineCosts(
        1000,
        values="costly",
        products=Products(cheap=True, fixed=True, separate=True),
        part_products=Products(cheap=True, fixed=True, separate=True),
    ),
)
OF_PLANS = [one for one in ABLATIONS if one.patches[0][:2] == (plan, "compose")]


def cases():
    """Yield problems that differ in loss, norm, engine, examples and kernels."""
    y = np.array([-1.0, 1.0])
    for loss, p, costs, n, M in product(
        (Hinge(), SquaredHinge(), Squared(), Logistic()),
        (1, 1.2, 2),
        COSTS,
        (5000, 30_000),
        (1, 5, 501),
    ):
        problem = Problem.of(loss, Lp(p), y, np.ones(2))
        yield Case(AUTO, problem, costs, n, M, Options())


def state(patches):
    return [inspect.getattr_static(owner, attribute) for owner, attribute, _ in patches]


@pytest.mark.parametrize("one", ABLATIONS, ids=lambda one: one.name)
def test_ablation_replaces_attributes_and_restores_them(one):
    before = state(one.patches)
    with one.off():
        during = state(one.patches)
    replaced = [new is not old for new, old in zip(during, before, strict=True)]
    assert all(replaced)
    assert all(new is old for new, old in zip(state(one.patches), before, strict=True))


@pytest.mark.parametrize("one", OF_PLANS, ids=lambda one: one.name)
def test_ablation_of_a_choice_changes_some_plans_and_not_all(one):
    def plans():
        return [plan.compose(case, "engine") for case in cases()]

    complete = plans()
    with one.off():
        ablated = plans()
    changed = [new != old for new, old in zip(ablated, complete, strict=True)]
    assert any(changed)
    assert not all(changed)


@pytest.mark.parametrize("one", ABLATIONS, ids=lambda one: one.name)
def test_files_of_ablations_exist(one):
    names = one.file.partition(":")[0].split(", ")
    source = Path(kernelweave.__file__).parent
    first = (source / names[0]).parent
    assert all((source / name).exists() or (first / name).exists() for name in names)


def test_names_of_ablations_are_unique():
    assert len({one.name for one in ABLATIONS}) == len(ABLATIONS)


@pytest.mark.parametrize(
    ("ratios", "expected"),
    [((1.0, 1.19), "delete"), ((0.5, 1.2), "keep")],
    ids=["no problem gains 20 %", "one problem gains 20 %"],
)
def test_verdict_follows_largest_ratio(ratios, expected):
    rows = [Comparison("x", str(ratio), ratio, FAST, FAST) for ratio in ratios]
    largest, problem, mean, decision = verdict(rows)
    assert (largest, problem, decision) == (max(ratios), str(max(ratios)), expected)
    assert mean == pytest.approx((ratios[0] * ratios[1]) ** 0.5)


def test_special_case_without_which_a_fit_fails_is_kept():
    failed = Comparison("x", "b", 0.9, FAST, Run(1.0, False))
    neither = Comparison("x", "a", 1.0, Run(1.0, False), Run(1.0, False))
    assert verdict([neither])[3] == "delete"
    assert verdict([neither, failed])[1::2] == ("b", "keep: fails without it")


def test_fit_beyond_its_limit_has_not_converged():
    def forever():
        while True:
            pass

    assert measure(forever, 0.05).error == "TooLong"


def test_best_run_is_one_that_failed_if_any_did():
    assert ablation.best([FAST, SLOW]) is FAST
    assert ablation.best([FAST, Run(3.0, False)]).seconds == 3.0


def test_tiny_comparison_covers_only_ablations_that_the_problem_meets():
    name, fit = next(iter(ablation.problems(Settings(tiny=True))))
    rows = list(compare(name, fit, ABLATIONS, repeats=1))
    found = {row.ablation for row in rows}
    assert {"secant scaling of the Hessian", "exact zeros at p = 1"} <= found
    assert found.isdisjoint({"over-relaxed analytic steps", "family engine"})
    table = summary(rows)
    assert len(table.rows) == len(ABLATIONS)
    assert all(row[2] > 0 for row in table.rows if row[0] in found)


def test_tiny_problems_have_unique_names():
    names = [name for name, _ in ablation.problems(Settings(tiny=True))]
    assert len(set(names)) == len(names) >= 25
