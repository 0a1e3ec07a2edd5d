"""Evaluates calls by the `value` of a rule at arrays: slow and obvious.

The ranks of the arguments select the rule, as in the language. An operation is applied once for each point of the
index axes. Only the `value` of a rule is used: no derivative, definition or rewrite.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import reduce
from itertools import product
from typing import Any

import numpy as np

from matcalc.errors import NoReference
from matcalc.evidence.written.values import (
    Array,
    Value,
    aligned,
    as_float,
    as_matrix,
    as_scalar,
    exact,
    in_one_shape,
    is_one,
)
from matcalc.language.declare import Declaration
from matcalc.rulebook.load import Candidate, Rulebook
from matcalc.rulebook.oracle import oracle
from matcalc.tensor.nodes.signature import PLAIN

Function = Callable[..., Array]
"""A function argument: f(x, k=0) returns the k-th derivative at each entry of x."""

EXTREMA: Mapping[str, Callable[[Iterable[Any]], Any]] = {"larger": max, "smaller": min}
"""Functions of exact numbers and sizes whose result is exact too, by the role of the rule."""


@dataclass(frozen=True, slots=True)
class Argument:
    """An argument of a call: a value or a function. `keyword` is the parameter's name if it is passed by name."""

    value: Value | Function
    keyword: str = ""


def called(
    book: Rulebook, name: str, arguments: Sequence[Argument], axis: int | None = None, numpy: bool = False
) -> Value:
    """Return the value of a call.

    Raises: NoReference if no rule takes these arguments, or the rule has no value.
    """
    candidates = book.spellings.get(name, ())
    numbers = [a.value.exact for a in arguments if isinstance(a.value, Value)]
    extremum = next((EXTREMA[role] for c in candidates if (role := c.rule.role or "") in EXTREMA), None)
    if extremum is not None and len(numbers) > 1 and None not in numbers:
        return exact(extremum(n for n in numbers if n is not None))
    if axis is not None:
        axis = _axis(arguments, axis)
        if axis is None:
            candidates = tuple(c for c in candidates if all(p.kind != "entry" for p in c.signature.parameters))
    for squeeze in (False, True):
        first: tuple[Candidate, Pairs] | None = None
        for candidate in candidates:
            pairs = _match(candidate, arguments, axis, squeeze)
            if pairs is not None and _is_square(pairs):
                return _applied(book, candidate, pairs, axis, numpy)
            first = first or ((candidate, pairs) if pairs is not None else None)
        if first is not None:
            return _applied(book, *first, axis, numpy)
    reduction = next((c for c in candidates if c.rule.associative and len(c.signature.parameters) == 2), None)
    if reduction is not None and len(arguments) > 2 and axis is None:
        return reduce(
            lambda a, b: called(book, name, [Argument(a), Argument(b)], None, numpy), [_value(a) for a in arguments]
        )
    raise NoReference(f"the call {name} of these arguments")


def _value(argument: Argument) -> Value:
    if isinstance(argument.value, Value):
        return argument.value
    raise NoReference("a function where a value is needed")


def _axis(arguments: Sequence[Argument], axis: int) -> int | None:
    """Return the axis counted from the front; None for a vector, which has one axis only."""
    rank = next((a.value.rank for a in arguments if isinstance(a.value, Value)), 0)
    return axis % rank if rank > 1 else None


Pairs = list[tuple[Declaration, Value | Function]]


def _match(candidate: Candidate, arguments: Sequence[Argument], axis: int | None, squeeze: bool) -> Pairs | None:
    """Return the parameters of a rule with their arguments; None unless count, ranks and kinds fit."""
    parameters = list(candidate.signature.parameters)
    named = {a.keyword for a in arguments if a.keyword}
    positional = [p for p in parameters if p.name not in named]
    count = sum(not a.keyword for a in arguments)
    repeated = bool(positional) and positional[-1].repeated
    if repeated:
        positional = positional[:-1] + [positional[-1]] * max(count - len(positional) + 1, 0)
    if len(positional) != count or not named <= {p.name for p in parameters}:
        return None
    remaining = iter(positional)
    pairs: Pairs = []
    reduced = axis is not None
    for argument in arguments:
        parameter = next(p for p in parameters if p.name == argument.keyword) if argument.keyword else next(remaining)
        fitted = _fit(candidate, parameter, argument.value, reduced, squeeze)
        if fitted is None:
            return None
        reduced = reduced and parameter.kind in PLAIN
        pairs.append((parameter, fitted))
    return None if repeated and all(p.kind in PLAIN for p, _ in pairs) else pairs


def _fit(
    candidate: Candidate, parameter: Declaration, value: Value | Function, reduced: bool, squeeze: bool
) -> Value | Function | None:
    if parameter.kind == "function" or not isinstance(value, Value):
        return value if parameter.kind == "function" and not isinstance(value, Value) else None
    if parameter.kind == "integer":
        return value if value.exact is not None and value.exact.denominator == 1 else None
    if parameter.kind == "number":
        return value if value.exact is not None else None
    if parameter.kind in ("array", "entry"):
        return value
    if value.row and candidate.rule.keeps_rows:
        value = as_matrix(value)
    if (1 if reduced else value.rank) == len(parameter.sizes):
        return value
    return as_scalar(value) if squeeze and parameter.kind == "scalar" and is_one(value) else None


