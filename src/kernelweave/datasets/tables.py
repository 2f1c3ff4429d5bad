"""The papers' toy problems, at any size, and a table of mixed columns.

Each generator returns X of shape (n_samples, n_features) and y of shape (n_samples,).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from scipy.special import expit
from sklearn.utils import check_random_state

from .sequences import make_motifs as make_motifs
from .sequences import make_shifted_motif as make_shifted_motif
from .sequences import make_splice as make_splice

if TYPE_CHECKING:
    from pandas import DataFrame

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

    Examples
    --------
    >>> from kernelweave.datasets import make_stars
    >>> X, y = make_stars(200, outer_radius=6.0, random_state=0)
    >>> X.shape, sorted(set(y.tolist()))
    ((200, 2), [-1.0, 1.0])
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

    Examples
    --------
    >>> from kernelweave.datasets import make_sines
    >>> X, y = make_sines(100, frequencies=(1.0, 8.0), slope=0.5, random_state=0)
    >>> X.shape, y.shape
    ((100, 1), (100,))
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

    Examples
    --------
    >>> from kernelweave.datasets import make_sparse_to_uniform
    >>> X, y, relevance = make_sparse_to_uniform(50, n_relevant=4, random_state=0)
    >>> X.shape, int(relevance.sum())
    ((50, 50), 4)
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


def make_mixed_table(
    n_samples: int = 500, *, n_noise: int = 3, random_state: RandomState = None
) -> tuple[DataFrame, np.ndarray]:
    """A table of numbers, categories and texts: does a customer come back?

    The answer depends on the age (in waves, which no straight line can follow), on the city, and on
    the mood that shows in the words of the review. It does not depend on anything else.

    Parameters
    ----------
    n_samples : int
    n_noise : int
        Number of columns of noise, next to `spend` and `colour`, which do not matter either.
    random_state : int, RandomState or None

    Returns
    -------
    X : pandas DataFrame of shape (n_samples, 5 + n_noise)
        Columns age, spend, noise 1, noise 2, ... (numbers), city, colour (categories), review.
    y : array of shape (n_samples,)
        "returned" or "lost".

    Examples
    --------
    >>> from kernelweave.datasets import make_mixed_table
    >>> X, y = make_mixed_table(100, random_state=0)
    >>> list(X.columns)
    ['age', 'spend', 'noise 1', 'noise 2', 'noise 3', 'city', 'colour', 'review']
    """
    import pandas as pd

    rng = check_random_state(random_state)
    age, mood = rng.uniform(18, 80, size=n_samples), rng.normal(size=n_samples)
    city = rng.choice(["Lagos", "Lima", "Oslo", "Pune"], size=n_samples)
    columns = {"age": age.round(1), "spend": rng.lognormal(3.0, 1.0, size=n_samples).round(2)}
    columns |= {f"noise {k + 1}": rng.normal(size=n_samples).round(2) for k in range(n_noise)}
    colour = rng.choice(["blue", "green", "red"], size=n_samples)
    columns |= {"city": city, "colour": colour, "review": [_review(m, rng) for m in mood]}
    score = 2.0 * np.cos((age - 18) / 62 * 3 * np.pi) + 1.5 * mood
    score += np.where(np.isin(city, ["Lima", "Oslo"]), 0.75, -0.75)
    returned = score + rng.normal(scale=0.5, size=n_samples) > 0
    return pd.DataFrame(columns), np.where(returned, "returned", "lost")


def _review(mood: float, rng: np.random.RandomState) -> str:
    """Five words that mean nothing, and two that tell the mood more often than not."""
    words = rng.choice(["box", "colour", "monday", "order", "shop", "size", "the", "was"], size=5)
    happy = rng.uniform(size=2) < expit(2.0 * mood)
    telling = np.where(
        happy,
        rng.choice(["great", "love", "quick"], size=2),
        rng.choice(["broken", "late", "refund"], size=2),
    )
    return " ".join([*words, *telling])


def _balanced_labels(n_samples: int, rng: np.random.RandomState) -> np.ndarray:
    """+1 and -1 in turn, shuffled."""
    return rng.permutation(np.where(np.arange(n_samples) % 2, -1.0, 1.0))
