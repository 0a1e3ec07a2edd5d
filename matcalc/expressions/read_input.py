"""Reads the user's input (text, SymPy objects, expressions, functions) as expressions that share one scope."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, TypeAlias

from matcalc.errors import MatcalcError, NotSupported, ParseError, ShapeError, UnknownName
from matcalc.expressions.derivatives import name_of
from matcalc.expressions.expression import Expression, as_expression, of_meaning, side_by_side
from matcalc.expressions.numpy_text import run
from matcalc.expressions.operands.handle import Wrt
from matcalc.expressions.read_formulas import NUMPY, read_formulas, same_symbol
from matcalc.expressions.sympy_bridge import from_sympy as read_sympy
from matcalc.expressions.sympy_bridge import symbols_in
from matcalc.expressions.sympy_bridge.sympy_objects import is_indexed, symbol_name
from matcalc.expressions.tracing import Declared, Results, is_function, results_of, traced
from matcalc.expressions.unused import check_used, is_text, shared
from matcalc.expressions.wrt import read_wrt
from matcalc.formula.elaborate.texts import elaborate
from matcalc.language.containers import Form, items, refilled, variables_in
from matcalc.language.declare import Declarations, as_text, containers_in, read_declarations, size_names
from matcalc.language.identifiers import shown
from matcalc.language.kinds import SIZE
from matcalc.language.syntax import Ast, whole
from matcalc.tensor.constructors import size_number
from matcalc.tensor.nodes.node import Node
from matcalc.tensor.sizes.size import Size
from matcalc.tensor.symbols import Names

if TYPE_CHECKING:
    import numpy.typing as npt
    from sympy import Basic

Readable: TypeAlias = "str | Expression | Ast | Basic | npt.ArrayLike | Callable[..., object]"
"""Input that is read as an expression: text, an object, numbers, a function written for NumPy."""
Readables: TypeAlias = "Readable | Sequence[Readable]"


def expression(text: Readable, declarations: Declarations = "", dialect: str = "matrix") -> Expression:
    """Return a formula as written: constructed, neither simplified nor differentiated.

    `declarations` are text, or a dictionary by name of texts, arrays of these shapes, and containers of both. A
    container, in text `p.W: matrix(m, n); p.b: vector(m)`, is a parameter of a Python function.

    Raises: ParseError, ShapeError, UnknownName, NotSupported, with a caret.
    """
    return expressions([text], declarations, dialect)[0]


def from_sympy(expr: Basic) -> Expression:
    """Return a SymPy scalar, matrix or array as an expression; SymPy's assumptions on its symbols become facts.

    A MatrixSymbol of one column is a vector, its transpose a row, a 1 x 1 matrix a scalar. Sizes are integers or
    symbols. The free indices (Idx) of indexed expressions are axes in the order of their names, as in numpy.einsum.

    Raises: NotSupported, which names the class, for an object without a meaning here; ShapeError.

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
    formulas: Sequence[Readable],
    declarations: Declarations = "",
    dialect: str = "matrix",
    known: Mapping[str, Node] | None = None,
    varied: Collection[str] | None = None,
) -> list[Expression]:
    """Return several formulas that share one scope: texts, expressions, SymPy objects or numbers.

    The scope holds the symbols `known` from the start; `varied` are names in which texts are differentiated as scalars.
    """
    declarations = as_text(declarations)
    forms = containers_in(declarations)
    symbols_ = _declared(declarations, known or {}) if any(map(is_function, formulas)) else {}
    declared = Declared.of(symbols_, forms)
    ready = [_ready(f, declared) for f in formulas]
    names = Names(known or {}, ())
    for e in ready:
        if e is not None:
            names = names.joined(e.names)
    unread = [formula for formula, e in zip(formulas, ready, strict=True) if e is None]
    made = (_with_containers(e, forms) for e in _read(unread, declarations, dialect, names, varied))
    found = [e if e is not None else next(made) for e in ready]
    check_used(declarations, formulas, found, known or {})
    return found


def _with_containers(e: Expression, forms: Mapping[str, Form]) -> Expression:
    """Return a formula read from text that has all symbols of a container if it has one of them."""
    used = {name: form for name, form in forms.items() if set(form.names) & set(e.names.written)}
    if not used:
        return e
    leaves = [leaf for form in used.values() for leaf in form.names]
    written = tuple(dict.fromkeys((*e.names.written, *leaves)))
    return Expression(e.node, replace(e.names, written=written, containers=used), e.row, reference=e.reference)


def _read(
    formulas: Sequence[Readable], declarations: str, dialect: str, names: Names, varied: Collection[str] | None
) -> list[Expression]:
    """Return formulas read in one scope; NumPy text without a syntax tree is run on its symbols."""
    try:
        made = read_formulas(formulas, declarations, dialect, names.symbols, names.sizes, varied)
        return [of_meaning(one) for one in made]
    except MatcalcError as fault:
        if dialect != NUMPY or not all(isinstance(formula, str) for formula in formulas):
            raise
        read = read_declarations(declarations)
        declared = _declared(declarations, names.symbols)
        sizes = [*names.size_names, *(name for d in read for name in size_names(d)), *(d.name for d in read)]
        try:
            return [run(str(formula), declared, [n for n in sizes if n not in declared]) for formula in formulas]
        except MatcalcError as other:
            says_more = isinstance(other, NotSupported) or not isinstance(fault, ShapeError)
            raise (fault if isinstance(other, (ParseError, UnknownName)) or not says_more else other) from None


