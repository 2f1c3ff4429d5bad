"""String kernels written down from their formulas: slow and obvious."""

import math
from collections import Counter

COMPLEMENT = str.maketrans("ACGT", "TGCA")


def same(u, v, letters="ACGT"):
    """Equal words of known letters."""
    return u == v and set(u) <= set(letters)


def degree_part(x, y, k, letters="ACGT"):
    """How many words of length k are equal at the same position."""
    return sum(same(x[i : i + k], y[i : i + k], letters) for i in range(len(x) - k + 1))


def position_part(x, y, weights, i):
    """What words from position i on add to the weighted degree kernel."""
    room = range(1, min(len(weights), len(x) - i) + 1)
    return sum(weights[k - 1] * same(x[i : i + k], y[i : i + k]) for k in room)


def weighted_degree(x, y, weights, letters="ACGT"):
    """Formula (4.3) of Sonnenburg, Raetsch and Rieck (2007)."""
    return sum(w * degree_part(x, y, k, letters) for k, w in enumerate(weights, 1))


def weighted_degree_shift(x, y, weights, shifts):
    """Formula (4.4), words inside both; delta_0 = 1/2 makes up for counting s = 0 twice."""
    total = 0.0
    for k, weight in enumerate(weights, 1):
        for i in range(len(x) - k + 1):
            for s in range(min(shifts[i], len(x) - k - i) + 1):
                ahead = same(x[i + s : i + s + k], y[i : i + k])
                behind = same(x[i : i + k], y[i + s : i + s + k])
                total += weight * (ahead + behind) / (2 * (s + 1))
    return total


def words(x, k, letters="ACGT", both_strands=False):
    """How often each word of known letters occurs."""
    found = [x[i : i + k] for i in range(len(x) - k + 1)]
    found = [u for u in found if letters is None or set(u) <= set(letters)]
    if both_strands:
        found = [min(u, u.translate(COMPLEMENT)[::-1]) for u in found]
    return Counter(found)


def spectrum(x, y, k, **kwargs):
    """Formula (4.2)."""
    first, second = words(x, k, **kwargs), words(y, k, **kwargs)
    return sum(count * second[u] for u, count in first.items())


def substring(x, y, weight, letters="ACGT"):
    """Sum of weight(len(u)) #u(x) #u(y) over all substrings (Vishwanathan and Smola, 2003)."""
    lengths = range(1, min(len(x), len(y)) + 1)
    return sum(weight(k) * spectrum(x, y, k, letters=letters) for k in lengths)


def locality_improved(x, y, half_window, inner, outer):
    """The kernel of Zien et al. (2000), with equal weights inside a window."""
    total = 0.0
    for p in range(half_window, len(x) - half_window):
        window = range(p - half_window, p + half_window + 1)
        total += (sum(same(x[j], y[j]) for j in window) / len(window)) ** inner
    return total**outer


def weighted_words(x, length, letters="ACGT", centre=None):
    """The words of a sequence without unknown letters, and how much each counts."""
    count = len(x) - length + 1
    for i in range(count):
        word = x[i : i + length]
        if all(letter in letters for letter in word):
            weight = 1.0
            if centre is not None:
                M, H = centre
                weight = min(M, math.floor(M * 2 ** (-abs(count // 2 - i) / H) + 1))
            yield word, weight


def mismatches(u, v):
    """The number of places at which two words differ."""
    return sum(a != b for a, b in zip(u, v, strict=True))


def hamming(x, y, length, h, *, both_strands=False, letters="ACGT", centre=None):
    """The sum of h(mismatches) over all pairs of words, of both strands of y if wanted."""
    total = 0.0
    for u, a in weighted_words(x, length, letters, centre):
        for v, b in weighted_words(y, length, letters, centre):
            total += a * b * h(mismatches(u, v))
            if both_strands:
                total += a * b * h(mismatches(u, v[::-1].translate(COMPLEMENT)))
    return total
