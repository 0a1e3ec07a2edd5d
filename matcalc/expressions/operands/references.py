"""Constructs references of objects from NumPy's functions and Python's operators: the same calls, on arrays."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from operator import itemgetter
from typing import Any, NamedTuple

from matcalc.evidence.written.reference import Data, Reference, Sizes, of_call
from matcalc.expressions.numpy_bridge.arguments import is_object_array, length_in
from matcalc.expressions.operands.handle import Handle
from matcalc.tensor.sizes.size import Size


class Slot(NamedTuple):
    """The number of an argument among the references of a call."""

    number: int


def of_numpy(function: Callable[..., Any], args: Sequence[object], keywords: Mapping[str, object]) -> Reference | None:
    """Return the reference of a NumPy function on objects; None while tracing, as the traced function is one."""
    own: list[Reference] = []

    def marked(value: Any) -> Any:
        size = length_in(value)
        if isinstance(value, Handle) or size is not None:
            own.append(of_size(size) if size is not None else value.reference)
            return Slot(len(own) - 1)
        if is_object_array(value):
            return marked(value.tolist())
        if isinstance(value, dict):
            return {key: marked(one) for key, one in value.items()}
        return type(value)(map(marked, value)) if type(value) in (list, tuple) else value

    if _is_traced(args) or _is_traced(tuple(keywords.values())):
        return None
    positional, named = marked(tuple(args)), marked(dict(keywords))

    return of_call(Called(function, positional, named), *own)


@dataclass(frozen=True, slots=True)
class Called:
    """A function with its arguments, some of which are slots for values."""

    function: Callable[..., Any]
    args: tuple[Any, ...]
    keywords: Mapping[str, Any]

    def __call__(self, *values: Any) -> Any:
        return self.function(*_filled(self.args, values), **_filled(self.keywords, values))


def _filled(value: Any, values: Sequence[Any]) -> Any:
    """Return an argument with values in its slots."""
    if isinstance(value, Slot):
        return values[value.number]
    if isinstance(value, dict):
        return {key: _filled(one, values) for key, one in value.items()}
    return type(value)(_filled(one, values) for one in value) if type(value) in (list, tuple) else value


def _is_traced(value: object) -> bool:
    if isinstance(value, Handle):
        return value.names.traced
    return isinstance(value, (list, tuple)) and any(map(_is_traced, value))


def of_size(size: Size) -> Reference:
    """Return the reference of a size as a number."""
    return Reference("a size", SizeValue(size))


@dataclass(frozen=True, slots=True)
class SizeValue:
    """The value of a size."""

    size: Size

    def __call__(self, values: Sequence[Any], data: Data, sizes: Sizes, base: Data) -> int:
        return self.size.evaluate(dict(sizes))


def item(reference: Reference | None, index: int) -> Reference | None:
    """Return the reference of one of several results."""
    return None if reference is None else of_call(itemgetter(index), reference)
