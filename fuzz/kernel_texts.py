"""Kernel specifications of the command line: refused with a ValueError, or a kernel that works."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

from kernelweave.cli.kernel_specs import NAMES, parse_kernel

from .choices import Choices
from .damage import damaged
from .verdicts import Lie

X = np.abs(np.random.default_rng(0).normal(size=(5, 3)))
TEXTS = ["ACGTACGTAC", "ACGTTTGTAC", "GGGTACGTAC", "ACNTACGTAC", "CCGTACGTAA"]
VALUES = ["1", "0.1", "2,3", "-1", "1e+3", "1e400", "nan", "inf", "true", "none", "0", "'a b'",
          '"x"', "scale", "10**9", "9" * 30, "", " ", "=", "=="]  # fmt: skip
PARAMETERS = ["gamma", "degree", "k", "l", "columns", "split", "shift", "both_strands", "alphabet",
           "name", "coef0", "store", "__class__", "normalize"]  # fmt: skip


def run(data: bytes) -> None:
    """Parse a text, and evaluate the kernel on a few examples."""
    c = Choices(data)
    text = combination(c, 0)
    if c.chance(0.3):
        text = damaged(c, text.encode()).decode("latin-1")
    if c.chance(0.02):
        text = c.pick(
            ["per_feature(", "rbf*", "rbf+", "(", "'", "rbf(1,", "rbf(", "\0"]
        ) * c.integer(1, 30_000)
    kernel = parse_kernel(text)
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        values = kernel(examples(c))
    if values.shape[-2:] != (5, 5):
        raise Lie(f"{text!r}: kernel values of shape {values.shape}")


def combination(c: Choices, depth: int) -> str:
    """Return kernels joined by + and *."""
    count = c.usual(c.integer(1, 3), [50, 101, 150], 0.01)
    return c.pick([" + ", "*", "+", " * "]).join(factor(c, depth) for _ in range(count))


def factor(c: Choices, depth: int) -> str:
    """Return a kernel with parameters."""
    if depth < 3 and c.chance(0.1):
        return f"per_feature({combination(c, depth + 1)})"
    name = c.usual(c.pick(sorted(NAMES)), ["rbg", "", "PER_FEATURE", "RBF"], 0.03)
    if c.chance(0.4):
        return name
    given = [
        f"{c.pick(PARAMETERS)}={c.pick(VALUES)}" if c.chance(0.4) else c.pick(VALUES[:4])
        for _ in range(c.integer(0, 3))
    ]
    return f"{name}({', '.join(given)})"


def examples(c: Choices) -> Any:
    """Return vectors or sequences."""
    return c.pick([X, TEXTS])
