"""`kernelweave demo`, which `make demo` runs."""

import re

import pytest

pytest.importorskip("matplotlib")


def test_the_demo_finds_the_columns_and_the_motifs_that_matter(run, tmp_path):
    pytest.importorskip("jinja2")
    text = run("demo").output
    found = [re.search(r" on (\w+)", line).group(1) for line in text.splitlines()[1:4]]
    assert found == ["age", "review", "city"]
    assert re.findall(r"  ([ACGT]{7}) at (\d+)", text) == [("GATTACA", "10"), ("AGTAGTG", "30")]
    assert "Logo" in (tmp_path / "demo.html").read_text()
    assert (tmp_path / "demo.png").stat().st_size > 10_000
