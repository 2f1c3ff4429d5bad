"""KKT violations: the worst pair is in every working set, and bounded examples stay bounded."""

import numpy as np
import pytest

from kernelweave import losses
from kernelweave.optimization.inner.violations import Violations

LOSSES = [
    losses.Hinge(),
    losses.SquaredHinge(),
    losses.Logistic(),
    losses.EpsilonInsensitive(epsilon=0.3),
    losses.Squared(),
    losses.OneClass(),
]
N = 60
every_loss = pytest.mark.parametrize("loss", LOSSES, ids=lambda loss: loss.name)


def random_state(loss, rng):
    """Dual terms, alphas of which a third are at either bound (or at zero), and outputs."""
    y = rng.normal(size=N) if loss.kind == "regressor" else rng.choice([-1.0, 1.0], size=N)
    term = loss.dual_term(y, rng.uniform(0.5, 2.0, size=N))
    lo, hi = np.maximum(term.lo, -3.0), np.minimum(term.hi, 3.0)
    share = rng.random(N)
    if not term.ent.any():
        share[::3], share[1::3] = 0.0, 1.0
    alpha = lo + share * (hi - lo)
    alpha[1::3] = hi[1::3] if not term.ent.any() else alpha[1::3]
    return term, alpha, rng.normal(size=N)


def free(term, alpha):
    return np.flatnonzero((alpha > term.lo) & (alpha < term.hi))


@every_loss
def test_size_is_the_largest_violation_of_a_pair(loss, rng):
    term, alpha, F = random_state(loss, rng)
    violations = Violations(term, alpha, F)
    down, up = term.slopes(alpha)
    worst = max(down[j] + F[j] - up[i] - F[i] for i in range(N) for j in range(N))
    assert violations.size == pytest.approx(worst)


@every_loss
@pytest.mark.parametrize("q", [2, 3, 4, 7, 20, N])
@pytest.mark.parametrize("seed", range(5))
def test_worst_pair_is_always_selected(loss, q, seed):
    term, alpha, F = random_state(loss, np.random.default_rng(seed))
    violations = Violations(term, alpha, F)
    for keep in (np.empty(0, dtype=np.int64), free(term, alpha)[:q]):
        work = violations.select(q, keep)
        assert len(work) <= q
        assert np.all(np.diff(work) > 0)  # sorted, each once
        assert violations.up[work].min() == violations.up.min()
        assert violations.down[work].max() == violations.down.max()


@every_loss
def test_working_sets_are_filled_with_violators(loss, rng):
    term, alpha, F = random_state(loss, rng)
    violations = Violations(term, alpha, F)
    wanting = (violations.up < violations.middle) | (violations.down > violations.middle)
    work = violations.select(20, np.empty(0, dtype=np.int64))
    assert len(work) >= min(10, np.count_nonzero(wanting))
    assert np.all(wanting[work])


@every_loss
def test_free_examples_of_the_last_set_are_kept(loss, rng):
    term, alpha, F = random_state(loss, rng)
    keep = free(term, alpha)[:6]
    work = Violations(term, alpha, F).select(20, keep)
    assert set(keep) <= set(work)
    assert np.count_nonzero(np.isin(Violations(term, alpha, F).select(8, keep), keep)) >= 4


@every_loss
def test_bounded_examples_satisfy_kkt_if_outputs_change_by_the_slack(loss, rng):
    term, alpha, F = random_state(loss, rng)
    violations, slack = Violations(term, alpha, F), 0.4
    bounded = violations.stay_bounded(slack)
    assert np.all((alpha == term.lo) | (alpha == term.hi) | ~bounded)
    moved = F + rng.uniform(-slack, slack, size=N)
    down, up = (slopes + moved for slopes in term.slopes(alpha))
    assert np.all(up[bounded] >= violations.middle)
    assert np.all(down[bounded] <= violations.middle)
    assert not bounded[violations.up.argmin()]
    assert not bounded[violations.down.argmax()]


def test_less_slack_leaves_more_examples_bounded(rng):
    term, alpha, F = random_state(losses.Hinge(), rng)
    violations = Violations(term, alpha, F)
    few, many = violations.stay_bounded(violations.size), violations.stay_bounded(0.0)
    assert 0 < many.sum() < N
    assert np.all(many[few])


@every_loss
def test_fixed_alphas_have_no_violation(loss):
    y = np.array([1.0, -1.0, 1.0])
    term = loss.dual_term(y, np.zeros(3))
    violations = Violations(term, np.zeros(3), np.ones(3))
    assert violations.size == -np.inf
    assert violations.middle == 0.0


@every_loss
@pytest.mark.parametrize("seed", range(5))
def test_all_violators_are_selected_if_the_set_is_large_enough(loss, seed):
    """All violators may be on one side, and need more than half of the set."""
    term, alpha, F = random_state(loss, np.random.default_rng(seed))
    violations = Violations(term, alpha, F)
    moving = (violations.up < violations.middle) | (violations.down > violations.middle)
    work = violations.select(np.count_nonzero(moving), np.empty(0, dtype=np.int64))
    assert set(np.flatnonzero(moving)) == set(work)
