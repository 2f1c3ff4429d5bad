"""An independent judge of fitted models: their two objective values from the definitions.

    P = sum_i C_i V(f_i, y_i) + tau b + 1/2 sum_m ||w_m||^2 / theta_m,   theta >= 0, ||theta|| <= 1
    D = -sum_i C_i V*(-alpha_i / C_i, y_i) - 1/2 max { theta . s },      sum_i alpha_i = tau

with s_m = alpha' K_m alpha, ||w_m||^2 = theta_m^2 s_m, f_i = sum_m theta_m (K_m alpha)_i + b. For
block norms the last term of P is 1/2 (sum_m ||w_m||^q)^(2/q), and that of D its conjugate. The gap
is (P - D) / min(|P|, P0 - D), P0 being what the best constant costs. Without an intercept tau is
None: b and the best constant are 0, and alphas may have any sum.

Only NumPy is used and nothing of the library: what a fit leaves behind comes in as arrays. Machines
that share their weights are rows of y and alpha. With kernel matrices of extended precision
(`np.longdouble`) everything is computed in it.
"""

from dataclasses import dataclass

import numpy as np

TINY = float(np.finfo(float).tiny)
ROUNDED_GAIN = 1e-10  # gain over the constant model that counts as rounding, relative to its cost
REGRESSION = ("squared", "epsilon_insensitive")
FARTHEST = 1e4  # bias of the best constant of a classifier
FEASIBLE = 1e-9  # how far rounding may carry weights and alphas out of their sets, relative to them


class Infeasible(ValueError):
    """Weights outside their ball, or alphas outside their box or off their sum: no certificate."""


@dataclass(frozen=True)
class Norm:
    """A norm by its kind: "lp" (p, costs), "elliptic" (E), "fixed" (none).

    Of "block" norms p is their q, of "elastic" ones their mix. "sum" has both, p and mix.
    """

    kind: str
    p: float = 1.0
    costs: np.ndarray | None = None
    E: np.ndarray | None = None
    mix: float = 1.0


@dataclass(frozen=True)
class Values:
    """Objective values of a model."""

    primal: float
    dual: float
    constant: float

    @property
    def gap(self) -> float:
        """(primal - dual) / min(|primal|, constant - dual); 0 for a constant that is the best."""
        gain, rounding = self.constant - self.dual, ROUNDED_GAIN * self.constant
        if gain <= rounding and self.primal <= self.constant + rounding:
            return 0.0
        return (self.primal - self.dual) / max(min(abs(self.primal), gain), TINY)


def certificate(K, y, C, alpha, theta, bias, loss, norm, parameter=0.0, tau=0.0):
    """Return the values of a model.

    Parameters
    ----------
    K : kernel matrices after normalisation, shape (M, n, n); theta : weights, shape (M,).
    y : targets, shape (n,) or (n_outputs, n): -1 and 1 for margins; not used for one class.
    C : costs, shape (n,) or (n_outputs, n): the C of the estimator times sample and class weights.
    alpha : signed dual variables, shape (n,) or (n_outputs, n).
    bias : a number or (n_outputs,); tau : what alpha (of each output) must add up to, or None.
    loss : its name; parameter : its epsilon or sigma, where it has one; norm : a `Norm`.

    Raises
    ------
    Infeasible : where alpha or theta are not in their sets.
    """
    alpha, y, bias, C, theta = (np.asarray(x, dtype=K.dtype) for x in (alpha, y, bias, C, theta))
    alpha, bias = np.atleast_2d(alpha), np.reshape(bias, (-1, 1))
    y, C = np.broadcast_to(y, alpha.shape), np.broadcast_to(C, alpha.shape)
    if loss in REGRESSION:  # far from 0 sums would lose the digits of y - f
        y, bias = y - bias, 0 * bias
    if not all(np.isfinite(array).all() for array in (K, y, C, alpha, theta, bias)):
        raise Infeasible("there are values that are not finite")
    if tau is None and np.any(bias):
        raise Infeasible(f"there is no intercept, but the bias is {bias.ravel()}")
    sums = np.zeros(len(alpha)) if tau is None else alpha.sum(axis=1)
    intercept, tau = tau is not None, tau or 0.0
    _check_sum(alpha, sums, tau)
    _check_box(alpha, y, C, loss)
    g = np.einsum("mij,cj->mci", K, alpha)
    s = np.maximum(np.einsum("mci,ci->m", g, alpha), 0)
    f = np.einsum("m,mci->ci", theta, g) + bias
    cost = np.sum(C * LOSS[loss](f, y, parameter)) + tau * np.sum(bias)
    paid = C > 0
    conjugate = CONJUGATE[loss](alpha[paid], y[paid], C[paid], parameter).sum()
    term = _primal_norm(s, theta, norm)
    # Alphas miss their sum by rounding; the distance times its multiplier, the bias, is taken off.
    missed = bias.ravel() @ (sums - tau)
    primal, dual = cost + 0.5 * term, -conjugate - missed - 0.5 * _dual_norm(s, theta, norm)
    constant = _best_constant if intercept else _zero
    rows = zip(y, C, paid, strict=True) if tau == 0 else []
    best = [constant(row[some], costs[some], loss, parameter) for row, costs, some in rows]
    return Values(float(primal), float(dual), float(sum(best)))


