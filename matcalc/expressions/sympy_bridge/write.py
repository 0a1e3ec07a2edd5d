"""Writes syntax trees as SymPy objects: vectors become matrices of one column; scalar products stay scalars.

Each node of the tree is written once, operands first. A function is applied to every entry by `applyfunc`. An operation
without a SymPy class (`vec`, decompositions) is an operation by name (`operation`). A tensor that is not written by its
entries raises NotSupported.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import sympy
from sympy import Basic
from sympy.core.symbol import Str
from sympy.matrices.expressions.matexpr import MatrixElement
from sympy.matrices.expressions.slice import MatrixSlice

from matcalc.errors import MatcalcError, NotSupported
from matcalc.expressions.sympy_bridge.by_rule import scalar_writer, writer
from matcalc.expressions.sympy_bridge.calls import ARITHMETIC, BY_ROLE, Written, entrywise, is_matrix, number
from matcalc.expressions.sympy_bridge.entries import Entries
from matcalc.expressions.sympy_bridge.operation import Operation, ScalarOperation
from matcalc.expressions.sympy_bridge.values import size_to
from matcalc.formula.elaborate.texts import elaborate
from matcalc.language import syntax
from matcalc.language.recurrences import STATE
from matcalc.language.syntax import Ast
from matcalc.language.write import text
from matcalc.rulebook.load import default_rulebook
from matcalc.tensor.nodes.node import Node


def to_sympy(ast: Ast, symbols: Mapping[str, Node], theirs: Mapping[str, Basic] | None = None) -> Basic:
    """Return a formula over symbols as a SymPy scalar or matrix; `theirs` are SymPy symbols to use, by name.

    Raises: NotSupported for a formula without a SymPy form.
    """
    try:
        made = _written(ast, symbols)
        replaced = {_name(name, symbols): theirs[name] for name in theirs or {}} if theirs else {}
        return made.xreplace(dict(_fitting(plain, own) for plain, own in replaced.items()))
    except RecursionError:
        raise NotSupported("the formula is nested too deeply for SymPy, whose shapes recurse") from None
    except NotImplementedError as error:
        raise NotSupported(f"SymPy does not construct this formula: {error}") from None


def _fitting(plain: Basic, own: Basic) -> tuple[Basic, Basic]:
    """Return the replacement of a symbol: the transpose of the user's row for a column, a 1 x 1 entry for a scalar."""
    if not is_matrix(own):
        return plain, own if not is_matrix(plain) else plain
    if not is_matrix(plain):
        return plain, MatrixElement(own, 0, 0) if own.shape == (1, 1) else plain
    shape, theirs_shape = (tuple(map(str, matrix.shape)) for matrix in (plain, own))
    return plain, own if shape == theirs_shape else own.T if shape == theirs_shape[::-1] else plain


def _written(ast: Ast, symbols: Mapping[str, Node]) -> Basic:
    if any(node.head == STATE for node in syntax.whole(ast)):
        hint = "e.substitute(T=4).sympy() writes out four steps; e.rewrite('closed').sympy() has powers of linear steps"
        raise NotSupported("a recurrence has no SymPy form for a number of steps that is not known", hint=hint)
    done: dict[Ast, Written] = {}
    for node in syntax.walk(ast, CLOSED):
        if node not in done and node.head in CLOSED:
            done[node] = CLOSED[node.head](node, symbols)
        elif node not in done:
            done[node] = _one(node, [done[c] for c in syntax.children(node)], symbols)
    return done[ast]


def _one(ast: Ast, args: list[Written], symbols: Mapping[str, Node]) -> Written:
    if ast.head == "name":
        return _name(str(ast.value), symbols)
    if ast.head == "number":
        return number(ast.value)
    if ast.head == "call":
        return _call(ast, args, symbols)
    make = WRITE.get(ast.head)
    return make(ast, args) if make else (ast, args)


def _index_form(ast: Ast, symbols: Mapping[str, Node]) -> Basic:
    return Entries(symbols, lambda inner: _written(inner, symbols), {}).form(ast, frozenset())


def _index_sum(ast: Ast, symbols: Mapping[str, Node]) -> Basic:
    return Entries(symbols, lambda inner: _written(inner, symbols), {}).entry(ast, frozenset())


def _function(ast: Ast, symbols: Mapping[str, Node]) -> Basic:
    """Return `x -> body` as a Lambda."""
    name = str(ast.value)
    hidden = {other: node for other, node in symbols.items() if other != name}
    return sympy.Lambda(sympy.Symbol(name), _written(ast.args[0], hidden))


def _applied(ast: Ast, symbols: Mapping[str, Node]) -> Basic:
    """Return a call whose operands are already written."""
    theirs_shape: tuple[Ast, list[Written]] = ast.value  # type: ignore[assignment]
    return _call(*theirs_shape, symbols)


CLOSED: dict[str, Callable[[Ast, Mapping[str, Node]], Basic]] = {
    "index_form": _index_form,
    "index_sum": _index_sum,
    "function": _function,
    "applied": _applied,
}
"""Heads that bind names; their operands are not written separately."""


def _name(name: str, symbols: Mapping[str, Node]) -> Basic:
    node = symbols.get(name)
    if node is None:
        return {"pi": sympy.pi, "inf": sympy.oo}.get(name) or sympy.Symbol(name)
    if node.rank == 0:
        return sympy.Symbol(name, positive=True) if "positive" in node.facts else sympy.Symbol(name)
    if node.rank > 2:
        raise NotSupported(f"{name}, a tensor of order {node.rank}, has no SymPy form")
    rows, *columns = map(size_to, node.shape)
    return sympy.MatrixSymbol(name, rows, *(columns or [1]))


