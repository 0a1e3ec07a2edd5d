"""Writes arithmetic and functions of the matrix language as SymPy objects, of arrays or of every entry."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from typing import Any

import sympy
from sympy import Basic
from sympy.matrices.expressions.matexpr import MatrixElement
from sympy.tensor.array.expressions import OneArray, ZeroArray

from matcalc.errors import NotSupported
from matcalc.language.syntax import Ast

Written = Any
"""A SymPy object; for a slice or a row of a block, which have none, its tree with its written operands."""


def is_matrix(value: Basic) -> bool:
    """Whether a value is a matrix of SymPy; a scalar is not."""
    return bool(getattr(value, "is_Matrix", False))


def as_scalar(value: Basic) -> Basic:
    """Return a matrix of one entry as that entry."""
    if is_matrix(value) and value.shape == (1, 1):
        return MatrixElement(value, sympy.Integer(0), sympy.Integer(0))
    return value


def multiply(*factors: Basic) -> Basic:
    """Return the product of matrices and scalars; a product of row and column is a scalar."""
    if not any(map(is_matrix, factors)):
        return sympy.Mul(*factors)
    return as_scalar(sympy.MatMul(*factors).doit(deep=False))


def transposed(value: Basic) -> Basic:
    """Return the transpose; scalars in products are not changed, although SymPy would multiply them out."""
    if not is_matrix(value):
        return value
    if isinstance(value, sympy.MatAdd):
        return sympy.MatAdd(*map(transposed, value.args))
    if isinstance(value, sympy.MatMul):
        coefficient, factors = value.as_coeff_matrices()
        return multiply(coefficient, *map(transposed, reversed(factors)))
    return sympy.Transpose(value).doit(deep=False)


def entrywise(name: str, function: Callable[..., Basic], args: Sequence[Basic]) -> Basic:
    """Return a function of scalars; if one argument is a matrix, it is applied to every entry."""
    matrices = [k for k, arg in enumerate(args) if is_matrix(arg)]
    if not matrices:
        return function(*args)
    if len(matrices) > 1:
        raise NotSupported(f"{name} of several matrices has no SymPy form")
    entry = sympy.Dummy("d")
    operands = [entry if k == matrices[0] else arg for k, arg in enumerate(args)]
    return args[matrices[0]].applyfunc(sympy.Lambda(entry, function(*operands)))


def _ones(*shape: Basic) -> Basic:
    if len(shape) > 2:
        return OneArray(*shape)
    return sympy.OneMatrix(*shape) if len(shape) > 1 else sympy.OneMatrix(shape[0], 1)


def _zeros(*shape: Basic) -> Basic:
    if len(shape) > 2:
        return ZeroArray(*shape)
    return sympy.ZeroMatrix(*shape) if len(shape) > 1 else sympy.ZeroMatrix(shape[0], 1)


def total(x: Basic, axis: Basic = None) -> Basic:
    """Return the sum of entries; with `axis` along that axis."""
    if not is_matrix(x):
        return x
    rows, columns = x.shape
    if axis is None:
        left = [] if rows == 1 else [_ones(1, rows)]
        return multiply(*left, x, *([] if columns == 1 else [_ones(columns, 1)]))
    return multiply(x.T, _ones(rows, 1)) if axis == 0 else multiply(x, _ones(columns, 1))


def count(x: Basic) -> Basic:
    """Return the number of entries."""
    return x.shape[0] * x.shape[1] if is_matrix(x) else 1


def length(x: Basic) -> Basic:
    """Return the root of the sum of squares of entries."""
    if not is_matrix(x):
        return sympy.Abs(x)
    squares = multiply(x.T, x) if x.shape[1] == 1 else sympy.Trace(multiply(x.T, x))
    return sympy.sqrt(squares)


def entries(function: Callable[..., Basic], x: Basic) -> Basic:
    """Return a function of each entry."""
    return entrywise(getattr(function, "__name__", "the function"), function, [x])


def _sqrt(x: Basic) -> Basic:
    return sympy.HadamardPower(x, sympy.Rational(1, 2)) if is_matrix(x) else sympy.sqrt(x)


def _diag(x: Basic) -> Basic:
    """Return a diagonal matrix, or the diagonal of a square one: SymPy's DiagonalOf does not evaluate at numbers."""
    if x.shape[1] == 1:
        return sympy.DiagMatrix(x)
    n = x.shape[0]
    return multiply(sympy.HadamardProduct(x, sympy.Identity(n)), sympy.OneMatrix(n, 1))


