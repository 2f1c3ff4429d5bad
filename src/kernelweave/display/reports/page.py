"""One page about a model: HTML without a network, light and dark, for screens, phones and paper."""

from __future__ import annotations

import json
import os
import platform
import re
from importlib import resources
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.base import clone, is_classifier
from sklearn.model_selection import check_cv
from sklearn.utils import _safe_indexing

import kernelweave

from ...model.files.atomic_write import whole_file
from . import learned
from .about import about
from .figures import svg
from .held_out import held_out
from .section import Section
from .words import words

MOST_EXAMPLES = 300  # on which alignments and contributions are computed
EMBEDDED = re.compile(r'<script type="application/json" id="report-data">(.*?)</script>', re.DOTALL)


def report(
    model: Any,
    path: str | os.PathLike[str],
    X: Any = None,
    y: Any = None,
    *,
    cv: Any = 5,
    groups: Any = None,
    compare: bool = False,
    bootstrap: int = 0,
    title: str = "Kernelweave report",
    command: str | None = None,
) -> None:
    """Write a page about a fitted model, with all that is drawn on it as JSON inside.

    Parameters
    ----------
    model : a fitted estimator.
    path : the HTML file; it is there whole or not at all.
    X : n examples, for contributions and the likeness of kernels.
    y : their targets, for held-out scores. The model is fitted anew on each fold.
    cv, groups : folds, as in scikit-learn.
    compare : whether to compare with the plain sum and the best single kernel, which takes many
        fits.
    bootstrap : number of fits on bootstrap samples, for the intervals of weights.
    title : of the page.
    command : what to run to get the page again.

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
    if bootstrap and X is None:
        raise ValueError("bootstrap needs the examples X")
    sampled = _bootstrapped(model, X, y, bootstrap) if bootstrap else None
    sections: list[Section | None] = [learned.certificate(model), learned.weights(model, sampled)]
    if X is not None:
        some = _safe_indexing(X, _evenly(len(X)))
        sections.insert(0, about(X, y, groups))
        sections += [learned.contributions(model, some), learned.likeness(model, some)]
    sections += words(model)
    if X is not None and y is not None:
        y = np.asarray(y)
        splitter = check_cv(cv, y, classifier=is_classifier(model))
        folds = list(splitter.split(X, y, groups))
        sections.append(held_out(model, X, y, folds))
        if compare:
            sections.append(_comparison(model, X, y, folds))
    _write(path, _document(model, [one for one in sections if one is not None], title, command))


def redraw(page: str | os.PathLike[str], path: str | os.PathLike[str]) -> None:
    """Write the page that another page holds as JSON, drawn anew.

    Raises
    ------
    ValueError : where it is no page of `report`.
    """
    found = EMBEDDED.search(Path(page).read_text("utf-8"))
    if found is None:
        raise ValueError(f"{os.fspath(page)}: is no report; it holds no data")
    _write(path, json.loads(found[1]))


def _evenly(n: int) -> np.ndarray:
    """Return at most so many examples as a report looks at."""
    return np.unique(np.linspace(0, n - 1, MOST_EXAMPLES).astype(np.int64))


def _bootstrapped(model: Any, X: Any, y: Any, n: int) -> Any:
    from ...inspection import bootstrap_weights

    fresh = clone(model).set_params(verbose=0, checkpoint=None)
    return bootstrap_weights(fresh, X, y, n=n, n_permutations=0)


def _comparison(model: Any, X: Any, y: np.ndarray, folds: list[Any]) -> Section:
    from ...estimators.comparison import compare

    found = compare(clone(model).set_params(verbose=0, checkpoint=None), X, y, cv=folds)
    rows = [["model", "mean", "std"]]
    rows += [[name, f"{v.mean():.4f}", f"{v.std():.4f}"] for name, v in found.scores.items()]
    data = {name: values.tolist() for name, values in found.scores.items()}
    return Section(
        "Is learning the weights worth it?", f"{found.scoring} on the same folds.", rows, [], data
    )


def _document(
    model: Any, sections: list[Section], title: str, command: str | None
) -> dict[str, Any]:
    """Return all that a page is made of, as JSON knows it."""
    parameters = model.get_params(deep=False).items()
    return {
        "title": title,
        "estimator": type(model).__name__,
        "version": kernelweave.__version__,
        "python": platform.python_version(),
        "command": command,
        "parameters": {name: repr(value) for name, value in parameters if name != "verbose"},
        "sections": [section.as_json() for section in sections],
    }


def _write(path: str | os.PathLike[str], document: dict[str, Any]) -> None:
    try:
        import jinja2
    except ImportError:
        raise ImportError("reports need Jinja2: pip install 'kernelweave[report]'") from None
    template = resources.files(__package__).joinpath("page.html.jinja").read_text("utf-8")
    environment = jinja2.Environment(autoescape=True, trim_blocks=True, lstrip_blocks=True)
    sections = [Section.from_json(one) for one in document["sections"]]
    page = environment.from_string(template).render(
        {**document, "sections": sections, "svg": svg},
        data=json.dumps(document).replace("<", "\\u003c"),  # neither </script> nor <!--
    )
    with whole_file(path) as file:
        file.write(page.encode())
