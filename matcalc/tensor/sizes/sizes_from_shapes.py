"""Computes sizes from the shapes of arrays: `X: matrix(2*n, m - 1)` with a 6 x 4 array gives n = 3 and m = 5.

An argument's axis is an equation between a polynomial of size names and a number. Equations that are linear in the
unknown names are solved exactly and repeatedly, until none is left; then all are checked. Names that no axis
determines are arguments of their own.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from typing import NamedTuple

from matcalc.errors import ShapeError
from matcalc.language.kinds import INDEX
from matcalc.tensor.sizes.size import Size
from matcalc.tensor.sizes.size_equations import Equation, eliminate, linear_part

Shape = tuple[Size, ...]
KINDS = ("scalar", "vector", "matrix", "tensor")
"""The kinds of symbols, by rank."""
Declared = Sequence[tuple[str, Shape]]
Found = tuple[Size, int, str]
"""A size, its length, and the argument that determines it."""


class Condition(NamedTuple):
    """A size that is negative only where a formula has no value, such as the room left by a part; and the error."""

    size: Size
    message: str


def holds(condition: Condition, sizes: Mapping[str, int]) -> bool:
    """Return whether a condition holds, as far as the sizes are known."""
    return any(n not in sizes for n in condition.size.names) or condition.size.evaluate(sizes) >= 0


def check_conditions(conditions: Iterable[Condition], sizes: Mapping[str, int]) -> None:
    """Raise ShapeError for the first condition that does not hold."""
    for condition in conditions:
        if not holds(condition, sizes):
            where = ", ".join(f"{n} = {sizes[n]}" for n in condition.size.names)
            raise ShapeError(f"{condition.message} where {where}")


def outside(name: str, at: Sequence[int], index: int, length: int, size: str) -> str:
    """Return the message that an entry of data is outside an axis of this length."""
    entry = f"{name}[{', '.join(map(str, at))}]" if at else name
    axis = f"an axis of length {length}" if size.isdecimal() else f"an axis of length {size} = {length}"
    return f"{entry} is {index}, outside {axis}" + (f": indices are 0 to {length - 1}" if length else "")


def described(name: str, shape: Shape, is_index: bool = False) -> str:
    """Return the declaration of an argument: `X: matrix(m, n)`."""
    return f"{name}: {kind_text(shape, is_index)}"


def kind_text(sizes: Sequence[object], is_index: bool = False) -> str:
    """Return a kind as it is declared: `matrix(m, n)`, `index(n)`."""
    word = INDEX if is_index else KINDS[min(len(sizes), 3)]
    return f"{word}({', '.join(map(str, sizes))})" if sizes else word


def check_rank(name: str, declaration: Shape, shape: Sequence[int], declared: str = "") -> None:
    """Raise ShapeError unless an array of this shape has the declared rank."""
    if len(shape) != len(declaration):
        rank = "a number" if not declaration else f"an array of {len(declaration)} axes"
        actual = "one" if declaration else "an array"
        own = declared or described(name, declaration)
        message = f"{own} takes {rank}, not {actual} of shape {tuple(shape)}"
        is_index = own.startswith(f"{name}: index")
        fitting = described(name, tuple(map(Size.of, shape)))
        raise ShapeError(message, hint="" if is_index else f"for such a value declare  {fitting}")


def solve(declared: Declared, shapes: Mapping[str, Sequence[int]], preset: Mapping[str, int]) -> dict[str, int]:
    """Return the value of each size name that arguments determine, and of those in `preset`.

    Raises: ShapeError that names the argument whose shape does not fit.
    """
    equations: list[Found] = []
    for name, declaration in declared:
        check_rank(name, declaration, shapes[name])
        equations += [(size, int(n), name) for size, n in zip(declaration, shapes[name], strict=True)]
    known = dict(preset)
    for name, value in known.items():
        if value < 0:
            raise ShapeError(f"the size {name} is {value}; it must be 0 or more")
    while (found := _solve_linear(equations, known)) is not None:
        known |= found
    for name, declaration in declared:
        if any(n not in known for size in declaration for n in size.names):
            continue
        shape, expected = tuple(shapes[name]), tuple(size.evaluate(known) for size in declaration)
        if expected != shape:
            raise ShapeError(_mismatch(declared, name, declaration, shape, expected, known))
    return known


def undetermined(declared: Declared, names: Iterable[str]) -> tuple[str, ...]:
    """Return those of `names` that no axis of the declared shapes determines, in the same order.

    An axis of length `m*n` does not count: it determines m only if n is not 0.
    """
    known = _determined(tuple(size for _, shape in declared for size in shape))
    return tuple(name for name in dict.fromkeys(names) if name not in known)


@lru_cache(maxsize=256)
def _determined(axes: Shape) -> frozenset[str]:
    """Return the names that axes of these lengths determine."""
    known = {size.key for size in axes if size.is_name}
    while True:
        axes = tuple(size for size in axes if not known.issuperset(size.names))
        parts = [linear_part(size, [name for name in size.names if name not in known]) for size in axes]
        rows = [Equation[str](left, rest) for left, rest in filter(None, parts) if left]
        found = {name for left, *_ in eliminate(rows) for name in left if len(left) == 1}
        if not found:
            return frozenset(known)
        known |= found


def _mismatch(
    declared: Declared,
    name: str,
    declaration: Shape,
    shape: tuple[int, ...],
    expected: tuple[int, ...],
    known: Mapping[str, int],
) -> str:
    differing = [s for s, n, w in zip(declaration, shape, expected, strict=True) if n != w]
    names = sorted({n for s in differing for n in s.names})
    sizes = f" where {', '.join(f'{n} = {known[n]}' for n in names)}" if names else ""
    others = [other for other, own in declared if other != name and any(n in s.names for s in own for n in names)]
    source = f" (from {' and '.join(others[:2])})" if others else ""
    return f"{described(name, declaration)} must have shape {expected}, not {shape}{sizes}{source}"


def _solve_linear(equations: list[Found], known: Mapping[str, int]) -> dict[str, int] | None:
    """Return the names that follow from the equations linear in the unknowns; None if there are none."""
    values = {name: Size.of(value) for name, value in known.items()}
    rows: list[Equation[str]] = []
    for size, length, argument in equations:
        left = size.substitute(values)
        linear = linear_part(left, left.names)
        if linear is not None and linear[0]:
            rows.append(Equation(linear[0], length - linear[1], (argument,)))
    found: dict[str, int] = {}
    for unknowns, size, arguments in eliminate(rows):
        if len(unknowns) == 1:
            (name,) = unknowns
            value = size.constant
            if value.denominator != 1 or value < 0:
                shapes = "the shape of {} makes" if len(arguments) == 1 else "the shapes of {} make"
                source = shapes.format(" and ".join(arguments))
                raise ShapeError(f"{source} {name} = {value}; a size is an integer, 0 or more")
            found[name] = int(value)
    return found or None
