"""Reads `wrt`, the variables of differentiation: symbols, parts of them, lists of both, SymPy matrices.

The calculus differentiates in whole symbols. A derivative in a part, `x[0]` or `X[1, :]`, is that part of the
derivative in its symbol. A derivative in a matrix of scalars is the matrix of the derivatives in these.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import reduce
from typing import TYPE_CHECKING, NamedTuple

from matcalc.calculus.derive.conventions import vjps
from matcalc.errors import NotDifferentiable, NotSupported, ShapeError
from matcalc.expressions.numpy_bridge.arguments import node_of, with_axes
from matcalc.expressions.numpy_bridge.shapes import moveaxis, reshape
from matcalc.expressions.operands.handle import Derived, Symbol, Wrt
from matcalc.expressions.operands.numpy_protocol import Array, ArrayCall
from matcalc.expressions.sympy_bridge.sympy_objects import entry_of, is_explicit, is_sympy
from matcalc.formula.elaborate.formulas_of_nodes import build_tree
from matcalc.language.identifiers import free
from matcalc.language.read import read
from matcalc.language.syntax import Ast, block, name, part, walk
from matcalc.language.write import text
from matcalc.rulebook.load import default_rulebook
from matcalc.tensor.constructors import add, symbol
from matcalc.tensor.nodes.node import Node
from matcalc.tensor.substitute import substitute
from matcalc.tensor.symbols import Names

if TYPE_CHECKING:
    from sympy import Matrix

Subscripts = str
"""The text between the brackets of a part: `0`, `1, :`, `1:n-1`."""


class Variables(NamedTuple):
    """Symbols to differentiate in, their parts that are variables, and the shape of a matrix of variables."""

    symbols: Wrt
    parts: dict[int, Subscripts]
    shape: tuple[int, ...] | None

    @property
    def whole(self) -> bool:
        """Whether all variables are whole symbols, not in a matrix."""
        return not self.parts and self.shape is None

    @property
    def listed(self) -> Sequence[Symbol]:
        """The symbols as a sequence."""
        return _listed(self.symbols)


def read_wrt(wrt: Wrt | Matrix) -> Variables:
    """Return the variables in `wrt`.

    Raises: ParseError for text that is neither a name nor an entry.
    """
    shape = tuple(int(n) for n in wrt.shape) if is_explicit(wrt) else None
    many = isinstance(wrt, (list, tuple))
    items = list(wrt) if isinstance(wrt, (list, tuple)) or is_explicit(wrt) else [wrt]
    found = [_entry(one) for one in items]
    symbols = [one if entry is None else entry[0] for one, entry in zip(items, found, strict=True)]
    parts = {k: entry[1] for k, entry in enumerate(found) if entry is not None}
    return Variables(symbols if many or shape is not None else symbols[0], parts, shape)


def _entry(one: Symbol) -> tuple[Symbol, Subscripts] | None:
    """Return the symbol and the subscripts of a part; None for a whole symbol."""
    if is_sympy(one):
        found = entry_of(one)
        return None if found is None else (found[0], ", ".join(map(str, found[1])))
    if isinstance(one, Array):
        tree = None if one.marked.node.kind == "symbol" else one.formula()
        inner = None if tree is None else _part(tree)
        return None if inner is None else (type(one)(one.names.symbol(inner[0]), one.names), inner[1])
    return _part(read(one)) if isinstance(one, str) and "[" in one else None


def _part(tree: Ast) -> tuple[str, Subscripts] | None:
    """Return the name and subscripts of a part of a symbol; of a part of a part, its subscripts in the symbol."""
    outer: list[Ast] = []
    while tree.head == "part":
        remaining, inner = iter(outer), tree.args[1:]
        if outer and any(one.head == "slice" and text(part(name("x"), one)) != "x[:]" for one in inner):
            return None
        outer = [next(remaining, one) if one.head == "slice" else one for one in inner] + list(remaining)
        tree = tree.args[0]
    whole = tree.head == "name" and bool(outer)
    return (str(tree.value), text(part(name("x"), *outer))[2:-1]) if whole else None


def whole_symbols(wrt: Wrt, what: str) -> Wrt:
    """Return `wrt` for a function that supports only whole symbols.

    Raises: NotSupported for a part of one.
    """
    request = read_wrt(wrt)
    if request.parts:
        first = _listed(request.symbols)[next(iter(request.parts))]
        raise NotSupported(
            f"{what} of a part of {first} alone is not supported", hint=f"use {first}, and take the part of the result"
        )
    return wrt


def _listed(value: Wrt) -> Sequence[Symbol]:
    return value if isinstance(value, (list, tuple)) else [value]


def part_of(e: Derived, x: Node, subscripts: Subscripts) -> Derived:
    """Return the part of a symbol in which a formula is differentiated.

    Raises: NotDifferentiable if entries depend on each other; ShapeError for an index outside.
    """
    used = [a.value for a in walk(read(f"x[{subscripts}]")) if a.head == "name"][1:]
    data = next((n for n in used if n in e.names.symbols), None)
    if data is not None:
        raise NotSupported(f"{x.name}[{subscripts}] depends on the data: differentiate in {x.name}")
    tied = default_rulebook().hull(x.data[1])
    if tied:
        raise NotDifferentiable(
            f"{x.name} is {tied[0]}: differentiate in {x.name}, since its entries depend on each other"
        )
    return type(e)(x, e.names)[subscripts]


def first_derivatives(e: Derived, wrt: Variables, made: Derived, rank: int) -> Derived:
    """Return the requested first derivatives, from those in whole symbols; `rank` axes precede those of the symbols.

    Raises: NotDifferentiable if entries depend on each other.
    """
    if wrt.whole:
        return made
    found = [_at(e, wrt, k, one, rank) for k, one in enumerate(_each(made))]
    if wrt.shape is None:
        return tuple(found) if isinstance(made, tuple) else found[0]
    return _shaped(found, wrt.shape)


def second_derivatives(e: Derived, wrt: Variables, made: Derived) -> Derived:
    """Return the requested second derivatives, from the blocks of those in whole symbols.

    Raises: NotDifferentiable if entries depend on each other.
    """
    if wrt.whole:
        return made
    xs = e.symbols_of(wrt.symbols)
    rows = made if isinstance(made, tuple) else ((made,),)
    blocks = [
        [_at(e, wrt, i, _at(e, wrt, j, block, len(xs[i].shape)), 0, len(xs[i].shape)) for j, block in enumerate(row)]
        for i, row in enumerate(rows)
    ]
    if wrt.shape is not None:
        if sum(n != 1 for n in wrt.shape) < 2:
            return _table(blocks)
        flat = _shaped([_shaped(row, wrt.shape) for row in blocks], wrt.shape)
        count = len(flat.node.shape) // 2
        return type(e)(moveaxis(flat.node, tuple(range(count)), tuple(range(count, 2 * count))), flat.names)
    return tuple(map(tuple, blocks)) if isinstance(made, tuple) else blocks[0][0]


def _each(made: Derived) -> Sequence[Derived]:
    return made if isinstance(made, tuple) else (made,)


def _at(e: Derived, wrt: Variables, k: int, made: Derived, before: int, own: int | None = None) -> Derived:
    """Return the requested part of a derivative; the symbol's `own` axes follow the first `before` axes."""
    subscripts = wrt.parts.get(k)
    if not subscripts:
        return made
    part_of(e, e.symbols_of(wrt.symbols)[k], subscripts)
    terms = type(e)(made.unfactored or made.node, made.names)  # unfactored, so that blocks are separate terms
    behind = 0 if own is None else len(terms.node.shape) - before - own
    return terms[", ".join([*[":"] * before, subscripts, *[":"] * behind])].simplify()


