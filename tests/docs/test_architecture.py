"""The pages for contributors name files and classes that exist."""

import ast
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PACKAGE = ROOT / "src" / "kernelweave"
# Paths are relative to one of these folders.
FOLDERS = [ROOT, PACKAGE, PACKAGE / "kernels", PACKAGE / "optimization"]
PAGES = ["docs/architecture.md", "CONTRIBUTING.md"]
WRITTEN = {"build/docs", "dist/", "fuzz/findings", "../shared/data"}  # by commands, or elsewhere
PATH = re.compile(r"\w[\w/]*(/|\.(py|h|md|rst|toml|cff))")
CLASS = re.compile(r"(?<![\w\"'=./])[A-Z]+[a-z]\w*")


def code(page: str) -> list[str]:
    """Return the code of a page: blocks, and texts between backticks."""
    text = (ROOT / page).read_text()
    return re.findall(r"```(.+?)```", text, flags=re.DOTALL) + re.findall(r"`([^`\n]+)`", text)


def classes_of_the_package() -> set[str]:
    """Return the names of all classes and type aliases."""
    paths = PACKAGE.rglob("*.py")
    nodes = [node for path in paths for node in ast.walk(ast.parse(path.read_text()))]
    assigned = [node.target for node in nodes if isinstance(node, ast.AnnAssign)]
    aliases = {target.id for target in assigned if isinstance(target, ast.Name)}
    return aliases | {node.name for node in nodes if isinstance(node, ast.ClassDef)}


@pytest.mark.parametrize("page", PAGES)
def test_named_files_exist(page):
    named = {text for text in code(page) if PATH.fullmatch(text)} - WRITTEN
    assert named
    missing = [name for name in named if not any((root / name).exists() for root in FOLDERS)]
    assert missing == []


@pytest.mark.parametrize("page", PAGES)
def test_named_classes_exist(page):
    named = {name for text in code(page) for name in CLASS.findall(text) if " " not in text}
    assert named - classes_of_the_package() == set()


def test_solvers_of_the_plan_exist():
    plan = next(text for text in code("docs/architecture.md") if "Plan(" in text)
    assert set(CLASS.findall(plan)) - classes_of_the_package() == set()
