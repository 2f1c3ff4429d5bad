"""Docstrings are plain text with numpydoc's sections: nothing else in them is markup.

`weights_` would be a link for reStructuredText, |y - f| a substitution, and an indented formula a
quotation whose lines flow together. In the sections an entry may be a name and a sentence, ``path :
the file.``, where numpydoc expects a type.
"""

import re

REFERENCE = re.compile(r":ref:`([^`<]*)<[^`]*`")  # to pages of other projects
MATH = re.compile(r":math:(`[^`]*`)")  # needs MathJax, which is fetched
CODE = re.compile(r"(``.*?``|`.*?`)")
UNDERSCORE = re.compile(r"(?<=\w)_(?!\w)")
FIRST = re.compile(r"^(?:[a-z](?=[a-z])|a(?= ))")  # of a word, not of a symbol
BULLET = re.compile(r"\s*\* ")  # an item of a list
ENTRY = re.compile(r"([*\w][\w, .*]*?) : (.*)")


def sections(lines: list[str]) -> list[tuple[str, list[str]]]:
    """Return the titles and lines of the parts of a docstring, "" being what is above them."""
    found: list[tuple[str, list[str]]] = [("", [])]
    rest = iter(zip(lines, [*lines[1:], ""], strict=True))
    for line, following in rest:
        if line and set(following) == {"-"}:
            found.append((line, []))
            next(rest)
        else:
            found[-1][1].append(line)
    return found


def escaped(line: str) -> str:
    """Return a line whose underscores, bars and stars mean themselves, outside of code."""
    if bullet := BULLET.match(line):
        return bullet.group() + escaped(line[bullet.end() :])
    parts = CODE.split(MATH.sub(r"`\1`", REFERENCE.sub(r"\1", line)))
    parts[::2] = [
        UNDERSCORE.sub(r"\\_", part).replace("|", r"\|").replace("*", r"\*") for part in parts[::2]
    ]
    return "".join(parts)


def text(lines: list[str]) -> list[str]:
    """Return what is above the sections, with indented lines as blocks of their own."""
    result: list[str] = []
    in_block = False
    for line in lines:
        indented = line.startswith("    ")
        if indented and not in_block and not (result and result[-1]):
            result += [".. code-block:: text", ""]
            in_block = True
        in_block &= indented or not line
        result.append(line if in_block else escaped(line))
    return result


def entries(lines: list[str]) -> list[str]:
    """Return names with what is said of them; sentences are no types."""
    result: list[str] = []
    for number, line in enumerate(lines):
        entry = ENTRY.fullmatch(line)
        following = lines[number + 1].strip() if number + 1 < len(lines) else ""
        goes_on = following[:1].islower() and lines[number + 1][0] == " "
        if entry and (goes_on or line.endswith((".", ";", ",", ":"))):
            sentence = FIRST.sub(lambda letter: letter[0].upper(), entry[2])
            result += [entry[1], f"    {escaped(sentence)}"]
        else:
            result.append(escaped(line))
    return result


def returned(lines: list[str]) -> list[str]:
    """Return what a function gives; of several sentences the first says what it is."""
    if any(line.startswith(" ") or ENTRY.fullmatch(line) for line in lines):
        return entries(lines)
    first, _, others = " ".join(line for line in lines if line).partition(". ")
    return [escaped(first.rstrip(".")), *([f"    {escaped(others)}"] if others else []), ""]


def plain(lines: list[str]) -> list[str]:
    """Return the lines of a docstring as reStructuredText that shows them as they are."""
    result: list[str] = []
    for title, body in sections(lines):
        if title:
            result += [title, "-" * len(title)]
        if title in ("", "Notes"):
            result += text(body)
        elif title in ("Returns", "Yields"):
            result += returned(body)
        elif title in ("Examples", "References", "See Also"):
            result += body
        else:
            result += entries(body)
    return result


def setup(app):
    """Rewrite docstrings before numpydoc reads them."""

    def process(app, what, name, thing, options, lines):
        lines[:] = plain(lines)

    app.connect("autodoc-process-docstring", process, priority=400)
    return {"parallel_read_safe": True}
