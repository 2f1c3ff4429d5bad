"""The site shows docstrings as they are written."""

import importlib.util
from pathlib import Path

import pytest

PATH = Path(__file__).resolve().parents[2] / "docs" / "_ext" / "plain_docstrings.py"
SPEC = importlib.util.spec_from_file_location("plain_docstrings", PATH)
EXTENSION = importlib.util.module_from_spec(SPEC)
SPEC.loader.exec_module(EXTENSION)


@pytest.mark.parametrize(
    ("written", "shown"),
    [
        ("the weights_ of `weights_` and |y - f|", r"the weights\_ of `weights_` and \|y - f\|"),
        ("``a * b`` is a * b", r"``a * b`` is a \* b"),
        ("sum_i x_i", "sum_i x_i"),
        (":math:`R^2` of :ref:`this page <page>`", "``R^2`` of this page "),
    ],
)
def test_marks_mean_themselves_outside_of_code(written, shown):
    assert EXTENSION.plain([written]) == [shown]


def test_indented_lines_are_a_block():
    lines = ["Solves", "", "    min  x_*", "", "for x_."]
    block = [".. code-block:: text", "", "    min  x_*", ""]
    assert EXTENSION.plain(lines) == ["Solves", "", *block, r"for x\_."]


def test_sentences_are_no_types():
    lines = ["Parameters", "----------", "path : the file.", "y : array of shape (n,)", "    It."]
    lines += ["k : how", "    many."]
    named = ["path", "    The file.", "y : array of shape (n,)", "    It.", "k", "    How"]
    assert EXTENSION.plain(lines) == [*lines[:2], *named, "    many."]


def test_what_is_returned_is_one_thing():
    lines = ["Returns", "-------", "Array of shape (M, M). Its", "rows are 0."]
    assert EXTENSION.plain(lines) == [
        *lines[:2],
        "Array of shape (M, M)",
        "    Its rows are 0.",
        "",
    ]


def test_examples_stay():
    lines = ["Examples", "--------", ">>> weights_ | 2", "3"]
    assert EXTENSION.plain(lines) == lines
