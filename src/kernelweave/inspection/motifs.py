"""Motifs of sequence models: words of large weight, aligned into position weight matrices.

A sequence model gives a weight to each word. The words of a motif with the largest weights are its
instances and shifted parts of them. So motifs are found one after the other, as follows. The word
with the largest weight among those not yet assigned is the seed. Words that agree with the seed
under some shift, or whose reverse complements do, are added at their best alignment, in proportion
to their weights. The alignment is then repeated against the resulting matrix, and columns with
little information are cut off at both ends.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from ..common.numbers import as_count
from .counted_kmers import HeaviestWords, heaviest_words
from .kmers import top_kmers
from .words import positional_words

if TYPE_CHECKING:
    from ..estimators.fitted import FittedEstimator

WORDS = 1000  # heaviest words that are clustered
LONGEST = 8  # length of the words of weighted degree models
MIN_OVERLAP = 0.6  # fraction of a word that must overlap the seed
MAX_MISMATCH = 0.25  # fraction of the overlap that may differ from the seed
REALIGNMENTS = 3  # number of alignments against the matrix; more have no effect in practice
MIN_WORDS = 3  # minimum number of words of a motif
MIN_BITS = 0.25  # information below which a column at an end is cut off
PSEUDOCOUNT = 0.02  # fraction of the total count, spread over the letters
MIN_WIDTH = 4  # minimum number of columns of a motif
SAME = 0.85  # correlation above which two motifs are merged


@dataclass(frozen=True, eq=False)
class Motif:
    """A motif as a position weight matrix.

    Attributes
    ----------
    name : str
    letters : str
        The alphabet.
    probabilities : ndarray of shape (letters, width)
        Probability of each letter; columns sum to 1.
    weight : float
        Sum of the weights of its words, divided by that of all words that were clustered.
    words : list of (str, float)
        Its words with their weights, heaviest first.

    Examples
    --------
    >>> import numpy as np
    >>> from kernelweave.inspection import Motif
    >>> motif = Motif("one", "ACGT", np.eye(4)[:, [2, 0, 3]], 1.0, [("GAT", 2.0)])
    >>> motif.consensus
    'GAT'
    >>> print(motif.information)
    [2. 2. 2.]
    """

    name: str
    letters: str
    probabilities: np.ndarray
    weight: float
    words: list[tuple[str, float]]

    @property
    def width(self) -> int:
        """Number of columns."""
        return int(self.probabilities.shape[1])

    @property
    def consensus(self) -> str:
        """Most probable letter of each column."""
        return "".join(self.letters[row] for row in self.probabilities.argmax(axis=0))

    @property
    def information(self) -> np.ndarray:
        """Information content of each column in bits, shape (width,), uniform background."""
        return information(self.probabilities)

    @property
    def heights(self) -> np.ndarray:
        """Heights of the letters of a logo in bits, shape (letters, width)."""
        return self.probabilities * self.information


def information(probabilities: np.ndarray) -> np.ndarray:
    """Return the information content of columns in bits, shape (width,).

    Parameters
    ----------
    probabilities : ndarray of shape (letters, width)
    """
    logs = np.log2(np.where(probabilities > 0, probabilities, 1.0))
    return np.log2(len(probabilities)) + (probabilities * logs).sum(axis=0)


def motifs(
    model: FittedEstimator, n: int = 5, *, target: object = None, words: int = WORDS
) -> list[Motif]:
    """Return the motifs of a fitted sequence model, heaviest first.

    Parameters
    ----------
    model : fitted estimator
        Trained on string kernels. Words of gapped k-mer, mismatch and spectrum models count
        wherever they occur; for weighted degree models each word has its largest weight over all
        positions. Kernels with ``both_strands=True`` merge reverse complements.
    n : int
        Largest number of motifs.
    target : label, optional
        Class whose decision function is read, for models of three or more classes.
    words : int
        Number of heaviest words that are clustered.

    Returns
    -------
    list of at most n Motif
        Motifs of words with positive weights: those that raise the score.

    Raises
    ------
    ValueError
        If words have no weights in this model (see `top_kmers`).

    Examples
    --------
    >>> import numpy as np
    >>> from kernelweave import MKLClassifier
    >>> from kernelweave.inspection import motifs
    >>> from kernelweave.kernels import GappedKmer
    >>> rng = np.random.default_rng(0)
    >>> X = ["".join(rng.choice(list("ACGT"), 40)) for _ in range(300)]
    >>> X[::2] = [x[:15] + "GATTACCA" + x[23:] for x in X[::2]]
    >>> model = MKLClassifier(GappedKmer(l=8, k=5)).fit(X, np.arange(300) % 2 == 0)
    >>> motifs(model, 1)[0].consensus in ("GATTACCA", "TGGTAATC")
    True
    """
    n = as_count("n", n)
    heaviest = _positive_words(model, as_count("words", words), target)
    total = sum(weight for _, weight in heaviest.weights)
    letters = heaviest.alphabet.letters.decode("latin-1")
    found = []
    for members, probabilities in _clusters(heaviest, n):
        members.sort(key=lambda pair: -pair[1])
        share = sum(weight for _, weight in members) / total
        found.append(Motif("", letters, probabilities, share, members))
    found.sort(key=lambda motif: -motif.weight)
    return [
        Motif(f"motif{i}_{one.consensus}", one.letters, one.probabilities, one.weight, one.words)
        for i, one in enumerate(found[:n], start=1)
    ]


def _positive_words(model: FittedEstimator, count: int, target: object) -> HeaviestWords:
    """Return at most `count` words, those of largest positive weight."""
    try:
        positional = positional_words(model, target)
    except ValueError:
        found = heaviest_words(model, count, target)
    else:
        k = min(LONGEST, positional.degree)
        best: dict[str, float] = {}
        for word, _, weight in top_kmers(model, count, k=k, target=target):
            best.setdefault(word, weight)
        found = HeaviestWords(list(best.items()), positional.alphabet, both_strands=False)
    return found._replace(weights=[(word, weight) for word, weight in found.weights if weight > 0])


@dataclass(frozen=True, eq=False)
class _Words:
    """Words as letter codes, read in one or both directions.

    Attributes
    ----------
    reads : ndarray of shape (directions, n, longest)
        Codes of the letters; the value `letters` stands beyond the end of a word.
    weights : ndarray of shape (n,)
        Weight of each word minus that of the lightest one, plus a small constant.
    letters : int
        Number of letters of the alphabet.
    complement : ndarray of shape (letters,), or None
        Code of the complement of each letter; None for one direction.
    """

    reads: np.ndarray
    weights: np.ndarray
    letters: int
    complement: np.ndarray | None

    @classmethod
    def of(cls, heaviest: HeaviestWords) -> _Words:
        alphabet, letters = heaviest.alphabet, len(heaviest.alphabet.letters)
        complement = None
        if heaviest.both_strands:
            complement = np.frombuffer(alphabet.strand_codes, dtype=np.uint8)[:letters]
        words = [word.encode("latin-1").translate(alphabet.codes) for word, _ in heaviest.weights]
        directions, longest = 1 if complement is None else 2, max(map(len, words))
        reads = np.full((directions, len(words), longest), letters, dtype=np.int64)
        for i, word in enumerate(words):
            codes = np.frombuffer(word, np.uint8)
            reads[0, i, : len(codes)] = codes
            if complement is not None:
                reads[1, i, : len(codes)] = complement[codes[::-1]]
        weights = np.array([weight for _, weight in heaviest.weights])
        # Relative to the lightest word, so that the general level of the weights does not count.
        excess = weights - weights.min() + 1e-3 * weights.max()
        return cls(reads, excess, letters, complement)

    @property
    def width(self) -> int:
        """Columns of a matrix, with room for shifts in either direction."""
        return 3 * int(self.reads.shape[2])

    def like(self, seed: int, left: np.ndarray) -> _Placed:
        """Return the words among `left`, shape (n,), that agree with a seed word."""
        longest = self.reads.shape[2]
        target = self.reads[0, seed]
        size = int((target < self.letters).sum())
        chosen = np.flatnonzero(left)
        sizes = (self.reads[0, chosen] < self.letters).sum(axis=1)
        best = np.full(len(chosen), -np.inf)
        starts, flips = np.zeros(len(chosen), np.int64), np.zeros(len(chosen), np.int64)
        for flip, reads in enumerate(self.reads):
            for shift in range(-longest + 1, size):
                low, high = max(0, shift), min(size, shift + longest)
                part = reads[chosen, low - shift : high - shift]
                overlap = (part < self.letters).sum(axis=1)
                same = (part == target[low:high]).sum(axis=1)
                differ = overlap - same
                good = (overlap >= MIN_OVERLAP * sizes) & (differ <= MAX_MISMATCH * overlap)
                agreement = np.where(good, same - 3.0 * differ, -np.inf)
                better = agreement > best
                best[better], flips[better] = agreement[better], flip
                starts[better] = longest + shift
        kept = np.isfinite(best)
        return _Placed(chosen[kept], starts[kept], flips[kept])

    def counts(self, placed: _Placed) -> np.ndarray:
        """Return the weighted counts of letters by column, shape (letters, width)."""
        counts = np.zeros((self.letters + 1, self.width))
        words = self.reads[placed.flips, placed.index]
        columns = placed.starts[:, None] + np.arange(words.shape[1])
        weights = np.broadcast_to(self.weights[placed.index][:, None], words.shape)
        np.add.at(counts, (words, columns), weights)
        return counts[:-1]

    def realigned(self, index: np.ndarray, counts: np.ndarray) -> _Placed:
        """Return the words in `index`, each where its log-odds under a count matrix are largest."""
        total = counts.sum(axis=0)
        pseudo = PSEUDOCOUNT * total.max()
        odds = np.zeros((self.letters + 1, self.width))  # 0 beyond the end of a word
        odds[:-1] = np.log((counts + pseudo / self.letters) / (total + pseudo) * self.letters)
        longest = self.reads.shape[2]
        scores = np.array(
            [
                odds[reads[index], start + np.arange(longest)].sum(axis=1)
                for reads in self.reads
                for start in range(self.width - longest + 1)
            ]
        )
        flips, starts = np.divmod(scores.argmax(axis=0), self.width - longest + 1)
        return _Placed(index, starts, flips)


@dataclass(frozen=True, eq=False)
class _Placed:
    """Aligned words: index, first column and direction of each, all of shape (k,)."""

    index: np.ndarray
    starts: np.ndarray
    flips: np.ndarray


def _clusters(heaviest: HeaviestWords, n: int) -> list[tuple[list[tuple[str, float]], np.ndarray]]:
    """Return the words and the trimmed matrix, shape (letters, width), of each motif."""
    if not heaviest.weights:
        return []
    words = _Words.of(heaviest)
    left = np.ones(len(heaviest.weights), dtype=bool)
    counts: list[np.ndarray] = []
    members: list[np.ndarray] = []
    while left.any() and len(counts) < 4 * n:
        seed = int(np.flatnonzero(left)[0])  # words are sorted: the heaviest one left
        placed = words.like(seed, left)
        matrix = words.counts(placed)
        for _ in range(REALIGNMENTS):
            placed = words.realigned(placed.index, matrix)
            matrix = words.counts(placed)
        left[placed.index] = False
        if len(placed.index) >= MIN_WORDS or not counts:
            counts.append(matrix)
            members.append(placed.index)
    found = []
    for matrix, chosen in _merge(counts, members, words.complement):
        trimmed = _trimmed(matrix, words.weights[chosen].sum())
        if trimmed is not None:
            found.append(([heaviest.weights[i] for i in chosen.tolist()], trimmed))
    return found


def _merge(
    counts: list[np.ndarray], members: list[np.ndarray], complement: np.ndarray | None
) -> list[tuple[np.ndarray, np.ndarray]]:
    """Return counts and words of motifs, with motifs that correlate under a shift merged."""
    merged: list[tuple[np.ndarray, np.ndarray]] = []
    for matrix, chosen in zip(counts, members, strict=True):
        for k, (other, others) in enumerate(merged):
            if (moved := _best_shift(other, matrix, complement)) is not None:
                merged[k] = (other + moved, np.concatenate([others, chosen]))
                break
        else:
            merged.append((matrix, chosen))
    return merged


def _best_shift(
    one: np.ndarray, other: np.ndarray, complement: np.ndarray | None
) -> np.ndarray | None:
    """Return the count matrix `other`, shifted so that it correlates best with `one`.

    With the code of the complement of each letter, its reverse complement is tried, too. The
    result is None if the largest correlation is at most `SAME`.
    """
    best: tuple[float, np.ndarray | None] = (SAME, None)
    reads = [other]
    if complement is not None:
        reads.append(other[complement, ::-1])
    half = one.shape[1] // 2
    for read in reads:
        for shift in range(-half, half + 1):
            moved = np.zeros_like(read)
            source = read[:, max(0, -shift) : read.shape[1] - max(0, shift)]
            moved[:, max(0, shift) : max(0, shift) + source.shape[1]] = source
            norm = np.linalg.norm(one) * np.linalg.norm(read)
            value = float((one * moved).sum() / norm) if norm else 0.0
            if value > best[0]:
                best = (value, moved)
    return best[1]


def _trimmed(counts: np.ndarray, total: float) -> np.ndarray | None:
    """Return probabilities without uninformative columns at the ends; None if few are left.

    In a column that only some words cover, the missing weight is spread evenly over the letters.
    """
    letters = len(counts)
    missing = np.maximum(0.0, total - counts.sum(axis=0)) + PSEUDOCOUNT * total
    probabilities = (counts + missing / letters) / (counts.sum(axis=0) + missing)
    informative = np.flatnonzero(information(probabilities) >= MIN_BITS)
    if not len(informative) or informative[-1] - informative[0] + 1 < MIN_WIDTH:
        return None
    return probabilities[:, informative[0] : informative[-1] + 1]
