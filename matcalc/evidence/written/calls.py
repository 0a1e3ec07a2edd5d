"""Evaluates calls by the `value` of a rule at arrays: slow and obvious.

The ranks of the arguments select the rule, as in the language. An operation is applied once for each point of the
index axes. Only the `value` of a rule is used: no derivative, definition or rewrite.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import lru_cache, reduce
from itertools import product
from typing import Any, NamedTuple

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
)
from matcalc.language.declare import Declaration
from matcalc.rulebook.load import Candidate, Rulebook
from matcalc.rulebook.oracle import reference
from matcalc.tensor.nodes.signature import PLAIN

Function = Callable[..., Array]
"""A function argument: f(x, k=0) returns the k-th derivative at each entry of x."""

EXTREMA: Mapping[str, Callable[[Iterable[Any]], Any]] = {"larger": max, "smaller": min}
"""Functions of exact numbers and sizes whose result is exact too, by the role of the rule."""


class Argument(NamedTuple):
    """An argument of a call: a value or a function. `keyword` is the parameter's name if it is passed by name."""

    value: Value | Function
    keyword: str = ""


def called(
    book: Rulebook, name: str, arguments: Sequence[Argument], axis: int | None = None, numpy: bool = False
) -> Value:
    """Return the value of a call.

    Raises: NoReference if no rule takes these arguments, or the rule has no value.
    """
    numbers = [a.value.exact for a in arguments if isinstance(a.value, Value) and a.value.exact is not None]
    if 1 < len(numbers) == len(arguments) and (extremum := _extremum(book, name)) is not None:
        return exact(extremum(numbers))
    by_axis = axis is not None
    if axis is not None:
        axis = _axis(arguments, axis)
    choice = _choice(book, name, tuple(map(_look, arguments)), axis is not None, by_axis and axis is None)
    if choice is not None:
        return _applied(choice, arguments, axis, numpy)
    if len(arguments) > 2 and axis is None and _is_reduction(book, name):
        return reduce(
            lambda a, b: called(book, name, [Argument(a), Argument(b)], None, numpy), [_value(a) for a in arguments]
        )
    raise NoReference(f"the call {name} of these arguments")


def _extremum(book: Rulebook, name: str) -> Callable[[Iterable[Any]], Any] | None:
    candidates = book.spellings.get(name, ())
    return next((EXTREMA[role] for c in candidates if (role := c.rule.role or "") in EXTREMA), None)


def _is_reduction(book: Rulebook, name: str) -> bool:
    """Whether an associative rule of two arguments has this name."""
    candidates = book.spellings.get(name, ())
    return any(c.rule.associative and len(c.signature.parameters) == 2 for c in candidates)


def _value(argument: Argument) -> Value:
    if isinstance(argument.value, Value):
        return argument.value
    raise NoReference("a function where a value is needed")


def _axis(arguments: Sequence[Argument], axis: int) -> int | None:
    """Return the axis counted from the front; None for a vector, which has one axis only."""
    rank = next((a.value.rank for a in arguments if isinstance(a.value, Value)), 0)
    return axis % rank if rank > 1 else None


class Look(NamedTuple):
    """What the choice of a rule depends on in an argument; `rank` is -1 for a function, `is_row` is true of vectors."""

    keyword: str
    rank: int
    is_row: bool = False
    is_number: bool = False
    is_integer: bool = False
    is_one: bool = False
    is_square: bool = False


def _look(argument: Argument) -> Look:
    value = argument.value
    if not isinstance(value, Value):
        return Look(argument.keyword, -1)
    shape, number = value.shape, value.exact
    rank = len(shape)
    is_one = 1 in shape and max(shape) == 1 == min(shape)
    is_square = rank == 2 and shape[0] == shape[1]
    is_integer = number is not None and number.denominator == 1
    return Look(argument.keyword, rank, value.row and rank == 1, number is not None, is_integer, is_one, is_square)


