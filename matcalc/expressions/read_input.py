"""From what users write - text, SymPy objects, expressions - to expressions that share one scope."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from matcalc.errors import ShapeError, UnknownName
from matcalc.expressions.expression import Expression, as_expression, name_of
from matcalc.expressions.read_formulas import read_formulas, same_symbol
from matcalc.expressions.sympy_bridge import from_sympy as read_sympy
from matcalc.expressions.sympy_bridge import symbols_in
from matcalc.expressions.sympy_bridge.given_objects import is_sympy, symbol_name
from matcalc.formula.elaborate.texts import READERS, elaborate
from matcalc.language.declare import SIZE, read_declarations
from matcalc.language.identifiers import shown
from matcalc.language.syntax import Ast, whole
from matcalc.rulebook.load import default_rulebook
from matcalc.tensor.constructors import size_number
from matcalc.tensor.node import Node
from matcalc.tensor.size import Size
from matcalc.tensor.symbols import Names


def expression(text: Any, declarations: str = "", dialect: str = "matrix") -> Expression:
    """Return a formula as it is written: constructed, neither simplified nor differentiated.

    Raises: ParseError, ShapeError, UnknownName, NotSupported, with a caret.
    """
    return expressions([text], declarations, dialect)[0]


def from_sympy(expr: Any) -> Expression:
    """Return a SymPy scalar, matrix or array as an expression, what SymPy assumes of its symbols as facts.

    A MatrixSymbol of one column is a vector, its transpose a row, a 1 x 1 matrix a scalar; sizes are integers or
    symbols. Of indexed expressions the free indices (Idx) are axes in the order of their names, as in numpy.einsum.

    Raises: NotSupported, which names the class, for what has no meaning here; ShapeError.

    Example:
        >>> import sympy
        >>> A, x = sympy.MatrixSymbol("A", 3, 3), sympy.MatrixSymbol("x", 3, 1)
        >>> str(from_sympy(x.T * A * x))
        "x'*A*x"
    """
    if isinstance(expr, (str, Expression)):
        raise ShapeError(f"{shown(expr)} is no SymPy object; expression() reads text")
    return expression(expr)


def expressions(
    formulas: Sequence[Any], declarations: str = "", dialect: str = "matrix", known: Mapping[str, Node] | None = None
) -> list[Expression]:
    """Return several formulas that share one scope: texts, expressions, SymPy objects or numbers.

    `known` are symbols that are in it from the start.
    """
    ready = [as_expression(f) if not isinstance(f, (str, Ast)) and not is_sympy(f) else None for f in formulas]
    shared = Names(known or {}, ())
    for e in ready:
        if e is not None:
            shared = shared.joined(e.names)
    unread = [formula for formula, e in zip(formulas, ready, strict=True) if e is None]
    made = iter(read_formulas(unread, declarations, dialect, shared.symbols, shared.sizes))
    return [e if e is not None else Expression(*next(made)) for e in ready]


def place_of(name: str, text: str, dialect: str = "matrix") -> int:
    """Return where a name first stands in the text of a formula."""
    tree = READERS[dialect](text, default_rulebook())
    return min((a.span[0] for a in whole(tree) if a.head == "name" and a.value == name), default=0)


def symbols(declarations: str) -> tuple[Expression, ...]:
    """Return declared symbols as objects, in order; a size, `n: size`, as the number that it is.

    Example:
        >>> X, w = symbols("X: matrix(m, n); w: vector(n)")
        >>> str(X @ w)
        'X*w'
    """
    found = elaborate([], declarations).scope.symbols
    made: list[Expression] = []
    for d in read_declarations(declarations):
        if d.kind == SIZE:
            made.append(Expression(size_number(Size.of(d.name)), Names({}, (), sizes=(d.name,))))
        else:
            made.append(Expression(found[d.name], Names({d.name: found[d.name]}, (d.name,))))
    return tuple(made)


def with_wrt(f: Any, wrt: Any, declarations: str = "", dialect: str = "matrix") -> Expression:
    """Return a formula as an expression in which the symbols of `wrt` are known, also those that do not occur.

    A SymPy symbol is declared by being in `wrt`.
    """
    given = wrt if isinstance(wrt, (list, tuple)) else [wrt]
    theirs = {name: node for one in given if symbol_name(one) for name, node in read_sympy(one)[1].items()}
    if isinstance(f, Expression):
        for name, node in theirs.items():
            same_symbol(node, f.names.symbols.get(name, node))
    e = expressions([f], declarations, dialect, theirs)[0]
    if theirs and not isinstance(f, Expression):
        first = [d.name for d in read_declarations(declarations) if d.kind != SIZE]
        written = e.names.written if isinstance(f, str) else sorted(e.names.symbols)
        order = dict.fromkeys((*first, *written, *e.names.symbols))
        e = Expression(e.node, replace(e.names, symbols={n: e.names.symbols[n] for n in order}), e.row)
    for one in given:
        if name_of(one) in e.names.symbols:
            continue
        if isinstance(one, Expression):
            e = Expression(e.node, e.names.joined(Names(one.names.symbols, ())), e.row)
        elif symbol_name(one) is not None:
            names = Names(theirs, (), theirs=symbols_in(one))
            e = Expression(e.node, e.names.joined(names), e.row)
        elif declarations and isinstance(f, Expression):
            declared = {s.node.name: s for s in symbols(declarations) if s.node.kind == "symbol"}
            if name_of(one) not in declared:
                raise UnknownName(f"{name_of(one)} is neither declared nor in the formula")
            e = Expression(e.node, e.names.joined(Names(declared[name_of(one)].names.symbols, ())), e.row)
    return e
