"""Exponentials of kernels against their formula."""

import numpy as np
import pytest

from kernelweave import MKLClassifier, load
from kernelweave.kernels import RBF, Exponential, GappedKmer, Linear, Precomputed, Spectrum


def cosine(K, rows, columns):
    return K / np.sqrt(np.outer(rows, columns))


@pytest.mark.parametrize("kernel", [Linear(), RBF(0.3), Linear() + RBF(1.0)], ids=str)
def test_of_vectors(kernel, rng):
    X, Y = rng.normal(size=(7, 3)), rng.normal(size=(4, 3))
    k = cosine(kernel(X, Y), kernel.diagonal(X), kernel.diagonal(Y))
    np.testing.assert_allclose(Exponential(kernel, 2.5)(X, Y), np.exp(2.5 * (k - 1)), rtol=1e-12)
    np.testing.assert_allclose(Exponential(kernel, 2.5).diagonal(X), np.ones(7), rtol=1e-12)


def test_exponential_of_linear_is_an_rbf_kernel_of_directions(rng):
    X = rng.normal(size=(9, 4))
    directions = X / np.linalg.norm(X, axis=1)[:, None]
    np.testing.assert_allclose(Exponential(Linear(), 3.0)(X), RBF(1.5)(directions), rtol=1e-10)


def test_families(rng):
    X = rng.normal(size=(6, 3))
    family = Exponential(Linear(), [1.0, 2.0])
    assert family.names == ("Exponential(Linear) gamma=1", "Exponential(Linear) gamma=2")
    np.testing.assert_allclose(family(X)[1], Exponential(Linear(), 2.0)(X))
    np.testing.assert_allclose(
        Exponential(RBF([0.1, 1.0]), [1.0, 2.0])(X)[1], Exponential(RBF(1.0), 2.0)(X)
    )
    with pytest.raises(ValueError, match="3 values of gamma cannot be combined with a family of 2"):
        Exponential(RBF([0.1, 1.0]), [1.0, 2.0, 3.0])


@pytest.mark.filterwarnings("ignore:X:UserWarning")
def test_sequences_without_words_are_equally_far_from_all():
    K = Exponential(GappedKmer(5, 3), 2.0)(["ACGTACGT", "AC", "TTTTTTTT"])
    np.testing.assert_allclose(K[1], np.exp([-2.0] * 3))
    np.testing.assert_allclose([K[0, 0], K[2, 2]], 1.0)


def test_models_are_trained_certified_and_saved(rng, tmp_path):
    X = ["".join(rng.choice(list("ACGT"), 30)) for _ in range(60)]
    y = np.array(["TA" in x[10:14] for x in X])
    kernels = [Exponential(GappedKmer(5, 3), 2.0), Exponential(Spectrum(3), [1.0, 4.0])]
    model = MKLClassifier(kernels, C=10.0).fit(X, y)
    assert model.duality_gap_ <= 1e-3
    model.save(tmp_path / "m.kw")
    again = load(tmp_path / "m.kw")
    np.testing.assert_array_equal(again.decision_function(X), model.decision_function(X))


@pytest.mark.parametrize("gamma", [0.0, -1.0, np.nan, None, "scale", "x"])
def test_bad_gammas_are_named(gamma):
    with pytest.raises(ValueError, match="Exponential: gamma must be"):
        Exponential(Linear(), gamma)


def test_matrices_without_a_unit_diagonal_are_refused(rng):
    K = rng.normal(size=(6, 6))
    with pytest.raises(
        ValueError, match=r"Exponential: .* normalise the matrix to a unit diagonal"
    ):
        Exponential(Precomputed(), 1.0)(K @ K.T)
    with pytest.raises(ValueError, match="kernel must be a Kernel"):
        Exponential(3.0)
