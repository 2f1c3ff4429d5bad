"""Public functions, classes and methods have numpydoc sections for arguments and results."""

import importlib
import inspect

import pytest

PACKAGES = ["baselines", "datasets", "kernels", "losses", "norms"]


def public_callables() -> dict:
    """Return public functions, and public methods of public classes, by full name."""
    found = {}
    for package in PACKAGES:
        module = importlib.import_module(f"kernelweave.{package}")
        for name in module.__all__:
            thing = getattr(module, name)
            if inspect.isfunction(thing):
                found[f"{package}.{name}"] = thing
            for key, member in inspect.getmembers(thing, inspect.isroutine):
                if not key.startswith("_") and member.__module__.startswith(module.__name__):
                    found[f"{package}.{name}.{key}"] = member
    return found


CALLABLES = public_callables()


@pytest.mark.parametrize("name", CALLABLES)
def test_arguments_and_results_are_documented(name):
    text, signature = inspect.getdoc(CALLABLES[name]) or "", inspect.signature(CALLABLES[name])
    if set(signature.parameters) - {"self", "cls"}:
        assert "Parameters\n----------\n" in text
    if signature.return_annotation not in (None, "None"):
        assert "Returns\n-------\n" in text