class Choice(NamedTuple):
    """The rule that takes arguments, with its parameter for each.

    `changes` are the positions of arguments whose values are changed to fit; `tensors` those of arrays.
    """

    candidate: Candidate
    function: Callable[..., Any] | None
    parameters: tuple[Declaration, ...]
    changes: tuple[tuple[int, Callable[[Value], Value]], ...]
    tensors: tuple[int, ...]
    is_elementwise: bool


Matched = list[tuple[Declaration, "Callable[[Value], Value] | None"]]


@lru_cache(maxsize=1024)
def _choice(book: Rulebook, name: str, looks: tuple[Look, ...], reduced: bool, without_entries: bool) -> Choice | None:
    """Return the rule that takes arguments of these looks; None if none does.

    With `reduced` an axis of the first array is reduced. With `without_entries` elementwise rules are left out.
    """
    candidates = [
        c
        for c in book.spellings.get(name, ())
        if not without_entries or all(p.kind != "entry" for p in c.signature.parameters)
    ]
    for squeeze in (False, True):
        found = [(c, m) for c in candidates if (m := _match(c, looks, reduced, squeeze)) is not None]
        square = [(c, m) for c, m in found if _is_square(m, looks)]
        for candidate, matched in (square or found)[:1]:
            parameters = tuple(parameter for parameter, _ in matched)
            changes = tuple((k, change) for k, (_, change) in enumerate(matched) if change is not None)
            tensors = tuple(k for k, parameter in enumerate(parameters) if parameter.kind not in PLAIN)
            function = reference(book, candidate.rule, candidate.index)
            is_elementwise = any(p.kind == "entry" for p in parameters)
            return Choice(candidate, function, parameters, changes, tensors, is_elementwise)
    return None


def _match(candidate: Candidate, looks: Sequence[Look], reduced: bool, squeeze: bool) -> Matched | None:
    """Return the parameters of a rule for arguments, with changes of these; None unless count, ranks and kinds fit."""
    parameters = list(candidate.signature.parameters)
    named = {look.keyword for look in looks if look.keyword}
    positional = [p for p in parameters if p.name not in named]
    count = sum(not look.keyword for look in looks)
    repeated = bool(positional) and positional[-1].repeated
    if repeated:
        positional = positional[:-1] + [positional[-1]] * max(count - len(positional) + 1, 0)
    if len(positional) != count or not named <= {p.name for p in parameters}:
        return None
    remaining = iter(positional)
    matched: Matched = []
    for look in looks:
        parameter = next(p for p in parameters if p.name == look.keyword) if look.keyword else next(remaining)
        fits, change = _fit(candidate, parameter, look, reduced, squeeze)
        if not fits:
            return None
        reduced = reduced and parameter.kind in PLAIN
        matched.append((parameter, change))
    return None if repeated and all(p.kind in PLAIN for p, _ in matched) else matched


def _fit(
    candidate: Candidate, parameter: Declaration, look: Look, reduced: bool, squeeze: bool
) -> tuple[bool, Callable[[Value], Value] | None]:
    """Return whether a parameter takes an argument, and how its value is changed, if it is."""
    if parameter.kind == "function" or look.rank < 0:
        return parameter.kind == "function" and look.rank < 0, None
    if parameter.kind in ("integer", "number"):
        return look.is_integer if parameter.kind == "integer" else look.is_number, None
    if parameter.kind in ("array", "entry"):
        return True, None
    is_matrix = look.is_row and candidate.rule.keeps_rows
    if (1 if reduced else 2 if is_matrix else look.rank) == len(parameter.sizes):
        return True, as_matrix if is_matrix else None
    return squeeze and parameter.kind == "scalar" and look.is_one, as_scalar


def _is_square(matched: Matched, looks: Sequence[Look]) -> bool:
    """Whether each argument that must be a square matrix is one."""
    return all(
        look.is_one if change is as_matrix else look.is_square
        for (parameter, change), look in zip(matched, looks, strict=True)
        if parameter.kind == "matrix" and len({str(size.value) for size in parameter.sizes}) == 1
        if look.rank == 2 or change is as_matrix
    )


