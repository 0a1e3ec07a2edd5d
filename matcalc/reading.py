"""From what users write - text, SymPy objects, expressions - to expressions that share one scope."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from typing import Any

from matcalc.elaborate.expressions import elaborate
from matcalc.elaborate.scope import Scope
from matcalc.elaborate.solutions import names_of
from matcalc.errors import ShapeError, UnknownName
from matcalc.expressions import Expression, as_expression, name_of
from matcalc.language.declare import SIZE, read_declarations, size_names
from matcalc.language.numpy_dialect import read_numpy
from matcalc.language.read import read
from matcalc.language.syntax import Ast, whole
from matcalc.names import Names, declaration
from matcalc.normal_form.make import symbol
from matcalc.normal_form.node import Node
from matcalc.normal_form.tensor import size_number
from matcalc.rulebook.load import default_rulebook
from matcalc.sizes import Size
from matcalc.sympy_bridge import from_sympy as read_sympy
from matcalc.sympy_bridge import sizes_in, symbols_in
from matcalc.sympy_bridge.objects import is_sympy, symbol_name


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
        raise ShapeError(f"{expr!r} is no SymPy object; expression() reads text")
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
    scope = dict(shared.symbols)
    unread = [formula for formula, e in zip(formulas, ready, strict=True) if e is None]
    sizes = _sizes(unread, declarations, scope)
    trees = [_tree(formula, scope, sizes) for formula in unread]
    made = iter(_elaborated(trees, declarations, dialect, _declared(scope, declarations), {*shared.sizes, *sizes}))
    return [e if e is not None else _with_theirs(next(made), f) for e, f in zip(ready, formulas, strict=True)]


def _with_theirs(e: Expression, formula: Any) -> Expression:
    """Return an expression that knows the SymPy symbols that it was read from."""
    if not is_sympy(formula):
        return e
    return Expression(e.node, replace(e.names, theirs=symbols_in(formula)), e.row)


def _sizes(formulas: Sequence[Any], declarations: str, known: Mapping[str, Node]) -> set[str]:
    """Return the names that are sizes in some SymPy formula, in the declarations or in known symbols."""
    theirs = [f for f in formulas if is_sympy(f)]
    if not theirs:
        return set()
    declared = {
        name for d in read_declarations(declarations) for name in ((d.name,) if d.kind == SIZE else size_names(d))
    }
    shapes = {name for node in known.values() for size in node.shape for name in size.names}
    return declared.union(shapes, *map(sizes_in, theirs))


def _tree(formula: Any, known: dict[str, Node], sizes: set[str]) -> str | Ast:
    """Return the tree or text of a formula; the symbols of a SymPy object become known, by name."""
    if isinstance(formula, (str, Ast)):
        return formula
    if not is_sympy(formula):
        raise ShapeError(f"{formula!r} is no formula: give text, an expression or a SymPy object")
    tree, symbols = read_sympy(formula, sizes)
    for name, node in sorted(symbols.items()):
        known[name] = _same(node, known.get(name, node))
    return tree


def _same(theirs: Node, known: Node) -> Node:
    """Return the symbol that a SymPy symbol is: one of its shape may have facts of which SymPy knows nothing.

    Raises: ShapeError for two shapes or two sets of facts.
    """
    if theirs is known or (theirs.shape == known.shape and not theirs.data[1]):
        return known
    if theirs.shape == known.shape and not known.data[1]:
        return theirs
    raise ShapeError(f"{known.name} is declared twice: {declaration(known)} and {declaration(theirs)}")


def _declared(known: dict[str, Node], declarations: str) -> dict[str, Node]:
    """Return known symbols in the order of the declarations; those without facts have the declared ones."""
    facts = {d.name: d.facts for d in read_declarations(declarations) if d.name in known}
    found = {name: _with_facts(known[name], facts[name]) for name in facts}
    return {**found, **{name: node for name, node in known.items() if name not in found}}


def _with_facts(node: Node, facts: Sequence[str]) -> Node:
    return node if node.data[1] else symbol(node.name, node.shape, facts)


def _elaborated(
    trees: Sequence[str | Ast], declarations: str, dialect: str, known: dict[str, Node], sizes: Collection[str]
) -> list[Expression]:
    if not trees and not declarations:
        return []
    made = elaborate(trees, declarations, default_rulebook(), dialect, known, sorted(sizes))
    return [
        Expression(node, _names_in(tree, dialect, made.scope).under(conditions), row)
        for tree, node, row, conditions in zip(trees, made.nodes, made.rows, made.conditions, strict=True)
    ]


def _names_in(tree: str | Ast, dialect: str, scope: Scope) -> Names:
    """Return the names in scope, without what is only solved for, and those that a formula is written with."""
    if isinstance(tree, str):
        tree = read(tree) if dialect == "matrix" else read_numpy(tree)
    free, bound = names_of(tree, default_rulebook())
    written = tuple(n for n in dict.fromkeys(free) if n in scope.symbols)
    kept = {n: s for n, s in scope.symbols.items() if n not in bound or n in written}
    return Names(kept, written, sizes=scope.sizes)


def place_of(name: str, text: str, dialect: str = "matrix") -> int:
    """Return where a name first stands in the text of a formula."""
    tree = read(text) if dialect == "matrix" else read_numpy(text)
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
            _same(node, f.names.symbols.get(name, node))
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
