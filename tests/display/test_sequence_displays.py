"""Pictures of sequence models: what they draw are the numbers of the model."""

import numpy as np
import pytest

from kernelweave import MKLClassifier, inspection
from kernelweave.datasets import make_motifs
from kernelweave.display.logo import LogoDisplay
from kernelweave.display.sequence_displays import (
    ImportanceDisplay,
    KmerDisplay,
    PositionWeightsDisplay,
)
from kernelweave.display.stability import StabilityDisplay
from kernelweave.inspection import letter_scores
from kernelweave.inspection.bootstrap import BootstrapWeights
from kernelweave.kernels import RBF, WeightedDegree, WeightedDegreeShift


@pytest.fixture(scope="module")
def data():
    return make_motifs(150, 1, positive_rate=0.5)


@pytest.fixture(scope="module")
def model(data):
    return MKLClassifier(WeightedDegree(6)).fit(*data)


@pytest.mark.parametrize("split", ["degree", "position", "both", [(0, 10), (20, 30)]], ids=str)
def test_weights_by_position(split, data):
    fitted = MKLClassifier(WeightedDegree(3, split=split)).fit(*data)
    shown = PositionWeightsDisplay.from_estimator(fitted)
    weights = shown.image_.get_array()
    assert weights.shape == (3 if split in ("degree", "both") else 1, 50)
    for name, weight in zip(fitted.kernel_names_, fitted.weights_, strict=True):
        k = int(name.split("k=")[1][0]) if "k=" in name else 1
        if "position=" in name:
            assert weights[k - 1, int(name.split("position=")[1])] == weight
        elif "positions=" in name:
            start, stop = eval(name.split("positions=")[1])
            assert (weights[0, start:stop] == weight).all()
        else:
            assert (weights[k - 1, : 50 - k + 1] == weight).all()
    shown.figure_.canvas.draw()


def test_importance_and_its_gain(model):
    found = inspection.importance(model, 5)
    shown = ImportanceDisplay.from_estimator(model, 5)
    np.testing.assert_array_equal(shown.image_.get_array(), found.S)
    gain = ImportanceDisplay.from_estimator(model, 5, gain=True).image_.get_array()
    for k in range(1, 5):
        for p in range(50 - k):
            parts = max(found.S[k - 1, p], found.S[k - 1, p + 1])
            assert gain[k, p] == max(0.0, found.S[k, p] - parts)
    assert shown.ax_.get_ylabel() == "k-mer length"


def test_maps_of_kmers_are_centred_at_zero(model):
    shown = KmerDisplay.from_estimator(model, 3)
    low, high = shown.image_.get_clim()
    assert low == -high
    assert shown.W.shape == (64, 48)
    few = KmerDisplay.from_estimator(model, 3, most=5, corrected=True)
    Q = inspection.poim(model, 3)
    assert len(few.kmers) == 5
    assert Q.top(1)[0][0] in few.kmers
    for kmer, row in zip(few.kmers, few.W, strict=True):
        np.testing.assert_array_equal(row, Q.W[Q.kmers.index(kmer)])


def test_letters_of_a_logo_are_as_high_as_their_weights(model):
    shown = LogoDisplay.from_estimator(model, positions=(8, 20))
    Q = inspection.poim(model, 1, positions=(8, 20)).W
    boxes = [patch.get_path().get_extents() for patch in shown.letters_]
    assert len(boxes) == np.count_nonzero(Q)
    above = sum(box.height for box in boxes if box.y0 >= -1e-12)
    below = sum(box.height for box in boxes if box.y1 <= 1e-12)
    assert above == pytest.approx(Q[Q > 0].sum())
    assert below == pytest.approx(-Q[Q < 0].sum())


@pytest.mark.parametrize(
    "kernels",
    [WeightedDegree(6), WeightedDegreeShift(4, 3), WeightedDegree(4, split="both")],
    ids=["plain", "shifted", "family"],
)
def test_letters_of_a_sequence_share_its_score(kernels, data):
    X, y = data
    model = MKLClassifier(kernels).fit(X, y)
    scores = letter_scores(model, X[:5])
    expected = model.decision_function(X[:5]) - model.intercept_
    np.testing.assert_allclose(scores.contributions.sum(axis=(1, 2)), expected, atol=1e-10)
    shown = LogoDisplay.from_sequence(model, str(X[0]))
    np.testing.assert_allclose(shown.heights, scores.contributions[0])
    with pytest.raises(ValueError, match="50"):
        letter_scores(model, ["ACGT"])


def test_intervals_of_weights():
    rng = np.random.default_rng(0)
    samples, permuted = 1 + rng.random((30, 4)), rng.random((39, 4))
    samples[:, 2] -= 1
    result = BootstrapWeights(tuple("abcd"), samples.mean(axis=0), samples, permuted)
    shown = StabilityDisplay(result, interval=(0.1, 0.9)).plot()
    ends = np.array([segment[:, 0] for segment in shown.intervals_.get_segments()])
    np.testing.assert_allclose(ends.T, np.quantile(samples, (0.1, 0.9), axis=0))
    np.testing.assert_allclose(shown.means_.get_offsets()[:, 0], samples.mean(axis=0))
    filled = shown.means_.get_facecolor()[:, :3].min(axis=1) < 1
    assert filled.tolist() == [True, True, False, True]
    shown.figure_.canvas.draw()
    with pytest.raises(ValueError, match="one row of weights, got one for each of 3 classes"):
        StabilityDisplay(BootstrapWeights(("a",), np.ones((3, 1)), samples, permuted))


def test_models_that_have_no_such_weights(data, model):
    with pytest.raises(ValueError, match="one family"):
        PositionWeightsDisplay.from_estimator(model)
    vectors = MKLClassifier(RBF(1.0)).fit(
        np.random.default_rng(0).normal(size=(9, 2)), [0, 1, 0] * 3
    )
    with pytest.raises(ValueError, match="no weighted degree kernel"):
        KmerDisplay.from_estimator(vectors)
