"""Fixtures of the tests of commands."""

import pytest
from click.testing import CliRunner

from kernelweave import datasets
from kernelweave.cli import main
from kernelweave.sequences import write_sequences

pytest.importorskip("pandas")


@pytest.fixture
def run(tmp_path, monkeypatch):
    """Return a function that runs a command in an empty folder; it must end with `code`."""
    monkeypatch.chdir(tmp_path)

    def call(*arguments, code=0, **settings):
        result = CliRunner().invoke(main, [str(one) for one in arguments], **settings)
        assert result.exit_code == code, (result.output, result.exception)
        return result

    return call


@pytest.fixture
def table(tmp_path):
    """A small table with a column of classes, and one of groups."""
    X, y = datasets.make_mixed_table(120, random_state=0)
    X["back"] = y
    X["shop"] = [f"shop {i % 6}" for i in range(len(X))]
    X.to_csv(tmp_path / "table.csv", index=False)
    return "table.csv"


@pytest.fixture
def two_files(tmp_path):
    """Sites and decoys of 141 letters."""
    X, y = datasets.make_splice(200, positive_rate=0.4)
    write_sequences(tmp_path / "sites.fa", X[y > 0])
    write_sequences(tmp_path / "decoys.fa", X[y < 0])
    return "sites.fa", "decoys.fa"
