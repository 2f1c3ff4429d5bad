"""`kernelweave explain`: what a sequence model has learned."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import click

from .command import Command, jobs, one_class, quiet, region_options, text_output, with_options

LONGEST = 6  # k-mers of weighted degree models, where no number is given


@click.command(cls=Command)
@click.argument("model", type=click.Path())
@click.argument("input", type=click.Path(), required=False)
@click.option(
    "-o", "--out", type=click.Path(), default="explained", show_default=True, help="A folder."
)
@click.option("--k", type=click.IntRange(1), help="Longest k-mers of a weighted degree model.")
@click.option(
    "--top", type=click.IntRange(1), default=100, show_default=True, help="K-mers listed."
)
@with_options(region_options, one_class, jobs, quiet)
def command(
    model: str,
    input: str | None,
    out: str,
    k: int | None,
    top: int,
    target: str | None,
    jobs: int | None,
    quiet: bool,
    **options: Any,
) -> None:
    """Say what a sequence model has learned: k-mers, importance, and scores of single letters.

    Writes kmers.tsv and, for weighted degree models, importance.tsv and importance.png. With INPUT
    (sequences, or a table with the column that the model was trained on) also letters.tsv and two
    .npz files that TF-MoDISco reads.

    \b
    Examples:
      kernelweave explain sites.kw
      kernelweave explain peaks.kw peaks.fa -o explained
      kernelweave explain sites.kw sites.csv --target donor
    """
    from .. import inspection
    from ..genome.model_windows import alphabet_of, sequences_in, support_sequences
    from .data import Windows, known_columns, read_examples
    from .models import class_of, load_model

    fitted = load_model(model, jobs, input)
    support_sequences(fitted)  # refuses models on other things
    chosen = class_of(fitted, target)
    if input is not None:  # first, so that a bad file leaves nothing behind
        data = read_examples(input, Windows.of(options), alphabet=alphabet_of(fitted))
        X = known_columns(fitted, data.X)
        scores = inspection.letter_scores(fitted, X, target=chosen)
    folder = Path(out)
    folder.mkdir(parents=True, exist_ok=True)
    written = _write_words(fitted, folder, k, top, chosen)
    if input is not None:
        scores.save(folder / "letters_onehot.npz", folder / "letters_hypothetical.npz")
        sequences = sequences_in(fitted._model.compiled.examples(X))
        _write_letters(folder / "letters.tsv", data.names, sequences, scores)
        written += ["letters.tsv", "letters_onehot.npz", "letters_hypothetical.npz"]
    if not quiet:
        click.echo(f"{out}: {', '.join(written)}", err=True)


def _write_words(model: Any, folder: Path, k: int | None, top: int, target: Any) -> list[str]:
    """Write tables of words, and what they are called."""
    from .. import inspection
    from ..inspection.words import positional_words

    try:
        degree = positional_words(model, target).degree
    except ValueError:  # words count wherever they are
        rows = inspection.top_kmers(model, top, target=target)
        _write_rows(folder / "kmers.tsv", ["k-mer", "weight"], rows)
        return ["kmers.tsv"]
    longest = min(k or LONGEST, degree)
    rows = inspection.top_kmers(model, top, k=longest, target=target)
    _write_rows(folder / "kmers.tsv", ["k-mer", "position", "weight"], rows)
    found = inspection.importance(model, longest, target=target)
    table = [[k, *row] for k, row in enumerate(found.S.tolist(), start=1)]
    _write_rows(folder / "importance.tsv", ["k", *range(found.S.shape[1])], table)
    return ["kmers.tsv", "importance.tsv", *_draw(found, folder / "importance.png")]


def _draw(found: Any, path: Path) -> list[str]:
    """Draw importance, where matplotlib is there."""
    try:
        from matplotlib.backends.backend_agg import FigureCanvasAgg
        from matplotlib.figure import Figure
    except ImportError:
        return []
    from ..display.sequence_displays import ImportanceDisplay

    figure = Figure(figsize=(9, 3), layout="constrained")
    FigureCanvasAgg(figure)
    ImportanceDisplay(found.S).plot(figure.subplots())
    figure.savefig(path, dpi=120)
    return [path.name]


def _write_letters(path: Path, names: Sequence[str], sequences: Any, scores: Any) -> None:
    """Write a line for each letter of each sequence."""
    values = scores.contributions.sum(axis=1)
    rows = (
        (name, position, letter, values[i, position])
        for i, (name, text) in enumerate(zip(names, sequences, strict=True))
        for position, letter in enumerate(text)
    )
    _write_rows(path, ["name", "position", "letter", "score"], rows)


def _write_rows(path: Path, head: list[Any], rows: Any) -> None:
    with text_output(str(path)) as file:
        file.write("\t".join(map(str, head)) + "\n")
        file.writelines("\t".join(map(str, row)) + "\n" for row in rows)