def _ready(formula: Readable, declared: Declared) -> Expression | None:
    """Return an expression, number, array or function as an expression; None for input that must be read."""
    if is_text(formula):
        return None
    return traced(formula, declared) if is_function(formula) else as_expression(formula)


def _declared(declarations: str, known: Mapping[str, Node]) -> dict[str, Expression]:
    """Return symbols by name, the declared ones first."""
    own = {d.name: e for d, e in zip(read_declarations(declarations), symbols(declarations), strict=True)}
    others = {name: Expression(node, Names({name: node}, (name,))) for name, node in known.items()}
    return {**own, **{name: e for name, e in others.items() if name not in own}}


def function(declarations: Declarations) -> Callable[[Callable[..., object]], Results]:
    """Return a decorator that replaces a Python function written for NumPy by the expression of its result.

    The parameters are the declared symbols of their names. A returned tuple or list becomes one expression for each
    element.

    Raises: UnknownName for a parameter that is not declared; NotSupported for a branch on a value, a value printed as a
        number or an array changed in place, with the line of the function.

    Example:
        >>> import numpy as np
        >>> @function("X: matrix(m, n); y: vector(m); w: vector(n)")
        ... def loss(X, y, w):
        ...     return np.mean((X @ w - y) ** 2)
        >>> str(loss.gradient("w"))
        "2*X'*(X*w - y)/m"
    """
    declarations = as_text(declarations)
    declared, forms = _declared(declarations, {}), containers_in(declarations)
    return lambda written: results_of(written, Declared.of(declared, forms))


def outputs_of(outputs: object, declarations: Declarations) -> object:
    """Return a nesting of formulas in which Python functions are replaced by their results."""
    if not _holds_function(outputs):
        return outputs
    declarations = as_text(declarations)
    declared = Declared.of(_declared(declarations, {}), containers_in(declarations))

    def made(one: object) -> object:
        if is_function(one):
            return results_of(one, declared)
        parts = items(one)
        return one if not parts else refilled(one, [made(part) for _, part in parts])

    return made(outputs)


def _holds_function(outputs: object) -> bool:
    return is_function(outputs) or any(_holds_function(part) for _, part in items(outputs) or ())


def place_of(name: str, text: str, dialect: str, names: Names) -> int:
    """Return the position of a name in the text of a formula, read with the names declared."""
    (tree,) = elaborate([text], dialect=dialect, symbols=names.symbols, sizes=names.sizes).trees
    return min((a.span[0] for a in whole(tree) if a.head == "name" and a.value == name), default=0)


def symbols(declarations: Declarations) -> tuple[Expression, ...]:
    """Return declared symbols as objects, in order; a size, `n: size`, is a number.

    Example:
        >>> X, w = symbols("X: matrix(m, n); w: vector(n)")
        >>> str(X @ w)
        'X*w'
    """
    declarations = as_text(declarations)
    found = elaborate([], declarations).scope.symbols
    made: list[Expression] = []
    for d in read_declarations(declarations):
        if d.kind == SIZE:
            made.append(Expression(size_number(Size.of(d.name)), Names({}, (), sizes=(d.name,))))
        else:
            made.append(Expression(found[d.name], Names({d.name: found[d.name]}, (d.name,))))
    return tuple(made)


def with_wrt(
    f: Readables, wrt: Wrt, declarations: Declarations = "", dialect: str = "matrix", scalar: bool = False
) -> Expression:
    """Return a formula as an expression in which the symbols of `wrt` are known, even if they do not occur.

    A SymPy symbol in `wrt` counts as declared. Several formulas of one shape are stacked, along a new first axis. If a
    `scalar` is required, undeclared names get the kinds that make the formula a scalar, if one smallest change does.
    """
    declarations = as_text(declarations)
    forms = f.names.containers if isinstance(f, Expression) else containers_in(declarations)
    containers = variables_in(wrt, forms)
    variables = read_wrt(wrt if containers is None else containers.wrt).listed
    declaring = [one for one in variables if symbol_name(one) and not is_indexed(one)]
    theirs = {name: node for one in declaring for name, node in read_sympy(one)[1].items()}
    if isinstance(f, Expression):
        for name, node in theirs.items():
            same_symbol(node, f.names.symbols.get(name, node))
    many = isinstance(f, (list, tuple))
    own = [name_of(one) for one in variables]
    formulas = f if isinstance(f, (list, tuple)) else [f]
    read = expressions(formulas, shared(declarations), dialect, theirs, own if scalar else None)
    check_used(declarations, formulas, read, own)
    e = side_by_side(read) if many else read[0]
    if theirs and not isinstance(f, Expression):
        first = [d.name for d in read_declarations(declarations) if d.kind != SIZE]
        written = e.names.written if isinstance(f, str) or many else sorted(e.names.symbols)
        order = dict.fromkeys((*first, *written, *e.names.symbols))
        e = Expression(e.node, replace(e.names, symbols={n: e.names.symbols[n] for n in order}), e.row)
    for one in variables:
        if name_of(one) in e.names.symbols:
            continue
        if isinstance(one, Expression):
            e = Expression(e.node, e.names.joined(Names(one.names.symbols, ())), e.row)
        elif symbol_name(one) is not None:
            names = Names(theirs, (), sympy_symbols=symbols_in(one))
            e = Expression(e.node, e.names.joined(names), e.row)
        elif declarations and isinstance(f, Expression):
            declared = {s.node.name: s for s in symbols(declarations) if s.node.kind == "symbol"}
            if name_of(one) not in declared:
                raise UnknownName(f"{name_of(one)} is neither declared nor in the formula")
            e = Expression(e.node, e.names.joined(Names(declared[name_of(one)].names.symbols, ())), e.row)
    return e
