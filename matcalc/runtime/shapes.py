"""The sizes of a call from the shapes of its arguments, and the words for what does not fit.

An argument's axis is an equation between a polynomial of size names and a number. Those that are linear in
the names not yet known are solved exactly, again and again until nothing is left; then all of them are
checked.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction

from matcalc.errors import ShapeError
from matcalc.runtime.spec import CompiledSpec, Operand, size_names
from matcalc.sizes import Size

KINDS = ("scalar", "vector", "matrix")
Equation = tuple[Size, int, str]


def described(operand: Operand) -> str:
    """Return the declaration of an operand: `X: matrix(m, n)`."""
    kind = KINDS[len(operand.shape)] if len(operand.shape) < len(KINDS) else "tensor"
    sizes = ", ".join(str(s) for s in operand.shape)
    return f"{operand.name}: {kind}({sizes})" if operand.shape else f"{operand.name}: {kind}"


def check_rank(operand: Operand, shape: Sequence[int]) -> None:
    """Raise ShapeError unless an array of this shape has the rank that is declared."""
    if len(shape) != len(operand.shape):
        rank = "a number" if not operand.shape else f"an array of {len(operand.shape)} axes"
        raise ShapeError(f"{described(operand)} takes {rank}, not one of shape {tuple(shape)}")


def solve_sizes(spec: CompiledSpec, shapes: Sequence[Sequence[int]], given: Mapping[str, int]) -> dict[str, int]:
    """Return every size that the arguments determine.

    Raises: ShapeError that names the argument whose shape does not fit.
    """
    equations: list[Equation] = []
    for operand, shape in zip(spec.arguments, shapes, strict=True):
        check_rank(operand, shape)
        equations += [(size, length, operand.name) for size, length in zip(operand.shape, shape, strict=True)]
    known = dict(given)
    for name, value in known.items():
        if value < 0:
            raise ShapeError(f"the size {name} is {value}")
    while (found := _solve_linear(equations, known)) is not None:
        known |= found
    missing = [name for name in size_names(spec) if name not in known]
    if missing:
        raise ShapeError(f"the shapes of the arguments do not determine {', '.join(missing)}")
    for operand, shape in zip(spec.arguments, shapes, strict=True):
        wanted = tuple(size.evaluate(known) for size in operand.shape)
        if wanted != tuple(shape):
            raise ShapeError(_mismatch(spec, operand, tuple(shape), wanted, known))
    return known


def output_shapes(spec: CompiledSpec, sizes: Mapping[str, int]) -> list[tuple[int, ...]]:
    """Return the shapes of the results.

    Raises: ShapeError for a size that is negative.
    """
    shapes = []
    for operand in spec.outputs:
        shape = tuple(size.evaluate(sizes) for size in operand.shape)
        for size, length in zip(operand.shape, shape, strict=True):
            if length < 0:
                raise ShapeError(f"the size {size} of {operand.name} is {length}")
        shapes.append(shape)
    return shapes


def _mismatch(
    spec: CompiledSpec,
    operand: Operand,
    shape: tuple[int, ...],
    wanted: tuple[int, ...],
    known: Mapping[str, int],
) -> str:
    names = sorted({n for s in operand.shape for n in s.names})
    sizes = f" where {', '.join(f'{n} = {known[n]}' for n in names)}" if names else ""
    others = [a.name for a in spec.arguments if a is not operand and any(n in s.names for s in a.shape for n in names)]
    source = f" (from {' and '.join(others[:2])})" if others else ""
    return f"{described(operand)} must have shape {wanted}, not {shape}{sizes}{source}"


def _solve_linear(equations: list[Equation], known: Mapping[str, int]) -> dict[str, int] | None:
    """Return names that follow from the equations linear in what is unknown, None where none does."""
    values = {name: Size.of(value) for name, value in known.items()}
    rows: list[tuple[dict[str, Fraction], Fraction, str]] = []
    for size, length, argument in equations:
        linear = linear_part(size.substitute(values))
        if linear is not None and linear[0]:
            rows.append((linear[0], length - linear[1], argument))
    found: dict[str, int] = {}
    for pivot in range(len(rows)):
        coefficients, right, argument = rows[pivot]
        if not coefficients:
            continue
        name = min(coefficients)
        factor = coefficients[name]
        for k in range(len(rows)):
            if k != pivot and name in rows[k][0]:
                ratio = rows[k][0][name] / factor
                rows[k] = _reduce(rows[k], ratio, coefficients, right)
    for coefficients, right, argument in rows:
        if len(coefficients) == 1:
            ((name, factor),) = coefficients.items()
            value = right / factor
            if value.denominator != 1 or value < 0:
                raise ShapeError(f"the shape of {argument} makes {name} = {value}, which is no size")
            found[name] = int(value)
    return found or None


def _reduce(
    row: tuple[dict[str, Fraction], Fraction, str],
    ratio: Fraction,
    pivot: dict[str, Fraction],
    right: Fraction,
) -> tuple[dict[str, Fraction], Fraction, str]:
    merged = dict(row[0])
    for name, coefficient in pivot.items():
        merged[name] = merged.get(name, Fraction(0)) - ratio * coefficient
    return {n: c for n, c in merged.items() if c}, row[1] - ratio * right, row[2]


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
