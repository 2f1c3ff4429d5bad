"""`kernelweave demo`: two models on generated data.

The first is trained on a table of 1,000 customers with numbers, categories and texts. The class
depends on three columns, the others are noise; each column has its own kernel, and learning selects
the three. The second is trained on 1,000 DNA sequences with two noisy motifs, which a weighted
degree kernel recovers.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from .command import Command, out_option

if TYPE_CHECKING:
    from ..estimators.fitted import FittedEstimator


@click.command(cls=Command)
@out_option("The picture.", "demo.png")
@click.option(
    "--page", type=click.Path(), default="demo.html", show_default=True, help="The report."
)
def command(out: str, page: str) -> None:
    """Train two models on generated data: a table with noise columns, and sequences with motifs.

    Draws the weights of the first model and writes a report on the second.

    \b
    Example:
      kernelweave demo -o demo.png --page demo.html
    """
    _table(out)
    _sequences(page)


def _table(out: str) -> None:
    import numpy as np
    from sklearn.model_selection import train_test_split

    from .. import MKLClassifier, datasets
    from ..kernels import RBF, BagOfWords, Linear, per_feature

    X, y = datasets.make_mixed_table(1000, n_noise=10, random_state=0)
    train, test, y_train, y_test = train_test_split(X, y, train_size=600, random_state=0)
    numbers = list(X.select_dtypes("number"))
    kernels = [
        per_feature(RBF(gamma="scale", columns=numbers)),
        per_feature(Linear(columns=["city", "colour"])),
        BagOfWords(columns="review"),
    ]
    learned = MKLClassifier(kernels, norm=1, C=0.3).fit(train, y_train)
    plain = MKLClassifier(kernels, norm=np.inf, C=0.3).fit(train, y_train)

    _print_weights(learned)
    seconds = vars(learned)["history_"][-1]["seconds"]
    click.echo(
        f"\n{learned.n_iter_} iterations in {seconds:.2f} s, "
        f"relative duality gap {learned.duality_gap_:.1e}"
    )
    click.echo(f"accuracy on new customers, learned weights: {learned.score(test, y_test):.3f}")
    click.echo(f"accuracy on new customers, unweighted sum:  {plain.score(test, y_test):.3f}")
    _draw(learned, out)
    click.echo(f"\nWeights and convergence are drawn in {out}")


def _sequences(page: str) -> None:
    """Train a model on sequences with motifs, and write a report."""
    from .. import MKLClassifier, datasets, inspection, report
    from ..kernels import WeightedDegree

    X, y = datasets.make_motifs(1000, replaced=2)
    model = MKLClassifier(WeightedDegree(20)).fit(X, y)
    click.echo("\n1,000 sequences, some with GATTACA at 10 and AGTAGTG at 30, two letters of each")
    click.echo("replaced. The 7-mers with the largest weights:")
    for word, position, weight in inspection.kmer_weights(model, 7).top(2):
        click.echo(f"  {word} at {position}, weight {weight:.2f}")
    command = "kernelweave demo"
    report(model, page, X, y, cv=3, title="Motifs in generated sequences", command=command)
    click.echo(f"\nA report with their logo is in {page}")


def _print_weights(model: FittedEstimator) -> None:
    """Print the kernels, largest weight first."""
    width = max(map(len, model.kernel_names_))
    click.echo(f"{'kernel':{width}}  weight")
    for weight, name in sorted(zip(model.weights_, model.kernel_names_, strict=True), reverse=True):
        click.echo(f"{name:{width}}  {weight:6.3f}  {'#' * round(50 * weight)}".rstrip())


def _draw(model: FittedEstimator, path: str) -> None:
    """Draw the weights next to the convergence."""
    from matplotlib.figure import Figure

    from ..display.displays import ConvergenceDisplay, WeightsDisplay

    figure = Figure(figsize=(12, 4.5), layout="constrained")
    left, right = figure.subplots(1, 2)
    WeightsDisplay.from_estimator(model, ax=left)
    left.set_title("Learned weights: three columns matter")
    ConvergenceDisplay.from_estimator(model, ax=right)
    right.set_title("Convergence: the duality gap")
    figure.savefig(path, dpi=120)
