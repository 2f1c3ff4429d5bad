"""Random permutations of sequences that preserve dinucleotide counts.

A sequence is an Eulerian walk in a graph whose vertices are letters and whose edges are pairs of
neighbouring letters. Altschul and Erickson (1985) draw another walk over the same edges. For each
letter except the final one, they draw the edge by which the walk leaves it last, until these last
edges lead from every letter to the final one. The other edges may be taken in any order.
"""

from __future__ import annotations

import itertools

import numpy as np

from ..sequences import Sequences, as_sequences


def shuffle_dinucleotides(sequences: Sequences, *, seed: int = 0) -> Sequences:
    """Return each sequence shuffled, with the same dinucleotide counts.

    Parameters
    ----------
    sequences : Sequences
        n sequences. Unknown letters count as one more letter.
    seed : int
        Seed of the random number generator.

    Returns
    -------
    Sequences
        n sequences of the same lengths.

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
        # The walk takes edges from the end of a list, so the last edge comes first.
        edges[letter] = [*([last[letter]] if letter in last else []), *(others[i] for i in order)]
    letters = [text[0]]
    for _ in range(len(text) - 1):
        letters.append(edges[letters[-1]].pop())
    return "".join(letters)


def _last_edges(edges: dict[str, list[str]], end: str, rng: np.random.Generator) -> dict[str, str]:
    """Return a random edge out of each letter except `end`, such that these edges lead to `end`."""
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
