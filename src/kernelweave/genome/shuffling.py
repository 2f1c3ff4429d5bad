"""Sequences with the same pairs of neighbouring letters in another order.

A sequence is a walk over its letters, each pair of neighbours an edge. Another walk over the same
edges from the first letter to the last is found as Altschul and Erickson (1985) do: the last edge
out of each letter is drawn at random, until these edges lead to the last letter from everywhere;
the others may be taken in any order.
"""

from __future__ import annotations

import itertools

import numpy as np

from ..sequences import Sequences, as_sequences


def shuffle_dinucleotides(sequences: Sequences, *, seed: int = 0) -> Sequences:
    """Return each sequence with its letters in another order, all its dinucleotides kept.

    Unknown letters count as a letter of their own.

    Parameters
    ----------
    sequences : what to shuffle.
    seed : of the generator.

    Examples
    --------
    >>> from collections import Counter
    >>> from kernelweave.genome import shuffle_dinucleotides
    >>> from kernelweave.sequences import as_sequences
    >>> sequences = as_sequences(["GATTACAGATTTCAGATGACA"])
    >>> shuffled = shuffle_dinucleotides(sequences, seed=1)
    >>> def pairs(text):
    ...     return Counter(zip(text, text[1:]))
    >>> shuffled[0] != sequences[0], pairs(shuffled[0]) == pairs(sequences[0])
    (True, True)
    """
    rng = np.random.default_rng(seed)
    return as_sequences([_shuffled(text, rng) for text in sequences], sequences.alphabet)


def _shuffled(text: str, rng: np.random.Generator) -> str:
    edges: dict[str, list[str]] = {}
    for one, other in itertools.pairwise(text):
        edges.setdefault(one, []).append(other)
    last = _last_edges(edges, text[-1], rng)
    for letter, others in edges.items():
        if letter in last:
            others.remove(last[letter])
        order = rng.permutation(len(others))
        # Edges are taken from the end of a list.
        edges[letter] = [*([last[letter]] if letter in last else []), *(others[i] for i in order)]
    letters = [text[0]]
    for _ in range(len(text) - 1):
        letters.append(edges[letters[-1]].pop())
    return "".join(letters)


def _last_edges(edges: dict[str, list[str]], end: str, rng: np.random.Generator) -> dict[str, str]:
    """Return a random last edge out of each letter but `end`, along which all reach `end`."""
    sources = [letter for letter in edges if letter != end]
    while True:
        last = {letter: edges[letter][rng.integers(len(edges[letter]))] for letter in sources}
        if all(_reaches(letter, end, last) for letter in sources):
            return last


def _reaches(letter: str, end: str, last: dict[str, str]) -> bool:
    for _ in range(len(last) + 1):
        if letter == end:
            return True
        letter = last[letter]
    return False
