"""Every public name has an example in its docstring, which runs and prints what it shows."""

import doctest
import importlib
import inspect

import pytest

pyplot = pytest.importorskip("matplotlib.pyplot")
pytest.importorskip("clarabel")
pytest.importorskip("distributed")
pytest.importorskip("jinja2")
pytest.importorskip("pandas")

PACKAGES = ["baselines", "dask", "genome", "inspection", "kernels", "losses", "norms", "sequences"]
OTHERS = {
    "bounds": ["Estimate", "MarginBound", "empirical_rademacher", "margin_bound", "rademacher"],
    "estimators.comparison": ["Comparison"],
    "datasets": [
        "make_mixed_table",
        "make_motifs",
        "make_shifted_motif",
        "make_sines",
        "make_sparse_to_uniform",
        "make_splice",
        "make_stars",
    ],
    "solvers.easymkl": ["EasyMKL"],
    "solvers.mwu": ["MWU"],
    "solvers.qcqp": ["QCQP"],
    "solvers.skm": ["SKM", "a_priori_smoothing", "smoothed_optimality"],
    "sequences.weight_stores": ["WeightStore"],
}


def public_objects() -> dict:
    """Return all public objects by full name: those in `__all__`, and others of the reference."""
    lists = {name: importlib.import_module(name).__all__ for name in ["kernelweave"]}
    for package in PACKAGES:
        name = f"kernelweave.{package}"
        lists[name] = importlib.import_module(name).__all__
    lists |= {f"kernelweave.{module}": names for module, names in OTHERS.items()}
    found = {}
    for module, names in lists.items():
        for name in names:
            thing = getattr(importlib.import_module(module), name)
            if not inspect.ismodule(thing):
                found[f"{module}.{name}"] = thing
    return found


OBJECTS = public_objects()


@pytest.mark.parametrize("name", OBJECTS)
def test_example_prints_the_documented_output(name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    pyplot.switch_backend("Agg")
    text = inspect.getdoc(OBJECTS[name]) or ""
    example = doctest.DocTestParser().get_doctest(text, {}, name, None, 0)
    assert example.examples, f"{name} has no example"
    printed: list[str] = []
    doctest.DocTestRunner(verbose=False).run(example, out=printed.append)
    pyplot.close("all")
    assert not printed, "".join(printed)
