"""Generators of the toy problems of MKL papers, and of a table with columns of mixed types."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from scipy.special import expit
from sklearn.utils import check_random_state

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
    """Return points on two concentric stars (Sonnenburg et al., 2006, figure 2).

    A point at angle t has distance radius + sin(n_leaves t) + noise from the origin. The paper
    keeps the inner radius at 4.0 and increases the outer radius from 4.1 to 9.9: the boundary
    becomes smoother, and the weight moves to RBF kernels with smaller gamma.

    Parameters
    ----------
    n_samples : int
        Number of points. Half of them, rounded up, are on the outer star.
    inner_radius, outer_radius : float
        Mean distances from the origin of the classes -1 and +1.
    n_leaves : int
        Number of leaves of each star. The paper does not give it; 10 is the number in the authors'
        published script.
    noise : float
        Standard deviation of the Gaussian noise on the distance.
    random_state : int, RandomState or None
        Seed of the random numbers.

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
    """Return a regression problem with sine waves (Sonnenburg et al., 2006, figures 3 and 4).

    The target is sum_k sin(frequencies[k] x) + slope x, plus noise. Figure 3 uses one
    frequency. Figure 4 uses ``frequencies=(a, b)`` and a slope, and increases a. Higher frequencies
    require RBF kernels with larger gamma, and the slope one with a very small gamma.

    Parameters
    ----------
    n_samples : int
        Number of examples.
    frequencies : sequence of float
        Frequencies of the sine waves.
    slope : float
        Slope of the linear part.
    stop : float
        Upper end of the inputs, which are uniform on [0, stop].
    noise : float
        Standard deviation of the Gaussian noise on the targets.
    random_state : int, RandomState or None
        Seed of the random numbers.

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
    """Return two Gaussians that differ in some features (Kloft et al., 2011, section 6.1).

    The classes have unit covariance and means +mu and -mu with mu = distance theta / ||theta||,
    where theta is the indicator of the relevant features. The Bayes error, P(Z > distance) for a
    standard normal Z, does not depend on the number of relevant features.

    Parameters
    ----------
    n_samples : int
        Number of examples. Half of them, rounded up, are in class +1.
    n_relevant : int
        Number of relevant features, from 1 to `n_features`; 1, 4, 9, 18, 28 and 50 in the paper.
    n_features : int
        Number of features.
    distance : float
        Norm of mu, rho in the paper.
    random_state : int, RandomState or None
        Seed of the random numbers.

    Returns
    -------
    X : array of shape (n_samples, n_features)
        The paper uses one linear kernel per feature.
    y : array of shape (n_samples,)
        -1 and +1.
    relevance : array of shape (n_features,)
        1 for the relevant features, which come first, and 0 for the others.

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
    """Return a table of numbers, categories and texts for the prediction of customer return.

    The target depends on the age (by a cosine), on the city, and on the mood, which determines some
    words of the review. It does not depend on the other columns.

    Parameters
    ----------
    n_samples : int
        Number of examples.
    n_noise : int
        Number of noise columns, in addition to `spend` and `colour`, which are irrelevant, too.
    random_state : int, RandomState or None
        Seed of the random numbers.

    Returns
    -------
    X : pandas DataFrame of shape (n_samples, 5 + n_noise)
        Columns age, spend, noise 1, noise 2, ... (numbers), city, colour (categories), review
        (texts).
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
    """Return a text of five irrelevant words and two that are correlated with the mood."""
    words = rng.choice(["box", "colour", "monday", "order", "shop", "size", "the", "was"], size=5)
    happy = rng.uniform(size=2) < expit(2.0 * mood)
    correlated = np.where(
        happy,
        rng.choice(["great", "love", "quick"], size=2),
        rng.choice(["broken", "late", "refund"], size=2),
    )
    return " ".join([*words, *correlated])


def _balanced_labels(n_samples: int, rng: np.random.RandomState) -> np.ndarray:
    """Return labels +1 and -1 in equal numbers and random order, shape (n_samples,)."""
    return rng.permutation(np.where(np.arange(n_samples) % 2, -1.0, 1.0))
