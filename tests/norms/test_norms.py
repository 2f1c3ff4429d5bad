"""Laws that every norm obeys, against numerical optimisation over the weights."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy.optimize import minimize

from kernelweave import MKLRegressor, kernels, norms

M = 5
COSTS = (0.3, 1.0, 2.0, 5.0, 0.7)


def elliptic(offset, seed=0):
    """An E that couples the kernels: positively, or negatively for a negative offset."""
    A = np.random.default_rng(seed).normal(size=(M, M))
    return norms.Elliptic(np.eye(M) + 0.1 * A @ A.T + offset * (1 - np.eye(M)))


LP = [norms.Lp(p, weights) for p in (1, 1.3, 2, 7, np.inf) for weights in (None, COSTS)]
ELASTIC = [norms.Elastic(mix) for mix in (0.01, 0.5, 0.95)]
SUMS = [norms.SumOfNorms(mix, p) for mix in (0.02, 0.6) for p in (1.2, 2, 5)]
BALLS = [
    *LP,
    *ELASTIC,
    *SUMS,
    elliptic(0.5),
    elliptic(-0.15),
    norms.Block(1),
    norms.Block(1.4),
    norms.Block(2),
]
OUTWARD = [norms.Block(2.5), norms.Block(4), norms.Block(np.inf)]
every_ball = pytest.mark.parametrize("norm", BALLS, ids=lambda norm: type(norm).__name__)
every_outward = pytest.mark.parametrize("norm", OUTWARD, ids=lambda norm: f"q={norm.q}")
every_norm = pytest.mark.parametrize("norm", BALLS + OUTWARD, ids=lambda n: type(n).__name__)

sizes = st.floats(0, 1e6).map(lambda value: 0.0 if value < 1e-6 else value)
vectors = arrays(float, M, elements=sizes).filter(np.any)


@every_ball
@given(s=vectors, theta=vectors)
def test_hoelder(norm, s, theta):
    assert theta @ s <= norm.value(theta) * norm.dual(s) * (1 + 1e-9)


@every_outward
@given(s=vectors, theta=vectors)
def test_hoelder_is_reversed_for_block_norms_beyond_2(norm, s, theta):
    assert theta @ s >= norm.value(theta) * norm.dual(s) * (1 - 1e-9)


@every_ball
@given(s=vectors)
def test_best_attains_the_dual_value(norm, s):
    theta = norm.best(s)
    assert np.all(theta >= 0)
    assert norm.value(theta) == pytest.approx(1.0, rel=1e-9)
    assert theta @ s == pytest.approx(norm.dual(s), rel=1e-9)


@every_norm
def test_best_makes_primal_and_dual_terms_agree(norm, rng):
    s = rng.exponential(size=M)
    theta = norm.best(s)
    assert norm.value(theta) == pytest.approx(1.0)
    assert theta @ s == pytest.approx(norm.dual(s))
    assert norm.regularizer(theta, s) == pytest.approx(norm.dual(s))


@pytest.mark.filterwarnings("ignore:Values in x were outside bounds")  # by rounding: SciPy 1.15
@pytest.mark.parametrize(
    "norm", [norm for norm in BALLS if getattr(norm, "p", 2) not in (1, np.inf)]
)
def test_dual_is_the_numerical_maximum(norm, rng):
    for _ in range(5):
        s = rng.exponential(size=M)
        ball = {"type": "ineq", "fun": lambda theta: 1 - norm.value(theta)}
        found = minimize(
            lambda theta, s=s: -theta @ s,
            norm.start(M),
            bounds=[(1e-9, None)] * M,
            constraints=ball,
            options={"ftol": 1e-12, "maxiter": 500},
        )
        assert norm.dual(s) == pytest.approx(-found.fun, rel=1e-6)


def test_the_sparse_and_the_flat_end_of_lp():
    s = np.array([3.0, 1.0, 5.0])
    assert norms.Lp(1).dual(s) == 5.0
    np.testing.assert_array_equal(norms.Lp(1).best(s), [0, 0, 1])
    assert norms.Lp(np.inf).dual(s) == 9.0
    np.testing.assert_array_equal(norms.Lp(np.inf).best(s), [1, 1, 1])
    assert norms.Lp(1, weights=(1, 1, 4)).dual(s) == 3.0
    np.testing.assert_array_equal(norms.Lp(1, weights=(0.5, 1, 4)).best(s), [2, 0, 0])


@pytest.mark.parametrize("p", [1 + 1e-12, 1 + 1e-6, 1e6, 1e15])
@pytest.mark.parametrize("scale", [1e-200, 1.0, 1e200])
@pytest.mark.parametrize("weights", [None, COSTS])
def test_extreme_exponents_and_scales_stay_finite(p, scale, weights):
    norm, s = norms.Lp(p, weights), scale * np.array([1.0, 0.999, 1e-3, 0.0, 0.5])
    end = norms.Lp(1 if p < 2 else np.inf, weights)
    assert norm.dual(s) == pytest.approx(end.dual(s), rel=1e-4)
    for theta in (norm.best(s), norm.analytic(norm.start(M), s), norm.start(M)):
        assert np.all(np.isfinite(theta))
        assert norm.value(theta) == pytest.approx(1.0)


@every_norm
@pytest.mark.parametrize("slack", [1e-2, 1e-6])
def test_held_weights_have_an_end_and_cost_little(norm, slack, rng):
    for s in (rng.exponential(size=M), 10.0 ** np.arange(0, -20, -4), np.array([1.0, 0, 0, 0, 2])):
        theta = norm.best(s)
        held = norm.bounded(theta, slack)
        assert norm.value(held) == pytest.approx(1.0)
        if norm in BALLS:
            np.testing.assert_array_equal(held, theta)
            continue
        assert np.all(held <= norm.start(M) / slack * (1 + 1e-12))
        # They are the best of their kind: shifts between two of them do not lower theta . s.
        for i, j in np.argwhere(~np.eye(M, dtype=bool)):
            shares = 1 / held
            shares[i], shares[j] = 0.999 * shares[i], 1.001 * shares[j]
            other = 1 / shares / norm.value(1 / shares)
            if other.max() <= (norm.start(M) / slack).max():
                assert other @ s >= held @ s * (1 - 1e-12)


@every_outward
def test_held_weights_are_unchanged_if_none_is_large(norm, rng):
    theta = norm.best(rng.uniform(0.5, 1.0, size=M))
    np.testing.assert_allclose(norm.bounded(theta, 1e-3), theta, rtol=1e-12)


@every_norm
def test_start_is_uniform_and_of_norm_one(norm):
    theta = norm.start(M)
    assert np.all(theta == theta[0])
    assert norm.value(theta) == pytest.approx(1.0)


@every_norm
def test_zero_and_slightly_negative_s(norm):
    np.testing.assert_array_equal(norm.best(np.zeros(M)), norm.start(M))
    assert norm.dual(np.zeros(M)) == 0.0
    theta = norm.start(M)
    np.testing.assert_array_equal(norm.analytic(theta, np.zeros(M)), theta[:])
    s = np.array([1.0, -1e-17, 0.0, 2.0, 0.5])
    assert norm.dual(s) == norm.dual(np.maximum(s, 0))
    assert norm.regularizer(theta, s) == norm.regularizer(theta, np.maximum(s, 0))
    assert np.all(np.isfinite(norm.best(s)))
    assert np.all(norm.analytic(theta, s) >= 0)


def charge(w, theta):
    """sum_m ||w_m||^2 / theta_m, where 0 / 0 = 0."""
    return np.sum(np.divide(w**2, theta, out=np.zeros(len(w)), where=w > 0))


@pytest.mark.parametrize(
    "norm",
    [
        norms.Lp(1, COSTS),
        norms.Lp(1.5, COSTS),
        norms.Lp(3),
        norms.Block(1.5),
        norms.Elliptic(np.eye(M) + 0.3),
    ],
    ids=lambda norm: repr(norm)[:16],
)
def test_the_ball_is_convex_with_its_derivatives(norm, rng):
    theta, step, every = rng.uniform(0.2, 1.0, size=M), 1e-6, np.arange(M)
    some = np.array([3, 1])
    value, slope = norm.ball(theta)
    hessian = norm.ball_hessian(theta, every)
    for m in range(M):
        move = step * (every == m)
        (above, after), (below, before) = norm.ball(theta + move), norm.ball(theta - move)
        assert slope[m] == pytest.approx((above - below) / (2 * step), rel=1e-6)
        np.testing.assert_allclose(hessian[m], (after - before) / (2 * step), rtol=1e-5, atol=1e-8)
    assert np.linalg.eigvalsh(hessian).min() >= 0
    np.testing.assert_array_equal(norm.ball_hessian(theta, some), hessian[np.ix_(some, some)])
    assert np.sign(value) == np.sign(norm.value(theta) - 1)
    assert norm.ball(theta / norm.value(theta))[0] == pytest.approx(0.0, abs=1e-12)


@every_ball
def test_analytic_is_the_best_for_the_present_model(norm, rng):
    for _ in range(20):
        theta, s = rng.exponential(size=(2, M))
        w = theta * np.sqrt(s)
        new = norm.analytic(theta, s)
        assert norm.value(new) == pytest.approx(1.0)
        for other in rng.exponential(size=(50, M)) ** rng.choice([0.1, 1, 3], size=(50, 1)):
            assert charge(w, new) <= charge(w, other / norm.value(other)) * (1 + 1e-9)
            near = new * (1 + 0.01 * (other / other.max() - 0.5))
            assert charge(w, new) <= charge(w, near / norm.value(near)) * (1 + 1e-9)


@every_ball
@given(theta=vectors, s=vectors)
def test_analytic_never_raises_the_primal(norm, theta, s):
    theta = theta / norm.value(theta)
    w = theta * np.sqrt(s)
    new = norm.analytic(theta, s)
    assert norm.value(new) <= 1 + 1e-9
    assert charge(w, new) <= (theta @ s) * (1 + 1e-9)


@every_ball
def test_a_weight_whose_w_vanishes_can_come_back(norm):
    theta = norm.start(M)
    s = np.arange(M) + 1.0
    for _ in range(3):
        theta = norm.analytic(theta, s * (np.arange(M) > 0))
        assert np.all(theta > 0)
    for _ in range(300):
        theta = norm.analytic(theta, s)
    assert theta[0] > 1e-3 * norm.best(s)[0]


@pytest.mark.parametrize("weights", [None, COSTS])
@pytest.mark.parametrize("p", [1, 1.5, 4])
def test_the_minimal_charge_of_lp_has_its_closed_form(p, weights, rng):
    theta, s = rng.exponential(size=(2, M))
    w, costs, q = theta * np.sqrt(s), np.ones(M) if weights is None else np.array(weights), p + 1
    closed = np.sum(costs ** (1 / q) * w ** (2 * p / q)) ** (q / p)
    assert charge(w, norms.Lp(p, weights).analytic(theta, s)) == pytest.approx(closed)


@pytest.mark.parametrize("q", [1, 1.2, 1.7, 2])
def test_block_norms_up_to_2_are_lp_norms(q, rng):
    block, lp = norms.Block(q), norms.Lp(np.inf if q == 2 else q / (2 - q))
    theta, s = rng.exponential(size=(2, M))
    assert block.dual(s) == pytest.approx(lp.dual(s))
    assert block.value(theta) == pytest.approx(lp.value(theta))
    new = lp.analytic(theta, s)
    np.testing.assert_allclose(block.analytic(theta, s), new)
    assert block.regularizer(theta, s) == pytest.approx(charge(theta * np.sqrt(s), new))


@every_outward
def test_block_norms_beyond_2_have_the_dual_of_their_regularizer(norm, rng):
    """1/2 dual(s) is the conjugate of 1/2 ||w||_q^2 at ||a_m|| = sqrt(s_m)."""
    s = rng.exponential(size=M)
    a = np.sqrt(s)

    def below(w):
        return 0.5 * np.linalg.norm(w, norm.q) ** 2 - w @ a

    w = norm.best(s) * a
    assert below(w) == pytest.approx(-0.5 * norm.dual(s))
    for other in w * (1 + 0.1 * rng.normal(size=(200, M))):
        assert below(other) >= below(w) - 1e-12


def test_block_scales_are_roots_of_the_weights_of_the_norm(rng):
    """The d_j of Bach et al. (2004): (sum_j d_j ||w_j||)^2, and a dual of max_j s_j / d_j^2."""
    scales, sizes, s = (rng.uniform(0.5, 2.0, size=M) for _ in range(3))
    norm = norms.Lp(1, weights=scales**2)
    best = minimize(
        lambda log: np.sum(sizes**2 / np.exp(log)) * norm.value(np.exp(log)), np.zeros(M), tol=1e-12
    )
    assert best.fun == pytest.approx((scales @ sizes) ** 2, rel=1e-6)
    assert norm.dual(s) == pytest.approx(np.max(s / scales**2))


def test_infeasible_weights_are_charged_for():
    norm, theta, s = norms.Lp(2), np.array([3.0, 4.0]), np.ones(2)
    assert norm.regularizer(theta, s) == pytest.approx(5 * 7)
    assert norm.regularizer(theta / 5, s) == pytest.approx(7 / 5)


@pytest.mark.parametrize("condition", [1e2, 1e6, 1e10])
def test_elliptic_is_accurate_for_badly_conditioned_matrices(condition, rng):
    """Weak duality certifies `best`: theta.s <= ||theta|| sqrt((s + gamma)' E (s + gamma))."""
    rotation = np.linalg.qr(rng.normal(size=(M, M)))[0]
    norm = norms.Elliptic(rotation @ np.diag(np.geomspace(1 / condition, 1, M)) @ rotation.T)
    s = rng.exponential(size=M)
    theta = norm.best(s)
    gamma = np.maximum(np.linalg.solve(norm.E, theta) * norm.dual(s) - s, 0)
    upper = np.sqrt((s + gamma) @ norm.E @ (s + gamma))
    assert norm.dual(s) == pytest.approx(upper, rel=1e-5)


def test_elliptic_weights_stay_nonnegative_where_the_plain_dual_norm_would_not():
    norm, s = norms.Elliptic([[1.0, -0.9], [-0.9, 1.0]]), np.array([1.0, 0.1])
    assert (norm.E @ s)[1] < 0
    np.testing.assert_allclose(norm.best(s), [np.sqrt(0.19), 0.0])
    assert norm.dual(s) == pytest.approx(np.sqrt(0.19))


def test_elliptic_is_the_norm_of_the_paper(rng):
    """theta' E^-1 theta <= 1, whose dual norm is sqrt(s' E s) where no weight would be negative."""
    norm, s, theta = norms.Elliptic(E := [[1.0, 0.9], [0.9, 2.0]]), rng.random(2), rng.random(2)
    assert norm.value(theta) == pytest.approx(np.sqrt(theta @ np.linalg.inv(E) @ theta))
    assert norm.dual(s) == pytest.approx(np.sqrt(s @ E @ s))
    np.testing.assert_allclose(norm.best(s), E @ s / norm.dual(s))
    important = norms.Elliptic(np.diag([4.0, 1.0])).best(np.ones(2))
    assert important[0] == pytest.approx(4 * important[1])
    alone = norms.Elliptic(E).among(np.array([1]))
    assert alone.value(np.array([0.3])) == pytest.approx(norm.value(np.array([0.0, 0.3])))


def test_elliptic_norms_of_nearly_singular_matrices_can_be_restricted(rng):
    """Inverting twice lost the symmetry of E."""
    A = rng.normal(size=(300, 5))
    norm = norms.Elliptic(A @ A.T / 5 + 1e-6 * np.eye(300))
    assert norm.among(np.arange(300)) is norm
    some, theta = np.arange(0, 300, 2), rng.random(150)
    spread = np.zeros(300)
    spread[some] = theta
    assert norm.among(some).value(theta) == pytest.approx(norm.value(spread), rel=1e-6)


def test_as_norm():
    assert norms.as_norm(2) == norms.Lp(2.0)
    assert norms.as_norm(np.float32(1.5)) == norms.Lp(1.5)
    assert norms.as_norm(np.inf) == norms.Lp(np.inf)
    block = norms.Block(3)
    assert norms.as_norm(block) is block


@pytest.mark.parametrize("value", ["l2", None, True, [1.0], norms.Lp])
def test_as_norm_names_accepted_values(value):
    with pytest.raises(TypeError, match="norm must be a number p >= 1, inf, or an object"):
        norms.as_norm(value)


@pytest.mark.parametrize("value", [0.5, 0, -1, np.nan, "2", None])
def test_bad_exponents_are_rejected(value):
    with pytest.raises(ValueError, match="p must be a number >= 1 or inf"):
        norms.Lp(value)
    with pytest.raises(ValueError, match="q must be a number >= 1 or inf"):
        norms.Block(value)


@pytest.mark.parametrize("weights", [(1.0, 0.0), (1.0, -2.0), (1.0, np.nan), (np.inf,), 3.0])
def test_bad_weights_are_rejected(weights):
    with pytest.raises(ValueError, match="weights must be a sequence of positive finite numbers"):
        norms.Lp(2, weights=weights)


@pytest.mark.parametrize(
    ("E", "message"),
    [
        (np.ones((2, 3)), r"E must be a square matrix, got an array of shape \(2, 3\)"),
        (np.zeros((0, 0)), "E must be a square matrix"),
        (np.array([[1.0, np.nan], [np.nan, 1.0]]), "E must be finite"),
        (np.array([[1.0, 0.5], [0.2, 1.0]]), "E must be symmetric, but differs by 0.3"),
        (
            np.array([[1.0, 2.0], [2.0, 1.0]]),
            "positive definite, but its smallest eigenvalue is -1",
        ),
        (np.ones((2, 2)), r"positive definite, .* identity, such as E \+ 1e-6 \* np.eye\(2\)"),
    ],
)
def test_bad_matrices_are_rejected(E, message):
    with pytest.raises(ValueError, match=message):
        norms.Elliptic(E)


@pytest.mark.parametrize("norm", [norms.Lp(2, weights=(1.0, 2.0)), norms.Elliptic(np.eye(2))])
def test_a_wrong_number_of_kernels_is_named(norm):
    with pytest.raises(ValueError, match="is for 2 kernels, but there are 3"):
        norm.dual(np.ones(3))
    with pytest.raises(ValueError, match="is for 2 kernels, but there are 3"):
        norm.start(3)


def test_a_fixed_combination_is_a_problem_with_one_set_of_weights(rng):
    theta, s = rng.random(4), rng.random(4)
    norm = norms.Fixed(theta)
    assert norm.dual(s) == pytest.approx(theta @ s)
    assert norm.regularizer(theta, s) == pytest.approx(theta @ s)
    assert norm.value(theta) == 1.0
    np.testing.assert_array_equal(norm.best(s), theta)
    np.testing.assert_array_equal(norm.analytic(theta, s), theta)


def test_costs_are_the_weights_of_the_norm():
    for norm in (norms.Lp(1), norms.Block(1), norms.Elliptic(np.eye(3))):
        np.testing.assert_array_equal(norm.costs(3), np.ones(3))
    np.testing.assert_array_equal(norms.Lp(1, (1.0, 2.0, 0.5)).costs(3), [1.0, 2.0, 0.5])
    with pytest.raises(ValueError, match="norm: weights is for 3 kernels, but there are 2"):
        norms.Lp(1, (1.0, 2.0, 0.5)).costs(2)


@pytest.mark.parametrize(
    ("norm", "found"),
    [
        (norms.Lp(1), {"is_sparse", "has_ball", "allows_zeros"}),
        (norms.Block(1), {"is_sparse", "has_ball", "allows_zeros"}),
        (norms.Lp(1.5), {"is_curved", "has_ball", "allows_zeros"}),
        (norms.Block(1.5), {"is_curved", "has_ball", "allows_zeros"}),
        (norms.Elliptic(np.eye(2)), {"is_curved", "has_ball", "allows_zeros"}),
        (norms.Lp(64), {"allows_zeros"}),
        (norms.Lp(np.inf), {"is_plain_sum", "is_fixed", "allows_zeros"}),
        (norms.Block(2), {"is_plain_sum", "is_fixed", "allows_zeros"}),
        (norms.Block(3), set()),
        (norms.Block(np.inf), set()),
        (norms.Fixed(np.array([0.3, 0.7])), {"is_fixed", "allows_zeros"}),
    ],
    ids=lambda given: repr(given) if isinstance(given, norms.Norm) else "-".join(sorted(given)),
)
def test_norm_properties_match_their_capabilities(norm, found):
    properties = (
        "is_sparse", "is_curved", "has_ball", "is_plain_sum", "is_fixed", "allows_zeros"
    )  # fmt: skip
    assert {name for name in properties if getattr(norm, name)} == found


@pytest.mark.parametrize(
    ("norm", "p"),
    [
        (norms.Lp(1.5), 1.5),
        (norms.Lp(np.inf), np.inf),
        (norms.Block(1), 1.0),
        (norms.Block(4 / 3), 2.0),
        (norms.Block(2), np.inf),
        (norms.Block(3), np.nan),
        (norms.Elliptic(np.eye(2)), np.nan),
        (norms.Fixed(np.ones(2)), np.nan),
    ],
    ids=repr,
)
def test_the_exponent_is_that_of_the_lp_norm_with_the_same_problem(norm, p):
    np.testing.assert_allclose(norm.exponent, p)


def test_the_norm_among_some_kernels_is_that_of_weights_with_zeros(rng):
    some, theta = np.array([3, 1]), rng.random(2)
    among = np.zeros(4)
    among[some] = theta
    for norm in (norms.Lp(1), norms.Lp(1.5, (1.0, 2.0, 0.5, 3.0)), norms.Block(1)):
        assert norm.among(some).value(theta) == pytest.approx(norm.value(among))


def test_a_norm_without_a_ball_raises():
    norm, theta = norms.Fixed(np.array([0.5, 0.5])), np.array([0.5, 0.5])
    for ask in (norm.ball, lambda theta: norm.ball_hessian(theta, np.arange(2))):
        with pytest.raises(TypeError, match=r"norm=Fixed.* has no function that describes"):
            ask(theta)


@pytest.mark.parametrize("mix", [0.02, 0.4, 0.9])
def test_elastic_weights_minimise_the_mixture(mix, rng):
    """sum ||w||^2 / theta, least at `analytic`, is mix (sum ||w||)^2 + (1 - mix) sum ||w||^2."""
    norm, sizes = norms.Elastic(mix), rng.exponential(size=M)
    theta = norm.start(M)
    found = norm.analytic(theta, (sizes / theta) ** 2)
    expected = mix * sizes.sum() ** 2 + (1 - mix) * np.sum(sizes**2)
    assert np.sum(sizes**2 / found) == pytest.approx(expected)
    for _ in range(20):
        other = rng.exponential(size=M)
        assert np.sum(sizes**2 / (other / norm.value(other))) >= expected * (1 - 1e-12)


def test_elastic_lies_between_the_sparse_norm_and_the_plain_sum(rng):
    s = rng.exponential(size=M)
    duals = [norms.Elastic(mix).dual(s) for mix in (1e-6, 0.3, 0.7, 1 - 1e-6)]
    assert duals == sorted(duals, reverse=True)
    assert duals[0] == pytest.approx(norms.Lp(np.inf).dual(s), rel=1e-4)
    assert duals[-1] == pytest.approx(norms.Lp(1).dual(s), rel=1e-4)


def test_elastic_weights_of_equal_kernels_are_equal():
    np.testing.assert_allclose(
        norms.Elastic(0.5).best(np.array([2.0, 2.0, 0.0])), [2 / 3, 2 / 3, 0]
    )


@pytest.mark.parametrize("mix", [0, 1, -0.1, np.nan, "half"])
def test_elastic_refuses_invalid_mixes(mix):
    with pytest.raises(ValueError, match="mix must be a number above 0 and below 1"):
        norms.Elastic(mix)


def test_sum_of_norms_lies_between_its_terms(rng):
    s = rng.exponential(size=M)
    duals = [norms.SumOfNorms(mix, 3).dual(s) for mix in (1e-9, 0.3, 0.7, 1 - 1e-9)]
    assert duals == sorted(duals, reverse=True)
    assert duals[0] == pytest.approx(norms.Lp(3).dual(s), rel=1e-6)
    assert duals[-1] == pytest.approx(norms.Lp(1).dual(s), rel=1e-6)


@pytest.mark.parametrize("norm", SUMS)
def test_analytic_weights_of_a_sum_of_norms_are_the_numerical_minimum(norm, rng):
    for sizes in (rng.exponential(size=M), 0.3 ** np.arange(M), np.ones(M)):
        theta = norm.start(M)
        found = norm.analytic(theta, (sizes / theta) ** 2)
        least = np.sum(sizes**2 / found)
        for _ in range(50):
            other = found * rng.lognormal(sigma=rng.choice([0.01, 0.3]), size=M)
            assert np.sum(sizes**2 / (other / norm.value(other))) >= least * (1 - 1e-12)


@pytest.mark.parametrize("p", [1 + 1e-4, 32])
@pytest.mark.parametrize("mix", [1e-6, 1 - 1e-6])
@pytest.mark.parametrize("scale", [1e-200, 1.0, 1e200])
def test_extreme_sums_of_norms_have_feasible_weights(p, mix, scale):
    norm, s = norms.SumOfNorms(mix, p), scale * np.array([1.0, 0.999, 1e-3, 0.0, 0.5])
    for theta in (norm.best(s), norm.analytic(norm.start(M), s)):
        assert np.all(theta >= 0)
        assert norm.value(theta) == pytest.approx(1.0, rel=1e-9)


@pytest.mark.parametrize("settings", [{"mix": 0}, {"mix": 1}, {"mix": np.nan}, {"mix": "half"}])
def test_sum_of_norms_refuses_a_mix_outside_its_range(settings):
    with pytest.raises(ValueError, match="mix must be a number above 0 and below 1"):
        norms.SumOfNorms(**settings)


@pytest.mark.parametrize("p", [1, 33, np.inf, np.nan, "two"])
def test_sum_of_norms_refuses_an_exponent_outside_its_range(p):
    with pytest.raises(ValueError, match="p must be a number above 1 and at most 32"):
        norms.SumOfNorms(0.5, p)


@pytest.mark.parametrize("mu", [0.05, 3.0])
@pytest.mark.parametrize(
    "norm", [norms.Lp(1.5), norms.Lp(2), norms.Elastic(0.4), norms.SumOfNorms(0.3, 3)]
)
def test_tikhonov_form_has_the_same_solution(norm, mu, rng):
    """Minimise the Tikhonov objective of a ridge regression over the weights, in NumPy."""
    X = rng.normal(size=(30, 3))
    y = X @ [1.0, -0.5, 0.1] + 0.1 * rng.normal(size=30)
    C, each = 2.0, kernels.per_feature(kernels.Linear())
    settings = {"C": C, "loss": "squared", "normalize": None, "fit_intercept": False}
    model = MKLRegressor(each, norm=norm, tol=1e-9, **settings).fit(X, y)
    f = model.predict(X)
    C_tilde = norms.tikhonov_C(C, float(model.dual_coef_[0] @ f[model.support_]), mu)

    def objective(logs):
        theta = np.exp(logs)
        K = (X * theta) @ X.T
        inner = y @ np.linalg.solve(K + np.eye(30) / (2 * C_tilde), y) / 2
        return inner + mu * norm.value(theta) ** 2

    t = C / C_tilde
    start = np.log(t * np.maximum(model.weights_, 1e-12))
    best = minimize(objective, start, method="Nelder-Mead", options={"maxiter": 2000})
    assert objective(start) == pytest.approx(best.fun, rel=1e-6)


def test_tikhonov_refuses_numbers_that_are_not_positive():
    with pytest.raises(ValueError, match="size must be a finite number above 0, got 0"):
        norms.tikhonov_C(1.0, 0)
