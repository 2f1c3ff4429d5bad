"""Tables of docs/benchmarks.md are those of the measured results."""

import json

from benchmarks import page


def test_tables_of_the_page_are_rendered_from_the_results():
    results = json.loads(page.RESULTS.read_text())
    rendered = page.render(results)
    assert len(rendered) == len(page.TABLES) + 1
    for name, text in rendered.items():
        assert (page.GENERATED / name).read_text() == text
    readme = (page.GENERATED.parents[1] / "README.md").read_text()
    assert rendered["speed.md"] in readme


def test_ratios_are_relative_to_ours():
    for result in json.loads(page.RESULTS.read_text()).values():
        ours = [value for name, value in page.ratios(result).items() if "kernelweave" in name]
        assert ours[0] == 1.0
        assert len(result["columns"]) <= 6
