"""Converts arrays of a traced function: to the numbers that they are, to other types, and indices to other shapes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from matcalc.calculus.evaluate.evaluate import evaluate
from matcalc.errors import NotSupported
from matcalc.expressions.numpy_bridge.arguments import holder
from matcalc.tensor.nodes.node import Node, sizes_used, toposort


def known_values(node: Node) -> Any:
    """Return the numbers of an array that depends on no symbol but data, and on no size; None for any other."""
    symbols = [one for one in toposort([node]) if one.kind == "symbol"]
    holding = holder.get()
    data = holding.values_of(symbols) if holding is not None else None if symbols else {}
    return None if data is None or sizes_used([node]) else evaluate([node], data, {})[0]


def converted(array: Any, dtype: Any) -> Any:
    """Return a copy with entries of another type; as bool, whether they are not 0.

    Raises: NotSupported for formulas as integers.
    """
    import numpy as np

    kind = np.dtype(dtype).kind
    if kind == "b":
        return array != 0
    if kind == "f":
        return array.copied()
    known = array.known()
    if known is None:
        raise NotSupported(f"an array of symbols as {np.dtype(dtype)} is not supported", hint="formulas are real")
    return known.astype(dtype)


def shaped_index(index: Any, name: str, args: Sequence[Any], options: Mapping[str, Any]) -> Any:
    """Return an index with axes of length 1 added or removed by a function of NumPy; None for another function."""
    count = index.ndim
    if name == "expand_dims":
        axis = args[0] if args else options["axis"]
        if type(axis) is not int:
            return None
        at = [slice(None)] * count
        at.insert(axis % (count + 1), None)  # type: ignore[arg-type]
        return index[tuple(at)]
    if name == "reshape" and len(args) == 1 and not options:
        shape = args[0] if isinstance(args[0], (tuple, list)) else (args[0],)
    elif name in ("ravel", "squeeze") and not args and not options:
        shape = (-1,)
    else:
        return None
    long = [k for k, length in enumerate(index.node.shape) if length != 1]
    if len(long) != 1 or [one for one in shape if one != 1] not in ([-1], [index.shape[long[0]]]):
        return None
    entries = index[tuple(slice(None) if k in long else 0 for k in range(count))] if count > 1 else index
    return entries[tuple(None if one == 1 else slice(None) for one in shape)] if len(shape) > 1 else entries
