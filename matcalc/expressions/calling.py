"""Functions of the rulebook on objects: `mc.exp(x)`, `mc.inv(A)`, `mc.sum(X, axis=0)`, `mc.block(...)`."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Any

from matcalc.calculus.derive.conventions import shape_text
from matcalc.errors import NotDifferentiable, NotSupported, ParseError, ShapeError, UnknownName
from matcalc.expressions.expression import Expression, as_expression
from matcalc.formula.elaborate.rule_formula import build_formula
from matcalc.language.identifiers import free, identifier, shown
from matcalc.language.read import read
from matcalc.language.syntax import call_keywords, call_name
from matcalc.rulebook.load import default_rulebook
from matcalc.rulebook.rule import Rule
from matcalc.tensor.constructors import broadcast, symbol
from matcalc.tensor.node import Node, toposort
from matcalc.tensor.sizes_from_shapes import Condition
from matcalc.tensor.substitute import solution, substitute
from matcalc.tensor.symbols import Names

WORD = re.compile(r"\w+")


def function(name: str) -> Callable[..., Any]:
    """Return the function of that name: of expressions, numbers and arrays; a tuple where it has several results.

    Raises: AttributeError for a name that the rulebook does not know.
    """
    if name == "block":
        return block
    rule = default_rulebook().rules.get(name)
    if rule is not None and len(rule.outputs) > 1:
        return parts(name, rule.names)
    try:
        candidates = default_rulebook().candidates(name)
    except UnknownName as error:
        raise AttributeError(f"module 'matcalc' has no attribute '{name}'; {error}") from None
    if candidates[0].rule.kind == "implicit":
        return solver(candidates[0].rule)

    def call(*args: Any, **keywords: Any) -> Expression:
        symbols: dict[str, Node] = {}
        names = Names({}, ())
        written = []
        row = False
        taken = {word for text in (*args, *keywords.values()) if isinstance(text, str) for word in WORD.findall(text)}
        for place, arg in enumerate(args):
            if isinstance(arg, str):
                written.append(single_argument(name, arg))
                continue
            e = as_expression(arg)
            if e is None:
                raise NotSupported(f"{name} takes expressions, numbers, arrays and sizes, not {arg!r}")
            names = names.joined(e.names)
            row = row or e.row
            if e.node.kind == "number":
                written.append(str(e))
                continue
            stand_in = free(f"a{place}_", taken)
            symbols[stand_in] = e.node
            written.append(f"{stand_in}'" if e.row and len(e.node.shape) == 1 else stand_in)
        written += [f"{identifier(k, 'the keyword')}={single_argument(name, str(v))}" for k, v in keywords.items()]
        conditions: list[Condition] = []
        formula = f"{name}({', '.join(written)})"
        node = build_formula(formula, (), default_rulebook(), symbols, conditions=conditions)
        return Expression(node, names.under(conditions), row and len(node.shape) == 1)

    call.__name__ = name
    call.__doc__ = f"Return {name} of expressions, as the text form gives it."
    return call


def single_argument(function: str, text: str) -> str:
    """Return the text of one argument: a formula or a function, such as `x -> log(x)^2`.

    Raises: ParseError for any other text.
    """
    call = read(f"{function}({text})")
    if call.head != "call" or len(call.args) != 1 or call_keywords(call) or call_name(call) != function:
        raise ParseError(f"{shown(text)} is not one argument of {function}")
    return text


def parts(name: str, names: Sequence[str]) -> Callable[..., tuple[Expression, ...]]:
    """Return the function that gives all results of a decomposition: `w, V = mc.eigh(S)`."""
    functions = [function(part) for part in names]

    def call(*args: Any) -> tuple[Expression, ...]:
        return tuple(part(*args) for part in functions)

    call.__name__ = name
    call.__doc__ = f"Return {', '.join(names)} of expressions."
    return call


def solver(rule: Rule) -> Callable[..., Expression]:
    """Return the function that solves an equation for a symbol: `mc.root(F, Y, start)`."""

    def call(equation: Any, unknown: Any, start: Any) -> Expression:
        parts = [as_expression(part) for part in (equation, unknown, start)]
        left, symbol_, first = parts
        if left is None or symbol_ is None or first is None or symbol_.node.kind != "symbol":
            raise NotSupported(f"{rule.name} takes an expression, a symbol in it and a start")
        at, y = first.node, symbol_.node
        at = broadcast(at, y.shape) if not at.shape and y.shape else at
        if y not in toposort(left.node):
            raise ShapeError(f"{rule.name}: {y.name} does not occur in {left}")
        if "constant" in y.facts:
            raise NotDifferentiable(f"{y.name} is declared constant and cannot be solved for")
        for what, node in (("equation", left.node), ("start", at)):
            if node.shape != y.shape:
                shapes = f"{shape_text(node.shape)}, and {y.name} is {shape_text(y.shape)}"
                raise ShapeError(f"{rule.name}: the {what} is {shapes}")
        inside = left.names.without(y.name)
        node = solution(
            rule, substitute(left.node, {y: symbol(f"#{y.name}", y.shape)}), symbol(f"#{y.name}", y.shape), at
        )
        return Expression(node, inside.joined(first.names))

    call.__name__ = rule.name
    call.__doc__ = f"Return the solution of an equation, as the text {rule.name}(F, Y, start=Y0) gives it."
    return call


def block(rows: Sequence[Sequence[Any]]) -> Expression:
    """Return the block matrix of rows of expressions."""
    symbols: dict[str, Node] = {}
    names = Names({}, ())
    lines = []
    for i, row in enumerate(rows):
        entries = []
        for j, entry in enumerate(row):
            e = as_expression(entry)
            if e is None:
                raise NotSupported(f"a block is an expression, a number or an array, not {entry!r}")
            if e.node.kind == "number":
                entries.append(str(e))
                continue
            names = names.joined(e.names)
            symbols[f"a{i}_{j}_"] = e.node
            entries.append(f"a{i}_{j}_'" if e.row else f"a{i}_{j}_")
        lines.append(", ".join(entries))
    node = build_formula(f"[{'; '.join(lines)}]", (), default_rulebook(), symbols)
    return Expression(node, names)
