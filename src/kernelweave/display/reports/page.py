"""HTML report of a model: one self-contained page, for screen and print."""

from __future__ import annotations

import json
import os
import platform
import re
from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.base import clone, is_classifier
from sklearn.model_selection import check_cv
from sklearn.utils import _safe_indexing

import kernelweave

from ...common.types import Data
from ...model.files.atomic_write import atomic_write
from . import learned
from .about import about
from .explained import coverage, shapley_values
from .figures import svg
from .held_out import held_out
from .section import Folds, Json, Section
from .words import words

if TYPE_CHECKING:
    from ...estimators.fitted import FittedEstimator
    from ...inspection import BootstrapWeights

MOST_EXAMPLES = 300  # examples on which alignments and contributions are computed
EMBEDDED = re.compile(r'<script type="application/json" id="report-data">(.*?)</script>', re.DOTALL)


def report(
    model: FittedEstimator,
    path: str | os.PathLike[str],
    X: Any = None,
    y: Any = None,
    *,
    cv: object = 5,
    groups: Any = None,
    compare: bool = False,
    bootstrap: int = 0,
    title: str = "Kernelweave report",
    command: str | None = None,
) -> None:
    """Write an HTML report of a fitted model, which embeds all its numbers as JSON.

    Parameters
    ----------
    model : fitted estimator
    path : str or path
        The HTML file; it is written atomically.
    X : n examples, optional
        For contributions, Shapley values and alignments of kernels.
    y : n targets, optional
        For cross-validated scores; a clone of the model is fitted on each fold. With
        ``calibrate=`` also for the coverage of prediction sets or intervals.
    cv : int, splitter or iterable of (train, test), as in scikit-learn
        Folds of the cross-validated scores.
    groups : array-like of shape (n,), optional
        Groups for the splitter `cv`.
    compare : bool
        Whether to compare with the unweighted sum of kernels and the best single kernel. This
        takes many fits.
    bootstrap : int
        Number of fits on bootstrap samples, for intervals of the weights.
    title : str
        Title of the page.
    command : str, optional
        Command that reproduces the page, which is shown on it.

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
        raise ValueError(f"bootstrap={bootstrap} requires examples: pass X")
    sampled = _bootstrapped(model, X, y, bootstrap) if bootstrap else None
    sections: list[Section | None] = [learned.certificate(model), learned.weights(model, sampled)]
    if X is not None:
        some = _safe_indexing(X, _evenly(len(X)))
        sections.insert(0, about(X, y, groups))
        sections += [learned.contributions(model, some), shapley_values(model, X)]
        sections.append(learned.alignment(model, some))
    sections += words(model)
    if X is not None and y is not None:
        y = np.asarray(y)
        splitter = check_cv(cv, y, classifier=is_classifier(model))
        folds = list(splitter.split(X, y, groups))
        sections += [held_out(model, X, y, folds), coverage(model, X, y, folds)]
        if compare:
            sections.append(_comparison(model, X, y, folds))
    _write(path, _document(model, [one for one in sections if one is not None], title, command))


def redraw(page: str | os.PathLike[str], path: str | os.PathLike[str]) -> None:
    """Render a page again from the JSON that it embeds.

    Parameters
    ----------
    page : str or path
        A file that `report` has written.
    path : str or path
        The new HTML file; it may be the same.

    Raises
    ------
    ValueError
        If `page` embeds no data of a report.
    """
    found = EMBEDDED.search(Path(page).read_text("utf-8"))
    if found is None:
        raise ValueError(
            f"page {os.fspath(page)!r} is no report, as it embeds no data: pass a file that "
            "`report` has written"
        )
    _write(path, json.loads(found[1]))


def _evenly(n: int) -> np.ndarray:
    """Return at most MOST_EXAMPLES evenly spaced positions among n."""
    return np.unique(np.linspace(0, n - 1, MOST_EXAMPLES).astype(np.int64))


def _bootstrapped(model: FittedEstimator, X: Data, y: object, n: int) -> BootstrapWeights:
    from ...inspection import bootstrap_weights

    fresh = clone(model).set_params(verbose=0, checkpoint=None)
    return bootstrap_weights(fresh, X, y, n=n, n_permutations=0)


def _comparison(model: FittedEstimator, X: Data, y: np.ndarray, folds: Folds) -> Section:
    from ...estimators.comparison import compare

    found = compare(clone(model).set_params(verbose=0, checkpoint=None), X, y, cv=folds)
    rows = [["model", "mean", "std"]]
    rows += [[name, f"{v.mean():.4f}", f"{v.std():.4f}"] for name, v in found.scores.items()]
    data = {name: values.tolist() for name, values in found.scores.items()}
    return Section(
        "Comparison with baselines", f"{found.scoring} on the same folds.", rows, [], data
    )


def _document(
    model: FittedEstimator, sections: list[Section], title: str, command: str | None
) -> Json:
    """Return the contents of a page as JSON values."""
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


def _write(path: str | os.PathLike[str], document: Json) -> None:
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
    with atomic_write(path) as file:
        file.write(page.encode())
