"""Generators of artificial sequences.

Sequences are generated in blocks of `BLOCK`, each with its own random stream, so that millions of
them need little more memory than their packed form.
"""

from __future__ import annotations

import functools
import numbers
import warnings
from collections.abc import Callable
from typing import Any, TypeVar

import numpy as np
from sklearn.utils import check_random_state

from kernelweave.sequences import Sequences

from .tables import RandomState

Generator = TypeVar("Generator", bound=Callable[..., Any])

BLOCK = 50_000  # sequences

# Letters are coded A, C, G, T = 0, 1, 2, 3.
_SPLICE_LENGTH, _SITE = 141, 60  # the AG is at _SITE, _SITE + 1
_BACKGROUND = np.array(  # probabilities of the next letter after A, C, G, T
    [[0.38, 0.15, 0.16, 0.31], [0.35, 0.19, 0.16, 0.30],
     [0.34, 0.20, 0.18, 0.28], [0.24, 0.17, 0.19, 0.40]]
)  # fmt: skip
_TRACT = np.array(  # probabilities of A, C, G, T from 14 letters before the AG to 4 after it
    [[.28, .17, .11, .44], [.27, .17, .11, .45], [.26, .17, .11, .46], [.26, .16, .11, .47],
     [.26, .15, .11, .48], [.27, .14, .11, .48], [.28, .13, .12, .47], [.25, .13, .11, .51],
     [.18, .14, .09, .59], [.08, .10, .05, .77], [.04, .07, .02, .87], [.06, .11, .04, .79],
     [.09, .17, .05, .69], [.03, .78, .01, .18],
     [1., 0., 0., 0.], [0., 0., 1., 0.],
     [.36, .16, .33, .15], [.28, .19, .19, .34], [.29, .21, .21, .29], [.29, .22, .22, .27]]
)  # fmt: skip
# Probabilities of A, C, G, T by position in the codon.
_EXON = np.array([[0.30, 0.21, 0.30, 0.19], [0.31, 0.22, 0.18, 0.29], [0.23, 0.26, 0.24, 0.27]])
_DECOY = 0.06  # probability that a negative has the tract, or the exon, of a true site
_MOTIFS = (("GATTACA", 10), ("AGTAGTG", 30))
_WITHOUT_A = np.array([0.0, 0.5, 0.25, 0.25])  # probabilities of A, C, G, T
_REGION = np.arange(49, 68)  # where make_shifted_motif places the three A's


def _takes_seed(generator: Generator) -> Generator:
    """Return a generator that also accepts `seed`, the name of `random_state` in version 0.2."""

    @functools.wraps(generator)
    def called(*args: Any, **kwargs: Any) -> Any:
        if "seed" in kwargs:
            message = f"{generator.__name__}: seed is deprecated, use random_state"
            warnings.warn(message, FutureWarning, stacklevel=2)
            kwargs["random_state"] = kwargs.pop("seed")
        return generator(*args, **kwargs)

    return called  # type: ignore[return-value]


@_takes_seed
def make_splice(
    n: int = 10_000, positive_rate: float = 0.01, random_state: RandomState = 0
) -> tuple[Sequences, np.ndarray]:
    """Return artificial acceptor splice sites: windows of 141 letters around an AG.

    All sequences have AG at positions 60 and 61, in a first-order Markov background. True sites
    have the letter frequencies of worm acceptor sites before the AG and codon-like frequencies
    after it. Some negatives have one of these two properties.

    Parameters
    ----------
    n : int
        Number of sequences.
    positive_rate : float
        Probability of a true site.
    random_state : int, RandomState or None
        Seed or generator of the random numbers.

    Returns
    -------
    X : Sequences
    y : array of shape (n,)
        Labels -1 or 1.

    Examples
    --------
    >>> from kernelweave.datasets import make_splice
    >>> X, y = make_splice(1000, positive_rate=0.1)
    >>> X.length, X[0][60:62]
    (141, 'AG')
    """
    return _in_blocks(n, random_state, lambda rng, size: _splice_block(rng, size, positive_rate))


