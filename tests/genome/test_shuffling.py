"""Shuffled sequences keep their dinucleotides."""

import itertools
from collections import Counter

import numpy as np
import pytest

from kernelweave.genome import shuffle_dinucleotides
from kernelweave.sequences import as_sequences


def pairs(text):
    return Counter(itertools.pairwise(text))


@pytest.mark.parametrize("letters", ["ACGT", "ACGTN", "AC", "A"])
def test_dinucleotides_ends_and_length_are_kept(letters, rng):
    texts = ["".join(rng.choice(list(letters), size)) for size in rng.integers(1, 120, 60)]
    shuffled = list(shuffle_dinucleotides(as_sequences(texts)))
    assert [pairs(text) for text in shuffled] == [pairs(text) for text in texts]
    assert [(text[0], text[-1], len(text)) for text in shuffled] == [
        (text[0], text[-1], len(text)) for text in texts
    ]


def test_orders_are_drawn_evenly():
    """All walks over the edges of a short word come up, about as often."""
    text = "ACAGATA"
    words = as_sequences([text] * 3000)
    counts = Counter(shuffle_dinucleotides(words))
    assert len(counts) == 6  # the loops A-C-A, A-G-A, A-T-A in any order
    assert np.ptp(list(counts.values())) < 150


def test_seeds_repeat(rng):
    words = as_sequences(["".join(rng.choice(list("ACGT"), 80))] * 3)
    one, same, other = (list(shuffle_dinucleotides(words, seed=seed)) for seed in (1, 1, 2))
    assert one == same
    assert one != other