def _is_square(pairs: Pairs) -> bool:
    """Whether each argument that must be a square matrix is one."""
    return all(
        value.shape[0] == value.shape[1]
        for parameter, value in pairs
        if parameter.kind == "matrix" and len({str(size.value) for size in parameter.sizes}) == 1
        if isinstance(value, Value) and value.rank == 2
    )


def _applied(book: Rulebook, candidate: Candidate, pairs: Pairs, axis: int | None, numpy: bool) -> Value:
    function = oracle(book, candidate.rule, candidate.index)
    if function is None:
        raise NoReference(f"{candidate.rule.spelling}, which has no value of its own")
    if any(parameter.kind == "entry" for parameter, _ in pairs):
        return _by_entries(candidate, function, pairs, numpy)
    if axis is None:
        return _operation(candidate, function, pairs)
    first = next(k for k, (parameter, _) in enumerate(pairs) if parameter.kind not in PLAIN)
    value = _tensor(pairs[first][1])
    rank = value.rank
    others = [k for k in range(rank) if k != axis]
    outer = tuple(-1 - k for k in others)  # labels for the remaining axes that no index has
    count = len(value.axes)
    moved = np.moveaxis(value.array, count + axis, -1)
    along = Value(moved, (*value.axes, *outer))
    result = _operation(candidate, function, [*pairs[:first], (pairs[first][0], along), *pairs[first + 1 :]])
    axes = tuple(label for label in result.axes if label not in outer)
    array = _with_order(result, (*axes, *outer))
    if result.rank:
        array = np.moveaxis(array, -1, len(axes) + axis)
    return Value(array, axes)


def _with_order(value: Value, axes: Sequence[int]) -> Array:
    count = len(value.axes)
    order = [value.axes.index(label) for label in axes]
    return np.transpose(value.array, [*order, *range(count, value.array.ndim)])


def _tensor(value: Value | Function) -> Value:
    assert isinstance(value, Value)
    return value


def _by_entries(candidate: Candidate, function: Callable[..., Any], pairs: Pairs, numpy: bool) -> Value:
    """Apply an elementwise rule to operands expanded to one shape."""
    values = [_tensor(value) for parameter, value in pairs if parameter.kind not in PLAIN]
    axes, arrays, row = in_one_shape(values, numpy)
    shape = arrays[0].shape
    if any(array.shape != shape for array in arrays):
        shape = np.broadcast_shapes(*(array.shape for array in arrays))
        arrays = [np.broadcast_to(array, shape) for array in arrays]
    tensors = iter(arrays)
    operands = [next(tensors) if p.kind not in PLAIN else _plain(p, v) for p, v in pairs]
    found = _run(function, operands)
    is_switch = candidate.rule.annihilates or all(value.fixed for value in values)
    return Value(np.asarray(found).reshape(shape), axes, row, fixed=is_switch)


def _plain(parameter: Declaration, value: Value | Function) -> Any:
    if not isinstance(value, Value):
        return value
    assert value.exact is not None
    return int(value.exact) if parameter.kind == "integer" else as_float(value.exact)


def _operation(candidate: Candidate, function: Callable[..., Any], pairs: Pairs) -> Value:
    """Apply an operation, once for each point of the index axes of its arguments."""
    values = [_tensor(value) for parameter, value in pairs if parameter.kind not in PLAIN]
    axes, arrays = aligned(values)
    fixed = all(v.fixed for v in values)

    def value_of(arrays: Iterable[Array]) -> Array:
        tensors = iter(arrays)
        value = _run(function, [next(tensors) if p.kind not in PLAIN else _plain(p, v) for p, v in pairs])
        return np.asarray(value[candidate.rule.outputs.index(candidate.output)] if candidate.output else value)

    if not axes:
        return Value(value_of(arrays), fixed=fixed)
    lengths = np.broadcast_shapes(*(array.shape[: len(axes)] for array in arrays))
    found = [
        value_of(array[tuple(min(i, n - 1) for i, n in zip(at, array.shape, strict=False))] for array in arrays)
        for at in product(*map(range, lengths))
    ]
    if not found:
        raise NoReference("an operation under an index of length 0")
    return Value(np.stack(found).reshape((*lengths, *found[0].shape)), axes, fixed=fixed)


def _run(function: Callable[..., Any], operands: Sequence[Any]) -> Any:
    """Return the value of a rule at operands.

    Raises: LinAlgError if the rule's function raises it, or ValueError or ArithmeticError.
    """
    try:
        return function(*operands)
    except (ValueError, ArithmeticError) as error:
        raise np.linalg.LinAlgError(str(error)) from None
