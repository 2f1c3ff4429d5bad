"""What the documentation shows is what happens: its code runs, and prints what stands below it."""

import re
import runpy
from contextlib import redirect_stdout
from io import StringIO
from pathlib import Path

import pytest

from kernelweave.plan import METHODS

matplotlib = pytest.importorskip("matplotlib")
pytest.importorskip("pandas")

ROOT = Path(__file__).resolve().parents[1]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
BLOCK = re.compile(r"^```python\n(.*?)^```\n(?:\n^```text\n(.*?)^```\n)?", re.MULTILINE | re.DOTALL)
LINK = re.compile(r"\]\((?!https?:)([^)#]+)")
NUMBER = re.compile(r"(\d+\.?\d*(?:e[+-]?\d+)?)")


def same(shown: str, printed: str) -> bool:
    """Whether texts have the same words, and the same numbers to the second digit or so."""
    one, two = NUMBER.split(shown), NUMBER.split(printed)
    words = [text.split() for text in one[::2]] == [text.split() for text in two[::2]]
    return words and [float(x) for x in one[1::2]] == pytest.approx(
        [float(x) for x in two[1::2]], rel=0.05, abs=0.02
    )


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_code_runs_and_prints_what_is_shown(page, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    matplotlib.use("Agg")
    names: dict = {}
    for code, shown in BLOCK.findall(page.read_text()):
        with redirect_stdout(StringIO()) as printed:
            exec(compile(code, str(page), "exec"), names)
        assert not shown or same(shown, printed.getvalue()), printed.getvalue()


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_links_lead_somewhere(page):
    missing = [link for link in LINK.findall(page.read_text()) if not (page.parent / link).exists()]
    assert missing == []


def test_the_readme_names_every_solver():
    text = (ROOT / "README.md").read_text()
    assert [name for name in METHODS if f'`"{name}"`' not in text] == []


def test_the_demo_finds_the_columns_that_matter(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    runpy.run_path(str(ROOT / "examples" / "demo.py"), run_name="__main__")
    heaviest = capsys.readouterr().out.splitlines()[1:4]
    found = [re.search(r" on (\w+)", line).group(1) for line in heaviest]
    assert found == ["age", "review", "city"]
    assert (tmp_path / "demo.png").stat().st_size > 10_000