Operands = Sequence["Value | Function"]


def _applied(choice: Choice, arguments: Sequence[Argument], axis: int | None, numpy: bool) -> Value:
    if choice.function is None:
        raise NoReference(f"{choice.candidate.rule.spelling}, which has no value of its own")
    operands = [argument.value for argument in arguments]
    for k, change in choice.changes:
        operands[k] = change(_tensor(operands[k]))
    if choice.is_elementwise:
        return _by_entries(choice, operands, numpy)
    if axis is None:
        return _operation(choice, operands)
    first = choice.tensors[0]
    value = _tensor(operands[first])
    rank = value.rank
    others = [k for k in range(rank) if k != axis]
    outer = tuple(-1 - k for k in others)  # labels for the remaining axes that no index has
    count = len(value.axes)
    moved = np.moveaxis(value.array, count + axis, -1)
    operands[first] = Value(moved, (*value.axes, *outer))
    result = _operation(choice, operands)
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


def _by_entries(choice: Choice, operands: Operands, numpy: bool) -> Value:
    """Apply an elementwise rule to operands expanded to one shape."""
    values = _tensors(choice, operands)
    axes, arrays, row = in_one_shape(values, numpy)
    shape = arrays[0].shape
    if any(array.shape != shape for array in arrays):
        shape = np.broadcast_shapes(*(array.shape for array in arrays))
        arrays = [np.broadcast_to(array, shape) for array in arrays]
    found = np.asarray(_run(choice, operands, arrays))
    is_switch = choice.candidate.rule.annihilates or all([value.fixed for value in values])
    return Value(found.reshape(shape), axes, row, fixed=is_switch)


def _tensors(choice: Choice, operands: Operands) -> list[Value]:
    return [_tensor(operands[k]) for k in choice.tensors]


def _plain(parameter: Declaration, value: Value | Function) -> Any:
    if not isinstance(value, Value):
        return value
    assert value.exact is not None
    return int(value.exact) if parameter.kind == "integer" else as_float(value.exact)


def _operation(choice: Choice, operands: Operands) -> Value:
    """Apply an operation, once for each point of the index axes of its arguments."""
    values = _tensors(choice, operands)
    fixed = all([value.fixed for value in values])
    axes, arrays = aligned(values)
    if not axes:
        return Value(_output(choice, _run(choice, operands, arrays)), fixed=fixed)
    lengths = np.broadcast_shapes(*(array.shape[: len(axes)] for array in arrays))
    found = []
    for at in product(*map(range, lengths)):
        here = [array[tuple(min(i, n - 1) for i, n in zip(at, array.shape, strict=False))] for array in arrays]
        found.append(_output(choice, _run(choice, operands, here)))
    if not found:
        raise NoReference("an operation under an index of length 0")
    return Value(np.stack(found).reshape((*lengths, *found[0].shape)), axes, fixed=fixed)


def _output(choice: Choice, value: Any) -> Array:
    """Return the output that a call has, of the value of its rule."""
    output = choice.candidate.output
    return np.asarray(value[choice.candidate.rule.outputs.index(output)] if output else value)


def _run(choice: Choice, operands: Operands, arrays: Sequence[Array]) -> Any:
    """Return the value of a rule at arrays, among the operands that are no tensors.

    Raises: LinAlgError if the rule's function raises it, or ValueError or ArithmeticError.
    """
    assert choice.function is not None
    given: Sequence[Any] = arrays
    if len(arrays) < len(operands):
        tensors = dict(zip(choice.tensors, arrays, strict=True))
        given = [
            tensors[k] if k in tensors else _plain(parameter, operands[k])
            for k, parameter in enumerate(choice.parameters)
        ]
    try:
        return choice.function(*given)
    except (ValueError, ArithmeticError) as error:
        raise np.linalg.LinAlgError(str(error)) from None