def survival_certificate(K, time, event, C, alpha, theta, bias, loss, norm, ties="breslow"):
    """Return the values of a survival model, as `certificate` does.

    Parameters
    ----------
    time, event, C, alpha : arrays of shape (n,)
    bias : float, 0 but for the regression on y = -log(time).
    loss : "cox", "ranking" or "regression"; ties : "breslow" or "efron", for "cox".

    Notes
    -----
    Costs of Cox's likelihood and of the ranking do not separate over examples. Their conjugates are
    sums over events (an entropy) and over pairs (a square), given outputs F whose dual point is
    alpha. Newton's method on dense matrices finds F; `Infeasible` if alpha is not that of any.
    """
    _check_sum(alpha[None], np.array([alpha.sum()]), 0.0)
    g = np.einsum("mij,j->mi", K, alpha)
    s, f = np.maximum(g @ alpha, 0), theta @ g + bias
    if loss == "regression":
        y = -np.log(time)
        if np.any(~event & (alpha > 0)):
            raise Infeasible("an alpha of a censored time is positive")

        def cost_of(f):
            return C @ np.where(event, f - y, np.maximum(f - y, 0)) ** 2

        paid = C > 0
        # The sum of alphas misses 0 by rounding, which is charged as in `certificate`.
        conjugate = np.sum((alpha**2 / (4 * np.where(paid, C, 1)) - y * alpha)[paid])
        conjugate += bias * alpha.sum()
        lo, hi = y.min(), y.max()
        for _ in range(300):
            third = (hi - lo) / 3
            lower = cost_of(lo + third) <= cost_of(hi - third)
            lo, hi = (lo, hi - third) if lower else (lo + third, hi)
        constant = cost_of(lo)
    else:
        terms = _cox_terms(time, event, C, ties) if loss == "cox" else _pairs(time, event, C)
        parts = _cox if loss == "cox" else _ranking

        def cost_of(f):
            return parts(f, terms)[0]

        conjugate, constant = _conjugate_of(alpha, terms, parts), cost_of(np.zeros(len(time)))
    primal = cost_of(f) + 0.5 * _primal_norm(s, theta, norm)
    return Values(float(primal), float(-conjugate - 0.5 * _dual_norm(s, theta, norm)), constant)


