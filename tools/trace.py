"""Print the path of one fit through the code: ``python -m tools.trace`` (or ``make trace``).

Prints every function of the library in the order in which the fit first calls it, indented by
the depth of the call.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from types import FrameType
from typing import Any

import numpy as np

import kernelweave
from kernelweave import MKLClassifier
from kernelweave.kernels import RBF

HOME = f"{Path(kernelweave.__file__).parent}/"


def first_calls(work: Callable[[], Any]) -> list[tuple[int, str, str]]:
    """Return (depth, file, function) of every library function that `work` calls, in order."""
    found: dict[tuple[str, str], int] = {}
    depth = 0

    def watch(frame: FrameType, event: str, _: Any) -> None:
        nonlocal depth
        code = frame.f_code
        if not code.co_filename.startswith(HOME) or code.co_name.startswith("<"):
            return  # of other packages, or a comprehension or lambda
        name = getattr(code, "co_qualname", code.co_name)  # Python 3.10 has no qualified names
        if event == "call":
            depth += 1
            found.setdefault((code.co_filename.removeprefix(HOME), name), depth)
        elif event == "return":
            depth -= 1

    sys.setprofile(watch)
    try:
        work()
    finally:
        sys.setprofile(None)
    return [(depth, file, name) for (file, name), depth in found.items()]


def fit_family() -> MKLClassifier:
    """Fit 20 RBF widths to 2,000 examples with sparse weights."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(2000, 10))
    y = np.sign(X[:, 0] * X[:, 1] + 0.3 * rng.normal(size=2000))
    return MKLClassifier(RBF(gamma=np.geomspace(1e-3, 10.0, 20)), norm=1).fit(X, y)


if __name__ == "__main__":
    fit_family()  # lazy imports are not part of the path
    for level, file, name in first_calls(fit_family):
        print(f"{'  ' * level}{name}  ({file})")
