"""Defines values, which are formulas with the shape of SymPy's matrix, and converts sizes from and to SymPy."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from functools import reduce
from math import lcm
from typing import NamedTuple, Protocol

import sympy
from sympy import Basic

from matcalc.errors import NotSupported, ShapeError
from matcalc.expressions.sympy_bridge.sympy_objects import name_of
from matcalc.language import syntax
from matcalc.language.read import read
from matcalc.language.syntax import Ast
from matcalc.tensor.sizes.size import Compound, Size, floordiv, maximum, minimum


def size_from(expr: Basic) -> Size:
    """Return a dimension of a SymPy matrix as a size.

    Raises: NotSupported for an expression that is not a size.
    """
    if isinstance(expr, int):
        return Size.of(expr)
    done: dict[Basic, Size] = {}
    stack = [(expr, False)]
    while stack:
        node, entered = stack.pop()
        if not entered:
            stack.append((node, True))
            stack.extend((arg, False) for arg in node.args)
        else:
            done[node] = _size(node, [done[arg] for arg in node.args])
    return done[expr]


def _size(node: Basic, args: list[Size]) -> Size:
    if node.is_Symbol:
        return Size.of(name_of(node.name))
    if node.is_Rational:
        return Size.of(Fraction(int(node.p), int(node.q)))
    name = type(node).__name__
    if name in _FOLDS:
        return reduce(_FOLDS[name], args)
    if name == "Pow" and args[1].is_integer and args[1].constant.denominator == 1 and args[1].constant > 0:
        return reduce(lambda a, b: a * b, [args[0]] * int(args[1]))
    if name == "floor":
        divisor = lcm(*(coefficient.denominator for _, coefficient in args[0].terms))
        return floordiv(args[0] * divisor, Size.of(divisor))
    raise NotSupported(f"the size {node} of a SymPy matrix is not supported")


_FOLDS: dict[str, Callable[[Size, Size], Size]] = {
    "Add": lambda a, b: a + b,
    "Mul": lambda a, b: a * b,
    "Min": minimum,
    "Max": maximum,
}


def size_to(size: Size) -> Basic:
    """Return a size as a SymPy expression."""
    total: Basic = sympy.Integer(0)
    for monomial, coefficient in size.terms:
        factors = [_atom(atom) ** power for atom, power in monomial]
        total += sympy.Mul(sympy.Rational(coefficient.numerator, coefficient.denominator), *factors)
    return total


def _atom(atom: str | Compound) -> Basic:
    if isinstance(atom, str):
        return sympy.Symbol(atom)
    left, right = size_to(atom.left), size_to(atom.right)
    makers: dict[str, Callable[[Basic, Basic], Basic]] = {
        "//": lambda a, b: sympy.floor(a / b),
        "%": sympy.Mod,
        "min": sympy.Min,
        "max": sympy.Max,
    }
    return makers[atom.operator](left, right)


Shape = tuple[Size, ...]
ONE = Size.of(1)


class Value(NamedTuple):
    """A formula and the shape of its SymPy matrix or array; scalars and 1 x 1 matrices have none."""

    ast: Ast
    shape: Shape | None = None

    @property
    def is_column(self) -> bool:
        return self.shape is not None and len(self.shape) == 2 and self.shape[1] is ONE

    @property
    def is_row(self) -> bool:
        return self.shape is not None and len(self.shape) == 2 and self.shape[0] is ONE


class Index(NamedTuple):
    """A bound index of SymPy: its name in the formula, where it counts from zero, and its range, the end excluded."""

    name: str
    start: Size
    stop: Size

    @property
    def length(self) -> Size:
        return self.stop - self.start


class Reader(Protocol):
    """The methods of a reading that the tables' functions use."""

    sizes: set[str]
    bound: dict[Basic, Index]

    def declare(self, node: Basic, name: str, shape: tuple[Size, ...], facts: Sequence[str]) -> None: ...

    def reserve(self, node: Basic, name: str) -> None: ...

    def read(self, expr: Basic, bindings: Mapping[Basic, Value] | None = None) -> Value: ...

    def fresh(self) -> str: ...


Make = Callable[[Reader, "Basic", list[Value]], Value]  # the reading, a node of SymPy, its operands


def shape_of(node: Basic) -> Shape | None:
    """Return the shape of a leaf of SymPy; that of other nodes is computed, since SymPy's own recurses."""
    return matrix_shape(*(size_from(length) for length in node.shape))


def matrix_shape(rows: Size, columns: Size) -> Shape | None:
    """Return a shape, None for 1 x 1."""
    return None if rows is ONE and columns is ONE else (rows, columns)


def full(value: Value) -> Shape:
    """Return the shape of a value, 1 x 1 for a scalar."""
    return value.shape or (ONE, ONE)


def common(args: Sequence[Value]) -> Shape | None:
    """Return the shape of the first operand that has one."""
    return next((a.shape for a in args if a.shape is not None), None)


def equal_shapes(node: Basic, args: Sequence[Value]) -> Shape | None:
    """Return the shape that all operands have.

    Raises: ShapeError for a 1 x 1 matrix or a scalar beside a matrix, over which it would be repeated.
    """
    shape = common(args)
    if shape is not None and any(a.shape is None for a in args):
        raise ShapeError(f"{type(node).__name__} of SymPy with operands of different shapes: {node}")
    return shape


def is_matrix(node: Basic, value: Value) -> bool:
    """Whether a node of SymPy is a matrix of more than one entry; inside an applied function it is an entry."""
    return value.shape is not None and bool(getattr(node, "is_Matrix", False))


def number_of(node: Basic) -> Ast:
    """Return a SymPy number; a float is the exact value of its shortest decimal form."""
    if node.is_Rational:
        return rational(Fraction(int(node.p), int(node.q)))
    if node.is_Float and node.is_finite:
        return rational(Fraction(repr(float(node))))
    raise NotSupported(f"the number {node} of SymPy is not supported")


def rational(value: Fraction) -> Ast:
    return syntax.negative(syntax.number(-value)) if value < 0 else syntax.number(value)


def keyword_trees(keywords: str) -> dict[str, Ast]:
    """Return the keyword arguments that an operation of SymPy holds as text, `axis=0`."""
    return dict(syntax.call_keywords(read(f"keywords({keywords})")))