def classes_certificate(K, codes, C, alpha, theta, bias, loss, norm, tau=0.0):
    """Return the values of a joint model of several classes, as `certificate` does.

    Parameters
    ----------
    codes : classes from 0 on, shape (n,); C : costs, shape (n,).
    alpha : shape (classes, n); bias : shape (classes,).
    loss : "logistic", log sum_k exp f_k - f_c, or "hinge", max_k ([k != c] + f_k) - f_c.

    Notes
    -----
    With p = [k = c] - alpha / C, a distribution over the classes for each example, the conjugate is
    C sum p log p for the logistic loss and C (p_c - 1) for the hinge.
    """
    own = codes == np.arange(len(alpha))[:, None]
    paid = C > 0
    sums = alpha.sum(axis=1) if tau is not None else np.zeros(len(alpha))
    _check_sum(alpha, sums, 0.0)
    _check_sum(alpha.T, alpha.sum(axis=0), 0.0)
    p = own[:, paid] - alpha[:, paid] / C[paid]
    if np.any(p < -FEASIBLE) or np.any(alpha[:, ~paid]):
        raise Infeasible("an alpha is outside its bounds")
    if tau is None and np.any(bias):
        raise Infeasible(f"there is no intercept, but the bias is {bias}")
    g = np.einsum("mij,cj->mci", K, alpha)
    s = np.maximum(np.einsum("mci,ci->m", g, alpha), 0)
    f = np.einsum("m,mci->ci", theta, g) + np.reshape(bias, (-1, 1))
    each, totals = np.arange(len(codes)), np.array([C[row].sum() for row in own])
    if loss == "logistic":
        top = f.max(axis=0)
        cost = C @ (np.log(np.exp(f - top).sum(axis=0)) + top - f[codes, each])
        conjugate = np.sum(C[paid] * p * np.log(np.where(p > 0, p, 1)))
        shares = totals[totals > 0] / C.sum()
        constant = -C.sum() * np.sum(shares * np.log(shares))
        constant = constant if tau is not None else C.sum() * np.log(len(alpha))
    else:
        cost = C @ ((f + ~own).max(axis=0) - f[codes, each])
        conjugate = -np.sum(alpha[:, paid][own[:, paid]])  # C (p_c - 1), without cancellation
        constant = min(C.sum(), 2 * (C.sum() - totals.max())) if tau is not None else C.sum()
    primal = cost + 0.5 * _primal_norm(s, theta, norm)
    dual = -conjugate - bias @ sums - 0.5 * _dual_norm(s, theta, norm)
    return Values(float(primal), float(dual), float(constant))


def _cox_terms(time, event, C, ties):
    """Return (cost, weights of examples at risk, events' cost vector) of each term of the sum."""
    w, terms = C / C.max(), []
    for moment in np.unique(time[event & (C > 0)]):
        happened = (time == moment) & event & (C > 0)
        d, cost = happened.sum(), C[happened].mean()
        for order in range(d):
            removed = order / d if ties == "efron" else 0.0
            at_risk = w * ((time >= moment) - removed * happened)
            terms.append((cost, at_risk, np.where(happened, C, 0.0) / d))
    return terms


def _cox(F, terms):
    """Return value, dual point, Hessian and conjugate at outputs F."""
    value, alpha, hessian, conjugate = 0.0, np.zeros(len(F)), np.zeros((len(F),) * 2), 0.0
    for cost, at_risk, own in terms:
        top = F[at_risk > 0].max()
        hazard = at_risk * np.exp(np.where(at_risk > 0, F - top, 0.0))
        p, total = hazard / hazard.sum(), np.log(hazard.sum()) + top
        value += cost * total - own @ F
        alpha += own - cost * p
        hessian += cost * (np.diag(p) - np.outer(p, p))
        some = p > 0
        conjugate += cost * np.sum(p[some] * np.log(p[some] / at_risk[some]))
    return value, alpha, hessian, conjugate


def _pairs(time, event, C):
    """Return earlier and later examples of all comparable pairs, and the costs of the pairs."""
    later = (time[None] > time[:, None]) | ((time[None] == time[:, None]) & ~event[None])
    first, second = np.nonzero(later & (event & (C > 0))[:, None] & (C > 0)[None])
    return first, second, C[first] * C[second] / C.sum()


def _ranking(F, terms):
    """Return value, dual point, Hessian and conjugate at outputs F."""
    first, second, cost = terms
    short = np.maximum(0, 1 - (F[first] - F[second]))
    dual, rows = 2 * cost * short, np.zeros((len(first), len(F)))
    rows[np.arange(len(first)), first], rows[np.arange(len(first)), second] = 1, -1
    hessian = rows.T @ ((2 * cost * (short > 0))[:, None] * rows)
    return cost @ short**2, dual @ rows, hessian, np.sum(dual**2 / (4 * cost) - dual)