def _call(ast: Ast, args: list[Written], symbols: Mapping[str, Node]) -> Basic:
    name = syntax.call_name(ast)
    keywords = [key for key, _ in syntax.call_keywords(ast)]
    positional = args[: len(args) - len(keywords)]
    named = dict(zip(keywords, args[len(positional) :], strict=True))
    whole = None if positional and isinstance(positional[0], tuple) else _whole(name, positional, named)
    if whole is not None:
        return whole(*positional, **named)
    if positional and isinstance(positional[0], tuple):
        condition, sides = positional[0]
        name, positional = f"{name}{condition.value}", [*sides, *positional[1:]]
        ast = syntax.call(default_rulebook().get(name).name, *condition.args, *ast.args[1:])
    found = None if named else scalar_writer(name, len(positional))
    if found is None or sum(map(is_matrix, positional)) > 1:
        return _operation(ast, positional, symbols)
    return entrywise(found[0].spelling, found[1], positional)


def _whole(name: str, args: Sequence[Written], named: Mapping[str, Basic]) -> Callable[..., Basic] | None:
    """Return the function that writes an operation on whole arrays, None if SymPy has no class for the call.

    SymPy has none for further tangents, for an axis, and for the diagonal of an oblong matrix.
    """
    rule = default_rulebook().candidates(name)[0].rule
    made = BY_ROLE.get(rule.role or "") or (None if rule.operands else writer(rule))
    along = "axis" in named and rule.role != "total"
    further = rule.parameters and rule.parameters[-1].repeated and len(args) >= len(rule.parameters)
    oblong = rule.role == "diagonals" and args[0].shape[1] != 1 and args[0].shape[0] != args[0].shape[1]
    return None if along or further or oblong else made


def _operation(ast: Ast, args: Sequence[Written], symbols: Mapping[str, Node]) -> Basic:
    """Return an operation by its name.

    Raises: NotSupported for a result of order 3 or more.
    """
    name = syntax.call_name(ast)
    try:
        made = elaborate([ast], symbols=symbols)
    except MatcalcError as error:
        raise NotSupported(f"{name} has no SymPy form here: {error.message}") from None
    (node,), (row,) = made.nodes, made.rows
    if node.rank > 2 or any(isinstance(arg, tuple) for arg in args):
        open_sizes = [str(size) for size in node.shape if not size.is_integer]
        where = f" where {open_sizes[0]} is no number" if open_sizes else ""
        raise NotSupported(f"{name} with a result of order {node.rank} has no SymPy form{where}")
    parameters = default_rulebook().candidates(name)[0].rule.parameters
    operands = [
        Str(str(arg.value))
        if arg.head == "name" and k < len(parameters) and parameters[k].kind == "function"
        else value
        for k, (arg, value) in enumerate(zip(ast.args, args, strict=True))
    ]
    keywords = ", ".join(f"{key}={text(value)}" for key, value in syntax.call_keywords(ast))
    if not node.shape:
        return ScalarOperation(name, keywords, *operands)
    rows, columns = (*map(size_to, node.shape), 1)[:2]
    return Operation(name, keywords, *((columns, rows) if row else (rows, columns)), *operands)


def _part(ast: Ast, args: list[Written]) -> Basic:
    """Return a part: one entry, or a slice along each axis."""
    base, *subscripts = args
    if isinstance(base, tuple):
        raise NotSupported("a part of a tensor of order 3 or more has no SymPy form")
    is_vector = len(subscripts) == 1
    lengths = base.shape
    zero = sympy.Integer(0)
    positions = [_position(s, n) for s, n in zip(subscripts, lengths, strict=False)] + [zero] * is_vector
    if not any(isinstance(p, tuple) for p in positions):
        return MatrixElement(base, *positions)
    ranges = [p if isinstance(p, tuple) else (p, p + 1, 1) for p in positions]
    part = MatrixSlice(base, *ranges)
    is_row = not is_vector and not isinstance(positions[0], tuple)
    return sympy.Transpose(part) if is_row else part


def _position(subscript: Written, length: Basic) -> Basic | tuple[Basic, Basic, int]:
    """Return a subscript counted from the start, or the range of a slice."""
    if getattr(subscript, "is_Matrix", False):
        raise NotSupported("a part by a vector of indices has no SymPy form")
    if not isinstance(subscript, tuple):
        return length + subscript if subscript.is_negative else subscript
    start, stop, step = subscript[1]
    bounds = [None if isinstance(b, tuple) else _position(b, length) for b in (start, stop)]
    if not isinstance(step, tuple) and step != 1:
        raise NotSupported("a part in reverse order has no SymPy form")
    return (0 if bounds[0] is None else bounds[0], length if bounds[1] is None else bounds[1], 1)


def _block(ast: Ast, args: list[Written]) -> Basic:
    """Return an array of entries, or of blocks."""
    rows: list[Sequence[Written]] = [row[1] for row in args]
    if not any(is_matrix(entry) for row in rows for entry in row):
        return sympy.ImmutableMatrix(rows)
    blocks = [[e if is_matrix(e) else sympy.ImmutableMatrix([[e]]) for e in row] for row in rows]
    return sympy.BlockMatrix(blocks)


WRITE: Mapping[str, Callable[[Ast, list[Written]], Basic]] = {**ARITHMETIC, "part": _part, "block": _block}
