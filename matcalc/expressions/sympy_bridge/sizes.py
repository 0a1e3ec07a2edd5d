"""Sizes of SymPy's matrices as sizes, and back: integers, symbols, polynomials, min and max."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from functools import reduce
from math import lcm
from typing import TYPE_CHECKING

from matcalc.errors import NotSupported
from matcalc.expressions.sympy_bridge.given_objects import name_of
from matcalc.tensor.size import Compound, Size, floordiv, maximum, minimum

if TYPE_CHECKING:
    from sympy import Basic


def size_from(expr: Basic) -> Size:
    """Return a dimension of a SymPy matrix as a size.

    Raises: NotSupported for what is no size.
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
    raise NotSupported(f"the size {node} of a SymPy matrix")


_FOLDS: dict[str, Callable[[Size, Size], Size]] = {
    "Add": lambda a, b: a + b,
    "Mul": lambda a, b: a * b,
    "Min": minimum,
    "Max": maximum,
}


def size_to(size: Size) -> Basic:
    """Return a size as a SymPy expression."""
    import sympy

    total: Basic = sympy.Integer(0)
    for monomial, coefficient in size.terms:
        factors = [_atom(atom) ** power for atom, power in monomial]
        total += sympy.Mul(sympy.Rational(coefficient.numerator, coefficient.denominator), *factors)
    return total


def _atom(atom: str | Compound) -> Basic:
    import sympy

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
