"""How much each kernel and each view counts, as a table."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ..model.model import sum_of_views

if TYPE_CHECKING:
    from pandas import DataFrame


def weights_frame(estimator: Any, added: np.ndarray | None, by: str | None) -> DataFrame:
    """Return the weights of a fitted estimator with their shares of the decision.

    Parameters
    ----------
    estimator : fitted estimator with M kernels
    added : what each kernel adds to decision values, shape (n, outputs, M), or None for what it
        added to those of the training examples
    by : None, or "view" for sums over the kernels of each view
    """
    import pandas as pd

    if by not in (None, "view"):
        raise ValueError(f'by must be None or "view", got {by!r}')
    model = estimator._model
    views, outputs = model.compiled.views, _outputs(estimator)
    if by == "view":
        weights = sum_of_views(model.weights, views)
        names = {"view": list(dict.fromkeys(views))}
        sizes = model.view_deviations
        if added is not None:
            sizes = sum_of_views(added, views).std(axis=0)
    else:
        weights, names = model.weights, {"kernel": list(estimator.kernel_names_), "view": views}
        sizes = model.deviations if added is None else added.std(axis=0)
    columns = {name: np.tile(values, len(outputs)) for name, values in names.items()}
    frame = pd.DataFrame({"output": np.repeat(outputs, weights.shape[1]), **columns})
    frame["weight"], frame["share"] = weights.ravel(), _shares(sizes, weights.shape).ravel()
    return frame if len(outputs) > 1 else frame.drop(columns="output")


def weights_of(estimator: Any, by: str | None) -> tuple[np.ndarray, list[str]]:
    """Return the weights of kernels or views, (k,) or (outputs, k), and what they are called."""
    if by not in (None, "view"):
        raise ValueError(f'by must be None or "view", got {by!r}')
    if by is None:
        return estimator.weights_, list(estimator.kernel_names_)
    views = estimator._model.compiled.views
    return sum_of_views(estimator.weights_, views), list(dict.fromkeys(views))


def heaviest(weights: np.ndarray, names: list[str], most: int) -> tuple[np.ndarray, list[str]]:
    """Return the heaviest of many weights, (..., k), in their order, and the sum of the others."""
    if len(names) <= most + 1:
        return weights, names
    size = weights.reshape(-1, len(names)).max(axis=0)
    chosen = np.sort(np.argsort(-size, kind="stable")[:most])
    others = np.delete(weights, chosen, axis=-1).sum(axis=-1, keepdims=True)
    shown = [names[m] for m in chosen]
    rest = f"the other {len(names) - most}"
    return np.concatenate([weights[..., chosen], others], axis=-1), [*shown, rest]


def _shares(sizes: np.ndarray | None, shape: tuple[int, ...]) -> np.ndarray:
    """Return sizes, shape (outputs, k), as parts of their sums; NaN where they are not known."""
    if sizes is None:
        return np.full(shape, np.nan)
    totals = sizes.sum(axis=1, keepdims=True)
    shares: np.ndarray = sizes / np.where(totals > 0, totals, 1.0)
    return shares


def _outputs(estimator: Any) -> list[Any]:
    """Return what the decision functions are called: by their classes, or by number."""
    count = len(estimator._model.intercept)
    classes = getattr(estimator, "classes_", None)
    return list(classes) if classes is not None and len(classes) == count else list(range(count))
