"""The ablation: special cases are switched off and on again, and judged by a fixed rule."""

import inspect

import pytest
from benchmarks import ablation
from benchmarks.ablation import ABLATIONS, Comparison, Run, compare, measure, summary, verdict
from benchmarks.settings import Settings

FAST, SLOW = Run(1.0, True), Run(2.0, True)


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
    assert "secant scaling of the Hessian" in found
    assert "over-relaxed analytic steps" not in found
    table = summary(rows)
    assert len(table.rows) == len(ABLATIONS)
    assert all(row[2] > 0 for row in table.rows if row[0] in found)


def test_tiny_problems_have_unique_names():
    names = [name for name, _ in ablation.problems(Settings(tiny=True))]
    assert len(set(names)) == len(names) >= 25
