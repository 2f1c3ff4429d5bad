"""How far a reader of one fit has to go: the files that it runs through, and how deep it goes.

``python tests/test_trace.py`` prints both.
"""

import sys
from pathlib import Path

import numpy as np

import kernelweave
from kernelweave import MKLClassifier
from kernelweave.kernels import RBF

HOME = f"{Path(kernelweave.__file__).parent}/"
MOST_FILES, MOST_LEVELS = 36, 14


def traced(work):
    """Return the functions of the library that `work` runs through, and its deepest stack."""
    functions, stack, deepest = set(), [], []

    def watch(frame, event, _):
        code = frame.f_code
        if not code.co_filename.startswith(HOME):
            return
        if event == "call":
            stack.append((code.co_filename.removeprefix(HOME), code.co_name))
            functions.add(stack[-1])
            if len(stack) > len(deepest):
                deepest[:] = stack
        elif event == "return":
            stack.pop()

    sys.setprofile(watch)
    try:
        work()
    finally:
        sys.setprofile(None)
    return functions, deepest


def fit_family():
    """Fit 20 widths to 2,000 examples with sparse weights."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(2000, 10))
    y = np.sign(X[:, 0] * X[:, 1] + 0.3 * rng.normal(size=2000))
    return MKLClassifier(RBF(gamma=np.geomspace(1e-3, 10.0, 20)), norm=1).fit(X, y)


def test_a_fit_goes_through_few_files_and_levels():
    fit_family()  # what is imported when it is first needed is no part of the way
    functions, deepest = traced(fit_family)
    files = sorted({file for file, _ in functions})
    assert len(files) <= MOST_FILES, files
    assert len(deepest) <= MOST_LEVELS, deepest


if __name__ == "__main__":
    seen, levels = traced(fit_family)
    names = sorted({file for file, _ in seen})
    print(f"{len(names)} files, {len(seen)} functions, {len(levels)} levels", *names, sep="\n  ")
    print("the deepest stack:", *(f"{file}: {name}" for file, name in levels), sep="\n  ")