def _conjugate_of(alpha, terms, parts):
    """Return the conjugate at -alpha: Newton's method finds F with this dual point."""
    F, largest = np.zeros(len(alpha), dtype=np.longdouble), np.abs(alpha).max()
    _, found, hessian, conjugate = parts(F, terms)
    for _ in range(300):
        wrong = found - alpha
        error = np.abs(wrong).max() / largest
        if error <= FEASIBLE:
            return conjugate
        ridge = min(error, 1e-3) * largest + 1e-16 * np.trace(hessian) + 1e-300
        whole = (hessian + ridge * np.eye(len(F))).astype(float)
        step, lo, hi = np.linalg.solve(whole, wrong.astype(float)), 0.0, 1.0
        if (parts(F + step, terms)[1] - alpha) @ step < 0:  # the step goes too far: bisection
            for _ in range(60):
                middle = 0.5 * (lo + hi)
                far = (parts(F + middle * step, terms)[1] - alpha) @ step < 0
                lo, hi = (lo, middle) if far else (middle, hi)
        F = F + hi * step
        _, found, hessian, conjugate = parts(F, terms)
    raise Infeasible("alpha is not the dual point of any outputs")


def _check_sum(alpha, sums, tau):
    if np.any(np.abs(sums - tau) > FEASIBLE * (np.abs(alpha).sum(axis=1) + abs(tau))):
        raise Infeasible(f"alphas add up to {sums}, not to {tau}")


def _check_box(alpha, y, C, loss):
    side = {"one_class": 1.0, "squared": 0.0, "epsilon_insensitive": 0.0}.get(loss, y)
    bound = np.where(C > 0, np.inf, 0.0) if loss in ("squared", "squared_hinge") else C
    if np.any(side * alpha < 0) or np.any(np.abs(alpha) > (1 + FEASIBLE) * bound):
        raise Infeasible("an alpha is outside its box")


def _check_weights(theta, norm):
    """Return ||theta||, at least 1, by which weights that rounding made too long are charged."""
    if np.any(theta < 0):
        raise Infeasible(f"a weight is negative: {theta.min()}")
    size = 1.0
    if norm.kind == "lp":
        size = _power_sum(theta, norm.p, 1.0 if norm.costs is None else norm.costs)
    elif norm.kind == "elliptic":
        size = np.sqrt(theta @ np.linalg.solve(norm.E, theta.astype(float)))
    elif norm.kind == "elastic":
        size = _elastic_size(theta, norm.p)
    elif norm.kind == "sum":
        size = norm.mix * np.sum(theta) + (1 - norm.mix) * _power_sum(theta, norm.p)
    if size > 1 + FEASIBLE:
        raise Infeasible(f"the weights have norm {size}, above 1")
    return max(1.0, size)


# V(f, y), with epsilon or sigma in place of p.
LOSS = {
    "hinge": lambda f, y, p: np.maximum(0, 1 - y * f),
    "squared_hinge": lambda f, y, p: np.maximum(0, 1 - y * f) ** 2,
    "logistic": lambda f, y, p: np.logaddexp(0, -y * f),
    "smooth_hinge": lambda f, y, p: np.logaddexp(0, p * (1 - y * f)) / p,
    "epsilon_insensitive": lambda f, y, p: np.maximum(0, np.abs(y - f) - p),
    "squared": lambda f, y, p: (y - f) ** 2,
    "one_class": lambda f, y, p: np.maximum(0, -f),
}

# C V*(-a / C, y) inside the box. Examples without cost have a = 0 and count nothing.
CONJUGATE = {
    "hinge": lambda a, y, C, p: -y * a,
    "squared_hinge": lambda a, y, C, p: -y * a + a**2 / (4 * C),
    "logistic": lambda a, y, C, p: C * _entropy(y * a / C),
    "smooth_hinge": lambda a, y, C, p: -y * a + C / p * _entropy(y * a / C),
    "epsilon_insensitive": lambda a, y, C, p: -y * a + p * np.abs(a),
    "squared": lambda a, y, C, p: -y * a + a**2 / (4 * C),
    "one_class": lambda a, y, C, p: 0 * a,
}


def _best_constant(y, C, loss, p):
    """Return min over b of sum_i C_i V(b, y_i): the best kink, or what is found by thirds."""
    kinks = np.concatenate([y - p, y + p]) if loss in REGRESSION else np.array([-1.0, 1.0])
    lo, hi = (y.min(), y.max()) if loss in REGRESSION else (-FARTHEST, FARTHEST)

    def cost(b):
        return np.sum(C * LOSS[loss](b, y, p))

    for _ in range(300):
        third = (hi - lo) / 3
        lo, hi = (lo, hi - third) if cost(lo + third) <= cost(hi - third) else (lo + third, hi)
    return min(cost(b) for b in (lo, hi, *kinks))


