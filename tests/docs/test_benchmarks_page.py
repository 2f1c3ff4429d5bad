"""Tables of docs/benchmarks.md and docs/defaults.md are those of the measured results."""

import json

from benchmarks import defaults_page, page


def test_tables_of_the_page_are_rendered_from_the_results():
    results = json.loads(page.RESULTS.read_text())
    rendered = page.render(results)
    assert len(rendered) == len(page.TABLES) + len(page.OTHERS) + 1
    for name, text in rendered.items():
        assert (page.GENERATED / name).read_text() == text
    readme = (page.GENERATED.parents[1] / "README.md").read_text()
    assert rendered["speed.md"] in readme


def test_ratios_are_relative_to_ours():
    results = json.loads(page.RESULTS.read_text())
    for name in page.TABLES:
        ratios = page.ratios(results[name])
        ours = [value for method, value in ratios.items() if "kernelweave" in method]
        assert ours[0] == 1.0


def test_tables_fit_a_phone():
    assert all(
        len(result["columns"]) <= 6 for result in json.loads(page.RESULTS.read_text()).values()
    )


def test_tables_of_defaults_are_rendered_from_the_results():
    rendered = defaults_page.render(json.loads(defaults_page.RESULTS.read_text()))
    for name, text in rendered.items():
        assert (defaults_page.GENERATED / name).read_text() == text
    page_of_defaults = (defaults_page.GENERATED.parent / "defaults.md").read_text()
    included = [name for name in rendered if f"generated/{name}" in page_of_defaults]
    assert set(rendered) - set(included) == {"defaults_lead.md"}
    root = defaults_page.GENERATED.parents[1]
    for start in (root / "README.md", root / "docs" / "index.md"):
        assert rendered["defaults_lead.md"].strip() in " ".join(start.read_text().split())
