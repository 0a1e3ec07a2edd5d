"""Sizes from the shapes of arrays: `X: matrix(2*n, m - 1)` given as 6 x 4 makes n 3 and m 5.

An argument's axis is an equation between a polynomial of size names and a number. Those that are linear in
the names not yet known are solved exactly, again and again until nothing is left; then all of them are
checked. Names that no axis determines are arguments of their own.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from matcalc.errors import ShapeError
from matcalc.language.kinds import INDEX
from matcalc.tensor.size import Size
from matcalc.tensor.size_equations import Equation, eliminate, linear_part

Shape = tuple[Size, ...]
KINDS = ("scalar", "vector", "matrix", "tensor")
"""Of symbols, by rank."""
Declared = Sequence[tuple[str, Shape]]
Found = tuple[Size, int, str]
"""A size, the length that it has, and the argument that says so."""


class Condition(NamedTuple):
    """A size that is not negative wherever a formula has a value, as the room that a part leaves; and the error."""

    size: Size
    message: str


def holds(condition: Condition, sizes: Mapping[str, int]) -> bool:
    """Whether a condition holds, as far as the sizes are known."""
    return any(n not in sizes for n in condition.size.names) or condition.size.evaluate(sizes) >= 0


def check_conditions(conditions: Iterable[Condition], sizes: Mapping[str, int]) -> None:
    """Raise ShapeError for the first condition that does not hold."""
    for condition in conditions:
        if not holds(condition, sizes):
            where = ", ".join(f"{n} = {sizes[n]}" for n in condition.size.names)
            raise ShapeError(f"{condition.message} where {where}")


def outside(name: str, at: Sequence[int], place: int, length: int, size: str) -> str:
    """Return what is said of an entry of data that is no place of an axis of this length."""
    entry = f"{name}[{', '.join(map(str, at))}]" if at else name
    axis = f"an axis of length {length}" if size.isdecimal() else f"an axis of length {size} = {length}"
    return f"{entry} is {place}, outside {axis}" + (f": indices are 0 to {length - 1}" if length else "")


def described(name: str, shape: Shape, is_index: bool = False) -> str:
    """Return the declaration of an argument: `X: matrix(m, n)`."""
    return f"{name}: {kind_text(shape, is_index)}"


def kind_text(sizes: Sequence[object], is_index: bool = False) -> str:
    """Return a kind as it is declared: `matrix(m, n)`, `index(n)`."""
    word = INDEX if is_index else KINDS[min(len(sizes), 3)]
    return f"{word}({', '.join(map(str, sizes))})" if sizes else word


def check_rank(name: str, declaration: Shape, shape: Sequence[int], declared: str = "") -> None:
    """Raise ShapeError unless an array of this shape has the rank that is declared."""
    if len(shape) != len(declaration):
        rank = "a number" if not declaration else f"an array of {len(declaration)} axes"
        what = "one" if declaration else "an array"
        own = declared or described(name, declaration)
        message = f"{own} takes {rank}, not {what} of shape {tuple(shape)}"
        is_index = own.startswith(f"{name}: index")
        given = described(name, tuple(map(Size.of, shape)))
        raise ShapeError(message, hint="" if is_index else f"for such a value declare  {given}")


def solve(declared: Declared, shapes: Mapping[str, Sequence[int]], given: Mapping[str, int]) -> dict[str, int]:
    """Return the value of each size name that arguments determine, and of those given as such.

    Raises: ShapeError that names the argument whose shape does not fit.
    """
    equations: list[Found] = []
    for name, declaration in declared:
        check_rank(name, declaration, shapes[name])
        equations += [(size, int(n), name) for size, n in zip(declaration, shapes[name], strict=True)]
    known = dict(given)
    for name, value in known.items():
        if value < 0:
            raise ShapeError(f"the size {name} is {value}")
    while (found := _solve_linear(equations, known)) is not None:
        known |= found
    for name, declaration in declared:
        if any(n not in known for size in declaration for n in size.names):
            continue
        shape, wanted = tuple(shapes[name]), tuple(size.evaluate(known) for size in declaration)
        if wanted != shape:
            raise ShapeError(_mismatch(declared, name, declaration, shape, wanted, known))
    return known


def undetermined(declared: Declared, names: Iterable[str]) -> tuple[str, ...]:
    """Return those of `names` that no axis of the declared shapes determines, in the order given.

    An axis of length `m*n` determines m only where n is not 0: it does not count.
    """
    axes = [size for _, shape in declared for size in shape]
    known: set[str] = set()
    while True:
        parts = [linear_part(size, [name for name in size.names if name not in known]) for size in axes]
        rows = [Equation[str](left, rest) for left, rest in filter(None, parts) if left]
        found = {name for left, *_ in eliminate(rows) for name in left if len(left) == 1}
        if not found:
            return tuple(name for name in dict.fromkeys(names) if name not in known)
        known |= found


def _mismatch(
    declared: Declared,
    name: str,
    declaration: Shape,
    shape: tuple[int, ...],
    wanted: tuple[int, ...],
    known: Mapping[str, int],
) -> str:
    differing = [s for s, n, w in zip(declaration, shape, wanted, strict=True) if n != w]
    names = sorted({n for s in differing for n in s.names})
    sizes = f" where {', '.join(f'{n} = {known[n]}' for n in names)}" if names else ""
    others = [other for other, own in declared if other != name and any(n in s.names for s in own for n in names)]
    source = f" (from {' and '.join(others[:2])})" if others else ""
    return f"{described(name, declaration)} must have shape {wanted}, not {shape}{sizes}{source}"


def _solve_linear(equations: list[Found], known: Mapping[str, int]) -> dict[str, int] | None:
    """Return names that follow from the equations linear in what is unknown, None where none does."""
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
                told = shapes.format(" and ".join(arguments))
                raise ShapeError(f"{told} {name} = {value}, which is no size")
            found[name] = int(value)
    return found or None