def _shaped(parts: Sequence[Derived], shape: tuple[int, ...]) -> Derived:
    """Return derivatives in scalars as one in a matrix of these, whose axes come last.

    Shapes: a column has one axis.
    """
    own = [n for n in shape if n != 1] or [1]
    rank = len(parts[0].node.shape)
    if len(own) + rank == 2 and all(size.is_integer for size in parts[0].node.shape) and rank:
        return _table([[part[i] for part in parts] for i in range(len(parts[0]))])
    if not rank and len(own) < 3:
        columns = own[1] if len(own) > 1 else 1
        return _table([list(parts[k : k + columns]) for k in range(0, len(parts), columns)])
    call = ArrayCall(parts[0])
    whole = node_of(call.unwrapped(list(parts)))
    node = reshape(whole, [*own, *whole.shape[1:]])
    return type(parts[0])(moveaxis(node, tuple(range(len(own))), tuple(range(rank, rank + len(own)))), call.names)


def _table(rows: Sequence[Sequence[Derived]]) -> Derived:
    """Return the matrix of scalars, a vector if each row has one."""
    node, _ = build_tree(block([[e.operand for e in row] for row in rows]))
    names = reduce(Names.joined, (e.names for row in rows for e in row))
    return type(rows[0][0])(node if node.shape else with_axes(node, [0]), names)


