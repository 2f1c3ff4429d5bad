"""Tables of the benchmarks, defaults and survival pages are those of the measured results."""

import json

from benchmarks import defaults_page, page, survival, survival_page


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


def test_tables_of_survival_models_are_rendered_from_the_results():
    rendered = survival_page.render(json.loads(survival_page.RESULTS.read_text()))
    page_of_survival = (survival_page.GENERATED.parent / "survival.md").read_text()
    for name, text in rendered.items():
        assert (survival_page.GENERATED / name).read_text() == text
        assert f"generated/{name}" in page_of_survival


def test_summary_of_survival_models_counts_paired_differences():
    high, low = (dict.fromkeys(survival.OURS, scores) for scores in ([0.7, 0.6, 0.7], [0.6] * 3))
    scores = {
        "ahead": {"clinical Cox": [0.6, 0.5, 0.6], **high},
        "behind": {"forest": [0.7, 0.8, None], **low},
    }
    for line in survival_page.summary(scores).splitlines():
        assert "mean concordance 0.667 on the 1 sets" in line
        assert "clinical Cox 0.567" in line
        assert (
            "ahead of the best baseline on 1 of 2 sets, within it on 0, behind on 1: behind."
            in line
        )
