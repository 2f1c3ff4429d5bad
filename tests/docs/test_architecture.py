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


SOLVES = ["self", "problem", "engine", "weights", "run"]  # the parameters of `Solver.solve`


def classes_in(folder: str) -> list[ast.ClassDef]:
    """Return the public classes of a folder of the package."""
    nodes = [
        node
        for path in (PACKAGE / folder).rglob("*.py")
        for node in ast.walk(ast.parse(path.read_text()))
    ]
    return [node for node in nodes if isinstance(node, ast.ClassDef) and node.name[0] != "_"]


def is_solver(node: ast.ClassDef) -> bool:
    """Return whether a class has the method of a solver."""
    methods = [one for one in node.body if isinstance(one, ast.FunctionDef)]
    return any(
        one.name == "solve" and [arg.arg for arg in one.args.args] == SOLVES for one in methods
    )


def in_first_column(text: str) -> set[str]:
    """Return the names in the first column of the tables of a text."""
    columns = re.findall(r"^\| (.+?) \|", text, flags=re.MULTILINE)
    return {name for column in columns for name in re.findall(r"`(\w+)`", column)}


def test_the_table_of_solvers_is_complete():
    named = in_first_column((ROOT / "docs/architecture.md").read_text())
    solvers = {node.name for node in classes_in("optimization") if is_solver(node)}
    assert {"WorkingSets", "Wrapper"} <= solvers
    assert solvers - {"Solver"} - named == set()


def test_the_table_of_engines_is_complete():
    named = in_first_column((ROOT / "docs/architecture.md").read_text())
    engines = {node.name for node in classes_in("engines") if node.name.endswith("Engine")}
    assert "DenseEngine" in engines
    assert engines - {"Engine"} - named == set()


def test_every_file_of_a_room_is_listed():
    """The table of files names the modules of each folder, and no others."""
    table = (ROOT / "docs/architecture.md").read_text().split("## Files")[1]
    listed: dict[str, set[str]] = {}
    room = ""
    for line in table.splitlines():
        if line.startswith("| `") or line.startswith("| |"):
            first, second = line.split("|")[1:3]
            room = first.strip(" `/") or room
            listed.setdefault(room, set()).update(re.findall(r"`(\w+)`", second))
    assert "optimization/inner" in listed
    for room, names in listed.items():
        files = {path.stem for path in (ROOT / "src/kernelweave" / room).glob("*.py")}
        if room == "cli":  # the table says that each command has its file
            assert names <= files
        else:
            assert names | {"base", "__init__"} == files | {"base", "__init__"}, room
