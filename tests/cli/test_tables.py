"""Tables that commands read and write: text and Parquet have the same content."""

import numpy as np
import pandas as pd
import pytest

from kernelweave import load
from kernelweave.cli import data
from kernelweave.sequences import read_sequences

pytest.importorskip("pyarrow")
KERNELS = ["-k", "rbf(gamma=scale, columns=age)", "-k", "linear(columns=city)"]


def test_parquet_in_and_out_is_text_in_and_out(run, table, monkeypatch):
    pd.read_csv(table).to_parquet("table.parquet")
    run("fit", table, "--target", "back", *KERNELS, "-q", "-o", "text.kw")
    run("fit", "table.parquet", "--target", "back", *KERNELS, "-q", "-o", "parquet.kw")
    assert load("text.kw").weights_.tolist() == load("parquet.kw").weights_.tolist()
    run("predict", "text.kw", table, "-o", "scores.tsv")
    monkeypatch.setattr(data, "BLOCK", 50)  # so that there are three
    run("predict", "parquet.kw", "table.parquet", "-o", "scores.parquet")
    text = pd.read_csv("scores.tsv", sep="\t", comment="#", dtype={"name": str})
    packed = pd.read_parquet("scores.parquet")
    assert list(packed) == list(text)
    assert packed["name"].tolist() == text["name"].tolist()
    np.testing.assert_allclose(packed["score"], text["score"], rtol=1e-12)
    assert packed["prediction"].tolist() == text["prediction"].tolist()


def test_polars_reads_written_parquet_files(run, table):
    polars = pytest.importorskip("polars")
    run("fit", table, "--target", "back", *KERNELS, "-q")
    run("predict", "model.kw", table, "-o", "scores.parquet")
    found = polars.read_parquet("scores.parquet")
    assert found.columns == ["name", "score", "prediction"]
    found.write_parquet("again.parquet")
    assert "lack columns" in run("predict", "model.kw", "again.parquet", code=2).output


@pytest.mark.parametrize("command", ["fit", "predict"])
def test_files_that_are_no_parquet_are_named(command, run, table, tmp_path):
    run("fit", table, "--target", "back", *KERNELS, "-q")
    (tmp_path / "bad.parquet").write_bytes(b"PAR1 and so on")
    call = {
        "fit": ["fit", "bad.parquet", "--target", "back"],
        "predict": ["predict", "model.kw", "bad.parquet", "-o", "scores.parquet"],
    }
    text = run(*call[command], code=2).output
    assert "bad.parquet: cannot be read as Parquet" in text
    assert len(text.splitlines()) == 1
    assert not (tmp_path / "scores.parquet").exists()


def test_only_some_columns(run, table):
    run("fit", table, "--target", "back", "--columns", "age, spend", "-q")
    assert load("model.kw").feature_names_in_.tolist() == ["age", "spend"]
    run("predict", "model.kw", table, "-o", "scores.tsv")
    wrong = ["fit", table, "--target", "back", "--columns", "age,nope"]
    assert "--columns: there is no column 'nope'" in run(*wrong, code=2).output


def test_fit_uses_the_column_of_sequences(run, two_files):
    texts = [*read_sequences(two_files[0]), *read_sequences(two_files[1])]
    first = len(read_sequences(two_files[0]))
    y = np.repeat([1, 0], [first, len(texts) - first])
    pd.DataFrame({"y": y, "id": range(len(y)), "letters": texts}).to_csv("s.csv", index=False)
    remark = run("fit", "s.csv", "--target", "y").stderr
    assert (
        "using the sequences in letters; without --kernel other columns are ignored: id" in remark
    )
    names = load("model.kw").kernel_names_
    assert [name.split()[0] for name in names] == ["GappedKmer", "WeightedDegree"]
    cut = [text[: 30 + i % 50] for i, text in enumerate(texts)]
    pd.DataFrame({"y": y, "letters": cut}).to_csv("cut.csv", index=False)
    run("fit", "cut.csv", "--target", "y", "-q")
    assert load("model.kw").kernel_names_[0].startswith("GappedKmer")
    run("predict", "model.kw", "cut.csv", "-o", "scores.tsv")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "t.csv: No columns to parse from file"),
        ("a,y\n1,0\n1,2,3\n", "t.csv: Error tokenizing data. C error: Expected 2 fields in line 3"),
        (
            "a,y\n" + "1,0\n2,1\n" * 6 + "x7,1\n",
            "t.csv: column 'a' has numbers, but also 1 texts; the first is 'x7', 13 rows below",
        ),
    ],
)
def test_tables_that_are_none_are_named(text, message, run, tmp_path):
    (tmp_path / "t.csv").write_text(text)
    found = run("fit", "t.csv", "--target", "y", "-q", code=2).output
    assert message in found
    assert len(found.splitlines()) == 1


def test_proteins_are_hinted_at(run, tmp_path):
    letters = np.random.default_rng(0).choice(list("ACDEFGHIKLMNPQRSTVWY"), size=(20, 30))
    texts = ["".join(row) for row in letters]
    pd.DataFrame({"y": np.arange(20) % 2, "chain": texts}).to_csv("p.csv", index=False)
    assert "chain may contain protein sequences" in run("fit", "p.csv", "--target", "y").stderr
    known = run("fit", "p.csv", "--target", "y", "--alphabet", "protein")
    assert "may hold" not in known.stderr
    assert "WeightedDegree" in load("model.kw").kernel_names_[-1]