class Apart(NamedTuple):
    """An expression in which the parts that are variables are symbols of their own.

    `wrt` has the new variables, `parts` the values of the new symbols by name, `moved` those of the old symbols.
    """

    e: Derived
    wrt: Wrt
    parts: Mapping[str, Derived]
    moved: Mapping[Node, Node]

    def label(self, name: str) -> str:
        """Return the name of a symbol; for a new one with its value: `x_0 = x[0]`."""
        return f"{name} = {self.parts[name]}" if name in self.parts else name

    def also(self, other: Derived) -> Derived:
        """Return another expression over the same symbols with the parts as symbols of their own."""
        return type(other)(substitute(other.node, self.moved), self.e.names.joined(other.names), other.row)

    def back(self, made: Derived, simplified: bool = True) -> Derived:
        """Return a result in terms of the user's symbols."""
        if isinstance(made, tuple):
            return tuple(self.back(one, simplified) for one in made)
        if not self.parts:
            return made
        own = {made.names.symbols[name]: whole.node for name, whole in self.parts.items()}
        names = reduce(Names.without, self.parts, made.names)
        found = type(made)(substitute(made.node, own), names, made.row)
        return found.simplify() if simplified else found


def apart(e: Derived, wrt: Wrt) -> Apart:
    """Return an expression with the parts in `wrt` as new symbols, x_0 for x[0]: x + (x_0 - x[0])*eye(n)[:, 0] for x.

    The value is unchanged if each new symbol equals its part.

    Raises: the errors of `part_of`; ShapeError if two of `wrt` hold the same entries.
    """
    request = read_wrt(wrt)
    if not request.parts:
        return Apart(e, wrt, {}, {})
    symbols = _listed(request.symbols)
    xs, names = e.symbols_of(symbols), e.names_with(symbols)
    whole = next((x for k, x in enumerate(xs) if k not in request.parts and xs.count(x) > 1), None)
    twice = [f"{x.name}[{request.parts[k]}]" for k, x in enumerate(xs) if k in request.parts]
    if whole is not None or len(set(twice)) < len(twice):
        which = whole.name if whole is not None else next(one for one in twice if twice.count(one) > 1)
        raise ShapeError(f"{which} and a part of it are both in wrt: list each variable once")
    moves: dict[Node, list[tuple[int, Node]]] = {}
    parts: dict[str, Derived] = {}
    for k, subscripts in request.parts.items():
        piece = part_of(e, xs[k], subscripts)
        words = "".join(c if c.isalnum() else "_" for c in subscripts.replace("-", "m").replace(" ", "")).strip("_")
        new = symbol(free(f"{xs[k].name}_{words}", set(names.scope)), piece.node.shape, sorted(piece.facts))
        names = replace(names.under(piece.names.conditions), symbols={**names.symbols, new.name: new})
        names = replace(names, written=(*names.written, new.name))
        (along,) = vjps(piece.node, [xs[k]], new)
        moves.setdefault(xs[k], [(1, xs[k])]).extend([(1, along), (-1, substitute(along, {new: piece.node}))])
        parts[new.name] = piece
    moved = {x: add(terms) for x, terms in moves.items()}
    chosen = iter(parts)
    variables = [next(chosen) if k in request.parts else x.name for k, x in enumerate(xs)]
    many = isinstance(request.symbols, (list, tuple))
    made = type(e)(substitute(e.node, moved), names, e.row)
    return Apart(made, variables if many else variables[0], parts, moved)