BY_ROLE: Mapping[str, Callable[..., Basic]] = {
    "all_ones": _ones,
    "all_zeros": _zeros,
    "identity": sympy.Identity,
    "total": total,
    "square_root": _sqrt,
    "diagonals": _diag,
}
"""Operations that a field of the rulebook cannot express: shapes of any number, an axis."""


# ---- arithmetic


def number(value: object) -> Basic:
    """Return a number of the language exactly."""
    exact = Fraction(value)  # type: ignore[call-overload]
    return sympy.Rational(exact.numerator, exact.denominator)


def _product(ast: Ast, args: list[Written]) -> Basic:
    """Return a product, operator by operator from the left."""
    operators: tuple[str, ...] = ast.value  # type: ignore[assignment]
    total = args[0]
    for operator, factor in zip(operators, args[1:], strict=True):
        total = OPERATORS[operator](total, factor)
    return total


def _hadamard(left: Basic, right: Basic) -> Basic:
    if not (is_matrix(left) and is_matrix(right)):
        return multiply(left, right)
    return sympy.HadamardProduct(left, right).doit(deep=False)


def _divided(left: Basic, right: Basic) -> Basic:
    if is_matrix(right):
        inverse = sympy.HadamardPower(right, -1)
        return _hadamard(left, inverse)
    return multiply(1 / right, left) if is_matrix(left) else left / right


def _solved(left: Basic, right: Basic) -> Basic:
    return multiply(sympy.Inverse(left), right) if is_matrix(left) else _divided(right, left)


OPERATORS: dict[str, Callable[[Basic, Basic], Basic]] = {
    "*": multiply,
    "@": multiply,
    ".*": _hadamard,
    "./": _divided,
    "/": _divided,
    "\\": _solved,
    "//": lambda a, b: sympy.floor(a / b),
    "%": lambda a, b: a % b,
}


def _sum(ast: Ast, args: list[Written]) -> Basic:
    """Return a sum; a scalar among matrices is added to every entry."""
    signs: tuple[int, ...] = ast.value  # type: ignore[assignment]
    terms = [arg if sign > 0 else _negative(ast, [arg]) for sign, arg in zip(signs, args, strict=True)]
    shape = next((t.shape for t in terms if is_matrix(t)), None)
    if shape is None:
        return sum(terms[1:], terms[0])
    spread = [t if is_matrix(t) else multiply(t, sympy.OneMatrix(*shape)) for t in terms]
    return sympy.MatAdd(*spread).doit(deep=False)


def _negative(ast: Ast, args: list[Written]) -> Basic:
    return multiply(number(-1), args[0])


def _power(ast: Ast, args: list[Written]) -> Basic:
    base, exponent = args
    if not is_matrix(base):
        return base**exponent
    if ast.value == ".^":
        return sympy.HadamardPower(base, exponent)
    return sympy.Inverse(base) if exponent == -1 else sympy.MatPow(base, exponent)


def _transpose(ast: Ast, args: list[Written]) -> Basic:
    return transposed(args[0])


ARITHMETIC: Mapping[str, Callable[[Ast, list[Written]], Basic]] = {
    "product": _product, "sum": _sum, "negative": _negative, "power": _power, "transpose": _transpose,
}  # fmt: skip
"""Functions that write a tree from its written operands, by its head."""