@_takes_seed
def make_motifs(
    n: int = 11_000,
    replaced: int = 0,
    length: int = 50,
    random_state: RandomState = 0,
    *,
    positive_rate: float = 1 / 11,
) -> tuple[Sequences, np.ndarray]:
    """Return random sequences; positives have GATTACA at position 10 and AGTAGTG at 30.

    This is the first toy problem of Sonnenburg, Rätsch and Rieck (2007, section 4.6.3), with ten
    negatives per positive.

    Parameters
    ----------
    n : int
        Number of sequences.
    replaced : int
        Number of letters of each motif, from 0 to 7, that are replaced by random letters.
    length : int
        Length of the sequences, at least 37.
    random_state : int, RandomState or None
        Seed or generator of the random numbers.
    positive_rate : float
        Probability of a sequence with motifs, between 0 and 1.

    Returns
    -------
    X : Sequences
    y : array of shape (n,)
        Labels -1 or 1.

    Raises
    ------
    ValueError
        If a parameter is out of range.

    Examples
    --------
    >>> from kernelweave.datasets import make_motifs
    >>> X, y = make_motifs(100)
    >>> X[y > 0][0][10:17], X[y > 0][0][30:37]
    ('GATTACA', 'AGTAGTG')
    """
    last = max(start + len(motif) for motif, start in _MOTIFS)
    if length < last or not 0 <= replaced <= min(len(motif) for motif, _ in _MOTIFS):
        raise ValueError(
            f"make_motifs: length must be >= {last} and replaced from 0 to 7, got {length} and "
            f"{replaced}"
        )
    _check_rate("make_motifs", positive_rate)

    def block(rng: np.random.Generator, size: int) -> tuple[np.ndarray, np.ndarray]:
        codes, y = _random_codes(rng, size, length), _labels(rng, size, positive_rate)
        for motif, start in _MOTIFS:
            _plant(rng, codes, y > 0, motif, np.full(size, start), replaced)
        return codes, y

    return _in_blocks(n, random_state, block)


@_takes_seed
def make_shifted_motif(
    n: int = 5000, length: int = 100, random_state: RandomState = 0, *, positive_rate: float = 0.5
) -> tuple[Sequences, np.ndarray]:
    """Return sequences of C, G and T with three A's, which are consecutive in positives.

    This is the second toy problem of Sonnenburg, Rätsch and Rieck (2007, section 4.6.3). C is twice
    as frequent as G and T. Positives have AAA at a random place within positions 49 to 67.
    Negatives have three A's at random positions of this region, which may be consecutive by chance.

    Parameters
    ----------
    n : int
        Number of sequences.
    length : int
        Length of the sequences, at least 70.
    random_state : int, RandomState or None
        Seed or generator of the random numbers.
    positive_rate : float
        Probability of a positive, between 0 and 1.

    Returns
    -------
    X : Sequences
    y : array of shape (n,)
        Labels -1 or 1.

    Raises
    ------
    ValueError
        If a parameter is out of range.

    Examples
    --------
    >>> from kernelweave.datasets import make_shifted_motif
    >>> X, y = make_shifted_motif(100)
    >>> all("AAA" in x[49:68] for x in X[y > 0])
    True
    """
    if length < 70:
        raise ValueError(f"make_shifted_motif: length must be >= 70, got {length}")
    _check_rate("make_shifted_motif", positive_rate)

    def block(rng: np.random.Generator, size: int) -> tuple[np.ndarray, np.ndarray]:
        y = _labels(rng, size, positive_rate)
        codes = _draw(rng, _WITHOUT_A, size * length).reshape(size, length).astype(np.uint8)
        consecutive = rng.integers(0, _REGION.size - 2, size)[:, None] + np.arange(3)
        scattered = np.argsort(rng.random((size, _REGION.size)), axis=1)[:, :3]
        positions = _REGION[np.where((y > 0)[:, None], consecutive, scattered)]
        codes[np.arange(size)[:, None], positions] = 0
        return codes, y

    return _in_blocks(n, random_state, block)


