"""Alignments between kernels, against their definition."""

import numpy as np
from sklearn.metrics.pairwise import linear_kernel, rbf_kernel

from kernelweave.inspection.alignment import kernel_alignment
from kernelweave.kernels import RBF, Linear, Polynomial, Precomputed


def centered(K):
    H = np.eye(len(K)) - 1 / len(K)
    return H @ K @ H


def cosine(K, L):
    return np.sum(K * L) / np.linalg.norm(K) / np.linalg.norm(L)


def test_alignments_of_kernels_are_cosines_of_centred_matrices(rng):
    X = rng.normal(size=(40, 3))
    K = [rbf_kernel(X, gamma=0.1), rbf_kernel(X, gamma=2.0), linear_kernel(X)]
    expected = [[cosine(centered(a), centered(b)) for a in K] for b in K]
    found = kernel_alignment([RBF(gamma=[0.1, 2.0]), Linear()], X)
    np.testing.assert_allclose(found, expected, atol=1e-12)
    np.testing.assert_allclose(kernel_alignment(RBF(gamma=0.1), X, n_jobs=2), [[1.0]])
    plain = kernel_alignment([RBF(gamma=[0.1, 2.0]), Linear()], X, centered=False)
    np.testing.assert_allclose(plain, [[cosine(a, b) for a in K] for b in K], atol=1e-12)


def test_alignments_of_given_matrices(rng):
    """X are row numbers, as a column or not."""
    A = rng.normal(size=(20, 3))
    given = [Precomputed(A @ A.T), Precomputed((A @ A.T) ** 2)]
    expected = kernel_alignment([Linear(), Polynomial(degree=2, gamma=1.0, coef0=0.0)], A)
    for rows in (np.arange(20), np.arange(20)[:, None]):
        np.testing.assert_allclose(kernel_alignment(given, rows), expected)


def test_a_constant_kernel_is_aligned_with_nothing(rng):
    X = np.column_stack([rng.normal(size=30), np.ones(30)])
    found = kernel_alignment([Linear(columns=[0]), Linear(columns=[1])], X)
    np.testing.assert_allclose(found, [[1.0, 0.0], [0.0, 0.0]], atol=1e-12)