def _zero(y, C, loss, p):
    """Return sum_i C_i V(0, y_i)."""
    return np.sum(C * LOSS[loss](np.zeros_like(y), y, p))


def _entropy(part):
    part = np.clip(part, 0, 1)
    return sum(x * np.log(np.where(x > 0, x, 1)) for x in (part, 1 - part))


def _primal_norm(s, theta, norm):
    """Return the squared norm of a model with weights theta and squared block norms s."""
    size = _check_weights(theta, norm)
    if norm.kind == "block":
        return _power_sum(theta * np.sqrt(s), norm.p) ** 2
    return size * (theta @ s)


def _dual_norm(s, theta, norm):
    """Return the largest weights . s over the ball, or for block norms the conjugate term."""
    if norm.kind == "fixed":
        return theta @ s
    if norm.kind == "elliptic":
        return _largest_on_ellipse(norm.E, s)
    if norm.kind == "elastic":
        return _largest_elastic(s, norm.p)
    if norm.kind == "sum":
        return _largest_of_sum(s, norm.p, norm.mix)
    q = np.inf if norm.p == 1 else 1.0 if norm.p == np.inf else norm.p / (norm.p - 1)
    if norm.kind == "block":
        return _power_sum(s, q / 2)
    return _power_sum(s if norm.costs is None else s * norm.costs ** (-1 / norm.p), q)


def _elastic_size(theta, mix):
    """Return the least t with sum mix theta / (t - (1 - mix) theta) <= 1, by bisection."""
    low, high = np.max(theta), np.max(theta) + np.sum(theta)
    for _ in range(200):
        t = (low + high) / 2
        if t > low and np.sum(mix * theta / (t - (1 - mix) * theta)) > 1:
            low = t
        else:
            high = t
    return high


def _largest_of_sum(s, p, mix):
    """Return the least v with s <= v mix + z for some z of dual norm at most v (1 - mix)."""
    low, high = 0 * np.max(s), np.max(s) / mix
    for _ in range(200):
        v = (low + high) / 2
        if _power_sum(np.maximum(s - v * mix, 0), p / (p - 1)) > v * (1 - mix):
            low = v
        else:
            high = v
    return high


def _largest_elastic(s, mix):
    """Return the largest sum s eta / (mix + (1 - mix) eta) over shares eta that add up to 1.

    Lagrange: for every level v it is at most v + sum_m max over eta of the rest, which is
    (sqrt(s) - sqrt(mix v))_+^2 / (1 - mix); the least of these bounds is found by thirds.
    """

    def bound(v):
        return v + np.sum(np.maximum(np.sqrt(s) - np.sqrt(mix * v), 0) ** 2) / (1 - mix)

    low, high = 0 * np.max(s), np.max(s) / mix
    for _ in range(300):
        third = (high - low) / 3
        if bound(low + third) <= bound(high - third):
            high = high - third
        else:
            low = low + third
    return bound((low + high) / 2)


def _power_sum(x, p, costs=1.0):
    top = np.max(x)
    if top == 0 or p == np.inf:
        return top
    return top * np.sum(costs * (x / top) ** p) ** (1 / p)


def _largest_on_ellipse(E, s):
    """Return an upper bound of theta . s on theta >= 0, theta' E^-1 theta <= 1 that is attained.

    Every z >= s gives the bound sqrt(z' E z). The best one is z = E^-1 theta for the theta >= 0
    that minimises theta' E^-1 theta / 2 - theta . s, found by moving one weight after the other.
    """
    A, theta = np.linalg.inv(E), np.zeros(len(s))
    for _ in range(10_000):
        before = theta.copy()
        for m in range(len(s)):
            theta[m] = max(0.0, theta[m] + (s[m] - A[m] @ theta) / A[m, m])
        if np.max(np.abs(theta - before)) <= 1e-15 * np.max(theta):
            break
    z = np.maximum(s, A @ theta).astype(float)
    return np.sqrt(z @ E @ z)
