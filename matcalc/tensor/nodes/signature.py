"""Computes the sizes of an operation's results from those of its arguments, by its signature.

A signature's sizes are names that arguments bind (`matrix(m, n)`) and, in results, expressions over them
(`vector(m + n - 1)`, `k = min(m, n)`); `array(s)` binds a whole shape.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import reduce
from math import prod
from operator import mul
from typing import TypeVar, cast

from matcalc.errors import ShapeError
from matcalc.language.declare import Declaration, Signature
from matcalc.language.read import read
from matcalc.language.syntax import Ast, call_name, walk
from matcalc.rulebook.rule import Rule
from matcalc.tensor.sizes.size import Size, floordiv, maximum, minimum, modulo

T = TypeVar("T")
PLAIN = ("integer", "number", "function", "equation", "unknown")
"""Kinds of parameters that are not tensors."""


def tensors_of(signature: Signature) -> list[Declaration]:
    """Return the parameters that take tensors, in order."""
    return [p for p in signature.parameters if p.kind not in PLAIN]


def paired(signature: Signature, tensors: Iterable[T], plain: Iterable[T]) -> Iterator[tuple[Declaration, T]]:
    """Yield each parameter with its argument, a repeated one with each of the remaining tensors."""
    left, others = iter(tensors), iter(plain)
    for parameter in signature.parameters:
        if parameter.repeated:
            yield from ((parameter, tensor) for tensor in left)
        else:
            yield parameter, next(others if parameter.kind in PLAIN else left)


def core_rank(parameter: Declaration, available: int) -> int:
    """Return the number of axes that a parameter takes; `array` takes all that are available."""
    return available if parameter.kind == "array" else len(parameter.sizes)


@dataclass(slots=True)
class Binding:
    """The meaning of a signature's names in one use: sizes by name, and the shape of each `array` name."""

    sizes: dict[str, Size] = field(default_factory=dict)
    arrays: dict[str, tuple[Size, ...]] = field(default_factory=dict)


def bind(rule: Rule, signature: Signature, shapes: Sequence[tuple[Size, ...]], params: Sequence[object]) -> Binding:
    """Return the binding of a signature's names by the core shapes of tensor arguments and the integer parameters."""
    binding = Binding()
    tensors, integers = iter(shapes), iter(params)
    for parameter in signature.parameters:
        if parameter.kind in PLAIN:
            value = next(integers, None)
            if isinstance(value, Size):
                binding.sizes[parameter.name] = value
            continue
        for shape in [next(tensors, None)] if not parameter.repeated else list(tensors):
            if shape is not None:
                _bind_one(rule, parameter, shape, binding)
    add_sizes(rule, binding.sizes)
    return binding


def add_sizes(rule: Rule, sizes: dict[str, Size]) -> None:
    """Add the sizes that a rule defines by those of its signature, `k = min(m, n)`."""
    for name, formula in rule.sizes.items():
        sizes[name] = size_of(read(formula), sizes)


def _bind_one(rule: Rule, parameter: Declaration, shape: tuple[Size, ...], binding: Binding) -> None:
    if parameter.kind == "array":
        binding.arrays[array_name(parameter)] = shape
        return
    for ast, size in zip(parameter.sizes, shape, strict=True):
        if ast.head == "name" and str(ast.value) not in binding.sizes:
            binding.sizes[str(ast.value)] = size
            continue
        expected = size_of(ast, binding.sizes)
        if expected != size:
            raise ShapeError(f"{rule.name}: {parameter.name} has an axis of length {size} where {expected} is needed")


def array_name(parameter: Declaration) -> str:
    """Return the name of the shape of an `array` parameter."""
    return str(parameter.sizes[0].value) if parameter.sizes else "s"


def output_of(signature: Signature, name: str) -> Declaration:
    """Return the declaration of a result."""
    return next(o for o in signature.outputs if o.name == name)


def result_shape(output: Declaration, binding: Binding) -> tuple[Size, ...]:
    """Return the core shape of a result."""
    if output.kind == "array":
        return binding.arrays[array_name(output)]
    return tuple(size_of(ast, binding.sizes) for ast in output.sizes)


def size_of(ast: Ast, sizes: Mapping[str, Size]) -> Size:
    """Return the size of an expression over size names."""
    values: dict[Ast, Size] = {}
    for node in walk(ast):
        if node.head not in SIZE_OF:
            raise ShapeError(f"a size consists of names, integers, + - * // min and max, not of a {node.head}")
        values[node] = SIZE_OF[node.head](node, [values[arg] for arg in node.args], sizes)
    return values[ast]


def _product(node: Ast, values: list[Size], sizes: Mapping[str, Size]) -> Size:
    result, *factors = values
    for operator, right in zip(cast("tuple[str, ...]", node.value), factors, strict=True):
        if operator not in OPERATORS:
            raise ShapeError(f"a size has no operator '{operator}'", at=node.caret)
        result = OPERATORS[operator](result, right)
    return result


def _call(node: Ast, values: list[Size], sizes: Mapping[str, Size]) -> Size:
    function = call_name(node)
    if function not in EXTREMA or not values:
        raise ShapeError(f"a size calls min and max only, not '{function}'", at=node.caret)
    return reduce(EXTREMA[function], values)


EXTREMA = {"min": minimum, "max": maximum}
OPERATORS: dict[str, Callable[[Size, Size], Size]] = {"*": mul, "//": floordiv, "/": floordiv, "%": modulo}
SIZE_OF: dict[str, Callable[[Ast, list[Size], Mapping[str, Size]], Size]] = {
    "name": lambda node, values, sizes: sizes.get(str(node.value)) or Size.of(str(node.value)),
    "number": lambda node, values, sizes: Size.of(cast("Fraction", node.value)),
    "sum": lambda node, values, sizes: sum(map(mul, values, cast("tuple[int, ...]", node.value)), Size.of(0)),
    "product": _product,
    "negative": lambda node, values, sizes: -values[0],
    "call": _call,
    "power": lambda node, values, sizes: prod([values[0]] * int(values[1]), start=Size.of(1)),
}
