"""Public functions, classes and methods have numpydoc sections for arguments and results."""

import importlib
import inspect

import pytest

import kernelweave

PACKAGES = [
    "baselines",
    "bounds",
    "datasets",
    "estimators",
    "inspection",
    "kernels",
    "losses",
    "norms",
]


def public_objects() -> dict:
    """Return public classes and functions by full name, including all public estimators."""
    found = {}
    for package in PACKAGES:
        module = importlib.import_module(f"kernelweave.{package}")
        found |= {f"{package}.{name}": getattr(module, name) for name in module.__all__}
    top = {name: getattr(kernelweave, name) for name in kernelweave.__all__}
    found |= {
        name: thing
        for name, thing in top.items()
        if getattr(thing, "__module__", "").startswith("kernelweave.estimators")
    }
    return found


def is_function_or_method(thing) -> bool:
    """Return whether an object is a function, or a method bound to a class."""
    return inspect.isfunction(thing) or inspect.ismethod(thing)


def public_callables() -> dict:
    """Return public functions, and public methods of public classes, by full name."""
    found = {}
    for name, thing in public_objects().items():
        if inspect.isfunction(thing):
            found[name] = thing
        for key, member in inspect.getmembers(thing, is_function_or_method):
            if not key.startswith("_") and member.__module__.startswith("kernelweave."):
                found[f"{name}.{key}"] = member
    return found


CALLABLES = public_callables()


@pytest.mark.parametrize("name", CALLABLES)
def test_arguments_and_results_are_documented(name):
    text, signature = inspect.getdoc(CALLABLES[name]) or "", inspect.signature(CALLABLES[name])
    if set(signature.parameters) - {"self", "cls"}:
        assert "Parameters\n----------\n" in text
    if signature.return_annotation not in (None, "None"):
        assert "Returns\n-------\n" in text
