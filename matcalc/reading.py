"""From what users write - text, SymPy objects, expressions - to expressions that share one scope."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from matcalc.elaborate.expressions import elaborate
from matcalc.elaborate.solutions import names_of
from matcalc.errors import ShapeError, UnknownName
from matcalc.expressions import Expression, as_expression, name_of
from matcalc.language.declare import read_declarations
from matcalc.language.numpy_dialect import read_numpy
from matcalc.language.read import read
from matcalc.language.syntax import Ast
from matcalc.names import Names
from matcalc.normal_form.node import Node
from matcalc.rulebook.load import default_rulebook


def expression(text: Any, declarations: str = "", dialect: str = "matrix") -> Expression:
    """Return a formula as it is written: constructed, neither simplified nor differentiated.

    Raises: ParseError, ShapeError, UnknownName, NotSupported, with a caret.
    """
    return expressions([text], declarations, dialect)[0]


def expressions(formulas: Sequence[Any], declarations: str = "", dialect: str = "matrix") -> list[Expression]:
    """Return several formulas that share one scope: texts, expressions, SymPy objects or numbers."""
    ready = [as_expression(f) if not isinstance(f, (str, Ast)) else None for f in formulas]
    known: dict[str, Node] = {}
    for e in ready:
        if e is not None:
            known = dict(Names(known, ()).joined(e.names).symbols)
    trees: list[Any] = []
    for formula, e in zip(formulas, ready, strict=True):
        if e is None:
            trees.append(_tree(formula, known))
    made = iter(_elaborated(trees, declarations, dialect, known))
    return [e if e is not None else next(made) for e in ready]


def _tree(formula: Any, known: dict[str, Node]) -> str | Ast:
    if isinstance(formula, (str, Ast)):
        return formula
    if not type(formula).__module__.startswith("sympy"):
        raise ShapeError(f"{formula!r} is no formula: give text, an expression or a SymPy object")
    from matcalc.sympy_bridge import from_sympy

    tree, symbols = from_sympy(formula)
    known.update(symbols)
    return tree


def _elaborated(
    trees: Sequence[str | Ast], declarations: str, dialect: str, known: dict[str, Node]
) -> list[Expression]:
    if not trees and not declarations:
        return []
    made = elaborate(trees, declarations, default_rulebook(), dialect, known)
    return [
        Expression(node, _names_in(tree, dialect, made.scope.symbols).under(conditions), row)
        for tree, node, row, conditions in zip(trees, made.nodes, made.rows, made.conditions, strict=True)
    ]


def _names_in(tree: str | Ast, dialect: str, symbols: Mapping[str, Node]) -> Names:
    """Return the symbols in scope, without what is only solved for, and those that a formula is written with."""
    if isinstance(tree, str):
        tree = read(tree) if dialect == "matrix" else read_numpy(tree)
    free, bound = names_of(tree, default_rulebook())
    written = tuple(n for n in dict.fromkeys(free) if n in symbols)
    return Names({n: s for n, s in symbols.items() if n not in bound or n in written}, written)


def symbols(declarations: str) -> tuple[Expression, ...]:
    """Return declared symbols as objects, in order.

    Example:
        >>> X, w = symbols("X: matrix(m, n); w: vector(n)")
        >>> str(X @ w)
        'X*w'
    """
    names = [d.name for d in read_declarations(declarations)]
    found = elaborate([], declarations).scope.symbols
    return tuple(Expression(found[name], Names({name: found[name]}, (name,))) for name in names)


def with_wrt(f: Any, wrt: Any, declarations: str = "", dialect: str = "matrix") -> Expression:
    """Return a formula as an expression in which the symbols of `wrt` are known, also those that do not occur."""
    e = expressions([f], declarations, dialect)[0]
    for one in wrt if isinstance(wrt, (list, tuple)) else [wrt]:
        if name_of(one) in e.names.symbols:
            continue
        if isinstance(one, Expression):
            e = Expression(e.node, e.names.joined(Names(one.names.symbols, ())), e.row)
        elif declarations and isinstance(f, Expression):
            declared = {s.node.name: s for s in symbols(declarations)}
            if name_of(one) not in declared:
                raise UnknownName(f"{name_of(one)} is neither declared nor in the formula")
            e = Expression(e.node, e.names.joined(Names(declared[name_of(one)].names.symbols, ())), e.row)
    return e
