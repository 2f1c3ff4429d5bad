"""`kernelweave demo`, which `make demo` runs."""

import re

import pytest

pytest.importorskip("matplotlib")


def test_the_demo_finds_the_columns_that_matter(run, tmp_path):
    heaviest = run("demo").output.splitlines()[1:4]
    found = [re.search(r" on (\w+)", line).group(1) for line in heaviest]
    assert found == ["age", "review", "city"]
    assert (tmp_path / "demo.png").stat().st_size > 10_000
