"""The models of the files in ``tests/data``, which earlier versions wrote.

``merged-2.kw`` and ``shared-2.kw`` are classifiers on RBF([0.5, 2.0]) with tol=1e-6 of `repeated`
and, with share_weights=True, of `three_classes`.

``elliptic-2.kw`` is a classifier on RBF([0.5, 2.0]) of the table's height and width with tol=1e-6
and the norm of theta' [[1, 0.8], [0.8, 2]] theta.
"""

import numpy as np
import pandas as pd

from kernelweave import MKLClassifier, MKLRegressor, kernels, norms


def table():
    """Return a table of numbers, categories and texts, and labels."""
    t = np.arange(24)
    notes = np.array(["good red wine", "bad red beer", "good blue water", "no news"])
    frame = pd.DataFrame(
        {
            "height": np.sin(t),
            "width": 100.0 + np.cos(3 * t),
            "city": np.array(["Rome", "Oslo", "Bern"])[t % 3],
            "note": notes[t % 4],
        }
    )
    return frame, np.array(["no", "yes"])[(np.sin(t) + 0.3 * (t % 2) > 0.2).astype(int)]


def sequences():
    """Return sequences and numbers."""
    t = np.arange(20)[:, None] * 7 + np.arange(12) ** 2
    texts = ["".join("ACGTN"[code] for code in row) for row in t % 17 % 5]
    return texts, np.array([text.count("A") - 0.5 * text.count("CG") for text in texts])


def repeated():
    """Return examples of which each occurs three times, and labels of which one differs."""
    t = np.arange(24)
    X = np.stack([np.sin(t % 8.0), np.cos(3 * (t % 8.0))], axis=1)
    return X, ((t % 8 < 4) ^ (t == 5)).astype(int)


def three_classes():
    """Return examples of three classes."""
    t = np.arange(21)
    return np.stack([np.sin(1.0 * t), np.cos(3.0 * t)], axis=1), t % 3


def fitted():
    """Return the models by the names of their files."""
    X, y = table()
    mixed = [
        kernels.RBF([0.5, 2.0], columns=["height", "width"]),
        kernels.Linear(columns="city") * kernels.RBF(columns="height"),
        kernels.BagOfWords(columns="note"),
    ]
    texts, targets = sequences()
    strings = [kernels.WeightedDegree(3, split="degree"), kernels.Spectrum(2)]
    return {
        "table": MKLClassifier(mixed, norm=norms.Lp(1.5), C=2.0, tol=1e-6).fit(X, y),
        "sequences": MKLRegressor(strings, normalize="center", tol=1e-6).fit(texts, targets),
    }
