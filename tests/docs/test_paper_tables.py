"""Tables of the papers' pages are those of the stored results."""

import json

from benchmarks import paper_tables

PAGES = paper_tables.GENERATED.parent / "papers"


def test_tables_are_rendered_from_the_results():
    rendered = paper_tables.render(json.loads(paper_tables.RESULTS.read_text()))
    assert len(rendered) == len(paper_tables.TABLES)
    for name, text in rendered.items():
        assert (paper_tables.GENERATED / name).read_text() == text


def test_every_table_is_included_in_one_page():
    pages = [page.read_text() for page in PAGES.glob("*.md")]
    for name in paper_tables.TABLES:
        included = f"```{{include}} ../generated/paper_{name}.md\n"
        assert sum(included in page for page in pages) == 1


def test_working_sets_are_compared_with_the_paper():
    results = {
        "CPU seconds by working set": {
            "sequences": [1000, 3000, 10_000],
            "auto": [0.1, 0.2, 0.3],
            "12": [1.0, 2.0, 3.0],
        }
    }
    assert paper_tables.working_sets(results) == [
        [12, 4, 51, 1.0, 3.0],
        ["default", None, None, 0.1, 0.3],
    ]
