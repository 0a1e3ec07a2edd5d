"""Sizes from the shapes of arrays: `X: matrix(2*n, m - 1)` given as 6 x 4 makes n 3 and m 5.

A size name is determined where some axis gives it linearly once the others are known; names that no axis
determines are arguments of their own.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from matcalc.errors import ShapeError
from matcalc.normal_form.node import Shape
from matcalc.sizes import Size

Declared = Sequence[tuple[str, Shape]]


def undetermined(declared: Declared, names: Iterable[str]) -> tuple[str, ...]:
    """Return those of `names` that no axis of the declared shapes determines, in the order given."""
    known: set[str] = set()
    pending = [size for _, shape in declared for size in shape]
    progress = True
    while progress:
        progress = False
        for size in pending:
            open_names = [n for n in size.names if n not in known]
            if len(open_names) == 1 and _linear(size, open_names[0]) is not None:
                known.add(open_names[0])
                progress = True
    return tuple(n for n in dict.fromkeys(names) if n not in known)


def solve(
    declared: Declared, shapes: Mapping[str, Sequence[int]], given: Mapping[str, int] | None = None
) -> dict[str, int]:
    """Return the value of each size name, from the shapes of arrays by name and sizes given as such.

    Raises: ShapeError that names the argument whose rank or axis does not fit.
    """
    values = dict(given or {})
    pending: list[tuple[str, int, Size, int]] = []
    for name, shape in declared:
        actual = shapes[name]
        if len(actual) != len(shape):
            raise ShapeError(f"{name} has {_axes(len(actual))}, expected {_axes(len(shape))}: {_text(shape)}")
        pending += [
            (name, axis, size, int(length)) for axis, (size, length) in enumerate(zip(shape, actual, strict=True))
        ]
    while pending:
        rest = [equation for equation in pending if not _settle(equation, values)]
        if len(rest) == len(pending):
            break
        pending = rest
    return values


def _settle(equation: tuple[str, int, Size, int], values: dict[str, int]) -> bool:
    name, axis, size, length = equation
    known = {n: Size.of(values[n]) for n in size.names if n in values}
    left = size.substitute(known)
    if left.is_integer:
        if left != length:
            shown = f"{size} = {left}" if size.names else str(size)
            raise ShapeError(f"{name} has length {length} along axis {axis}, expected {shown}")
        return True
    unknown = left.names
    slope = _linear(left, unknown[0]) if len(unknown) == 1 else None
    if slope is None:
        return False
    rest = left - Size.of(unknown[0]) * slope
    value = (length - rest.constant) / slope.constant
    if value.denominator != 1 or value < 0:
        raise ShapeError(f"{name} has length {length} along axis {axis}, which is {size} for no {unknown[0]}")
    values[unknown[0]] = int(value)
    return True


def _linear(size: Size, name: str) -> Size | None:
    """Return the coefficient of `name` where the size is linear in it with a constant slope when others are known."""
    slope = Size.of(0)
    for monomial, coefficient in size.terms:
        for atom, power in monomial:
            if not isinstance(atom, str):
                if name in atom.left.names or name in atom.right.names:
                    return None
            elif atom == name:
                if power != 1 or len(monomial) > 1 and any(a != name and not isinstance(a, str) for a, _ in monomial):
                    return None
                others = Size.of(coefficient)
                for a, p in monomial:
                    if a != name and isinstance(a, str):
                        for _ in range(p):
                            others = others * Size.of(a)
                slope = slope + others
    return slope if slope != 0 else None


def _axes(count: int) -> str:
    return "no axes" if count == 0 else "1 axis" if count == 1 else f"{count} axes"


def _text(shape: Shape) -> str:
    kinds = ("scalar", "vector", "matrix")
    return f"{kinds[len(shape)] if len(shape) < 3 else 'tensor'}({', '.join(map(str, shape))})" if shape else "scalar"
