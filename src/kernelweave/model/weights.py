"""Weights and importance of kernels and views, as a table."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from .statistics import sum_of_views

if TYPE_CHECKING:
    from pandas import DataFrame

    from ..estimators.fitted import FittedEstimator


def weights_frame(
    estimator: Any, added: np.ndarray | None, by: str | None, held_out: np.ndarray | None = None
) -> DataFrame:
    """Return the weights of a fitted estimator with their shares of the decision values.

    Parameters
    ----------
    estimator : fitted estimator with M kernels
    added : ndarray of shape (n, n_outputs, M) or None
        Contributions of the kernels to decision values; None for those of the training examples.
    by : {None, "view"}
        "view" gives sums over the kernels of each view.
    held_out : ndarray of shape (n_outputs, M), optional
        Covariances of held-out contributions with the targets.

    Returns
    -------
    pandas DataFrame
        One row per output and kernel or view; see `MKLClassifier.weights_frame`.

    Raises
    ------
    ValueError
        If `by` is not None or "view".
    """
    import pandas as pd

    if by not in (None, "view"):
        raise ValueError(f'by must be None or "view", got {by!r}')
    model = estimator._model
    views, outputs = model.compiled.views, estimator._output_names()
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
    shares = np.full(weights.shape, np.nan) if sizes is None else shares_of(sizes)
    frame["weight"], frame["share"] = weights.ravel(), shares.ravel()
    if held_out is not None:
        together = sum_of_views(held_out, views) if by == "view" else held_out
        frame["held_out_share"] = held_out_shares(together).ravel()
    return frame if len(outputs) > 1 else frame.drop(columns="output")


def weights_of(
    estimator: FittedEstimator, by: str | None, values: str = "weight"
) -> tuple[np.ndarray, list[str]]:
    """Return the weights or shares of kernels or views, and their names.

    Parameters
    ----------
    estimator : fitted estimator
    by : {None, "view"}
        "view" gives sums over the kernels of each view.
    values : {"weight", "share", "held_out_share"}
        A column of `weights_frame`.

    Returns
    -------
    values : ndarray of shape (k,) or (n_outputs, k)
    names : list of k strings

    Raises
    ------
    ValueError
        If `by` or `values` is unknown, or the estimator has no such values.
    """
    if by not in (None, "view"):
        raise ValueError(f'by must be None or "view", got {by!r}')
    if values != "weight":
        frame = estimator.weights_frame(by=by)
        if values not in frame.columns:
            known = [name for name in frame.columns if name not in ("kernel", "view", "output")]
            raise ValueError(f"values must be one of {known} for this estimator, got {values!r}")
        names = list(dict.fromkeys(frame[by or "kernel"]))
        found = frame[values].to_numpy().reshape(-1, len(names))
        return found[0] if np.ndim(estimator.weights_) == 1 else found, names
    if by is None:
        return estimator.weights_, list(estimator.kernel_names_)
    views = estimator._model.compiled.views
    return sum_of_views(estimator.weights_, views), list(dict.fromkeys(views))


def heaviest(weights: np.ndarray, names: list[str], most: int) -> tuple[np.ndarray, list[str]]:
    """Return the `most` largest weights in their original order, and the sum of the others.

    Parameters
    ----------
    weights : ndarray of shape (..., k)
    names : list of k strings
    most : int
        Number of weights to return.

    Returns
    -------
    weights : ndarray of shape (..., most + 1), or all weights if there are no more than that
    names : list of strings
    """
    if len(names) <= most + 1:
        return weights, names
    size = weights.reshape(-1, len(names)).max(axis=0)
    chosen = np.sort(np.argsort(-size, kind="stable")[:most])
    others = np.delete(weights, chosen, axis=-1).sum(axis=-1, keepdims=True)
    shown = [names[m] for m in chosen]
    rest = f"the other {len(names) - most}"
    return np.concatenate([weights[..., chosen], others], axis=-1), [*shown, rest]


def held_out_shares(covariances: np.ndarray) -> np.ndarray:
    """Return covariances with the targets, (n_outputs, k), divided by their sum over kernels.

    Negative covariances count as 0: such kernels predict new examples worse than a constant.
    """
    return shares_of(np.maximum(covariances, 0.0))


def shares_of(sizes: np.ndarray) -> np.ndarray:
    """Return sizes, shape (n_outputs, k), divided by their sum over the k kernels."""
    totals = sizes.sum(axis=1, keepdims=True)
    return sizes / np.where(totals > 0, totals, 1.0)
