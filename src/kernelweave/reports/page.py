"""One page about a model: HTML without a network, light and dark, for screens, phones and paper."""

from __future__ import annotations

import json
import os
import platform
from collections.abc import Sequence
from importlib import resources
from typing import Any

import numpy as np
from sklearn.base import is_classifier
from sklearn.model_selection import check_cv
from sklearn.utils import _safe_indexing

import kernelweave

from ..whole_file import whole_file
from . import learned
from .held_out import held_out
from .section import Section


def report(
    model: Any,
    path: str | os.PathLike[str],
    X: Any = None,
    y: Any = None,
    *,
    cv: Any = 5,
    groups: Any = None,
    compare: bool = False,
    title: str = "Kernelweave report",
    command: str | None = None,
) -> None:
    """Write a page about a fitted model, with all numbers behind it as JSON inside.

    Parameters
    ----------
    model : a fitted estimator.
    path : the HTML file; it is there whole or not at all.
    X : n examples, for contributions and the likeness of kernels.
    y : their targets, for held-out scores. The model is fitted anew on each fold.
    cv, groups : folds, as in scikit-learn.
    compare : whether to compare with the plain sum and the best single kernel, which takes many
        fits.
    title : of the page.
    command : what to run to get the model again.

    Examples
    --------
    >>> from pathlib import Path
    >>> import numpy as np
    >>> from kernelweave import MKLClassifier, report
    >>> X = np.random.default_rng(0).normal(size=(60, 2))
    >>> y = X[:, 0] > 0
    >>> model = MKLClassifier().fit(X, y)
    >>> report(model, "report.html", X, y, cv=2)
    >>> "Kernelweave report" in Path("report.html").read_text()
    True
    """
    sections: list[Section | None] = [learned.certificate(model), learned.weights(model)]
    if X is not None:
        some = _safe_indexing(X, _evenly(len(X)))
        sections += [learned.contributions(model, some), learned.likeness(model, some)]
    if X is not None and y is not None:
        y = np.asarray(y)
        splitter = check_cv(cv, y, classifier=is_classifier(model))
        folds = list(splitter.split(X, y, groups))
        sections.append(held_out(model, X, y, folds))
        if compare:
            sections.append(_comparison(model, X, y, folds))
    found = [section for section in sections if section is not None]
    page = _page(model, found, title, command)
    with whole_file(path) as file:
        file.write(page.encode())


def _evenly(n: int) -> np.ndarray:
    """Return at most so many examples as a report looks at."""
    return np.unique(np.linspace(0, n - 1, learned.MOST_EXAMPLES).astype(np.int64))


def _comparison(model: Any, X: Any, y: np.ndarray, folds: list[Any]) -> Section:
    from sklearn.base import clone

    from ..comparison import compare

    found = compare(clone(model).set_params(verbose=0, checkpoint=None), X, y, cv=folds)
    rows = [["model", "mean", "std"]]
    rows += [[name, f"{v.mean():.4f}", f"{v.std():.4f}"] for name, v in found.scores.items()]
    data = {name: values.tolist() for name, values in found.scores.items()}
    return Section(
        "Is learning the weights worth it?", f"{found.scoring} on the same folds.", rows, [], data
    )


def _page(model: Any, sections: Sequence[Section], title: str, command: str | None) -> str:
    try:
        import jinja2
    except ImportError:
        raise ImportError("reports need Jinja2: pip install 'kernelweave[report]'") from None
    template = resources.files(__package__).joinpath("page.html.jinja").read_text("utf-8")
    data = {section.title: section.data for section in sections if section.data}
    parameters = {
        name: repr(value)
        for name, value in model.get_params(deep=False).items()
        if name != "verbose"
    }
    environment = jinja2.Environment(autoescape=True, trim_blocks=True, lstrip_blocks=True)
    page: str = environment.from_string(template).render(
        title=title,
        estimator=type(model).__name__,
        parameters=parameters,
        sections=sections,
        command=command,
        version=kernelweave.__version__,
        python=platform.python_version(),
        data=json.dumps(data).replace("</", "<\\/"),
    )
    return page