def _check_rate(name: str, rate: float) -> None:
    if not 0 < rate < 1:
        raise ValueError(f"{name}: positive_rate must be between 0 and 1, got {rate}")


def _in_blocks(
    n: int,
    random_state: RandomState,
    block: Callable[[np.random.Generator, int], tuple[np.ndarray, np.ndarray]],
) -> tuple[Sequences, np.ndarray]:
    if n < 1:
        raise ValueError(f"n must be at least 1, got {n}")
    seed = random_state
    if not isinstance(seed, numbers.Integral):
        seed = check_random_state(seed).randint(2**31)
    y = np.empty(n)

    def packed(first: int) -> Sequences:
        rng = np.random.default_rng([seed, first])
        size = min(BLOCK, n - first)
        codes, y[first : first + size] = block(rng, size)
        return Sequences.from_codes(codes)

    return Sequences.join((packed(first) for first in range(0, n, BLOCK)), n), y


def _splice_block(
    rng: np.random.Generator, size: int, positive_rate: float
) -> tuple[np.ndarray, np.ndarray]:
    y = _labels(rng, size, positive_rate)
    codes = _chain(rng, size, _SPLICE_LENGTH)
    tract = (y > 0) | (rng.random(size) < _DECOY)
    exon = (y > 0) | (rng.random(size) < _DECOY)
    rows, first = np.flatnonzero(tract), _SITE - 14
    for offset, probabilities in enumerate(_TRACT):
        codes[rows, first + offset] = _draw(rng, probabilities, len(rows))
    rows = np.flatnonzero(exon)
    for position in range(_SITE + 6, _SPLICE_LENGTH):
        codes[rows, position] = _draw(rng, _EXON[position % 3], len(rows))
    codes[:, _SITE : _SITE + 2] = 0, 2
    return codes, y


def _labels(rng: np.random.Generator, size: int, positive_rate: float) -> np.ndarray:
    return np.where(rng.random(size) < positive_rate, 1.0, -1.0)


def _random_codes(rng: np.random.Generator, size: int, length: int) -> np.ndarray:
    return rng.integers(0, 4, (size, length), dtype=np.uint8)


def _draw(rng: np.random.Generator, probabilities: np.ndarray, size: int) -> np.ndarray:
    return np.searchsorted(np.cumsum(probabilities)[:3], rng.random(size), side="right")


def _chain(rng: np.random.Generator, size: int, length: int) -> np.ndarray:
    """Return first-order Markov chains, one per row."""
    bounds = np.cumsum(_BACKGROUND, axis=1)[:, :3].astype(np.float32)
    codes = np.empty((length, size), dtype=np.uint8)
    codes[0] = rng.integers(0, 4, size)
    for position in range(1, length):
        reached = bounds[codes[position - 1]] < rng.random(size, dtype=np.float32)[:, None]
        codes[position] = reached.sum(axis=1)
    return codes.T


def _plant(
    rng: np.random.Generator,
    codes: np.ndarray,
    chosen: np.ndarray,
    motif: str,
    starts: np.ndarray,
    replaced: int,
) -> None:
    """Write a motif into the `chosen` rows of `codes`, at `starts`.

    In each row, `replaced` of its letters are drawn at random.
    """
    rows = np.flatnonzero(chosen)
    letters = np.tile(["ACGT".index(letter) for letter in motif], (len(rows), 1))
    at_random = np.argsort(rng.random(letters.shape), axis=1) < replaced
    letters[at_random] = rng.integers(0, 4, int(at_random.sum()))
    codes[rows[:, None], starts[rows][:, None] + np.arange(len(motif))] = letters
