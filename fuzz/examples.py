"""Examples, kernels for them and targets, from ordinary to absurd."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp

from kernelweave import kernels as k
from kernelweave.sequences import as_sequences

from .choices import Choices

ODD_NUMBERS = [
    *(0, -1, 1, 2, 1e-300, 1e300, 1e-9, 1e9, 1 + 1e-12, 0.5, -0.0, 5e-324),
    *(np.nan, np.inf, -np.inf, 10**400, -(10**400), 2**31, 2**63, 10**9),
    *(True, None, "", "scale", "auto", b"x", 1j, object()),
    *(np.float32(0.5), np.int64(3), np.array(2.0), np.array([0.5, 2.0])),
    *([], [1.0, 2.0], [1.0, np.nan], (0.1,), {}, range(3), slice(0, 2)),
]
ODD_COLUMNS = [0, -1, 99, [0], [0, 0], [], slice(0, 1), "a", ["a", "b"], [True], None, 0.5, (0, 1)]
DTYPES = ["f8", "f8", "f8", "f4", "f2", "i8", "i4", "u1", "?", ">f8", "g"]


@dataclass(frozen=True)
class Given:
    """Arguments of an estimator: training examples, new ones, and kernels for them."""

    X: Any
    new: Any
    kernels: Any
    n: int


def given(c: Choices) -> Given:
    """Return examples of one kind with kernels."""
    kind = c.pick([vectors] * 7 + [sequences, texts, similarities])
    return kind(c, c.usual(c.integer(4, 24), [0, 1, 2, 3, 40]))


def vectors(c: Choices, n: int) -> Given:
    d = c.usual(c.integer(1, 4), [0, 9])
    X, new = values(c, n, d), values(c, c.usual(5, [0, 1]), c.usual(d, [0, 1, d + 1]))
    histograms = c.chance(0.25)
    if not c.chance(0.02):
        X, new = (np.abs(Z) if histograms and Z.dtype != bool else Z for Z in (X, new))
    form = c.pick([plain, plain, plain, sparse, frame, layout, nested])
    kernels = [vector_kernel(c, 0, histograms) for _ in range(c.integer(1, 3))]
    if c.chance(0.05):
        return Given(form(X), form(new), None, n)
    return Given(form(X), form(new), kernels if c.chance(0.8) else kernels[0], n)


def values(c: Choices, n: int, d: int) -> np.ndarray:
    """Return an array of n rows that may be scaled, shifted, rounded, repeated or spoilt."""
    rng = c.generator
    X = rng.normal(size=(n, d))
    if c.chance(0.15):
        X = np.round(X)
    if c.chance(0.1) and n > 1:
        X = X[rng.integers(0, max(1, n // 2), n)]
    if c.chance(0.1):
        X = X * c.power(-12, 12)
    if c.chance(0.02):
        X = X * c.power(-300, 300)
    if c.chance(0.1):
        X = X + c.power(0, 9)
    if c.chance(0.1) and d:
        X[:, 0] = c.pick([0.0, 1.0, -5.0])
    if c.chance(0.02) and X.size:
        X[0, 0] = c.pick([np.nan, np.inf, -np.inf, 1e308, 5e-324])
    with np.errstate(all="ignore"):
        return X.astype(c.pick(DTYPES)) if c.chance(0.3) else X


def plain(X: np.ndarray) -> Any:
    return X


def sparse(X: np.ndarray) -> Any:
    return sp.csr_array(X.astype(float))


def frame(X: np.ndarray) -> Any:
    import pandas

    return pandas.DataFrame({name: X[:, i] for i, name in enumerate("abcdefghi"[: X.shape[1]])})


def layout(X: np.ndarray) -> Any:
    return np.asfortranarray(np.repeat(X, 2, axis=0))[::2]


def nested(X: np.ndarray) -> Any:
    return X.tolist()


def gamma(c: Choices) -> Any:
    ordinary = c.pick([c.power(-3, 3), [c.power(-2, 2), c.power(-2, 2)], [0.1, 0.2, 0.4], None])
    return c.usual(ordinary, [*ODD_NUMBERS, c.power(-300, 300)])


def columns(c: Choices) -> dict[str, Any]:
    return {"columns": c.pick(ODD_COLUMNS)} if c.chance(0.03) else {}


def vector_kernel(c: Choices, depth: int, histograms: bool) -> Any:
    """Return a kernel or family on vectors, or a sum, product or multiple of some."""
    if depth < 2 and c.chance(0.1):
        left, right = (vector_kernel(c, depth + 1, histograms) for _ in range(2))
        return left + right if c.chance(0.5) else left * right
    if depth < 2 and c.chance(0.05):
        return c.usual(c.power(-3, 3), [0, -1, 1e300, np.nan]) * vector_kernel(
            c, depth + 1, histograms
        )
    if depth < 2 and c.chance(0.03):
        return k.per_feature(vector_kernel(c, 2, histograms))
    makers: list[Callable[[], Any]] = [
        lambda: k.Linear(**columns(c)),
        lambda: k.RBF(gamma(c), **columns(c)),
        lambda: k.RBF(gamma(c), **columns(c)),
        lambda: k.Laplacian(gamma(c), **columns(c)),
        lambda: k.Polynomial(
            c.usual(c.integer(1, 4), [*ODD_NUMBERS, 30, 1000]),
            gamma(c),
            c.usual(c.power(-2, 1), ODD_NUMBERS),
            **columns(c),
        ),
    ]
    if histograms or c.chance(0.01):
        makers += [
            lambda: k.ChiSquared(gamma(c), **columns(c)),
            lambda: k.Intersection(**columns(c)),
        ]
    return c.pick(makers)()


def sequences(c: Choices, n: int) -> Given:
    longest = c.usual(c.integer(3, 30), [1, 64, 65, 128, 300, 4096, 4097, 5000])
    ordinary = c.pick(["ACGT", "ACGT", "ACGTN", "ACDEFGHIKLMNPQRSTVWY", "acgt"])
    letters = c.usual(ordinary, ["01", "é☃", "A", "\ud800", "\0"])
    rng = c.generator

    def drawn(count: int) -> list[str]:
        lengths = np.full(count, longest)
        if c.chance(0.3):
            lengths = rng.integers(0 if c.chance(0.02) else 1, longest + 1, count)
        return ["".join(rng.choice(list(letters), size)) for size in lengths]

    X, new = drawn(n), drawn(c.usual(c.integer(1, 4), [0]))
    alphabet = "protein" if len(letters) == 20 else "dna"
    kernels = [string_kernel(c, alphabet) for _ in range(c.integer(1, 2))]
    if c.chance(0.4):
        return Given(as_sequences(X, alphabet), as_sequences(new, alphabet), kernels, n)
    return Given(X, new, kernels, n)


def string_kernel(c: Choices, alphabet: str) -> Any:
    degree = c.usual(c.integer(1, 6), [*ODD_NUMBERS, 25, 64, 1000])
    split = c.usual(c.pick([None, None, "degree", "position", "both"]), ["no", 1])
    makers: list[Callable[[], Any]] = [
        lambda: k.WeightedDegree(degree, split=split, alphabet=alphabet),
        lambda: k.WeightedDegreeShift(
            degree, c.usual(c.integer(0, 4), [*ODD_NUMBERS, 5000]), alphabet=alphabet
        ),
        lambda: k.Spectrum(degree, alphabet=alphabet),
        lambda: k.Substring(1 / (2 + abs(degree)), alphabet=alphabet),
        lambda: k.LocalityImproved(alphabet=alphabet),
        lambda: k.NGram(degree),
    ]
    return c.pick(makers)()


def texts(c: Choices, n: int) -> Given:
    rng, words = c.generator, ["red", "green", "blue", "", "a b", "é", "\ud800", "\0", "x" * 50]

    def drawn(count: int) -> list[str]:
        known = words if c.chance(0.2) else words[:6]
        return [" ".join(rng.choice(known, rng.integers(0, 5))) for _ in range(count)]

    kernel = c.pick([k.BagOfWords(), k.NGram(c.usual(c.integer(1, 4), ODD_NUMBERS))])
    return Given(drawn(n), drawn(3), kernel, n)


def similarities(c: Choices, n: int) -> Given:
    rng = c.generator
    Z = rng.normal(size=(n, c.integer(1, 5)))
    K = Z @ Z.T + c.pick([0.0, 0.1, 0.1, -0.1]) * np.eye(n)
    if c.chance(0.1):
        K = K + 0.01 * rng.normal(size=K.shape)
    if c.chance(0.1):
        K = K * c.power(-200, 200)
    if c.chance(0.05):
        K = K[:, : max(n - 1, 0)]
    return Given(
        K,
        K[: c.integer(0, n)] if n else K,
        k.Precomputed(repair=c.pick(["clip", "clip", "error"])),
        n,
    )
