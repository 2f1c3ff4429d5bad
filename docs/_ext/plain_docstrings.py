"""Docstrings are plain text with numpydoc's sections: nothing else in them is markup.

`weights_` would be a link for reStructuredText, |y - f| a substitution, and an indented formula a
quotation whose lines flow together.
"""

import re

REFERENCE = re.compile(r":ref:`([^`<]*)<[^`]*`")  # to pages of other projects
CODE = re.compile(r"(``.*?``|`.*?`)")
UNDERSCORE = re.compile(r"(?<=\w)_(?!\w)")
EXAMPLES = "Examples"


def escaped(line: str) -> str:
    """Return a line whose underscores, bars and stars mean themselves, outside of code."""
    parts = CODE.split(REFERENCE.sub(r"\1", line))
    parts[::2] = [
        UNDERSCORE.sub(r"\\_", part).replace("|", r"\|").replace("*", r"\*") for part in parts[::2]
    ]
    return "".join(parts)


def plain(lines: list[str]) -> list[str]:
    """Return the lines of a docstring as reStructuredText that shows them as they are."""
    result: list[str] = []
    in_sections, in_formula = False, False
    for number, line in enumerate(lines):
        following = lines[number + 1] if number + 1 < len(lines) else ""
        if line == EXAMPLES and following.startswith("---"):
            return result + lines[number:]
        in_sections |= following.startswith("---")
        indented = line.startswith("    ")
        if indented and not in_sections and not in_formula and not (result and result[-1]):
            result += [".. code-block:: text", ""]
            in_formula = True
        in_formula &= indented or not line
        result.append(line if in_formula else escaped(line))
    return result


def setup(app):
    """Rewrite docstrings before numpydoc reads them."""

    def process(app, what, name, thing, options, lines):
        lines[:] = plain(lines)

    app.connect("autodoc-process-docstring", process, priority=400)
    return {"parallel_read_safe": True}
