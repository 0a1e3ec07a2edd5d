"""Sizes from the shapes of arrays: `X: matrix(2*n, m - 1)` given as 6 x 4 makes n 3 and m 5.

An argument's axis is an equation between a polynomial of size names and a number. Those that are linear in
the names not yet known are solved exactly, again and again until nothing is left; then all of them are
checked. Names that no axis determines are arguments of their own.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from fractions import Fraction
from typing import NamedTuple

from matcalc.errors import ShapeError
from matcalc.tensor.size import Size

Shape = tuple[Size, ...]
KINDS = ("scalar", "vector", "matrix")
Declared = Sequence[tuple[str, Shape]]
Equation = tuple[Size, int, str]
LinearRow = tuple[dict[str, Fraction], Fraction, tuple[str, ...]]
"""Coefficients, what they add up to, and the arguments that say so."""


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


def described(name: str, shape: Shape) -> str:
    """Return the declaration of an argument: `X: matrix(m, n)`."""
    kind = KINDS[len(shape)] if len(shape) < len(KINDS) else "tensor"
    return f"{name}: {kind}({', '.join(map(str, shape))})" if shape else f"{name}: {kind}"


def check_rank(name: str, declaration: Shape, shape: Sequence[int]) -> None:
    """Raise ShapeError unless an array of this shape has the rank that is declared."""
    if len(shape) != len(declaration):
        rank = "a number" if not declaration else f"an array of {len(declaration)} axes"
        raise ShapeError(f"{described(name, declaration)} takes {rank}, not one of shape {tuple(shape)}")


def solve(declared: Declared, shapes: Mapping[str, Sequence[int]], given: Mapping[str, int]) -> dict[str, int]:
    """Return the value of each size name that arguments determine, and of those given as such.

    Raises: ShapeError that names the argument whose shape does not fit.
    """
    equations: list[Equation] = []
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

    An axis of length `m*n` determines m only where n is not 0: it does not count. Found by solving one generic
    instance: names stand for different large numbers.
    """
    met = dict.fromkeys([*names, *(n for _, shape in declared for size in shape for n in size.names)])
    generic = {name: 1009 + 211 * k for k, name in enumerate(met)}
    axes = [size for _, shape in declared for size in shape]
    known: dict[str, int] = {}
    while True:
        open_ = [size for size in axes if _is_linear_in_all_but(known, size)]
        found = _solve_linear([(size, size.evaluate(generic), "") for size in open_], known)
        if found is None:
            return tuple(name for name in dict.fromkeys(names) if name not in known)
        known |= found


def _is_linear_in_all_but(known: Collection[str], size: Size) -> bool:
    """Whether names that are not known stand in a size by themselves, with a number before them."""
    for monomial, _ in size.terms:
        for atom, power in monomial:
            names = {atom} if isinstance(atom, str) else {*atom.left.names, *atom.right.names}
            alone = isinstance(atom, str) and power == 1 and len(monomial) == 1
            if not alone and not names <= set(known):
                return False
    return True


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


def _solve_linear(equations: list[Equation], known: Mapping[str, int]) -> dict[str, int] | None:
    """Return names that follow from the equations linear in what is unknown, None where none does."""
    values = {name: Size.of(value) for name, value in known.items()}
    rows: list[LinearRow] = []
    for size, length, argument in equations:
        linear = linear_part(size.substitute(values))
        if linear is not None and linear[0]:
            rows.append((linear[0], length - linear[1], (argument,)))
    found: dict[str, int] = {}
    for pivot in range(len(rows)):
        coefficients, right, arguments = rows[pivot]
        if not coefficients:
            continue
        name = min(coefficients)
        factor = coefficients[name]
        for k in range(len(rows)):
            if k != pivot and name in rows[k][0]:
                ratio = rows[k][0][name] / factor
                rows[k] = _reduce(rows[k], ratio, rows[pivot])
    for coefficients, right, arguments in rows:
        if len(coefficients) == 1:
            ((name, factor),) = coefficients.items()
            value = right / factor
            if value.denominator != 1 or value < 0:
                shapes = "the shape of {} makes" if len(arguments) == 1 else "the shapes of {} make"
                told = shapes.format(" and ".join(arguments))
                raise ShapeError(f"{told} {name} = {value}, which is no size")
            found[name] = int(value)
    return found or None


def _reduce(row: LinearRow, ratio: Fraction, pivot: LinearRow) -> LinearRow:
    merged = dict(row[0])
    for name, coefficient in pivot[0].items():
        merged[name] = merged.get(name, Fraction(0)) - ratio * coefficient
    arguments = tuple(dict.fromkeys(row[2] + pivot[2]))
    return {n: c for n, c in merged.items() if c}, row[1] - ratio * pivot[1], arguments


def linear_part(size: Size) -> tuple[dict[str, Fraction], Fraction] | None:
    """Return the coefficients of the names and the constant, None where the size is not linear."""
    coefficients: dict[str, Fraction] = {}
    constant = Fraction(0)
    for monomial, coefficient in size.terms:
        if not monomial:
            constant = coefficient
        elif len(monomial) == 1 and monomial[0][1] == 1 and isinstance(monomial[0][0], str):
            coefficients[monomial[0][0]] = coefficient
        else:
            return None
    return coefficients, constant
