"""Concatenate the examples of several parts of a data set."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import scipy.sparse as sp

from ...sequences import Sequences
from ..compile.examples import Dense, Examples, Sparse, Table
from ..string.string_columns import PlaneTable, SequenceTable
from ..vector.identity import IdTable


def joined(parts: Sequence[Examples]) -> Examples:
    """Return the concatenation of parts of a data set, all read by the same kernels.

    Parameters
    ----------
    parts : sequence of Examples
        The parts, in order.

    Returns
    -------
    Examples

    Raises
    ------
    TypeError
        If a table refers to positions in the whole training data, as precomputed matrices do.
    """
    if len(parts) == 1:
        return parts[0]
    columns = zip(*(part.tables for part in parts), strict=True)
    return replace(
        parts[0],
        n=sum(part.n for part in parts),
        tables=tuple(_joined_tables(tables) for tables in columns),
        vectors=np.concatenate([part.vectors for part in parts], axis=1),
    )


def _joined_tables(tables: Sequence[object]) -> Table:
    kinds = {type(table) for table in tables}
    kind = Dense if kinds == {Dense, Sparse} else next(iter(kinds))
    if kind not in _JOINED:
        raise TypeError(
            f"parts: tables of type {kind.__name__} cannot be concatenated; read all examples at "
            "once"
        )
    return _JOINED[kind](tables)


def _dense(tables: Sequence[Any]) -> Dense:
    """Return one dense table; tables of sparse vectors are converted."""
    values = [one.values if isinstance(one, Dense) else one.to_csr().toarray() for one in tables]
    return Dense(np.concatenate(values))


def _sequences(tables: Sequence[Any]) -> Sequences:
    return Sequences.concatenated([table.sequences for table in tables])


_JOINED: dict[type, Callable[[Sequence[Any]], Table]] = {
    Dense: _dense,
    Sparse: lambda tables: Sparse.of(
        sp.csr_array(sp.vstack([table.to_csr() for table in tables], format="csr"))
    ),
    PlaneTable: lambda tables: PlaneTable(_sequences(tables)),
    SequenceTable: lambda tables: SequenceTable(_sequences(tables)),
    IdTable: lambda tables: IdTable(np.concatenate([table.ids for table in tables])),
}
