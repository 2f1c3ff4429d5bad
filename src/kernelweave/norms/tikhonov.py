"""The Tikhonov form of the problem, in which the norm of the weights is a penalty."""

from __future__ import annotations

import numpy as np

from ..common.numbers import as_number


def tikhonov_C(C: float, size: float, mu: float = 1.0) -> float:
    """Return the C~ for which the Tikhonov form has the same solution as a fitted model.

    The problem of this library bounds the norm of the kernel weights by 1 (Ivanov form). Kloft et
    al. (2011, equation 3) also consider the Tikhonov form

        min over w, b, theta >= 0
            C~ sum_i V(f_i, y_i) + 1/2 sum_m ||w_m||^2 / theta_m + mu ||theta||^2

    without a bound. Both forms have the same decision functions. The weights of the Tikhonov form
    are those of the model times t = ||theta||. This divides the term in w by t, so that C = t C~.
    The best t satisfies 4 mu t^3 = size.

    Parameters
    ----------
    C : float
        C of a fitted model.
    size : float
        sum_m ||w_m||^2 / theta_m of the model, which is alpha . (f - b) on its training examples.
    mu : float
        Factor of the squared norm of the weights.

    Returns
    -------
    float
        The same decision function is optimal for C~ and mu, with weights t theta, t = C / C~.

    Raises
    ------
    ValueError
        If an argument is not a positive finite number.

    Examples
    --------
    >>> import numpy as np
    >>> from kernelweave import MKLClassifier, norms
    >>> from kernelweave.kernels import RBF
    >>> X = np.random.default_rng(0).normal(size=(60, 2))
    >>> model = MKLClassifier(RBF([0.1, 1.0]), norm=2, C=1.0).fit(X, X[:, 0] > 0)
    >>> f = model.decision_function(X)[model.support_]
    >>> size = float(model.dual_coef_[0] @ (f - model.intercept_[0]))
    >>> print(f"{norms.tikhonov_C(1.0, size, mu=1.0):.1f}")
    0.8
    """
    for name, value in (("C", C), ("size", size), ("mu", mu)):
        if not 0 < as_number(value) < np.inf:
            raise ValueError(f"{name} must be a finite number above 0, got {value!r}")
    return float(C / (size / (4.0 * mu)) ** (1 / 3))
