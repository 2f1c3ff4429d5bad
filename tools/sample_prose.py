"""Print docstrings, sentences and comments at random: ``python -m tools.sample_prose --seed N``.

A reader who does not know the code judges each of them: is it clear at the first reading?
"""

from __future__ import annotations

import argparse
import ast
import random
import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path
from textwrap import indent

ROOT = Path(__file__).parents[1]
PACKAGE = ROOT / "src" / "kernelweave"
NUMERICAL = ["problem", "losses", "norms", "optimization", "engines", "estimators"]
NUMERICAL += ["kernels/compile"]
Definition = ast.ClassDef | ast.FunctionDef

BLOCK = re.compile(
    r"\A---\n.*?\n---\n|^(`{3,}|:{3,}).*?^\1`*:*$|<!--.*?-->|\$\$.*?\$\$", re.MULTILINE | re.DOTALL
)
IMAGE = re.compile(r"!\[[^\]]*\]\([^)]*\)")
LINK = re.compile(r"\[([^\]]*)\]\([^)]*\)")
NEW_PARAGRAPH = re.compile(r"\s*(?:[-*>] |\d+\. |#|\|(?!\|)|<|:{3}|$)")  # lists, tables, HTML
NOT_PROSE = re.compile(r"\s*(?:#|\|(?!\|)|<|:{3})")
SENTENCE_END = re.compile(r"(?<=[.!?])\s+(?=[A-Z`\"(*])")
WHOLE = re.compile(r"[.!?:][*\")]*$")  # others are cut by code or formulas
SHORTEST = 4  # words: shorter pieces are labels


@dataclass(frozen=True)
class Excerpt:
    """A piece of prose and where it is written."""

    place: str
    text: str
    heading: str = ""

    def __str__(self) -> str:
        return "\n".join(filter(None, (f"[{self.place}]", self.heading, indent(self.text, "    "))))


def docstrings(folder: Path) -> list[Excerpt]:
    """Return the docstrings below a folder, with the signatures that they describe."""
    found = []
    for path in sorted(folder.rglob("*.py")):
        source = path.read_text()
        place = path.relative_to(ROOT)
        module = ast.parse(source)
        if text := ast.get_docstring(module):
            found.append(Excerpt(f"{place}:1", text))
        for node, owner in _definitions(module):
            if text := ast.get_docstring(node):
                heading = owner + _signature(node, source)
                found.append(Excerpt(f"{place}:{node.lineno}", text, heading))
    return found


def _definitions(tree: ast.AST, owner: str = "") -> Iterator[tuple[Definition, str]]:
    """Yield all classes and functions, each with a line that names the class around it."""
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, Definition):
            yield node, owner
            is_class = isinstance(node, ast.ClassDef)
            yield from _definitions(node, f"class {node.name}: ...\n" if is_class else owner)


def _signature(node: Definition, source: str) -> str:
    """Return the lines of a definition, with its decorators, up to its body."""
    first = min(line.lineno for line in (node, *node.decorator_list))
    return "\n".join(source.splitlines()[first - 1 : node.body[0].lineno - 1])


def sentences(page: Path) -> list[Excerpt]:
    """Return the sentences of a Markdown page, without code, tables, headings and formulas."""
    section = ""
    paragraphs: list[tuple[str, list[str]]] = [("", [])]
    for line in IMAGE.sub("", BLOCK.sub("", page.read_text())).splitlines():
        if NEW_PARAGRAPH.match(line):
            section = line.lstrip("# ") if line.startswith("#") else section
            paragraphs.append((section, []))
        if not NOT_PROSE.match(line):
            paragraphs[-1][1].append(line)
    found = []
    for section, lines in paragraphs:
        place = f"{page.relative_to(ROOT)}, {section}"
        text = LINK.sub(r"\1", " ".join(" ".join(lines).split()))
        pieces = SENTENCE_END.split(text)
        whole = (one for one in pieces if WHOLE.search(one) and len(one.split()) >= SHORTEST)
        found += [Excerpt(place, piece) for piece in whole]
    return found


def comments(folder: Path) -> list[Excerpt]:
    """Return the comments of C++ sources below a folder, adjacent lines as one comment."""
    found = []
    for path in sorted([*folder.rglob("*.h"), *folder.rglob("*.cpp")]):
        lines = enumerate(path.read_text().splitlines(), start=1)
        for is_comment, run in groupby(lines, lambda line: line[1].lstrip().startswith("//")):
            if is_comment:
                numbered = list(run)
                text = "\n".join(line.strip() for _, line in numbered)
                found.append(Excerpt(f"{path.relative_to(ROOT)}:{numbered[0][0]}", text))
    return found


def sample(seed: int) -> Iterator[tuple[str, list[Excerpt]]]:
    """Yield titles and excerpts: 30 docstrings of numerical rooms, 30 others, 40 sentences."""
    rng = random.Random(seed)
    every = docstrings(PACKAGE)
    rooms = tuple(str((PACKAGE / room).relative_to(ROOT)) + "/" for room in NUMERICAL)
    numerical = [one for one in every if one.place.startswith(rooms)]
    others = [one for one in every if not one.place.startswith(rooms)]
    yield "Docstrings of the numerical rooms", rng.sample(numerical, 30)
    yield "Docstrings of the other rooms", rng.sample(others, 30)
    pages = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
    yield "Sentences of user pages", rng.sample([s for page in pages for s in sentences(page)], 40)


def core_sample(seed: int) -> Iterator[tuple[str, list[Excerpt]]]:
    """Yield a title and 60 comments of the compiled core."""
    yield "Comments of the core", random.Random(seed).sample(comments(ROOT / "core"), 60)


def main() -> None:
    """Print a sample."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seed", type=int, default=0, help="seed of the random choice (0)")
    parser.add_argument("--core", action="store_true", help="60 comments of core/ instead")
    options = parser.parse_args()
    for title, excerpts in (core_sample if options.core else sample)(options.seed):
        print(f"== {title} ==\n")
        for number, excerpt in enumerate(excerpts, start=1):
            print(f"{number}. {excerpt}\n")


if __name__ == "__main__":
    main()
