"""Smoke test of an installed package: train, certify, save, load, draw, run commands."""

import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np

import kernelweave
from kernelweave import MKLClassifier, _core, datasets, kernels, load, plots, verify


def check_vectors(folder: Path) -> None:
    """Train on a table, save, load, verify and draw."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 5))
    y = np.sign(X[:, 0] * X[:, 1] + 0.1 * rng.normal(size=200))
    model = MKLClassifier(kernels.RBF([0.1, 1.0, 10.0]), norm=1).fit(X, y)
    assert model.duality_gap_ <= 1e-3
    assert verify(model, X, y).agree
    model.save(folder / "model.kw")
    again = load(folder / "model.kw")
    assert np.array_equal(again.decision_function(X), model.decision_function(X))
    plots.WeightsDisplay.from_estimator(model).figure_.savefig(folder / "weights.png")


def check_sequences() -> None:
    """Train on sequences."""
    X, y = datasets.make_splice(400, positive_rate=0.3)
    model = MKLClassifier(kernels.WeightedDegree(8)).fit(X, y)
    assert model.duality_gap_ <= 1e-3
    assert model.score(X, y) > 0.9


def check_command() -> None:
    """Run the installed command with --version."""
    command = Path(sys.executable).with_name("kernelweave")
    answer = subprocess.run([command, "--version"], capture_output=True, text=True, check=True)
    assert kernelweave.__version__ in answer.stdout


def main() -> None:
    """Run all checks."""
    with tempfile.TemporaryDirectory() as folder:
        check_vectors(Path(folder))
    check_sequences()
    check_command()
    compilers = [name for name in ("cc", "c++", "gcc", "g++", "clang") if shutil.which(name)]
    print(
        f"kernelweave {kernelweave.__version__} works on Python {sys.version.split()[0]}, "
        f"NumPy {np.__version__}, core {Path(_core.__file__).name}, "
        f"compilers on the path: {', '.join(compilers) or 'none'}"
    )


if __name__ == "__main__":
    main()
