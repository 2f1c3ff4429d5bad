"""What a model on sequences has learned: words, where they count, and letters as a logo."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...inspection.importance import all_importances
from ...inspection.kmers import KmerWeights, all_weights, largest, top_kmers, without_mean
from ...inspection.word_tables import MOST_BYTES, WordTables
from ...inspection.words import PositionalWords, positional_words
from ..sequence_displays import weights_by_place
from .section import Figure, Section, plain

LONGEST = 6  # words of a map of importance,
SHORT = 3  # of a map of words,
MOST_CLASSES = 5  # and classes with maps of their own
MOST_WORDS = 20  # of a table
MOST_ROWS = 40  # of a map of words
LOGO = 60  # positions of a logo: those around the ones that count


def words(model: Any) -> list[Section]:
    """Return a section for each class of a model on sequences, none for other models."""
    classes: list[Any] = [None]
    if len(model._model.intercept) > 1:
        classes = list(model.classes_)[:MOST_CLASSES]
    found = [_section(model, target) for target in classes]
    return [section for section in found if section is not None]


def _section(model: Any, target: Any) -> Section | None:
    title = "Words" if target is None else f"Words of class {target}"
    try:
        found = positional_words(model, target)
    except ValueError:
        return _counted(model, target, title)
    longest = _longest(found)
    tables = WordTables(found, longest, 0, found.length)
    rows = [["k-mer", "position", "weight"]]
    strongest = largest(tables.by_position(longest), MOST_WORDS, longest, found.alphabet)
    rows += [[word, str(position), f"{weight:.4g}"] for word, position, weight in strongest]
    text = (
        f"The words of {longest} letters that speak most for a high score, and where they begin, "
        "counted from 0. Maps and logo: what letters and words add to the score of a random "
        "sequence; red and upward for, blue and downward against a high score."
    )
    return Section(title, text, rows, _maps(model, target, tables, longest))


def _longest(found: PositionalWords) -> int:
    """Return the length of the longest words that are looked at, whose tables have room."""
    lengths = range(min(found.degree, LONGEST), 1, -1)
    room = (k for k in lengths if WordTables.bytes(found, k, found.length) <= MOST_BYTES)
    return next(room, 1)


def _maps(model: Any, target: Any, tables: WordTables, longest: int) -> list[Figure]:
    of = "" if target is None else f", class {target}"
    S = all_importances(tables, longest).S
    width = _width(S.shape[1])
    figures = [_logo(tables, of)]
    caption = f"The largest weight of any k-mer, by length and position{of}"
    figures.append(Figure(caption, "importance", {"S": plain(S)}, (width, 0.9 + 0.24 * len(S))))
    k = min(longest, SHORT)
    map_of = _poim(tables, k)
    heaviest = np.sort(np.argsort(-np.abs(map_of.W).max(axis=1), kind="stable")[:MOST_ROWS])
    drawn = {"W": plain(map_of.W[heaviest]), "words": [map_of.kmers[row] for row in heaviest]}
    drawn["positions"] = map_of.positions.tolist()
    caption = f"Words of {k} letters, by position{of}"
    figures.append(Figure(caption, "kmers", drawn, (width, 1.0 + 0.2 * len(heaviest))))
    try:
        weights, labels = weights_by_place(model, target)
    except ValueError:  # nothing was learned about positions
        return figures
    caption = f"Kernel weights, by match length and position{of}"
    drawn = {"weights": plain(weights), "labels": labels}
    figures.append(Figure(caption, "places", drawn, (width, 1.4 + 0.24 * len(weights))))
    return figures


def _poim(tables: WordTables, k: int) -> KmerWeights:
    return without_mean(all_weights(tables, k), tables.chances)


def _logo(tables: WordTables, of: str) -> Figure:
    found = _poim(tables, 1)
    start, stop = _window(np.abs(found.W).max(axis=0))
    heights, letters = found.W[:, start:stop], "".join(found.kmers)
    drawn = {"heights": plain(heights), "letters": letters}
    drawn["positions"] = found.positions[start:stop].tolist()
    caption = f"Logo: what each letter adds, at positions {start} to {stop - 1}{of}"
    return Figure(caption, "logo", drawn, (10.0, 2.4))


def _window(sizes: np.ndarray) -> tuple[int, int]:
    """Return the stretch of a few positions whose sizes, shape (positions,), are largest in sum."""
    room = min(LOGO, len(sizes))
    sums = np.convolve(sizes, np.ones(room), "valid")
    start = int(sums.argmax())
    return start, start + room


def _counted(model: Any, target: Any, title: str) -> Section | None:
    """Return the words of a model that counts them wherever they are."""
    try:
        found = top_kmers(model, MOST_WORDS, target=target)
    except ValueError:
        return None
    rows = [["k-mer", "weight"], *([word, f"{weight:.4g}"] for word, weight in found)]
    text = "The words that speak most for a high score, wherever they are."
    drawn = {
        "names": [word for word, _ in found],
        "values": plain([weight for _, weight in found]),
        "label": "weight",
    }
    size = 6.0, 0.8 + 0.26 * len(found)
    return Section(title, text, rows, [Figure(f"{title}: largest weights", "bars", drawn, size)])


def _width(positions: int) -> float:
    return min(12.0, max(9.0, 2.0 + 0.06 * positions))
