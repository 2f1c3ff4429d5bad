"""`kernelweave explain`: k-mers, motifs, importance and letter scores of a sequence model."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from .command import (
    Command,
    jobs,
    one_class,
    out_option,
    quiet,
    region_options,
    text_output,
    with_options,
)

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from ..estimators.fitted import FittedEstimator
    from ..inspection import LetterScores, Motif
    from ..inspection.meme import Match

LONGEST = 6  # letters of the longest k-mers of weighted degree models, if --k is not given


@click.command(cls=Command)
@click.argument("model", type=click.Path())
@click.argument("input", type=click.Path(allow_dash=True), required=False)
@out_option("Output folder.", "explained")
@click.option(
    "--k", type=click.IntRange(1), help="Letters of the longest k-mers of weighted degree models."
)
@click.option(
    "--top", type=click.IntRange(1), default=100, show_default=True, help="K-mers in kmers.tsv."
)
@click.option(
    "--motifs",
    "count",
    type=click.IntRange(0),
    default=5,
    show_default=True,
    help="Largest number of motifs.",
)
@click.option("--meme", type=click.Path(), help="Write the motifs to this file in MEME format.")
@click.option(
    "--compare",
    type=click.Path(),
    metavar="MEME",
    help="Known motifs in MEME format, such as JASPAR's; matches go to matches.tsv.",
)
@click.option(
    "--all-words",
    is_flag=True,
    help="Write the weights of all words to words.tsv, as deltaSVM reads them.",
)
@with_options(region_options, one_class, jobs, quiet)
def command(
    model: str,
    input: str | None,
    out: str,
    k: int | None,
    top: int,
    count: int,
    meme: str | None,
    compare: str | None,
    all_words: bool,
    target: str | None,
    jobs: int | None,
    quiet: bool,
    **options: object,
) -> None:
    """Write the k-mers, motifs and letter scores of a sequence model to a folder.

    \b
    kmers.tsv                        k-mers with the largest weights
    motifs.tsv, motifs.png           motifs aligned from heavy k-mers, as a table and as logos
    importance.tsv, importance.png   largest weight by k-mer length and position (weighted degree)
    matches.tsv                      known motifs that resemble them (--compare)
    words.tsv                        weights of all words, no header (--all-words)
    letters.tsv, letters_*.npz       contribution of each letter of INPUT, also for TF-MoDISco

    INPUT has sequences, regions, or a table with the column that the model was trained on.

    \b
    Examples:
      kernelweave explain sites.kw
      kernelweave explain peaks.kw peaks.bed --genome hg.fa -o explained
      kernelweave explain peaks.kw --meme motifs.meme --compare jaspar.meme
      kernelweave explain sites.kw sites.csv --target donor
    """
    from .. import inspection
    from ..genome.model_windows import alphabet_of, sequences_in, support_sequences
    from .data import Windows, known_columns, read_examples
    from .models import class_of, load_model

    fitted = load_model(model, jobs, input)
    support_sequences(fitted)  # raises for models of other data
    chosen = class_of(fitted, target)
    if count == 0 and (meme or compare):
        raise ValueError(
            "--motifs 0 leaves no motif for --meme and --compare; pass --motifs 1 or more"
        )
    # Everything is computed before any output, so that an error leaves none.
    found = inspection.motifs(fitted, count, target=chosen) if count else []
    matches = None
    if compare is not None:
        matches = inspection.match_motifs(found, inspection.read_meme(compare))
    if input is not None:
        data = read_examples(input, Windows.of(options), alphabet=alphabet_of(fitted))
        X = known_columns(fitted, data.X)
        scores = inspection.letter_scores(fitted, X, target=chosen)
    words = inspection.all_words(fitted, chosen) if all_words else None
    folder = Path(out)
    folder.mkdir(parents=True, exist_ok=True)
    written = _write_words(fitted, folder, k, top, chosen)
    if count:
        written += _write_motifs(folder, found, meme, matches)
    if words is not None:
        _write_rows(folder / "words.tsv", None, ((word, f"{w:.8g}") for word, w in words))
        written.append("words.tsv")
    if input is not None:
        scores.save(folder / "letters_onehot.npz", folder / "letters_hypothetical.npz")
        sequences = sequences_in(fitted._model.compiled.examples(X))
        assert sequences is not None  # `support_sequences` has found such a column
        _write_letters(folder / "letters.tsv", data.names, sequences, scores)
        written += ["letters.tsv", "letters_onehot.npz", "letters_hypothetical.npz"]
    if not quiet:
        click.echo(f"{out}: {', '.join(written)}", err=True)


def _write_words(
    model: FittedEstimator, folder: Path, k: int | None, top: int, target: object
) -> list[str]:
    """Write tables of k-mers, and importance by position if there is any; return the file names."""
    from .. import inspection
    from ..inspection.words import positional_words

    try:
        degree = positional_words(model, target).degree
    except ValueError:  # the kernels count words regardless of position
        rows = inspection.top_kmers(model, top, target=target)
        _write_rows(folder / "kmers.tsv", ["k-mer", "weight"], rows)
        return ["kmers.tsv"]
    longest = min(k or LONGEST, degree)
    rows = inspection.top_kmers(model, top, k=longest, target=target)
    _write_rows(folder / "kmers.tsv", ["k-mer", "position", "weight"], rows)
    found = inspection.importance(model, longest, target=target)
    table = [[k, *row] for k, row in enumerate(found.S.tolist(), start=1)]
    _write_rows(folder / "importance.tsv", ["k", *range(found.S.shape[1])], table)
    names = ["kmers.tsv", "importance.tsv"]
    if (figure := _figure(9, 3)) is not None:
        from ..display.sequence_displays import ImportanceDisplay

        ImportanceDisplay(found.S).plot(figure.subplots())
        figure.savefig(folder / "importance.png", dpi=120)
        names.append("importance.png")
    return names


def _write_motifs(
    folder: Path, found: Sequence[Motif], meme: str | None, matches: Sequence[Match] | None
) -> list[str]:
    """Write motifs as a table, as logos and in MEME format, and matches; return the file names."""
    from .. import inspection

    rows = [(one.name, one.consensus, f"{one.weight:.4f}", len(one.words)) for one in found]
    _write_rows(folder / "motifs.tsv", ["name", "consensus", "share", "k-mers"], rows)
    names = ["motifs.tsv"]
    if meme is not None:
        with text_output(meme) as file:
            inspection.write_meme(file, found)
        names.append(meme)
    if matches is not None:
        _write_rows(
            folder / "matches.tsv",
            ["motif", "known motif", "p-value", "offset", "overlap", "strand"],
            ((*match[:2], f"{match.p_value:.3g}", *match[3:]) for match in matches),
        )
        names.append("matches.tsv")
    if found and (figure := _figure(5, 1.9 * len(found))) is not None:
        from ..display.logo import LogoDisplay

        for motif, ax in zip(found, figure.subplots(len(found), squeeze=False)[:, 0], strict=True):
            LogoDisplay.from_motif(motif, ax=ax)
            ax.set_title(f"{motif.name}, share {motif.weight:.0%}", fontsize=9)
        figure.savefig(folder / "motifs.png", dpi=120)
        names.append("motifs.png")
    return names


def _figure(width: float, height: float) -> Figure | None:
    """Return a matplotlib figure, None if matplotlib is not installed."""
    try:
        from matplotlib.figure import Figure
    except ImportError:
        return None
    return Figure(figsize=(width, height), layout="constrained")


def _write_letters(
    path: Path, names: Sequence[str], sequences: Iterable[str], scores: LetterScores
) -> None:
    """Write the contribution of each letter of each sequence, one per row."""
    values = scores.contributions.sum(axis=1)
    rows = (
        (name, position, letter, values[i, position])
        for i, (name, text) in enumerate(zip(names, sequences, strict=True))
        for position, letter in enumerate(text)
    )
    _write_rows(path, ["name", "position", "letter", "score"], rows)


def _write_rows(
    path: Path, head: Sequence[object] | None, rows: Iterable[Sequence[object]]
) -> None:
    with text_output(str(path)) as file:
        if head is not None:
            file.write("\t".join(map(str, head)) + "\n")
        file.writelines("\t".join(map(str, row)) + "\n" for row in rows)
