"""Reads SymPy's scalars, and the same operations entry by entry inside an applied function."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from fractions import Fraction

import sympy
from sympy import Basic

from matcalc.errors import NotSupported, UnknownName
from matcalc.expressions.sympy_bridge.by_rule import REWRITTEN, of_a_matrix
from matcalc.expressions.sympy_bridge.facts import facts_of
from matcalc.expressions.sympy_bridge.indexed import index_condition
from matcalc.expressions.sympy_bridge.matrices import added, multiplied, squared
from matcalc.expressions.sympy_bridge.sympy_objects import name_of
from matcalc.expressions.sympy_bridge.values import (
    Make,
    Reader,
    Value,
    common,
    is_matrix,
    keyword_trees,
    rational,
    shape_of,
)
from matcalc.language import syntax
from matcalc.language.syntax import Ast, call, number
from matcalc.rulebook.load import default_rulebook
from matcalc.rulebook.notations import spelled
from matcalc.tensor.sizes.size_tree import tree_of


def _symbol(reader: Reader, node: Basic, args: list[Value]) -> Value:
    """Return a symbol, a size, or a bound index as a number."""
    index = reader.bound.get(node)
    if index is not None:
        counted = call(spelled("running_total"), call(spelled("all_ones"), tree_of(index.length)))
        if index.start != 1:
            counted = syntax.add((counted, tree_of(index.start - 1)), (1, 1))
        return Value(syntax.part(counted, syntax.name(index.name)))
    if node.name not in reader.sizes:
        reader.declare(node, node.name, (), facts_of(node))
    return Value(syntax.name(node.name))


def _pi(reader: Reader, node: Basic, args: list[Value]) -> Value:
    """Return the constant, and reserve its name: a symbol of that name would hide it."""
    reader.reserve(node, "pi")
    return Value(syntax.name("pi"))


def _add(reader: Reader, node: Basic, args: list[Value]) -> Value:
    return Value(added(args), common(args))


def _mul(reader: Reader, node: Basic, args: list[Value]) -> Value:
    """Return a product, with negative powers as divisors and a negative number as a sign."""
    if any(map(is_matrix, node.args, args)):
        return multiplied(args)
    total: Value | None = None
    sign = 1
    for factor, value in zip(node.args, args, strict=True):
        if factor.is_Rational and factor < 0:
            sign, value = -sign, Value(rational(Fraction(-int(factor.p), int(factor.q))))
            if factor == -1:
                continue
        total = value if total is None else _times(total, value)
    assert total is not None
    return Value(syntax.negative(total.ast), total.shape) if sign < 0 else total


def _times(left: Value, right: Value) -> Value:
    entrywise = left.shape is not None and right.shape is not None
    if right.ast.head == "power" and right.ast.args[1].head == "negative":
        base, exponent = right.ast.args
        positive = exponent.args[0]
        divisor = base if positive.value == 1 else syntax.power(base, positive, right.ast.value == ".^")
        operator = "./" if right.shape is not None else "/"
        return Value(_joined(left.ast, operator, divisor), left.shape or right.shape)
    return Value(_joined(left.ast, ".*" if entrywise else "*", right.ast), left.shape or right.shape)


def _joined(left: Ast, operator: str, right: Ast) -> Ast:
    """Return `left op right`, which extends a product on the left."""
    if left.head != "product":
        return syntax.product((left, right), (operator,))
    return syntax.product((*left.args, right), (*left.value, operator))  # type: ignore[misc]


def _pow(reader: Reader, node: Basic, args: list[Value]) -> Value:
    base, exponent = args
    if is_matrix(node.exp, exponent):
        raise NotSupported(f"the power {node} of SymPy: its exponent is a matrix")
    if is_matrix(node.base, base):
        return Value(syntax.power(base.ast, exponent.ast), base.shape)
    if node.exp.is_Rational and node.exp.q == 2:
        return _root(base, int(node.exp.p))
    if type(node.base).__name__ == "Exp1":
        return Value(call(spelled("exponential"), exponent.ast), exponent.shape)
    shape = base.shape or exponent.shape
    return Value(syntax.power(base.ast, exponent.ast, shape is not None), shape)


def _root(base: Value, power: int) -> Value:
    """Return the square root of a value to a power; the root of a sum of squares is a norm."""
    vector = squared(base.ast) if base.shape is None else None
    if vector is not None:
        norm = call(spelled("euclidean_length"), vector)
        return Value(norm if power == 1 else syntax.power(norm, rational(Fraction(power))))
    if power == 1:
        return Value(call(spelled("square_root"), base.ast), base.shape)
    return Value(syntax.power(base.ast, rational(Fraction(power, 2)), base.shape is not None), base.shape)


def _named(reader: Reader, node: Basic, args: list[Value]) -> Value:
    """Return a function that SymPy knows only by name, if the rulebook has an operation of that name."""
    name = node.func.__name__
    try:
        rule = default_rulebook().candidates(name)[0].rule
    except UnknownName:
        raise NotSupported(f"the function {name} of SymPy: no operation of the rulebook has that name") from None
    if rule.operands and any(map(is_matrix, node.args, args)):
        raise NotSupported(of_a_matrix(name, node))
    return Value(call(name, *(a.ast for a in args)), common(args) if rule.operands else None)


def relations(test: Basic) -> list[Basic]:
    """Return the comparisons in a condition, from left to right."""
    found, stack = [], [test]
    while stack:
        node = stack.pop()
        if getattr(node, "is_Relational", False):
            found.append(node)
        else:
            stack.extend(reversed(node.args))
    return found


SWITCHES: Mapping[tuple[object, object], str] = {(1, 0): "condition", (0, 1): "negation"}
"""Values of two branches for which the choice is the condition as a number, or its negation."""


def _piecewise(reader: Reader, node: Basic, args: list[Value]) -> Value:
    """Return nested `where(x > y, a, b)`; for 1 and 0 by indices, their condition."""
    first, (other, _) = node.args[0], node.args[-1]
    if first[0] == 1 and other == 0 and len(node.args) == 2 and _is_of_indices(reader, first[1]):
        return index_condition(reader, first[1].lhs, first[1].rel_op, first[1].rhs, node)
    values = iter(args)
    branches = []
    for _, test in node.args:
        value = next(values)
        branches.append((value, test, {relation: (next(values), next(values)) for relation in relations(test)}))
    if branches[-1][1] != True:  # noqa: E712 - SymPy's true is not a bool
        raise NotSupported("a Piecewise of SymPy needs a last branch with the condition True")
    result = branches[-1][0]
    for value, test, sides in reversed(branches[:-1]):
        result = _chosen(test, sides, value, result)
    return result


def _is_of_indices(reader: Reader, test: Basic) -> bool:
    """Whether a comparison is one of indices and sizes."""
    if getattr(test, "rel_op", "!=") == "!=":
        return False
    known = [s in reader.bound or s.name in reader.sizes for s in test.free_symbols]
    return all(known) and any(s in reader.bound for s in test.free_symbols)


def _chosen(test: Basic, sides: Mapping[Basic, tuple[Value, Value]], yes: Value, no: Value) -> Value:
    """Return one value where a condition holds, else the other; `and` and `or` are nested choices."""
    if test in sides:
        left, right = sides[test]
        condition = syntax.compare(left.ast, test.rel_op, right.ast)
        switch = SWITCHES.get((yes.ast.value, no.ast.value)) if yes.ast.head == no.ast.head == "number" else None
        if switch is not None:
            return Value(call(spelled(switch), condition), common([left, right]))
        return Value(call(spelled("choice"), condition, yes.ast, no.ast), common([yes, no, left, right]))
    kind = type(test).__name__
    if kind not in ("And", "Or"):
        raise NotSupported(f"the condition {test} of a Piecewise of SymPy is not supported")
    result = yes if kind == "And" else no
    for part in reversed(test.args):
        result = _chosen(part, sides, result, no) if kind == "And" else _chosen(part, sides, yes, result)
    return result


def _floor(reader: Reader, node: Basic, args: list[Value]) -> Value:
    """Return a number rounded down: a quotient of indices and sizes is a size."""
    if any(s not in reader.bound and s.name not in reader.sizes for s in node.free_symbols):
        return Value(call(spelled("rounded_down"), args[0].ast), args[0].shape)
    divisor = int(node.args[0].as_coeff_Mul()[0].q)
    return Value(_joined(reader.read(node.args[0] * divisor).ast, "//", number(divisor)))


def _operation(reader: Reader, node: Basic, args: list[Value]) -> Value:
    """Return an operation that SymPy has only by name, as `Expression.sympy` writes it."""
    shape = shape_of(node) if node.sizes else None
    rest = iter(args)
    asts = [_argument(reader, operand, rest) for operand in node.operands]
    return Value(call(node.operation, *asts, **keyword_trees(node.keywords)), shape)


def integer_operands(node: Basic) -> set[str]:
    """Return the symbols of operands that an operation takes as integers: sizes."""
    if type(node).__name__ not in ("Operation", "ScalarOperation"):
        return set()
    found = set()
    for candidate in default_rulebook().candidates(node.operation):
        for parameter, operand in zip(candidate.rule.parameters, node.operands, strict=False):
            if parameter.kind == "integer":
                found |= {s.name for s in getattr(operand, "free_symbols", ())}
    return found


def _argument(reader: Reader, operand: Basic, rest: Iterator[Value]) -> Ast:
    """Return an operand in the form of a call: a formula, a function, or the name of one."""
    kind = type(operand).__name__
    if kind == "Str":
        return syntax.name(name_of(operand.name))
    if kind == "Lambda":
        (variable,) = operand.variables
        name = name_of(variable.name)
        return syntax.function(name, reader.read(operand.expr, {variable: Value(syntax.name(name))}).ast)
    return next(rest).ast


def _rewritten(reader: Reader, node: Basic, args: list[Value]) -> Value:
    """Return a function by its rewritten form in SymPy."""
    return reader.read(node.rewrite(getattr(sympy, REWRITTEN[type(node).__name__])))


READ: dict[str, Make] = {
    "Symbol": _symbol,
    "Mod": lambda reader, node, args: Value(syntax.product([a.ast for a in args], ("%",)), common(args)),
    "floor": _floor,
    "_Named": _operation,
    "AppliedUndef": _named,
    "Pi": _pi,
    "Exp1": lambda reader, node, args: Value(call(spelled("exponential"), number(1))),
    "Add": _add,
    "Mul": _mul,
    "Pow": _pow,
    "Piecewise": _piecewise,
    "im": lambda reader, node, args: Value(number(0), args[0].shape),  # all numbers are real
    **dict.fromkeys(("re", "conjugate"), lambda reader, node, args: args[0]),
    **dict.fromkeys(REWRITTEN, _rewritten),
}
