"""Samples of prose name the place of every piece, and contain prose only."""

from pathlib import Path

import pytest
from tools import sample_prose

MODULE = '''"""A module."""

class Outer:
    """A class."""

    @property
    def size(
        self,
    ) -> int:
        """Number of things."""

    def undocumented(self): ...
'''
PAGE = """# Title

First sentence of four words. It goes
on to a second line, with `code` and [a link](page.md).

```python
print("no prose at all")
```

| a table | has no prose |
|---|---|

* A point of a list.

![a picture with words](picture.png)
"""


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.setattr(sample_prose, "ROOT", tmp_path)
    return tmp_path


def test_docstrings_have_place_and_signature(folder: Path):
    (folder / "module.py").write_text(MODULE)
    module, outer, size = sample_prose.docstrings(folder)
    assert (module.place, module.heading) == ("module.py:1", "")
    assert (outer.place, outer.heading) == ("module.py:3", "class Outer:")
    assert (size.place, size.text) == ("module.py:7", "Number of things.")
    assert size.heading.splitlines()[:2] == ["class Outer: ...", "    @property"]


def test_sentences_exclude_code_tables_and_pictures(folder: Path):
    (folder / "page.md").write_text(PAGE)
    found = sample_prose.sentences(folder / "page.md")
    assert {one.place for one in found} == {"page.md, Title"}
    assert [one.text for one in found] == [
        "First sentence of four words.",
        "It goes on to a second line, with `code` and a link.",
        "* A point of a list.",
    ]


def test_adjacent_lines_are_one_comment(folder: Path):
    (folder / "a.h").write_text("// One\n// comment.\nint i;\n    // Another.\n")
    found = sample_prose.comments(folder)
    assert [(one.place, one.text) for one in found] == [
        ("a.h:1", "// One\n// comment."),
        ("a.h:4", "// Another."),
    ]


def test_seed_determines_the_sample():
    assert list(sample_prose.sample(1)) == list(sample_prose.sample(1))
    assert list(sample_prose.sample(1)) != list(sample_prose.sample(2))
    assert [len(excerpts) for _, excerpts in sample_prose.sample(1)] == [30, 30, 40]
