"""The code of the documentation runs and prints the output below it."""

import re
import shlex
from contextlib import redirect_stdout
from io import StringIO
from pathlib import Path

import pytest
from click.testing import CliRunner

from kernelweave.cli import main
from kernelweave.optimization.named_methods import METHODS

matplotlib = pytest.importorskip("matplotlib")
pytest.importorskip("pandas")

ROOT = Path(__file__).resolve().parents[2]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
BLOCK = re.compile(
    r"^```(python|sh)\n(.*?)^```\n(?:\n^```text\n(.*?)^```\n)?", re.MULTILINE | re.DOTALL
)
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
def test_code_prints_the_documented_output(page, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    matplotlib.use("Agg")
    names: dict = {}
    for language, code, shown in BLOCK.findall(page.read_text()):
        if language == "sh":
            printed = commands_output(code)
        else:
            with redirect_stdout(StringIO()) as caught:
                exec(compile(code, str(page), "exec"), names)
            printed = caught.getvalue()
        assert not shown or same(shown, printed), printed


def commands_output(code: str) -> str:
    """Run the commands of ours among some lines of a shell, and return what they print."""
    calls = [shlex.split(line) for line in code.replace("\\\n", " ").splitlines()]
    printed = ""
    for name, *arguments in filter(None, calls):
        if name == "kernelweave":
            result = CliRunner().invoke(main, arguments)
            assert result.exit_code == 0, result.output
            printed += result.stdout
    return printed


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_links_point_to_existing_targets(page):
    missing = [link for link in LINK.findall(page.read_text()) if not (page.parent / link).exists()]
    assert missing == []


def test_the_readme_names_every_solver():
    text = (ROOT / "README.md").read_text()
    assert [name for name in METHODS if f'`"{name}"`' not in text] == []
