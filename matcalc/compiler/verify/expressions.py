"""Compiles expressions of a Program to Python functions of a frame: sizes, axes and the lets of the loop by name.

Sizes are computed with integers alone; a fraction as an index, a length or in a guard is a fault. Elementwise functions
are the values of their rules.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from functools import lru_cache
from math import lcm
from operator import floordiv, itemgetter, mod
from typing import Any

from matcalc.compiler.entrywise import Apply, Expr, Guard, Index, Literal, Number, Product, Read, Select, Sum
from matcalc.compiler.lowering_entries import Scalar
from matcalc.compiler.verify.faults import RunFault
from matcalc.compiler.verify.memory import check_index
from matcalc.errors import NotSupported
from matcalc.rulebook.load import default_rulebook
from matcalc.rulebook.oracle import oracle
from matcalc.tensor.facts.ranges import as_float
from matcalc.tensor.nodes.signature import paired
from matcalc.tensor.sizes.size import Atom, Compound, Size
from matcalc.tensor.sizes.size_tree import ENTRY

Frame = dict[str, int]
Whole = Callable[[Frame], int]


# ---- sizes


@lru_cache(maxsize=1024)
def whole(size: Index) -> Whole:
    """Return a size or an index as a function of a frame.

    Raises: when called, KeyError for a name without a value, ZeroDivisionError, RunFault if it is not an integer.
    """
    if isinstance(size, str):
        return itemgetter(size)
    scale = lcm(*(c.denominator for _, c in size.terms))
    function = _polynomial(size, scale)
    if scale == 1:
        return function
    shown = str(size)

    def found(frame: Frame) -> int:
        value = function(frame)
        if value % scale:
            raise RunFault(f"{shown} is {Fraction(value, scale)}, which is not an integer")
        return value // scale

    return found


def _polynomial(size: Size, scale: int) -> Whole:
    """Return a size times `scale`, which makes its coefficients integers; nested term by term, constant innermost."""
    constant = int(size.constant * scale)
    function: Whole | None = None
    for monomial, coefficient in reversed(size.terms):
        if monomial:
            atoms = [atom for atom, power in monomial for _ in range(power)]
            function = _plus(int(coefficient * scale), atoms, function, constant)
    return function or (lambda frame: constant)


def _plus(coefficient: int, atoms: Sequence[Atom], rest: Whole | None, constant: int) -> Whole:
    """Return a term plus the rest, or plus a constant if there is none; faster for one or two names."""
    names = [atom for atom in atoms if isinstance(atom, str)]
    if len(names) == len(atoms) == 1:
        (one,) = names
        if rest is None:
            return lambda frame: coefficient * frame[one] + constant
        return lambda frame: coefficient * frame[one] + rest(frame)
    if len(names) == len(atoms) == 2:
        one, two = names
        if rest is None:
            return lambda frame: coefficient * frame[one] * frame[two] + constant
        return lambda frame: coefficient * frame[one] * frame[two] + rest(frame)
    factors = [itemgetter(atom) if isinstance(atom, str) else _compound(atom) for atom in atoms]
    after = rest or (lambda frame: constant)

    def found(frame: Frame) -> int:
        value = coefficient
        for factor in factors:
            value *= factor(frame)
        return value + after(frame)

    return found


OPERATORS: Mapping[str, Callable[[int, int], int]] = {"//": floordiv, "%": mod, "min": min, "max": max}


def _compound(atom: Compound) -> Whole:
    if atom.operator == ENTRY:
        data, at = atom.place
        return _entry(data.key, [whole(index) for index in at])
    combined, left, right = OPERATORS[atom.operator], _rounded(atom.left), _rounded(atom.right)
    return lambda frame: combined(left(frame), right(frame))


def _entry(data: str, indices: Sequence[Whole]) -> Whole:
    """Return an entry of data, which a frame holds as an array."""

    def found(frame: Frame) -> int:
        at, array = tuple(index(frame) for index in indices), frame[data]
        check_index(data, at, array.shape)  # type: ignore[attr-defined]
        return int(array[at])  # type: ignore[index]

    return found


def _rounded(size: Size) -> Whole:
    """Return an operand of `//`, `%`, min or max, rounded down to an integer."""
    scale = lcm(*(c.denominator for _, c in size.terms))
    function = _polynomial(size, scale)
    return function if scale == 1 else lambda frame: function(frame) // scale


def guard(test: Guard) -> Callable[[Frame], bool]:
    value = whole(test.size)
    if test.relation == "==":
        return lambda frame: value(frame) == 0
    return lambda frame: value(frame) >= 0


def holds(guards: Sequence[Callable[[Frame], bool]], frame: Frame) -> bool:
    return all(test(frame) for test in guards)


# ---- numbers


def plain_number(value: Number | Size, frame: Frame) -> float:
    """Return a number, or the value of a size."""
    if not isinstance(value, Size):
        return as_float(value)
    scale = lcm(*(c.denominator for _, c in value.terms))
    return whole(value * scale)(frame) / scale


Numeric = Callable[[Frame], Any]
Reader = Callable[[Read], Numeric]


def numeric(expr: Expr, reader: Reader) -> Numeric:
    """Return an expression as a function of a frame; `reader` returns the function that reads an entry."""
    if isinstance(expr, Literal):
        value = expr.value
        return lambda frame: plain_number(value, frame)
    if isinstance(expr, Read):
        return reader(expr)
    if isinstance(expr, Sum):
        terms = [(as_float(c), numeric(t, reader)) for c, t in expr.terms]
        return lambda frame: sum(c * term(frame) for c, term in terms)
    if isinstance(expr, Product):
        return _product(as_float(expr.coef), [numeric(f, reader) for f in expr.factors])
    if isinstance(expr, Apply):
        return _applied(expr, [numeric(a, reader) for a in expr.args])
    assert isinstance(expr, Select)
    tests, body = [guard(g) for g in expr.guards], numeric(expr.body, reader)
    return lambda frame: body(frame) if holds(tests, frame) else 0.0


def _product(coef: float, factors: Sequence[Numeric]) -> Numeric:
    def found(frame: Frame) -> Any:
        value: Any = coef
        for factor in factors:
            value = value * factor(frame)
        return value

    return found


def _applied(expr: Apply, args: Sequence[Numeric]) -> Numeric:
    function = meaning_of(expr.function)
    params = expr.params
    return lambda frame: function([a(frame) for a in args], [plain_number(p, frame) for p in params])


@lru_cache(maxsize=1024)
def meaning_of(function: Scalar) -> Callable[[list[Any], list[float]], Any]:
    """Return an elementwise function of operands and parameters: the value of its rule.

    The name of an entry is that of a rule, followed by fixed parameters: `pow -2`. An entry whose `of` names another is
    its first operand times the other's value at the remaining operands.
    """
    import numpy as np

    if "of" in function.templates:
        factor = meaning_of(replace(function, name=function.templates["of"], templates={}))
        return lambda args, params: args[0] * factor(args[1:], params)
    name, *texts = function.name.split(" ")
    rule = default_rulebook().rules.get(name)
    value = oracle(default_rulebook(), rule) if rule is not None else None
    if rule is None or value is None:
        raise NotSupported(f"{name} has no value expression")
    signature = rule.signature
    fixed = [as_float(Fraction(text)) for text in texts]

    def found(args: list[Any], params: list[float]) -> Any:
        arguments = paired(signature, (np.float64(a) for a in args), fixed + params)
        return np.float64(value(*(int(x) if p.kind == "integer" else x for p, x in arguments)))

    return found
