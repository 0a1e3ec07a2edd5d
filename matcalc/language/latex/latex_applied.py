r"""Applies functions of a number that a passage defines, \phi(z) = \max(0, z), to numbers, vectors and matrices.

A vector, or a matrix that is not square, has the function of each entry. Of a square matrix it can also be the function
of the matrix itself, A^2 for z^2, so that is refused.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import cast

from matcalc.language import syntax
from matcalc.language.identifiers import supply
from matcalc.language.latex.latex_axes import letters_in
from matcalc.language.latex.latex_scope import ARRAY, NUMBER, VECTOR, Reading, Scope, Value, fault
from matcalc.language.syntax import Ast, walk

_TAKES = {
    NUMBER: ("number", ("scalar",)),
    VECTOR: ("vector", ("vector",)),
    ARRAY: ("vector or a matrix", ("vector", "matrix")),
}
"""What a function takes by the form of the fence around its operand, in words and as kinds."""
Sides = tuple[str, str] | None
"""The sizes of a matrix as text, None if they are not known."""


def applied_scope(reading: Reading, node: Ast, scope: Scope) -> Scope:
    """Return the scope inside the formula of a function of a number, with indices for the entries of its operand."""
    known = {*reading.known.kinds, *reading.known.sizes, *reading.parts}
    letters = supply("uvwz", {*known, *scope.indices, *(x for own in scope.entries for x in own), *letters_in(node)})
    reading.entries[node] = (next(letters), next(letters), next(letters))
    return replace(scope, entries=(*scope.entries, reading.entries[node]))


def operand_of(reading: Reading, node: Ast, found: Value, scope: Scope) -> Value:
    """Return the operand of a function of a number or a vector: the entry of a vector or matrix.

    Raises: ParseError for an operand of another kind, and for a matrix that may be square.
    """
    hint = "write the formula of the function in its place"
    if node.value != NUMBER or not scope.entries or found.kind not in ("vector", "matrix"):
        takes, kinds = _TAKES[str(node.value)]
        if found.kind not in kinds:
            raise fault(f"a {found.kind or 'value of unknown kind'} in a function that takes a {takes}", node, hint)
        return found
    tree = cast(Ast, found.tree)
    of_vector, *of_matrix = scope.entries[-1]
    letters = of_matrix if found.kind == "matrix" else [of_vector]
    if found.kind == "matrix":
        sides = sides_of(reading, tree)
        if sides is None or sides[0] == sides[1]:
            each = r"\left[ f(A_{ij}) \right]_{ij} for the function of each entry"
            message = "this function of a matrix can be that of each entry, or of the matrix as a whole"
            raise fault(message, node, f"write {each}, or the formula in its place")
    entry = syntax.part(tree, *(Ast("name", (), x, node.span) for x in letters))
    return Value(replace(entry, span=node.span), "scalar")


def of_entries(reading: Reading, node: Ast, found: Value) -> Value:
    """Return the value of a function of a number: of each entry if its operand is a vector or a matrix."""
    of_vector, *of_matrix = reading.entries[node]
    tree = cast(Ast, found.tree)
    names = {x.value for x in walk(tree) if x.head == "name"}
    if not names & {of_vector, *of_matrix}:
        return found
    kind = "vector" if of_vector in names else "matrix"
    if found.kind in ("vector", "row", "matrix", "tensor") or {of_vector, *of_matrix} <= names:
        other = found.kind if found.kind != "scalar" else "function of a matrix"
        raise fault(f"a {kind} in a function of a number whose value is a {other}", node, "write its entries")
    letters = (of_vector,) if kind == "vector" else tuple(of_matrix)
    return Value(Ast("index_form", (tree,), letters, node.span), kind)


def sides_of(reading: Reading, tree: Ast) -> Sides:
    """Return the sizes of a matrix as declared, of products, sums and functions of each entry."""
    found: dict[Ast, Sides] = {}
    for node in walk(tree):
        sides = [found.get(x) for x in node.args]
        found[node] = _SIDES[node.head](reading, node, sides) if node.head in _SIDES else None
    return found[tree]


def _named(reading: Reading, node: Ast, sides: list[Sides]) -> Sides:
    shape = reading.known.shapes.get(str(node.value), ())
    return cast(Sides, shape) if len(shape) == 2 else None


def _product(reading: Reading, node: Ast, sides: list[Sides]) -> Sides:
    matrices = [x for x in sides if x is not None]
    others = [x for x, own in zip(node.args, sides, strict=True) if own is None and not _is_number(reading, x)]
    return (matrices[0][0], matrices[-1][1]) if matrices and not others else None


def _is_number(reading: Reading, node: Ast) -> bool:
    return node.head == "number" or node.head == "name" and reading.kind_of(str(node.value)) == "scalar"


def _call(reading: Reading, node: Ast, sides: list[Sides]) -> Sides:
    spelling = str(cast("tuple[object, ...]", node.value)[0])
    return _first(sides) if reading.names.results.get(spelling) == "same" else None


def _form(reading: Reading, node: Ast, sides: list[Sides]) -> Sides:
    """Return the sizes of an index form, those of the axes that its indices are of."""
    found: dict[str, str] = {}
    for part in (x for x in walk(node) if x.head == "part"):
        lengths = sides_of(reading, part.args[0]) or ()
        found |= {str(x.value): n for x, n in zip(part.args[1:], lengths, strict=False) if x.head == "name"}
    letters = cast("tuple[str, ...]", node.value)
    return (found[letters[0]], found[letters[1]]) if len(letters) == 2 and {*letters} <= {*found} else None


def _first(sides: list[Sides]) -> Sides:
    return next((x for x in sides if x is not None), None)


_SIDES: dict[str, Callable[[Reading, Ast, list[Sides]], Sides]] = {
    "name": _named,
    "product": _product,
    "call": _call,
    "index_form": _form,
    "transpose": lambda reading, node, sides: (sides[0][1], sides[0][0]) if sides[0] else None,
    "negative": lambda reading, node, sides: sides[0],
    "sum": lambda reading, node, sides: _first(sides),
}
"""The sizes of a tree from those of its operands, by its head."""
