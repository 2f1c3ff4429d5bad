"""The papers' toy problems, at any size.

Each generator returns X of shape (n_samples, n_features) and y of shape (n_samples,).
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from sklearn.utils import check_random_state

from .datasets_strings import make_motifs, make_shifted_motif, make_splice

RandomState = int | np.random.RandomState | None


def make_stars(
    n_samples: int = 2000,
    *,
    inner_radius: float = 4.0,
    outer_radius: float = 5.0,
    n_leaves: int = 10,
    noise: float = 0.3,
    random_state: RandomState = None,
) -> tuple[np.ndarray, np.ndarray]:
    """Two concentric stars (Sonnenburg et al., 2006, figure 2).

    A point at angle t lies at distance radius + sin(n_leaves t) + noise from the origin. The closer
    the radii, the finer the boundary between the classes: the paper keeps the inner one at 4.0,
    moves the outer one from 4.1 to 9.9 and watches the weights wander to wider RBF kernels.

    Parameters
    ----------
    n_samples : int
        Number of points; half of them, rounded up, on the outer star.
    inner_radius, outer_radius : float
        Mean distances from the origin of the classes -1 and +1.
    n_leaves : int
        Number of leaves of each star. The paper does not give it; 10 is the number in the authors'
        published script.
    noise : float
        Standard deviation of the Gaussian noise on the distance.
    random_state : int, RandomState or None

    Returns
    -------
    X : array of shape (n_samples, 2)
    y : array of shape (n_samples,)
        +1 on the outer star, -1 on the inner one.
    """
    rng = check_random_state(random_state)
    y = _balanced_labels(n_samples, rng)
    angle = rng.uniform(0.0, 2.0 * np.pi, size=n_samples)
    radius = np.where(y > 0, outer_radius, inner_radius) + np.sin(n_leaves * angle)
    radius += rng.normal(scale=noise, size=n_samples)
    return radius[:, None] * np.column_stack([np.cos(angle), np.sin(angle)]), y


def make_sines(
    n_samples: int = 1000,
    *,
    frequencies: Sequence[float] = (1.0,),
    slope: float = 0.0,
    stop: float = 4.0 * np.pi,
    noise: float = 0.0,
    random_state: RandomState = None,
) -> tuple[np.ndarray, np.ndarray]:
    """Sine waves on a line (Sonnenburg et al., 2006, figures 3 and 4).

    The target is sum_k sin(frequencies_k x) + slope x. One frequency gives figure 3; figure 4 has
    ``frequencies=(a, b)`` and a slope, where a grows while b and the slope stay. Higher
    frequencies call for narrower RBF kernels, the slope for a very wide one.

    Parameters
    ----------
    n_samples : int
    frequencies : sequence of float
    slope : float
    stop : float
        The inputs are uniform on [0, stop].
    noise : float
        Standard deviation of the Gaussian noise on the targets.
    random_state : int, RandomState or None

    Returns
    -------
    X : array of shape (n_samples, 1)
    y : array of shape (n_samples,)
    """
    rng = check_random_state(random_state)
    x = rng.uniform(0.0, stop, size=n_samples)
    waves = np.sin(np.multiply.outer(x, np.asarray(frequencies, dtype=float))).sum(axis=1)
    return x[:, None], waves + slope * x + rng.normal(scale=noise, size=n_samples)


def make_sparse_to_uniform(
    n_samples: int = 50,
    *,
    n_relevant: int = 1,
    n_features: int = 50,
    distance: float = 1.75,
    random_state: RandomState = None,
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Two Gaussians that differ in some of their features (Kloft et al., 2011, section 6.1).

    The classes have unit covariance and the means +mu and -mu with mu = distance theta / ||theta||,
    where theta marks the relevant features. So the best possible error, that of a normal variable
    beyond `distance`, is the same whether one feature carries the difference or all of them do.

    Parameters
    ----------
    n_samples : int
        Number of points; half of them, rounded up, in class +1.
    n_relevant : int
        Number of relevant features, from 1 to `n_features`; the paper has 1, 4, 9, 18, 28 and 50.
    n_features : int
    distance : float
        Norm of mu, rho in the paper.
    random_state : int, RandomState or None

    Returns
    -------
    X : array of shape (n_samples, n_features)
        To be used with one linear kernel for each feature.
    y : array of shape (n_samples,)
        -1 and +1.
    relevance : array of shape (n_features,)
        theta: 1 for the relevant features, which come first, and 0 for the others.
    """
    if not 1 <= n_relevant <= n_features:
        raise ValueError(
            f"n_relevant must lie between 1 and n_features = {n_features}, got {n_relevant!r}"
        )
    rng = check_random_state(random_state)
    y = _balanced_labels(n_samples, rng)
    relevance = (np.arange(n_features) < n_relevant).astype(float)
    mean = distance * relevance / np.linalg.norm(relevance)
    return rng.normal(size=(n_samples, n_features)) + np.outer(y, mean), y, relevance


def _balanced_labels(n_samples: int, rng: np.random.RandomState) -> np.ndarray:
    """+1 and -1 in turn, shuffled."""
    return rng.permutation(np.where(np.arange(n_samples) % 2, -1.0, 1.0))
