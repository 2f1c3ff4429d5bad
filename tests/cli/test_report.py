"""`kernelweave report`."""

import json

import pytest

pd = pytest.importorskip("pandas")
pytest.importorskip("jinja2")
pytest.importorskip("matplotlib")

KERNELS = ["-k", "rbf(gamma=scale, columns=age)", "-k", "linear(columns=city)"]


def test_a_page_about_a_model_and_its_data(run, table, tmp_path):
    run("fit", table, "--target", "back", *KERNELS, "--cv-groups", "shop", "-q")
    run("report", "model.kw", "-o", "alone.html")
    assert "Held-out examples" not in (tmp_path / "alone.html").read_text()
    run("report", "model.kw", table, "--target", "back", "--cv", 2, "--cv-groups", "shop")
    page = (tmp_path / "report.html").read_text()
    assert "auPRC" in page
    assert "kernelweave" in page


def test_bad_data_leave_no_page(run, table, tmp_path):
    run("fit", table, "--target", "back", *KERNELS, "-q")
    assert "no column 'nope'" in run("report", "model.kw", table, "--target", "nope", code=2).output
    assert not (tmp_path / "report.html").exists()


def test_a_page_is_drawn_again(run, table, tmp_path):
    run("fit", table, "--target", "back", *KERNELS, "-q")
    run("report", "model.kw", table, "--target", "back", "--cv", 2, "--bootstrap", 2)
    run("report", "report.html", "-o", "again.html")
    assert (tmp_path / "again.html").read_text() == (tmp_path / "report.html").read_text()
    assert "name DATA after MODEL" in run("report", "model.kw", "--compare", code=2).output


def test_means_of_folds_are_those_of_fit(run, table, tmp_path):
    """Mean and pooled values are labelled; the mean is the one that `fit` prints."""
    options = ("--target", "back", "--cv", 3)
    found = json.loads(run("fit", table, *options, *KERNELS, "--json", "-q").stdout)
    run("report", "model.kw", table, *options, "-q")
    page = (tmp_path / "report.html").read_text()
    mean = found["cross_validation"]["auROC"]["mean"]
    assert f"<td>auROC, mean of folds</td><td>{mean:.4f}</td>" in page
    assert "<td>auROC, folds pooled</td>" in page


def test_there_are_no_more_folds_than_groups(run, table, tmp_path):
    frame = pd.read_csv(tmp_path / table)
    frame["town"] = [f"town {i % 3}" for i in range(len(frame))]
    frame.to_csv(tmp_path / table, index=False)
    run("fit", table, "--target", "back", *KERNELS, "--cv-groups", "town", "-q")
    run("report", "model.kw", table, "--target", "back", "--cv-groups", "town", "-q")
    assert "(3 folds)" in (tmp_path / "report.html").read_text()


def test_long_commands_are_wrapped(run, table, tmp_path):
    run("fit", table, "--target", "back", *KERNELS, "-q")
    run("report", "model.kw", "-q")
    assert (
        "pre { white-space: pre-wrap; overflow-wrap: anywhere;"
        in (tmp_path / "report.html").read_text()
    )
