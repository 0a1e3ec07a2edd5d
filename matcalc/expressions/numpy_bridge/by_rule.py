"""Calls the NumPy functions that are operations of the rulebook; a field of the rule holds their names.

The signature of an operation determines its calls: which arguments are arrays, and how many axes of each it takes.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from matcalc.errors import NotSupported
from matcalc.expressions.numpy_bridge.along_axes import (
    Along,
    core_ranks,
    entrywise,
    is_entrywise,
    output_rank,
    over_axes,
    tensors,
)
from matcalc.expressions.numpy_bridge.arguments import Operand, axes_of, bound_of, check_room, node_of, size_in
from matcalc.expressions.numpy_bridge.shapes import matrix_transpose, moveaxis, ravel, with_keepdims
from matcalc.language.numpy_names import Called
from matcalc.rulebook.load import default_rulebook
from matcalc.rulebook.notations import numpy_names
from matcalc.tensor.nodes.node import Node
from matcalc.tensor.sizes.size import volume

ALONG, KEPT, FREEDOM = "axis", "keepdims", "ddof"


def found(name: str) -> Called | None:
    """Return the operation that implements one of NumPy's functions, with its call; None if there is none."""
    own = numpy_names(default_rulebook()).functions.get(name)
    if own is not None or name not in default_rulebook().spellings:
        return own
    return Called(name)


def called(function: Callable[..., object] | str) -> str:
    """Return the name of the operation that implements one of NumPy's functions.

    Raises: NotSupported.
    """
    name = function if isinstance(function, str) else function.__name__
    own = found(name)
    if own is None:
        raise NotSupported("this function is not supported on symbols")
    return own.name


def by_rule(name: str, arguments: Mapping[str, object], batched: bool = False) -> Node | tuple[Node, ...]:
    """Return the operation of NumPy's function `name`, applied to arguments by NumPy's names, in order.

    Arguments with NumPy's default values are omitted, except the axis. With `batched` matrices are the last axes of
    the arrays.

    Raises: NotSupported, which names the unsupported argument; ShapeError.
    """
    variants = {f"{name}:{key}:{value}": key for key, value in arguments.items() if isinstance(value, (bool, int, str))}
    chosen = next((variant for variant in variants if found(variant) is not None), None)
    own = found(chosen or name)
    if own is None:
        raise NotSupported("this function is not supported on symbols")
    arguments = {key: value for key, value in arguments.items() if chosen is None or key != variants[chosen]}
    keywords = {own.keywords.get(key, key): value for key, value in arguments.items()}
    first = next(iter(keywords.values()), None)
    free = own.square and _is_array(first) and _is_square(node_of(first))
    for key, required in own.fixed.items():
        value = keywords.pop(key, None)
        if str(value) != required and required and not (free and value is None):
            raise NotSupported(f"only {key}={required} is supported")
    along, keep = keywords.pop(ALONG, None), keywords.pop(KEPT, False)
    names = [item.rstrip("'") for item in own.items] or [own.name]
    operands, params = _split(names[0], keywords, 1 if own.axis else None)
    if is_entrywise(names[0], len(operands)):
        if params or along is not None:
            raise NotSupported(f"the argument {', '.join(params) or ALONG} is not supported")
        return entrywise(names[0], *operands)
    if own.rows and along is None:
        operands, along = [ravel(operands[0]), *operands[1:]], 0
    if own.axis:
        return called_along(names[0], operands[0], along, keep, **params)
    if along is not None or keep:
        raise NotSupported("the argument axis is not supported")
    made = tuple(_on_last_axes(item, operands, params, batched) for item in names)
    oriented = tuple(
        matrix_transpose(part) if item.endswith("'") else part
        for item, part in zip(own.items or names, made, strict=True)
    )
    return oriented if len(own.items) > 1 else oriented[0]


def _split(name: str, keywords: Mapping[str, object], most: int | None) -> tuple[list[Node], dict[str, object]]:
    """Return the first `most` arrays among the arguments, and the other parameters."""
    counts = {len(tensors(c)) for c in default_rulebook().candidates(name)}
    plain = {p.name for c in default_rulebook().candidates(name) for p in c.signature.parameters}
    operands = [value for key, value in keywords.items() if key not in plain or _is_array(value)]
    operands = operands[: most or max(counts)]
    others = list(keywords.items())[len(operands) :]
    unknown = [key for key, _ in others if key not in plain]
    if unknown:
        raise NotSupported(f"the argument {unknown[0]} is not supported")
    return [operand_of(name)(x) for x in operands], dict(others)


def operand_of(name: str) -> Callable[[Any], Node]:
    """Return the function that converts an argument to a node; only some rules accept infinite arguments."""
    return bound_of if any(c.rule.infinite for c in default_rulebook().candidates(name)) else node_of


def _is_array(value: object) -> bool:
    return isinstance(value, (Node, list, tuple)) or hasattr(value, "__array__")


def _is_square(x: Node) -> bool:
    return len(x.shape) > 1 and x.shape[-1] == x.shape[-2]


def called_along(name: str, a: Operand, axis: object, keepdims: object = False, **params: object) -> Node:
    """Return an operation along axes of an array, all of them without `axis`."""
    node = node_of(a)
    if axis is None and len(node.shape) > 1 and output_rank(name, [len(node.shape)]):
        node, axis = ravel(node), 0
    axes = axes_of(axis, len(node.shape))
    if node.shape and not axes:
        raise NotSupported("at least one axis is needed")
    if FREEDOM in params:
        check_freedom(node, axes, params[FREEDOM])
    made = over_axes(name, [Along(node, axes)], **params)
    if output_rank(name, [len(axes)]) == 0:
        return with_keepdims(made, axes, keepdims)
    if keepdims:
        raise NotSupported(f"the argument {KEPT} is not supported")
    rank = len(node.shape)
    return moveaxis(made, tuple(range(rank - len(axes), rank)), axes)


def check_freedom(node: Node, axes: Sequence[int], freedom: object) -> None:
    """Require more entries than `freedom`, since NumPy would divide by 0.

    Raises: ShapeError.
    """
    count, off = volume(node.shape[k] for k in axes), size_in(node_of(freedom))
    if off is None:
        raise NotSupported(f"{FREEDOM} must be a number")
    check_room(count - off - 1, f"{FREEDOM}={off} leaves none of {count} entries")


def _on_last_axes(name: str, operands: list[Node], params: Mapping[str, object], batched: bool) -> Node:
    ranks = [len(x.shape) for x in operands]
    core = core_ranks(name, ranks)
    if core != ranks and not batched:
        raise NotSupported(f"arrays of {' and '.join(map(str, ranks))} axes are not supported")
    along = [
        Along(x, tuple(range(len(x.shape) - count, len(x.shape)))) for x, count in zip(operands, core, strict=True)
    ]
    return over_axes(name, along, **params)
