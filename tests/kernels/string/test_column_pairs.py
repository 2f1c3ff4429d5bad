"""k(x, x) of many sequences at a time is that of each sequence by itself, to the last bit."""

import naive_strings as naive
import numpy as np
import pytest

from kernelweave.kernels import GappedKmer, Mismatch
from kernelweave.sequences.alphabets import Alphabet

PROTEIN = "ACDEFGHIKLMNPQRSTVWY"
TURNED = Alphabet("turned", b"ACGT", complement=b"CATG")  # partners differ in one bit
MIXED = Alphabet("mixed", b"ACGT", complement=b"ATGC")  # partners differ in other bits each
KERNELS = [
    (GappedKmer(), "ACGTACGTACGTN"),
    (GappedKmer(1, 1), "ACGTN"),
    (GappedKmer(3, 2, both_strands=False), "ACGTN"),
    (GappedKmer(6, 4, filter="full"), "ACGT"),
    (GappedKmer([5, 7, 5], [3, 4, 2]), "ACGT"),
    (GappedKmer(16, 9, filter="full"), "ACGT"),
    (GappedKmer(6, 4, centre=(50, 10)), "ACGT"),
    (GappedKmer(6, 4, alphabet="rna"), "ACGU"),
    (GappedKmer(6, 4, alphabet=TURNED), "ACGT"),
    (GappedKmer(6, 4, alphabet=MIXED), "ACGT"),
    (Mismatch(3, 1, alphabet="protein"), PROTEIN + "X"),
    (Mismatch(15, 8), "AC"),
    (Mismatch(33, 20, alphabet="HP"), "HP"),
]
pytestmark = pytest.mark.filterwarnings("ignore:X:UserWarning", "ignore:GappedKmer:UserWarning")


def texts(rng, letters, lengths):
    return ["".join(rng.choice(list(letters), size=length)) for length in lengths]


@pytest.mark.parametrize(("kernel", "letters"), KERNELS, ids=lambda case: str(case)[:40])
def test_blocks_of_sequences_equal_single_comparisons(kernel, letters, level, rng):
    """Most sequences have nearly one length, some a very different one."""
    X = texts(rng, letters, rng.integers(63, 68, 300))
    X += texts(rng, letters, [1, 5, 20, 130])
    X[7], X[8] = letters[0] * 66, (letters[0] + letters[1]) * 33
    found = np.atleast_2d(kernel.diagonal(X))
    some = [0, 7, 8, 150, 299, 300, 301, 302, 303]
    alone = np.stack([np.ravel(kernel.diagonal([X[i]])) for i in some], axis=1)
    np.testing.assert_array_equal(found[:, some], alone)


def test_diagonals_equal_sums_over_all_pairs_of_words(level, rng):
    kernel = GappedKmer(4, 2)
    (member,) = kernel.members
    X = texts(rng, "ACGTN", rng.integers(10, 14, 300))

    def h(m):
        return float(member.values[m])

    expected = [naive.hamming(x, x, 4, h, both_strands=True, letters="ACGT") for x in X]
    np.testing.assert_allclose(kernel.diagonal(X), expected, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("n", [1, 63, 64, 65, 511, 512, 513])
def test_diagonals_do_not_depend_on_the_number_of_sequences(n, level, rng):
    X = texts(rng, "ACGT", [20] * n)
    kernel = GappedKmer(5, 3)
    found = kernel.diagonal(X)
    np.testing.assert_array_equal(found[[0, -1]], [kernel.diagonal([X[i]])[0] for i in (0, -1)])
    np.testing.assert_array_equal(kernel.diagonal(X[::-1])[::-1], found)
