"""Tables and displays of weights: many kernels, and sums over views."""

import warnings

import numpy as np
import pytest

from kernelweave import MKLClassifier, Views, WeightsDisplay
from kernelweave.kernels import RBF, Linear
from kernelweave.model.weights import heaviest

matplotlib = pytest.importorskip("matplotlib")
matplotlib.use("Agg")


def test_the_heaviest_of_many_and_the_sum_of_the_others(rng):
    weights, names = rng.random(329), [f"k{m}" for m in range(329)]
    shown, called = heaviest(weights, names, 20)
    assert len(called) == 21
    assert called[-1] == "the other 309"
    np.testing.assert_allclose(shown.sum(), weights.sum())
    assert shown[:-1].min() >= np.sort(weights)[-20]
    rows, _ = heaviest(np.vstack([weights, weights[::-1]]), names, 20)
    assert rows.shape == (2, 21)
    assert heaviest(weights[:21], names[:21], 20)[1] == names[:21]


def test_pictures_of_many_kernels_and_of_views(rng):
    a, b = rng.normal(size=(30, 3)), rng.normal(size=(30, 2))
    X, y = Views({"a": a, "b": b}), np.sign(a[:, 0])
    model = MKLClassifier({"a": RBF(np.geomspace(0.01, 10, 30)), "b": Linear()}).fit(X, y)
    display = WeightsDisplay.from_estimator(model)
    assert len(display.bars_) == 21
    display = WeightsDisplay.from_estimator(model, by="view")
    np.testing.assert_allclose(
        [bar.get_width() for bar in display.bars_], model.weights_frame(by="view")["weight"]
    )
    with pytest.raises(ValueError, match="by must be"):
        WeightsDisplay.from_estimator(model, by="kernel")


def test_lines_off_a_terminal_end_with_the_final_gap(rng, capsys):
    X = rng.normal(size=(60, 3))
    model = MKLClassifier(RBF([0.1, 1.0]), verbose=1).fit(X, np.sign(X[:, 0]))
    lines = capsys.readouterr().err.splitlines()
    ending = f"MKLClassifier: {model.n_iter_} iterations, duality gap {model.duality_gap_:.2e}"
    assert lines[-1] == ending


def test_small_stones(rng):
    pandas = pytest.importorskip("pandas")
    from kernelweave.kernels import BagOfWords

    y = np.arange(20) % 2
    texts = pandas.Series(["a word", "more words"] * 10, index=range(5, 25))
    assert MKLClassifier(BagOfWords()).fit(texts, y).score(texts, y) == 1.0
    twice = pandas.DataFrame(rng.normal(size=(20, 3)), columns=["a", "a", "b"])
    with pytest.raises(ValueError, match="several columns named 'a'"):
        MKLClassifier(RBF()).fit(twice, y)
    written = pandas.DataFrame({"n": ["1", "2"] * 10, "x": rng.normal(size=20)})
    with pytest.warns(UserWarning, match="'n' contains numbers as strings"):
        MKLClassifier(Linear()).fit(written, y)
    with pytest.warns(UserWarning, match="'n' contains numbers as strings") as warned:
        MKLClassifier().fit(written, y)
    assert len(warned) == 1
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        MKLClassifier().fit(written.astype({"n": "category"}), y)  # they are meant as categories
