"""Section of a report on sequence models: k-mers, importance maps, motifs and logos."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ...inspection.importance import all_importances
from ...inspection.kmers import (
    KmerWeights,
    all_weights,
    heaviest_rows,
    largest,
    top_kmers,
    without_mean,
)
from ...inspection.motifs import motifs
from ...inspection.word_tables import MOST_BYTES, WordTables
from ...inspection.words import PositionalWords, positional_words
from ..sequence_displays import weights_by_position
from .section import Figure, Section, plain

if TYPE_CHECKING:
    from ...estimators.fitted import FittedEstimator

TITLE = "Motifs and k-mers"
LONGEST = 6  # letters of the longest k-mers in the importance map and the table
SHORT = 3  # letters of the k-mers in the map by position
MAX_CLASSES = 5  # maximum number of classes that have a section
MAX_WORDS = 20  # rows of the table
MAX_ROWS = 40  # rows of the map by position
MAX_MOTIFS = 5  # logos of motifs
MIN_SHARE = 0.02  # motifs with a smaller share of the weight have no logo
LOGO = 60  # maximum number of positions of the logo; they contain the heaviest ones
NEARLY = 0.95  # fraction of the largest sum of weights that a window of the logo has at least


def words(model: FittedEstimator) -> list[Section]:
    """Return a section for each class of a sequence model; none for other models."""
    classes: list[object] = [None]
    if len(model._model.intercept) > 1:
        classes = list(model.classes_)[:MAX_CLASSES]
    found = [_section(model, target) for target in classes]
    return [section for section in found if section is not None]


def _section(model: FittedEstimator, target: object) -> Section | None:
    title = TITLE if target is None else f"{TITLE} of class {target}"
    try:
        found = positional_words(model, target)
    except ValueError:
        return _counted(model, target, title)
    longest = _longest(found)
    tables = WordTables(found, longest)
    rows = [["k-mer", "position", "weight"]]
    strongest = largest(tables.by_position(longest), MAX_WORDS, longest, found.alphabet)
    rows += [[word, str(position), f"{weight:.4g}"] for word, position, weight in strongest]
    text = (
        f"The {longest}-mers with the largest weights and their 0-based positions. Maps and logo "
        "show the expected change of the score if a random sequence has a letter or k-mer at a "
        "position: red and upward raises the score, blue and downward lowers it. Motifs: heavy "
        "k-mers of all positions, aligned into position weight matrices."
    )
    figures = [*_maps(model, target, tables, longest), *_motifs(model, target)]
    return Section(title, text, rows, figures)


def _longest(found: PositionalWords) -> int:
    """Return the largest k whose tables of weights fit into memory."""
    lengths = range(min(found.degree, LONGEST), 1, -1)
    room = (k for k in lengths if WordTables.bytes(found, k, found.length) <= MOST_BYTES)
    return next(room, 1)


def _maps(model: FittedEstimator, target: object, tables: WordTables, longest: int) -> list[Figure]:
    of = "" if target is None else f", class {target}"
    S = all_importances(tables, longest).S
    width = _width(S.shape[1])
    figures = [_logo(tables, of)]
    caption = f"The largest weight of any k-mer, by length and position{of}"
    figures.append(Figure(caption, "importance", {"S": plain(S)}, (width, 0.9 + 0.24 * len(S))))
    k = min(longest, SHORT)
    map_of = _poim(tables, k)
    heaviest = heaviest_rows(map_of.W, MAX_ROWS)
    drawn = {"W": plain(map_of.W[heaviest]), "words": [map_of.kmers[row] for row in heaviest]}
    drawn["positions"] = map_of.positions.tolist()
    caption = f"Weight of each {k}-mer, by position{of}"
    figures.append(Figure(caption, "kmers", drawn, (width, 1.0 + 0.23 * len(heaviest))))
    try:
        weights, labels = weights_by_position(model, target)
    except ValueError:  # no weights by position were learned
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
    caption = f"Logo: weight of each letter at positions {start} to {stop - 1}{of}"
    return Figure(caption, "logo", drawn, (10.0, 2.4))


def _window(sizes: np.ndarray) -> tuple[int, int]:
    """Return start and end of a window of at most `LOGO` positions with a large sum of `sizes`.

    All windows whose sum is close to the largest one qualify. The middle one is returned, so that
    the positions with the largest sizes are near its centre.
    """
    room = min(LOGO, len(sizes))
    sums = np.convolve(sizes, np.ones(room), "valid")
    good = np.flatnonzero(sums >= NEARLY * sums.max())
    start = int(good[len(good) // 2])
    return start, start + room


def _counted(model: FittedEstimator, target: object, title: str) -> Section | None:
    """Return the section of a model that counts words regardless of their position."""
    try:
        found = top_kmers(model, MAX_WORDS, target=target)
    except ValueError:
        return None
    rows = [["k-mer", "weight"], *([word, f"{weight:.4g}"] for word, weight in found)]
    text = (
        "The k-mers with the largest weights: each occurrence adds its weight to the score. "
        "Motifs: heavy k-mers aligned into position weight matrices, reverse complements merged "
        "if the kernel counts both strands. Shares are parts of the weight of the 1,000 heaviest "
        "k-mers."
    )
    drawn = {
        "names": [word for word, _ in found],
        "values": plain([weight for _, weight in found]),
        "label": "weight",
    }
    size = 6.0, 0.8 + 0.26 * len(found)
    figures = [
        *_motifs(model, target),
        Figure("k-mers with the largest weights", "bars", drawn, size),
    ]
    return Section(title, text, rows, figures)


def _motifs(model: FittedEstimator, target: object) -> list[Figure]:
    """Return a logo for each motif of the model whose share is at least `MIN_SHARE`."""
    of = "" if target is None else f", class {target}"
    figures = []
    for motif in motifs(model, MAX_MOTIFS, target=target):
        if motif.weight < MIN_SHARE:
            continue
        drawn = {"heights": plain(motif.heights), "letters": motif.letters, "label": "bits"}
        drawn["positions"] = list(range(1, motif.width + 1))
        caption = f"Motif {motif.consensus}{of}: share {motif.weight:.0%}"
        figures.append(Figure(caption, "logo", drawn, (2.0 + 0.3 * motif.width, 2.2)))
    return figures


def _width(positions: int) -> float:
    return min(12.0, max(9.0, 2.0 + 0.06 * positions))
