"""Which columns of a table matter? Learn it together with the machine that uses them.

A generated table of 1,000 customers has numbers, categories and texts. Who comes back depends on
three columns; twelve are noise. Every column gets a kernel of its own, and multiple kernel learning
finds the weights of the kernels.
"""

from pathlib import Path

import matplotlib
import numpy as np
from sklearn.model_selection import train_test_split

from kernelweave import MKLClassifier, datasets
from kernelweave.kernels import RBF, BagOfWords, Linear, per_feature
from kernelweave.plots import ConvergenceDisplay, WeightsDisplay

matplotlib.use("Agg")
import matplotlib.pyplot as plt

PICTURE = Path("demo.png")


def main() -> None:
    """Learn, print what was learned, and draw it."""
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

    print_weights(learned)
    print(
        f"\n{learned.n_iter_} turns in {learned.history_[-1]['seconds']:.2f} s, "
        f"relative duality gap {learned.duality_gap_:.1e}"
    )
    print(f"accuracy on new customers, learned weights: {learned.score(test, y_test):.3f}")
    print(f"accuracy on new customers, plain sum:       {plain.score(test, y_test):.3f}")
    draw(learned)
    print(f"\nThe weights and the way there are drawn in {PICTURE}")


def print_weights(model: MKLClassifier) -> None:
    """Print the kernels, the heaviest first."""
    width = max(map(len, model.kernel_names_))
    print(f"{'kernel':{width}}  weight")
    for m in np.argsort(-model.weights_, kind="stable"):
        weight = model.weights_[m]
        print(
            f"{model.kernel_names_[m]:{width}}  {weight:6.3f}  {'#' * round(50 * weight)}".rstrip()
        )


def draw(model: MKLClassifier) -> None:
    """Draw the weights next to the convergence."""
    figure, (left, right) = plt.subplots(1, 2, figsize=(12, 4.5), layout="constrained")
    WeightsDisplay.from_estimator(model, ax=left)
    left.set_title("What was learned: three columns matter")
    ConvergenceDisplay.from_estimator(model, ax=right)
    right.set_title("How far from optimal at most: the duality gap")
    figure.savefig(PICTURE, dpi=120)


if __name__ == "__main__":
    main()
